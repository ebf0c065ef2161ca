//! What is deleted: only what an inventory lists and nobody wants any more, and only behind its guards.
//!
//! Invariants: nothing is a candidate but entries of inventories that were read; a kind that could not be observed keeps its
//! objects; a set that is too large goes as a whole or not at all; whoever executes a deletion looks at the object first
//! and names its UID.

use std::collections::BTreeMap;

use super::budget::deletion_hash;
use super::decide::{Pass, Step, Todos, not_current};
use super::floor::may_lower;
use super::hold::{Held, Hold};
use super::inventory::{AppName, Entry, NAMESPACE, applyset_id, generated_namespaces};
use super::live::LiveObject;
use super::order::Round;
use super::view::{Mode, View};
use crate::cluster::{GroupKind, Key};

/// An entry that nobody wants any more, and may go once its budget and its order allow.
struct Doomed<'a> {
    app: &'a AppName,
    key: &'a Key,
    entry: &'a Entry,
    round: Round,
    /// Never without an approval.
    precious: bool,
    /// A move, which no budget counts.
    moved: bool,
    /// What it waits for, budget aside.
    waits: Option<Hold>,
}

/// Kinds that hold data or other objects.
fn is_precious(kind: &GroupKind) -> bool {
    matches!(
        (kind.group.as_str(), kind.kind.as_str()),
        ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("", "Namespace" | "PersistentVolume" | "PersistentVolumeClaim")
    )
}

fn is_system(key: &Key) -> bool {
    let name = key.name.as_str();
    key.kind.is("", "Namespace") && (name == "default" || name.starts_with("kube-") || name == NAMESPACE)
}

/// The objects that would be deleted if no budget stood in the way, ascending: what a budget over all clusters sums up.
#[must_use]
pub fn doomed(view: &View<'_>) -> Vec<Key> {
    let todos = super::decide::todos(view);
    let (mut doomed, _) = candidates(view, &todos, &mut Vec::new());
    doomed.retain(|d| !d.moved && !d.entry.going);
    doomed.into_iter().map(|d| d.key.clone()).collect()
}

/// Adds what is pruned to a pass.
pub(super) fn prune(view: &View<'_>, todos: &Todos<'_>, pass: &mut Pass) {
    let (doomed, forget) = candidates(view, todos, &mut pass.held);
    for (app, key) in forget {
        pass.steps.push(Step::Forget { app: app.clone(), key: key.clone() });
    }
    let verdicts = budget(view, &doomed);
    // What is still there of each app, and whether it may go.
    let mut present: BTreeMap<&AppName, Vec<(Round, &Key, bool)>> = BTreeMap::new();
    for (item, verdict) in doomed.iter().zip(&verdicts) {
        if view.live.get(item.key).is_some() {
            present.entry(item.app).or_default().push((item.round, item.key, verdict.is_ok()));
        }
    }
    for (item, verdict) in doomed.iter().zip(&verdicts) {
        let hold = |why: Hold| Held { app: item.app.clone(), key: item.key.clone(), why };
        if let Err(why) = verdict {
            pass.held.push(hold(why.clone()));
            continue;
        }
        pass.going.entry(item.app.clone()).or_default().insert(item.key.clone());
        if let Some(why) = &item.waits {
            pass.held.push(hold(why.clone()));
            continue;
        }
        // What uses an object goes before it. Of what is kept for want of an approval, workloads alone keep what they use.
        let mut others = present.get(item.app).into_iter().flatten();
        let later = others.find(|(round, _, goes)| *round > item.round && (*goes || *round == Round::Workloads));
        if let Some((_, later, _)) = later {
            pass.held.push(hold(Hold::UntilUserGone((*later).clone())));
            continue;
        }
        if let Some(failure) = view.failure(item.key, None) {
            pass.held.push(hold(Hold::Failed { error: failure.error.clone(), retry_secs: failure.retry_secs }));
            continue;
        }
        let only_empty = item.round == Round::Foundations;
        pass.steps.push(Step::Prune { app: item.app.clone(), key: item.key.clone(), only_empty });
    }
}

/// Entries that nobody wants: those that may go, and those to strike out. What is kept for good is reported.
fn candidates<'a>(
    view: &View<'a>,
    todos: &Todos<'_>,
    held: &mut Vec<Held>,
) -> (Vec<Doomed<'a>>, Vec<(&'a AppName, &'a Key)>) {
    let mut doomed: Vec<Doomed<'a>> = Vec::new();
    let mut forget = Vec::new();
    // Workloads that stay for now, by app: what they use, and what leads to them, stays with them.
    let mut staying: BTreeMap<&AppName, &Key> = BTreeMap::new();
    for (app, stored) in view.book {
        if view.rules.unrecorded.contains(app) {
            let keys = stored.inventory.objects.keys();
            held.extend(keys.map(|key| Held { app: app.clone(), key: key.clone(), why: Hold::Unrecorded }));
            continue;
        }
        for (key, entry) in &stored.inventory.objects {
            match view.desired.owner(key) {
                Some(owner) if owner == app => continue,
                Some(owner) => {
                    let theirs = view.book.get(owner).and_then(|s| s.inventory.objects.get(key));
                    if theirs.is_some_and(|entry| entry.uid.is_some()) {
                        forget.push((app, key));
                    }
                    continue;
                }
                // Never deleted with an app, and nothing that anybody waits for.
                None if *app == generated_namespaces() && view.live.get(key).is_some() => continue,
                None => {}
            }
            if !view.served.has(&key.kind) {
                if view.served.unknown_groups.contains(&key.kind.group) {
                    let why =
                        Hold::NotSeen { kind: key.kind.clone(), why: "its API service does not answer".to_owned() };
                    held.push(Held { app: app.clone(), key: key.clone(), why });
                } else {
                    forget.push((app, key));
                }
                continue;
            }
            let live = view.live.get(key);
            // One whose kind cannot be seen may run all the same.
            let may_run = live.is_some_and(|live| live.workload.is_some())
                || !view.live.knows(&key.kind) && Round::of(&key.kind) == Round::Workloads;
            let waits = match fate(view, todos, app, key, entry, live) {
                Fate::Keep(why) => {
                    if may_run {
                        staying.insert(app, key);
                    }
                    held.push(Held { app: app.clone(), key: key.clone(), why });
                    continue;
                }
                Fate::Wait(why) => Some(why),
                Fate::Go => None,
            };
            if waits.is_some() && may_run {
                staying.insert(app, key);
            }
            let moved = view.intents.objects.contains(key) && view.rules.moved.contains(app);
            let round = Round::of(&key.kind);
            doomed.push(Doomed { app, key, entry, round, precious: is_precious(&key.kind), moved, waits });
        }
    }
    for item in &mut doomed {
        if let (None, Some(workload)) = (&item.waits, staying.get(item.app))
            && *workload != item.key
        {
            item.waits = Some(Hold::UntilUserGone((*workload).clone()));
        }
    }
    (doomed, forget)
}

/// What becomes of an entry that nobody wants.
enum Fate {
    /// It stays for good.
    Keep(Hold),
    /// It goes, later.
    Wait(Hold),
    /// It goes.
    Go,
}

fn fate(
    view: &View<'_>,
    todos: &Todos<'_>,
    app: &AppName,
    key: &Key,
    entry: &Entry,
    live: Option<&LiveObject>,
) -> Fate {
    if is_system(key) {
        return Fate::Keep(Hold::System);
    }
    if !view.live.knows(&key.kind) {
        return Fate::Keep(view.not_seen(&key.kind));
    }
    let still_here = view.desired.apps().get(app);
    if still_here.is_some_and(|app| app.keep_removed) {
        return Fate::Keep(Hold::PruneOff);
    }
    let placement_only = view.intents.objects.contains(key);
    if (placement_only && is_precious(&key.kind)) || *app == generated_namespaces() {
        return Fate::Keep(Hold::NeverByPlacement);
    }
    let Some(live) = live else { return Fate::Go };
    if live.protected {
        return Fate::Keep(Hold::Protected);
    }
    let ours = match &entry.uid {
        Some(uid) => *uid == live.uid,
        None => live.part_of.as_deref() == Some(applyset_id(app).as_str()),
    };
    if !ours {
        return Fate::Keep(Hold::AnotherObject);
    }
    if live.deleting {
        return Fate::Wait(Hold::Going);
    }
    if placement_only && !view.may_lower_anyway(app) && live.workload.is_some() {
        let floor = view.floors.get(key);
        if let Err((ready, needed)) = may_lower(floor, live, 0) {
            return Fate::Wait(view.lowering(app, ready, needed));
        }
        let elsewhere = floor.copied().unwrap_or_default();
        if view.rules.quarantined && elsewhere.ready_elsewhere < elsewhere.needed {
            return Fate::Wait(view.lowering(app, elsewhere.ready_elsewhere, elsewhere.needed));
        }
    }
    if view.rules.mode == Mode::Apply
        && let Some(app) = still_here
        && let Some(key) = app.objects.keys().find(|key| not_current(view, todos, key).is_some())
    {
        return Fate::Wait(Hold::UntilReplaced(key.clone()));
    }
    Fate::Go
}

/// Which of the doomed may go: those let through before, moves, and what budget and approvals allow.
fn budget(view: &View<'_>, doomed: &[Doomed<'_>]) -> Vec<Result<(), Hold>> {
    let asks = |item: &&Doomed<'_>| !item.entry.going;
    let ordinary: Vec<&Doomed<'_>> = doomed.iter().filter(|d| asks(d) && !d.precious && !d.moved).collect();
    let precious: Vec<&Doomed<'_>> = doomed.iter().filter(|d| asks(d) && d.precious).collect();
    let hash =
        |sets: &[&[&Doomed<'_>]]| deletion_hash(sets.iter().copied().flatten().map(|d| (view.cluster_uid, d.key)));
    let approved = |hash: &str| view.approvals.has(hash, view.now_secs);
    let total = view.book.values().map(|stored| stored.inventory.objects.len()).sum();
    let allowed = view.rules.budget.allows(total);
    let all = hash(&[&ordinary, &precious]);
    let fleet = match &view.rules.fleet_stop {
        Some(stop) if !approved(&stop.hash) => {
            Some(Hold::NeedsApproval { hash: stop.hash.clone(), objects: stop.objects, allowed: stop.allowed })
        }
        Some(_) | None => None,
    };
    let verdict = |set: &[&Doomed<'_>], within: usize| {
        let own = hash(&[set]);
        if approved(&all) || approved(&own) {
            return Ok(());
        }
        if let Some(stop) = &fleet {
            return Err(stop.clone());
        }
        if set.len() <= within {
            Ok(())
        } else {
            Err(Hold::NeedsApproval { hash: own, objects: set.len(), allowed: within })
        }
    };
    let (ordinary, precious) = (verdict(&ordinary, allowed), verdict(&precious, 0));
    doomed
        .iter()
        .map(|d| match (d.entry.going, d.precious, d.moved) {
            (true, _, _) | (_, false, true) => Ok(()),
            (false, true, _) => precious.clone(),
            (false, false, false) => ordinary.clone(),
        })
        .collect()
}
