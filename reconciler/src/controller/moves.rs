//! Which apps left which clusters, and whether a decision took them away or a newer commit of the intents.
//!
//! A decision keeps the pin of the intents; whatever it removes was somebody's or the decider's explicit act, with its plan
//! in the message: that is a move, and no deletion budget counts it. What a newer commit of the intents removes is counted,
//! because a mistake there looks just the same.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{ContentId, SmolStr};
use fleetwright_compiler::placements::RecordDoc;
use fleetwright_compiler::source::{self, Contents, DirEntry, EntryKind, FleetFiles, Limits, RepoPath};

use crate::advance::AdvanceError;
use crate::apply::inventory::AppName;
use crate::commit::LiveCommit;
use crate::decide::DecideError;
use crate::ports::FleetRepo;
use crate::record_files::documents;
use crate::state::Unreadable;

/// Commits that are looked back on at least. A removal that is older counts as a deletion.
const LOOK_BACK: usize = 100;

/// An app, and a cluster it is in.
pub type Pair = (AppName, SmolStr);

/// Who took an app from a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A commit that keeps the pin.
    Decision,
    /// A newer commit of the intents.
    Intents,
}

/// Pairs of app and cluster that the newest commit that changed them parted. `history` is newest first; it is looked through
/// to `since_secs` at least.
///
/// # Errors
/// When a commit cannot be read.
pub fn removed(
    repo: &dyn FleetRepo,
    history: &[LiveCommit],
    since_secs: Option<i64>,
) -> Result<BTreeMap<Pair, By>, AdvanceError> {
    let mut found = BTreeMap::new();
    let mut settled: BTreeSet<Pair> = BTreeSet::new();
    let looked = (0..).zip(history).take_while(|(index, commit)| {
        *index < LOOK_BACK || since_secs.is_some_and(|since| commit.time_secs >= since)
    });
    let looked: Vec<&LiveCommit> = looked.map(|(_, commit)| commit).collect();
    let Some((newest, older)) = looked.split_first() else { return Ok(found) };
    let mut after = At::open(repo, newest)?;
    for commit in older {
        let before = At::open(repo, commit)?;
        let by = if before.pin == after.pin { By::Decision } else { By::Intents };
        let names: BTreeSet<&SmolStr> = before.teams.keys().chain(after.teams.keys()).collect();
        for team in names.into_iter().filter(|team| before.teams.get(*team) != after.teams.get(*team)) {
            let (was, is) = (before.pairs(team)?, after.pairs(team)?);
            // Newest first: what a later commit did with a pair counts.
            for pair in was.symmetric_difference(&is) {
                if settled.insert(pair.clone()) && was.contains(pair) {
                    found.insert(pair.clone(), by);
                }
            }
        }
        after = before;
    }
    Ok(found)
}

/// The placements of one commit; files are read when they are asked for.
struct At {
    files: Box<dyn FleetFiles>,
    pin: Option<ContentId>,
    /// Files of `placements/`, by team.
    teams: BTreeMap<SmolStr, (RepoPath, ContentId)>,
}

impl At {
    fn open(repo: &dyn FleetRepo, commit: &LiveCommit) -> Result<Self, AdvanceError> {
        let files = repo.tree(&commit.id)?;
        let (folder, pin) = (path("placements")?, path("state/pin.yaml")?);
        let pin = source::find(&*files, &pin).map_err(DecideError::from)?.map(|entry| entry.id);
        let mut teams = BTreeMap::new();
        let found = source::find(&*files, &folder).map_err(DecideError::from)?;
        if let Some(DirEntry { kind: EntryKind::Dir, id, .. }) = found {
            for entry in files.dir(&folder, &id).map_err(DecideError::from)? {
                let Some(team) = entry.name.strip_suffix(".yaml") else { continue };
                let path = folder.join(&entry.name).map_err(DecideError::from)?;
                teams.insert(team.into(), (path, entry.id));
            }
        }
        Ok(Self { files, pin, teams })
    }

    /// The apps of a team, and where they are.
    fn pairs(&self, team: &SmolStr) -> Result<BTreeSet<Pair>, AdvanceError> {
        let Some((path, id)) = self.teams.get(team) else { return Ok(BTreeSet::new()) };
        let unreadable = || AdvanceError::from(DecideError::from(Unreadable(path.clone())));
        let bytes = match self.files.read_at_most(path, id, Limits::STANDARD.file_bytes).map_err(DecideError::from)? {
            Contents::Bytes(bytes) => bytes,
            Contents::TooLarge(_) => return Err(unreadable()),
        };
        let docs = documents(path, &bytes).ok_or_else(unreadable)?;
        let apps = docs.into_iter().flat_map(|doc| match doc {
            RecordDoc::Placements(doc) => doc.apps,
            _ => Vec::new(),
        });
        let pairs = apps.flat_map(|placed| {
            let app = (team.clone(), placed.app.value.clone());
            placed.clusters.into_iter().map(move |cluster| (app.clone(), cluster.value))
        });
        Ok(pairs.collect())
    }
}

fn path(text: &str) -> Result<RepoPath, DecideError> {
    Ok(RepoPath::new(text)?)
}
