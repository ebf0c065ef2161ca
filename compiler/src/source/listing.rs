//! What a walk found: the files to read, what the repository did wrong, and what lies there unread.

use std::fmt;

use super::{PathError, RepoPath};
use crate::base::ContentId;

/// Names at the root that hold intents.
pub(super) const INTENT_TOPS: [&str; 6] = ["approvals", "clusters", "fleet.yaml", "policies", "teams", "vendor"];
/// Names at the root that hold the record.
pub(super) const RECORD_TOPS: [&str; 2] = ["placements", "state"];
/// The file that makes a folder a fleet.
pub(super) const FLEET_FILE: &str = "fleet.yaml";
/// Names at the root that look like [`FLEET_FILE`] and are not read: noted, so that a message can say so.
pub(super) const FLEET_FILE_MISTAKES: [&str; 2] = ["fleet.json", "fleet.yml"];
/// Most links followed one after another for one path: Linux' own bound.
pub(super) const MAX_LINK_HOPS: usize = 40;

/// Whether a file of this name is read: `.yaml`, `.yml` or `.json`, in lower case as Kubernetes tools have it.
#[must_use]
pub fn has_read_extension(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((stem, "yaml" | "yml" | "json")) if !stem.is_empty())
}

/// Whether a walk ever looks at this entry of the root. A tree that is costly to list (a folder full of other things)
/// may leave the others out.
#[must_use]
pub fn is_seen_at_root(name: &str) -> bool {
    INTENT_TOPS.contains(&name) || RECORD_TOPS.contains(&name) || FLEET_FILE_MISTAKES.contains(&name)
}

/// What a file is for, by where it lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileClass {
    /// `fleet.yaml`.
    FleetFile,
    /// Below `clusters/`.
    Cluster,
    /// Below `policies/`.
    Policy,
    /// `teams/<team>.yaml`: the platform's file.
    Team,
    /// Below `teams/<team>/`: the team's own folder.
    TeamFolder,
    /// Below `vendor/`: what `fleetwright vendor` wrote.
    Vendor,
    /// Below `approvals/`.
    Approval,
    /// Below `placements/`: what runs where.
    Placements,
    /// Below `state/`: what was observed and decided.
    State,
}

impl FileClass {
    /// The class of a path; `None` where nothing is read.
    #[must_use]
    pub fn of(path: &RepoPath) -> Option<Self> {
        let mut names = path.components();
        let (top, below, deeper) = (names.next()?, names.next().is_some(), names.next().is_some());
        match top {
            FLEET_FILE if !below => Some(Self::FleetFile),
            "clusters" if below => Some(Self::Cluster),
            "policies" if below => Some(Self::Policy),
            "teams" if deeper => Some(Self::TeamFolder),
            "teams" if below => Some(Self::Team),
            "vendor" if below => Some(Self::Vendor),
            "approvals" if below => Some(Self::Approval),
            "placements" if below => Some(Self::Placements),
            "state" if below => Some(Self::State),
            _ => None,
        }
    }

    /// Which half of an [`Overlay`](super::Overlay) files of this class come from.
    #[must_use]
    pub fn origin(self) -> FileOrigin {
        match self {
            Self::Placements | Self::State => FileOrigin::Record,
            Self::FleetFile
            | Self::Cluster
            | Self::Policy
            | Self::Team
            | Self::TeamFolder
            | Self::Vendor
            | Self::Approval => FileOrigin::Intents,
        }
    }
}

/// Which half of an [`Overlay`](super::Overlay) a file comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileOrigin {
    /// What people wrote.
    Intents,
    /// What runs: `placements/` and `state/`.
    Record,
}

/// A file to be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// Where it shows up; never two files at one path.
    pub path: RepoPath,
    /// What it is for.
    pub class: FileClass,
    /// What it holds.
    pub id: ContentId,
    /// Which tree it is in.
    pub from: FileOrigin,
    /// Where it really lies, when a symbolic link on its path was followed.
    pub link: Option<RepoPath>,
}

/// What a walk found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The files to read, in the order of their paths.
    pub files: Vec<SourceFile>,
    /// What the repository did wrong, in the order of paths. With any, `files` may lack something and must not be
    /// treated as the whole fleet.
    pub findings: Vec<SourceFinding>,
    /// Files in the directories read that are not read themselves, for their extension; in order. Dotfiles are not listed.
    pub ignored: Vec<RepoPath>,
    /// `placements` and `state` where they lie among the intents although the record is taken from elsewhere. On the
    /// branch of intents that is an error.
    pub record_among_intents: Vec<RepoPath>,
}

/// Something wrong with the tree itself, before any file is read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceFinding {
    /// Where: the entry itself, or the directory that holds it when it has no proper path.
    pub path: RepoPath,
    /// What.
    pub kind: SourceFindingKind,
}

/// What can be wrong with a tree. Nothing here carries the content or target of a link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SourceFindingKind {
    /// An entry of the directory whose name is no path component.
    BadName {
        /// The name, other characters escaped.
        name: Box<str>,
        /// Why it is refused.
        reason: PathError,
    },
    /// Two entries of the directory with one name: a damaged or forged tree.
    DuplicateName {
        /// The name.
        name: Box<str>,
    },
    /// A Git submodule.
    Submodule,
    /// A pipe, a socket or a device.
    Special,
    /// A file where a directory belongs.
    NotADirectory,
    /// A directory where a file belongs.
    NotAFile,
    /// A symbolic link that is absolute or climbs above the root.
    LinkLeavesRoot,
    /// A symbolic link to a place that is not read.
    LinkOutsideRead,
    /// A symbolic link from one team's folder into another's.
    LinkCrossesTeam,
    /// A symbolic link that leads back to itself or to a directory that holds it.
    LinkLoop,
    /// A symbolic link to nothing.
    LinkBroken,
    /// A directory deeper than the limit; nothing below it is read.
    TooDeep {
        /// Most components of a path.
        limit: usize,
    },
    /// More entries than the limit; the walk stopped here.
    TooManyEntries {
        /// Most entries of all directories together.
        limit: usize,
    },
    /// A file larger than the limit.
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The most that is read.
        limit_bytes: u64,
    },
}

impl fmt::Display for SourceFindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName { name, reason } => {
                write!(f, "the name `{}` cannot be read: {reason}; rename the file", name.escape_debug())
            }
            Self::DuplicateName { name } => {
                write!(f, "the directory has two entries named `{}`; the tree is damaged", name.escape_debug())
            }
            Self::Submodule => f.write_str(
                "is a Git submodule, which is not read: its content is not part of this repository; \
                 copy the files in, or use `sources`",
            ),
            Self::Special => f.write_str("is neither a file, a directory nor a link; remove it"),
            Self::NotADirectory => f.write_str("is a file where a directory is expected"),
            Self::NotAFile => f.write_str("is a directory where a file is expected"),
            Self::LinkLeavesRoot => f.write_str(
                "the symlink leaves the root of the repository; link by a relative path to a file inside, or copy it",
            ),
            Self::LinkOutsideRead => f.write_str(
                "the symlink leads to a place that is not read; link to a file below `clusters/`, `policies/`, \
                 `teams/` or `vendor/`, or copy it",
            ),
            Self::LinkCrossesTeam => f.write_str(
                "the symlink leads into another team's folder; copy the file, or let the platform share it below `policies/`",
            ),
            Self::LinkLoop => f.write_str("the symlink leads back to itself or to a directory that holds it; remove it"),
            Self::LinkBroken => f.write_str("the symlink leads to nothing that can be read; correct or remove it"),
            Self::TooDeep { limit } => write!(f, "lies deeper than {limit} directories; nothing below it is read"),
            Self::TooManyEntries { limit } => {
                write!(f, "the repository has more than {limit} files and directories; the rest is not read")
            }
            Self::TooLarge { bytes, limit_bytes } => {
                write!(f, "has {bytes} bytes; a file may have at most {limit_bytes}. Split it, or move it elsewhere")
            }
        }
    }
}

impl fmt::Display for SourceFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_root() { self.kind.fmt(f) } else { write!(f, "{}: {}", self.path, self.kind) }
    }
}

/// Bounds on what is read, so that a hostile repository costs bounded time and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Largest file, in bytes.
    pub file_bytes: u64,
    /// Most files, directories and links of all directories read together, and steps of following links; a directory
    /// reached twice counts twice.
    pub entries: usize,
    /// Most components of a path.
    pub depth: usize,
}

impl Limits {
    /// What the product uses: files of 4 MiB, a million entries, 64 components.
    pub const STANDARD: Self = Self { file_bytes: 4 << 20, entries: 1_000_000, depth: 64 };
}
