//! What could not be read, or lies where it does not count. Nothing is said about a name that is missing because of it: its
//! mistake was reported already.

use std::collections::BTreeSet;

use super::FileInput;
use crate::api::Intent;
use crate::base::SmolStr;
use crate::diag::{Diagnostics, Place};
use crate::source::FileClass;

/// Which names may be missing without anybody's mistake but the one that was reported.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// The Fleet.
    pub(super) fleet: bool,
    /// Some clusters.
    pub(super) clusters: bool,
    /// Some policies or priority classes.
    pub(super) policies: bool,
    /// Some teams.
    pub(super) teams: bool,
    /// Teams in whose folder an App or policy may be missing; `None`: some App lies outside all of them.
    intents: BTreeSet<Option<SmolStr>>,
    /// Teams in whose folder anything may be missing.
    objects: BTreeSet<SmolStr>,
}

impl Unread {
    /// What the files say, and what was said about paths that became no file.
    pub(super) fn of(files: &[FileInput], diagnostics: &Diagnostics) -> Self {
        let mut unread = Self::default();
        for file in files.iter().filter(|f| f.ir.broken) {
            unread.file(file.class, file.path.as_str(), file.ir.lost_intent);
        }
        for diagnostic in diagnostics.iter().filter(|d| d.is_error()) {
            let Place::Path(path) = &diagnostic.place else { continue };
            let inside = path.contains('/');
            match path.split('/').next().unwrap_or_default() {
                "" => unread.all(),
                "fleet.yaml" => unread.fleet = true,
                "clusters" => unread.clusters = true,
                "policies" => unread.policies = true,
                "teams" if path.matches('/').count() >= 2 => unread.file(FileClass::TeamFolder, path, true),
                "teams" => {
                    unread.teams = true;
                    if inside {
                        unread.file(FileClass::TeamFolder, path, true);
                    }
                }
                _ => {}
            }
        }
        unread
    }

    fn all(&mut self) {
        (self.fleet, self.clusters, self.policies, self.teams) = (true, true, true, true);
        self.intents.insert(None);
    }

    fn file(&mut self, class: FileClass, path: &str, lost_intent: bool) {
        match class {
            FileClass::FleetFile => self.fleet = true,
            FileClass::Cluster => self.clusters = true,
            FileClass::Policy => self.policies = true,
            FileClass::Team => self.teams = true,
            FileClass::TeamFolder => {
                let team = SmolStr::new(path.split('/').nth(1).unwrap_or_default());
                if lost_intent {
                    self.intents.insert(Some(team.clone()));
                }
                self.objects.insert(team);
            }
            FileClass::Vendor | FileClass::Approval | FileClass::Placements | FileClass::State => {}
        }
    }

    /// An intent that lies in the wrong folder.
    pub(super) fn misplaced(&mut self, intent: &Intent) {
        match intent {
            Intent::Fleet(_) => self.fleet = true,
            Intent::Cluster(_) => self.clusters = true,
            Intent::Team(_) => self.teams = true,
            Intent::PlacementPolicy(_)
            | Intent::OverridePolicy(_)
            | Intent::Tide(_)
            | Intent::Calendar(_)
            | Intent::WorkloadKind(_)
            | Intent::PriorityClass(_) => self.policies = true,
            Intent::App(_) => {
                self.intents.insert(None);
            }
        }
    }

    /// A file of a team's folder that is not what an App counts on.
    pub(super) fn objects_in(&mut self, path: &str) {
        self.file(FileClass::TeamFolder, path, false);
    }

    /// A file of a team's folder that is a tool's input, and whether intents lie in it all the same.
    pub(super) fn skipped(&mut self, path: &str, intents: bool) {
        self.file(FileClass::TeamFolder, path, intents);
    }

    /// A folder below `teams/` that belongs to no team.
    pub(super) fn folder(&mut self, team: &str) {
        self.intents.insert(Some(team.into()));
    }

    /// Whether some App may be missing.
    pub(super) fn apps(&self) -> bool {
        self.teams || !self.intents.is_empty()
    }

    /// Whether an App or a policy of this team may be missing.
    pub(super) fn intents_of(&self, team: &str) -> bool {
        self.intents.contains(&None) || self.intents.iter().flatten().any(|t| t == team)
    }

    /// Whether a manifest of this team may be missing.
    pub(super) fn objects_of(&self, team: &str) -> bool {
        self.objects.contains(team) || self.intents_of(team)
    }

    /// Whether a manifest of any team may be missing.
    pub(super) fn objects(&self) -> bool {
        !self.objects.is_empty() || self.apps()
    }
}
