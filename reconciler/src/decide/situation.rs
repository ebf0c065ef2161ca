//! Everything that a decision is made from.

use std::fmt;

use fleetwright_compiler::Session;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::source::{FilesError, FleetFiles, RepoPath};

use super::{DecideError, Refusals};
use crate::commit::{LiveCommit, Trailers};
use crate::observation::Observation;
use crate::ports::CommitId;
use crate::record_files::{RECORD_FOLDERS, RecordFiles};
use crate::state::State;

/// Everything that a decision is made from.
pub struct Situation<'a> {
    /// Kept parses.
    pub session: &'a Session,
    /// Who decides.
    pub identity: &'a Identity,
    /// The newest commit of the intents.
    pub main: Head<'a>,
    /// The live branch; `None` where there is none yet.
    pub live: Option<Live<'a>>,
    /// What was seen of the clusters; `None` where nobody looked.
    pub observation: Option<&'a Observation>,
    /// What observed capacity was refused when it was looked at last; `None` where nobody remembers.
    pub refusals: Option<&'a Refusals>,
    /// Seconds since 1970.
    pub now_secs: i64,
}

/// Who decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name, as `state/decider.yaml` has it.
    pub holder: SmolStr,
    /// The term in which it began; `None` for a process that lives for one tick and takes the recorded one.
    pub term: Option<u64>,
}

impl Identity {
    /// Whether a decider can be called so: the name stands in messages, trailers and commands to take over.
    ///
    /// # Errors
    /// What was expected.
    pub fn check_holder(name: &str) -> Result<(), &'static str> {
        if name.is_empty() || name.len() > 253 || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err("the name of a decider is one word of at most 253 bytes");
        }
        Ok(())
    }
}

/// The newest commit of the intents.
#[derive(Clone)]
pub struct Head<'a> {
    /// Its id.
    pub id: CommitId,
    /// Its tree.
    pub files: &'a dyn FleetFiles,
    /// Whether it is the pinned commit or a descendant of it.
    pub is_forward: bool,
}

/// The live branch.
pub struct Live<'a> {
    /// Where it stands.
    pub tip: CommitId,
    /// The date of that commit.
    pub time_secs: i64,
    /// Its tree.
    pub files: &'a dyn FleetFiles,
    /// The commit of the intents that it was made from.
    pub pin: CommitId,
    /// The tree of that commit: the intents that are live.
    pub pinned: &'a dyn FleetFiles,
    /// Its record.
    pub record: RecordFiles,
    /// What the record says about the decider's own affairs.
    pub state: State,
    /// Its commits, newest first.
    pub history: Vec<LiveCommit>,
}

impl Situation<'_> {
    /// The term that commits are made in.
    #[must_use]
    pub fn term(&self) -> u64 {
        self.recorded_decider().map_or(1, |(term, _)| term)
    }

    /// The branch's date never goes back, so that a clock that was set back shows.
    #[must_use]
    pub fn commit_time_secs(&self) -> i64 {
        self.live.as_ref().map_or(self.now_secs, |live| live.time_secs.max(self.now_secs))
    }

    fn recorded_decider(&self) -> Option<(u64, &SmolStr)> {
        let decider = self.live.as_ref()?.state.decider.as_ref()?;
        Some((decider.term, &decider.holder))
    }

    /// Whether this process decides at all.
    pub(super) fn check_identity(&self) -> Result<(), DecideError> {
        let Some((term, holder)) = self.recorded_decider() else { return Ok(()) };
        if *holder != self.identity.holder || self.identity.term.is_some_and(|ours| ours < term) {
            return Err(DecideError::NotOurs(format!(
                "`{holder}` decides this repository (term {term}), and this is `{}`: nothing is written. To take over: \
                 `fleetwright promote-decider {}`",
                self.identity.holder, self.identity.holder
            )));
        }
        Ok(())
    }
}

impl Live<'_> {
    /// Whether a decision with this key was ever made here.
    #[must_use]
    pub fn has_key(&self, key: &str) -> bool {
        let is_it = |step: &SmolStr| step == key || step.split_once(' ').is_some_and(|(_, of_app)| of_app == key);
        let has = |of: &Trailers| of.key == key || of.steps.iter().any(is_it);
        self.history.iter().any(|commit| commit.trailers.as_ref().is_some_and(has))
    }

    /// The key of the step that an app took last.
    #[must_use]
    pub fn last_step(&self, (team, app): &(SmolStr, SmolStr)) -> Option<&str> {
        let name = format!("{team}/{app}");
        let steps = self.history.iter().filter_map(|commit| commit.trailers.as_ref()).flat_map(|of| &of.steps);
        let mut of_app = steps.filter_map(|step| step.split_once(' ')).filter(|(of, _)| *of == name);
        of_app.next().map(|(_, key)| key)
    }

    /// Checks that the intents are those of the pinned commit: on the live branch people change the record alone.
    pub(crate) fn check_intents(&self) -> Result<(), DecideError> {
        let Some(name) = differing(self.files, self.pinned)? else { return Ok(()) };
        Err(DecideError::Tampered(format!(
            "`{name}` on the live branch is not as in {} of the intents, which it was made from: only placements/ and \
             state/ are changed there. Revert the commit that did it with `git revert` on the live branch",
            self.pin.short()
        )))
    }
}

/// The first name at the root, outside the record, that differs.
fn differing(a: &dyn FleetFiles, b: &dyn FleetFiles) -> Result<Option<String>, FilesError> {
    let entries = |files: &dyn FleetFiles| {
        let mut entries = files.dir(&RepoPath::root(), &files.root()?)?;
        entries.retain(|entry| !RECORD_FOLDERS.contains(&&*entry.name));
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok::<_, FilesError>(entries)
    };
    let (a, b) = (entries(a)?, entries(b)?);
    let in_one = a.iter().find(|entry| !b.contains(entry)).or_else(|| b.iter().find(|entry| !a.contains(entry)));
    Ok(in_one.map(|entry| entry.name.to_string()))
}

impl fmt::Debug for Situation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Situation").field("main", &self.main.id).field("live", &self.live).finish_non_exhaustive()
    }
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head").field("id", &self.id).field("is_forward", &self.is_forward).finish_non_exhaustive()
    }
}

impl fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("tip", &self.tip).field("pin", &self.pin).finish_non_exhaustive()
    }
}
