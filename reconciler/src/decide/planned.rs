//! From a proposal to a commit: compile what it proposes, and write down what differs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::placements::{self, PlacedApp, RecordDoc};
use fleetwright_compiler::report::{self, PlanReport};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{FleetFiles, Limits, Overlay, RepoPath};
use fleetwright_compiler::{CompileError, Compiled, Refusal, compile, schedule, what_if};

use super::causes::{observed, tide};
use super::stepped::{self, Opened, Opening};
use super::{DecideError, Intents, Placed, Proposal, Situation, View};
use super::{clock, lines};
use crate::commit::{Cause, Trailers};
use crate::ports::{Author, CommitId, NewCommit};
use crate::record_files::{RECORD_FOLDERS, RecordFiles};

/// A commit of the live branch that was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Why.
    pub cause: Cause,
    /// The key of the decision.
    pub key: SmolStr,
    /// Where the branch stood; `None` where there is none yet.
    pub tip: Option<CommitId>,
    /// The commit of the intents that it is for.
    pub main: CommitId,
    /// Whether that is another than before.
    pub moves_pin: bool,
    /// What it changes of the record.
    pub edits: BTreeMap<RepoPath, Option<Vec<u8>>>,
    /// Its message.
    pub message: String,
    /// Its date.
    pub time_secs: i64,
    /// The person who decided it; `None`: the decider.
    pub person: Option<Author>,
    /// Replicas that are wanted and run nowhere after it, by app in the order of the fleet.
    pub unplaced: Vec<u64>,
}

/// Why a proposal became no commit.
#[derive(Debug)]
pub enum Unrealised {
    /// What it proposes does not compile.
    Refused(String),
    /// Nothing could be decided.
    Failed(DecideError),
}

impl<E: Into<DecideError>> From<E> for Unrealised {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Diagnostics that a message holds.
const DIAGNOSTICS: usize = 10;

/// Compiles a proposal. `None` where it changes nothing.
///
/// # Errors
/// When what it proposes does not compile, or cannot be read.
pub fn realise(
    situation: &Situation<'_>,
    proposal: &Proposal,
    current: Option<&Compiled>,
) -> Result<Option<Planned>, Unrealised> {
    let (main, files, moves_pin) = match (proposal.intents, &situation.live) {
        (Intents::Live, Some(live)) => (&live.pin, live.pinned, false),
        (Intents::Newest, Some(live)) => (&situation.main.id, situation.main.files, live.pin != situation.main.id),
        (Intents::Live | Intents::Newest, None) => (&situation.main.id, situation.main.files, true),
    };
    let before = situation.live.as_ref().map(|live| &live.record);
    let supposes = proposal.scenario != Scenario::default();
    let mut record = proposal.record.clone();
    let mut compiled = match current {
        // What is live was compiled a moment ago.
        Some(current) if before == Some(&proposal.record) && !supposes && !moves_pin => Cow::Borrowed(current),
        Some(_) | None => Cow::Owned(compiled_with(situation, files, &record, &proposal.scenario)?),
    };
    if proposal.cause == Cause::Pin && clock::distrust(&View { situation, current }).is_none() {
        let recorded = situation.live.as_ref().map(|live| live.state.tides.clone()).unwrap_or_default();
        if let Some(tides) = tide::with_first_phases(&compiled, &recorded, situation.now_secs) {
            record.put_state(RepoPath::new("state/tides.yaml")?, &tides);
            compiled = Cow::Owned(compiled_with(situation, files, &record, &proposal.scenario)?);
        }
    }
    rename_suspended(&mut record, &compiled)?;
    if proposal.cause == Cause::Pin {
        observed::tidy(&mut record, &compiled)?;
    }
    let only = proposal.only.as_ref();
    // What these propose is in the record already, so what runs is what is live.
    let proposes_places = matches!(proposal.cause, Cause::Rebalance | Cause::Undo);
    let runs =
        current.filter(|_| proposes_places).map_or(&compiled.record.apps, |current| &current.record.apps).clone();
    let opening = Opening {
        cause: proposal.cause,
        key: proposal.key.as_ref(),
        live: situation.live.as_ref().zip(current),
        now_secs: situation.commit_time_secs(),
    };
    let mut opened = Opened::new();
    let mut placed = match proposal.cause {
        // Its steps are what it proposes; what follows from them is a decision of its own.
        Cause::Move => compiled.record.apps.clone(),
        _ => placements_after(&compiled, only),
    };
    while opening.open(&compiled, &runs, &placed, &mut opened, &mut record)? {
        // With these where they are, and the room reserved that they go to, others may find less than without.
        compiled = Cow::Owned(compiled_with(situation, files, &record, &proposal.scenario)?);
        placed = placements_after(&compiled, only);
    }
    let opened_now: BTreeSet<_> = opened.keys().map(|(team, app)| format!("{team}/{app}")).collect();
    let first = stepped::first_steps(&opening, &compiled, opened, &mut placed, &mut record)?;
    if proposal.cause == Cause::Failover {
        let lost = proposal.scenario.evict.iter().map(|(_, _, cluster)| cluster.clone()).collect();
        stepped::keep_while_failing_over(&opening, &compiled, &lost, &mut placed, &mut record)?;
    }
    write_placements(&mut record, &compiled, &placed)?;
    if supposes {
        // What is written must hold without what was supposed: the commit must not cause another.
        let settled = compiled_with(situation, files, &record, &Scenario::default())?;
        write_placements(&mut record, &settled, &placements_after(&settled, only))?;
        stepped::keep_moves(&mut record, &settled, only)?;
    } else {
        stepped::keep_moves(&mut record, &compiled, only)?;
    }
    let nothing = RecordFiles::default();
    let edits = record.edits_since(before.unwrap_or(&nothing));
    if edits.is_empty() && !moves_pin {
        return Ok(None);
    }
    let key = proposal.key.clone().unwrap_or_else(|| key_of(proposal.cause, main, &edits));
    let trailers = Trailers {
        main: main.clone(),
        cause: proposal.cause,
        key: key.clone(),
        steps: proposal.steps.iter().cloned().chain(first.trailers).collect(),
        term: proposal.person.is_none().then(|| situation.term()),
    };
    let mut plan = report::plan(&compiled);
    plan.moves.retain(|of| !opened_now.contains(&of.app));
    let plan = plan_text(&plan, proposal.only.as_ref());
    let in_steps = lines::text(&first.lines);
    let body = [proposal.body.trim(), plan.trim(), in_steps.trim()]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>();
    Ok(Some(Planned {
        cause: proposal.cause,
        key,
        tip: situation.live.as_ref().map(|live| live.tip.clone()),
        main: main.clone(),
        moves_pin,
        edits,
        message: trailers.message(&proposal.subject, &body.join("\n\n")),
        time_secs: situation.commit_time_secs(),
        person: proposal.person.clone(),
        unplaced: unplaced(&compiled),
    }))
}

/// Replicas that are wanted and run nowhere, by app.
pub(super) fn unplaced(compiled: &Compiled) -> Vec<u64> {
    let apps = compiled.fleet.apps.iter().zip(&compiled.target.apps);
    apps.map(|(app, target)| what_if::missing(app, target)).collect()
}

/// Compiles intents with a record.
fn compiled_with(
    situation: &Situation<'_>,
    files: &dyn FleetFiles,
    record: &RecordFiles,
    scenario: &Scenario,
) -> Result<Compiled, Unrealised> {
    let record = record.tree();
    let overlay = Overlay::with_record(files, &record);
    match compile(situation.session, &overlay, scenario) {
        Ok(compiled) => Ok(compiled),
        Err(CompileError::Refused(refusal)) => Err(Unrealised::Refused(refusal_text(&overlay, &refusal))),
        Err(CompileError::Files(error)) => Err(error.into()),
        Err(CompileError::Bug(violations)) => Err(DecideError::Bug(violations).into()),
    }
}

/// The key of a decision that is nothing but what it changes.
fn key_of(cause: Cause, main: &CommitId, edits: &BTreeMap<RepoPath, Option<Vec<u8>>>) -> SmolStr {
    let texts: Vec<String> = edits
        .iter()
        .map(|(path, bytes)| match bytes {
            // Of a move that it opens, where it leads and not when: taken again, it is the same decision.
            Some(bytes) if path.as_str().starts_with("state/moves/") => {
                let text = String::from_utf8_lossy(bytes);
                let target = text.split_once("\ntarget:").map_or_else(String::new, |(_, target)| target.to_owned());
                format!("{path}\n{target}")
            }
            Some(bytes) => format!("{path}\n{}", String::from_utf8_lossy(bytes)),
            None => path.to_string(),
        })
        .collect();
    let parts: Vec<&str> = std::iter::once(main.0.as_str()).chain(texts.iter().map(String::as_str)).collect();
    super::key(cause, &parts)
}

/// Where everything runs afterwards; apps that are not meant stay where they are, and so do those that are
/// suspended or on a move in steps.
fn placements_after(compiled: &Compiled, only: Option<&BTreeSet<(SmolStr, SmolStr)>>) -> Placed {
    let mut placed = schedule::placed(&compiled.fleet, &compiled.target);
    if let Some(only) = only {
        placed.retain(|app, _| only.contains(app));
        let rest = compiled.record.apps.iter().filter(|(app, _)| !only.contains(*app));
        placed.extend(rest.map(|(app, placed)| (app.clone(), placed.clone())));
    }
    let moving = compiled.moving.iter().map(|id| stepped::name_of(compiled, *id)).collect::<Vec<_>>();
    let held = compiled.record.suspended.iter().chain(&moving);
    let held = held.filter_map(|app| compiled.record.apps.get_key_value(app));
    placed.extend(held.map(|(app, placed)| (app.clone(), placed.clone())));
    placed
}

/// Writes the files of the teams whose placements differ; the others keep their bytes.
pub(crate) fn write_placements(
    record: &mut RecordFiles,
    compiled: &Compiled,
    placed: &Placed,
) -> Result<(), DecideError> {
    type Team<'a> = BTreeMap<&'a SmolStr, &'a PlacedApp>;
    fn by_team(placed: &Placed) -> BTreeMap<&SmolStr, Team<'_>> {
        let mut teams: BTreeMap<&SmolStr, Team<'_>> = BTreeMap::new();
        for ((team, app), placed) in placed {
            teams.entry(team).or_default().insert(app, placed);
        }
        teams
    }
    // Where a block is written does not make it another.
    let same = |a: &Team<'_>, b: &Team<'_>| {
        a.len() == b.len()
            && a.iter().zip(b).all(|((x, a), (y, b))| x == y && a.clusters == b.clusters && a.workloads == b.workloads)
    };
    // As the files have them: an app that was renamed is in both its old and its new team's.
    let recorded = compiled.record.apps.iter();
    let recorded = recorded.map(|(app, placed)| (compiled.record.recorded_name(app).clone(), placed.clone())).collect();
    let (before, after) = (by_team(&recorded), by_team(placed));
    for (team, apps) in &after {
        if before.get(team).is_none_or(|before| !same(before, apps)) {
            let text = placements::placements_text(apps.iter().map(|(name, placed)| (*name, *placed)));
            record.put(RepoPath::new(&placements::file_path(team))?, text.into_bytes());
        }
    }
    for team in before.keys().filter(|team| !after.contains_key(*team)) {
        record.remove(&RepoPath::new(&placements::file_path(team))?);
    }
    Ok(())
}

/// Names apps that are suspended as they are called now. The file keeps its bytes where nothing is renamed.
fn rename_suspended(record: &mut RecordFiles, compiled: &Compiled) -> Result<(), DecideError> {
    let path = RepoPath::new("state/suspended.yaml")?;
    let fleet = &compiled.fleet;
    let heirs: BTreeMap<String, String> = fleet
        .app_ids()
        .flat_map(|id| {
            let old = fleet.app(id).previous_names.iter().map(|(team, app)| format!("{team}/{app}"));
            old.map(move |old| (old, fleet.app_name(id)))
        })
        .collect();
    let docs = record.docs(&path).unwrap_or_default();
    let written: Vec<String> = docs
        .into_iter()
        .filter_map(|doc| if let RecordDoc::Suspended(apps) = doc { Some(apps) } else { None })
        .flatten()
        .map(|app| app.value.to_string())
        .collect();
    if written.iter().any(|app| heirs.contains_key(app)) {
        let renamed: BTreeSet<&String> = written.iter().map(|app| heirs.get(app).unwrap_or(app)).collect();
        record.put_state(path, &renamed);
    }
    Ok(())
}

/// What moves, one line for each workload.
fn plan_text(plan: &PlanReport, only: Option<&BTreeSet<(SmolStr, SmolStr)>>) -> String {
    let meant = |app: &str| {
        only.is_none_or(|only| {
            app.split_once('/').is_some_and(|(team, app)| only.contains(&(SmolStr::new(team), SmolStr::new(app))))
        })
    };
    let mut lines: Vec<String> = Vec::new();
    for transfer in plan.transfers.iter().filter(|transfer| meant(&transfer.app)) {
        lines.push(format!("{} takes over what runs as {}", transfer.app, transfer.was));
    }
    for moves in plan.moves.chunk_by(|a, b| a.app == b.app && a.workload == b.workload) {
        let Some(first) = moves.first().filter(|first| meant(&first.app)) else { continue };
        let parts: Vec<String> = moves.iter().map(|m| format!("{} {} -> {}", m.cluster, m.before, m.after)).collect();
        lines.push(format!("{} {}: {}", first.app, first.workload, parts.join(", ")));
    }
    for short in plan.shortfalls.iter().filter(|short| meant(&short.app)) {
        lines.push(format!("not possible: {}: {}", short.app, short.shortfall));
    }
    lines::text(&lines)
}

/// The first errors, one line each.
pub(crate) fn refusal_text(overlay: &Overlay<'_>, refusal: &Refusal) -> String {
    let read = |file: &_| overlay.read(file, &Limits::STANDARD).ok();
    let located = report::located(&refusal.diagnostics, &refusal.files, &read);
    let errors: Vec<_> = located.iter().filter(|one| one.severity == "error").collect();
    let mut text = String::new();
    for error in errors.iter().take(DIAGNOSTICS) {
        let place = match (&error.path, error.position) {
            (Some(path), Some(at)) => format!("{path}:{}:{}: ", at.line, at.column),
            (Some(path), None) => format!("{path}: "),
            (None, _) => String::new(),
        };
        let _ = writeln!(text, "{place}error[{}]: {}", error.code, error.message.replace('\n', " "));
    }
    if errors.len() > DIAGNOSTICS {
        let _ = writeln!(text, "and {} more errors: `fleetwright check` shows them", errors.len() - DIAGNOSTICS);
    }
    text
}

impl Planned {
    /// As the repository takes it.
    #[must_use]
    pub fn commit(&self, branch: &str) -> NewCommit {
        let keeps_pin = self.tip.clone().filter(|_| !self.moves_pin);
        NewCommit {
            branch: branch.into(),
            tip: self.tip.clone(),
            merges: self.moves_pin.then(|| self.main.clone()),
            from_tip: if keeps_pin.is_some() { BTreeSet::new() } else { RECORD_FOLDERS.map(SmolStr::from).into() },
            base: Some(keeps_pin.unwrap_or_else(|| self.main.clone())),
            edits: self.edits.clone(),
            message: self.message.clone(),
            author: self.person.clone(),
            time_secs: self.time_secs,
        }
    }

    /// The first line of the message.
    #[must_use]
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}
