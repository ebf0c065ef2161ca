//! The turn of one app: decided, held against the quota, and taken or left.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Share};
use crate::schedule::Deficit;
use crate::schedule::decide::{Decision, Mode, decide};
use crate::schedule::select::{Class, Failure};
use crate::schedule::stage::Stage;
use crate::schedule::state::{AppState, Row, Weights, WorkloadState, by_cluster, total};
use crate::schedule::view::{bounds, is_daemon};

use super::Open;
use super::open::breach;

/// Decides an app. Its rows are booked before and after.
pub(super) fn take(stage: &mut Stage<'_, '_>, id: AppId, why: Open) {
    let app = stage.view.fleet.app(id);
    stage.look_around(id);
    let before = stage.apps[id.index()].clone();
    let settled: Vec<u32> = (0..app.workloads.len()).map(|w| stays(stage, id, w)).collect();
    let entered = stage.entered.get(&id).cloned().unwrap_or_else(|| before.clone());
    let used = stage.usage_of(id, &entered);

    let may_stay = may_stay(stage, id);
    let mut decision = decide_at_home(stage, id, Mode::Full);
    let fewer = decision.placed.iter().zip(&settled).any(|(now, stays)| now < stays);
    if may_stay && (fewer || leaves(&before, &decision.state)) {
        decision = or_stays(stage, id, &before, decision);
    }
    let mut wants = stage.usage_of(id, &decision.state);
    let refused = stage.usage.refuses(stage.view.fleet, app, &used, &wants);
    if refused.is_some() {
        stage.rebook(id, &decision.state, &before);
        stage.apps[id.index()] = before.clone();
        decision = decide_tiers(stage, id, Mode::NoIncrease);
        wants = stage.usage_of(id, &decision.state);
        // As many replicas as before may still ask for more elsewhere: of the quota of a single cluster, of objects, or where
        // an override writes another number or larger pods. Then they stay where they are, and those too many leave.
        let still = stage.usage.refuses(stage.view.fleet, app, &used, &wants).is_some();
        if still && holds_too_many(stage, id, &before) {
            stage.rebook(id, &decision.state, &before);
            stage.apps[id.index()] = before.clone();
            decision = decide_tiers(stage, id, Mode::NothingNew);
            wants = stage.usage_of(id, &decision.state);
        } else if still {
            stage.rebook(id, &decision.state, &before);
            decision.state = AppState { known: true, ..before.clone() };
            decision.placed.clone_from(&settled);
            wants = stage.usage_of(id, &before);
        }
    }
    let gains = measure(stage, id, &decision.state, &decision.placed) > measure(stage, id, &before, &settled);
    let in_vain = why.only_spread && misses(stage, id, &decision.state) >= misses(stage, id, &before);
    if (!why.must || in_vain) && !gains {
        stage.rebook(id, &decision.state, &before);
        decision.state = before;
        decision.placed = settled;
        wants = used.clone();
    }
    stage.usage.replace(app, &used, &wants);
    stage.deficits[id.index()] = deficits(stage, id, &decision, refused);
    stage.apps[id.index()] = decision.state;
    stage.look_around(id);
}

/// Whether an app of several workloads, whose clusters are limited and whose intent is what it was, may as well stay. All of it
/// goes where more of it fits, and how much fits is only known once each workload has its place there.
fn may_stay(stage: &Stage<'_, '_>, id: AppId) -> bool {
    let (app, state) = (stage.view.fleet.app(id), &stage.apps[id.index()]);
    let limited = app.placement.spread.iter().any(|spread| spread.max.is_some());
    let same = || state.workloads.iter().all(|workload| workload.weights == Weights::Same);
    limited && app.workloads.len() > 1 && state.known && same()
}

/// Whether a workload is to leave a cluster altogether. What gives up only some there, for a floor elsewhere, goes on.
fn leaves(before: &AppState, now: &AppState) -> bool {
    before.workloads.iter().zip(&now.workloads).any(|(before, now)| {
        let stays = |cluster: ClusterId| now.rows.iter().any(|row| row.cluster == cluster);
        before.rows.iter().any(|row| !stays(row.cluster))
    })
}

/// The decision, or what stays where it is if that is as much: or else two places that hold as much would take turns.
fn or_stays(stage: &mut Stage<'_, '_>, id: AppId, before: &AppState, decision: Decision) -> Decision {
    stage.rebook(id, &decision.state, before);
    stage.apps[id.index()] = before.clone();
    let stays = decide_tiers(stage, id, Mode::NothingNew);
    stage.look_around(id);
    let worth = |stage: &Stage<'_, '_>, of: &Decision| {
        (Reverse(misses(stage, id, &of.state)), measure(stage, id, &of.state, &of.placed))
    };
    if worth(stage, &stays) >= worth(stage, &decision) {
        return stays;
    }
    stage.rebook(id, &stays.state, &decision.state);
    decision
}

/// By how many groups a state misses the spread of its app.
fn misses(stage: &Stage<'_, '_>, id: AppId, state: &AppState) -> u32 {
    let clusters =
        |workload: &WorkloadState| by_cluster(&workload.rows).into_iter().map(|(cluster, _)| cluster).collect();
    let in_use: Vec<Vec<ClusterId>> = state.workloads.iter().map(clusters).collect();
    breach(stage, id, &state.clusters, &in_use)
}

/// Decides an app where its group gathers, if that is to move it: only as a whole, else the next place is tried. Of every
/// other app it is the decision in its tiers.
fn decide_at_home(stage: &mut Stage<'_, '_>, id: AppId, mode: Mode) -> Decision {
    let before = stage.apps[id.index()].clone();
    let ran: Vec<u32> = before.workloads.iter().map(|workload| total(&workload.rows)).collect();
    loop {
        let home = stage.settle_home(id);
        stage.look_around(id);
        let decision = decide_tiers(stage, id, mode);
        let Some(home) = home else { return decision };
        let inside = decision.state.workloads.iter().flat_map(|w| &w.rows).all(|row| home.contains(row.cluster));
        let wanted: Vec<u32> = stage.view.fleet.app(id).workloads.iter().map(|workload| workload.replicas).collect();
        let whole = ran.iter().zip(&wanted).zip(&decision.placed).all(|((ran, wanted), now)| *now >= *wanted.min(ran));
        // Nobody gathers around one that finds no place there itself.
        let nowhere = wanted.iter().any(|wanted| *wanted > 0) && decision.placed.iter().all(|now| *now == 0);
        if inside && whole && !nowhere {
            return decision;
        }
        stage.rebook(id, &decision.state, &before);
        stage.apps[id.index()] = before.clone();
        stage.unfit.push((id, home));
    }
}

/// Decides an app in each of its tiers: in the one that it is in, then in all in order. The first that holds all of it is
/// taken, else the one that holds most. An app whose data keeps it stays in its tier.
fn decide_tiers(stage: &mut Stage<'_, '_>, id: AppId, mode: Mode) -> Decision {
    let Some(tiers) = stage.view.fleet.app(id).placement.first_fit() else { return decide(stage, id, mode) };
    let before = stage.apps[id.index()].clone();
    let holds_data = |stage: &Stage<'_, '_>| {
        let states = before.workloads.iter().enumerate();
        before.tier.is_some() && states.into_iter().any(|(w, s)| !s.rows.is_empty() && stage.view.is_bound(id, w))
    };
    let all = 0..u16::try_from(tiers.len()).unwrap_or(u16::MAX);
    let others: Vec<u16> =
        if holds_data(stage) { Vec::new() } else { all.filter(|at| Some(*at) != before.tier).collect() };
    let mut best: Option<(u64, u16)> = None;
    for tier in before.tier.into_iter().chain(others) {
        let decision = decide_in(stage, id, mode, tier);
        if decision.complete {
            return decision;
        }
        let placed = decision.placed.iter().map(|n| u64::from(*n)).sum();
        if best.is_none_or(|(most, _)| placed > most) {
            best = Some((placed, tier));
        }
        stage.rebook(id, &decision.state, &before);
        stage.apps[id.index()] = before.clone();
    }
    match best {
        Some((_, tier)) => decide_in(stage, id, mode, tier),
        None => decide(stage, id, mode),
    }
}

fn decide_in(stage: &mut Stage<'_, '_>, id: AppId, mode: Mode, tier: u16) -> Decision {
    stage.apps[id.index()].tier = Some(tier);
    stage.look_around(id);
    decide(stage, id, mode)
}

/// Whether more runs of a workload than is wanted, or than a cluster may have.
fn holds_too_many(stage: &Stage<'_, '_>, id: AppId, state: &AppState) -> bool {
    state.workloads.iter().enumerate().any(|(workload, state)| {
        let w = stage.view.workload(id, workload);
        let copied = w.share == Share::Everywhere && !is_daemon(w);
        let exceeds = |(cluster, replicas): &(ClusterId, u32)| {
            (copied && *replicas > w.replicas) || bounds(w, *cluster).max.is_some_and(|max| *replicas > max)
        };
        (w.share != Share::Everywhere && total(&state.rows) > w.replicas) || by_cluster(&state.rows).iter().any(exceeds)
    })
}

/// Replicas of a workload that are where they should be.
fn stays(stage: &mut Stage<'_, '_>, id: AppId, workload: usize) -> u32 {
    stage.held(id, workload).iter().fold(0, |sum, (_, held)| sum.saturating_add(held.stays))
}

/// What more of it is worth a change: replicas, and clusters for what is copied.
fn measure(stage: &Stage<'_, '_>, id: AppId, state: &AppState, placed: &[u32]) -> (u64, usize) {
    let copies = if stage.view.app(id).class == Class::Duplicated { state.clusters.len() } else { 0 };
    (placed.iter().map(|n| u64::from(*n)).sum(), copies)
}

fn deficits(stage: &Stage<'_, '_>, id: AppId, decision: &Decision, refused: Option<Deficit>) -> Vec<Deficit> {
    let mut deficits = Vec::new();
    let spread = decision.failure.and_then(|failure| spread_deficit(stage, id, failure));
    let quiet = refused.is_some() || spread.is_some();
    for (workload, placed) in decision.placed.iter().enumerate() {
        let w = stage.view.workload(id, workload);
        if is_daemon(w) {
            continue;
        }
        let number = u16::try_from(workload).unwrap_or(u16::MAX);
        if decision.no_weight.contains(&workload) {
            deficits.push(Deficit::NoWeightMatches { workload: number });
        }
        let displaced = stage.displaced_in_all.get(&(id, workload)).copied().unwrap_or(0);
        let rows = &decision.state.workloads[workload].rows;
        let missing = match w.share {
            Share::Divided | Share::Whole if quiet => total(rows).saturating_sub(*placed),
            Share::Divided | Share::Whole => w.replicas.saturating_sub(*placed),
            Share::Everywhere if quiet => 0,
            Share::Everywhere => missing_copies(rows, w.replicas),
        };
        if missing > 0 {
            let displaced = displaced.min(missing);
            deficits.push(Deficit::Unplaced { workload: number, replicas: missing, wanted: w.replicas, displaced });
        }
    }
    match spread {
        Some(spread) => deficits.push(spread),
        None => deficits.extend(unspread(stage, id, &decision.state)),
    }
    deficits.extend(decision.refused_there.iter().cloned());
    deficits.extend(refused);
    deficits.sort();
    deficits.dedup();
    deficits
}

/// What old copies lack, or one whole copy if no cluster has any.
fn missing_copies(rows: &[Row], wanted: u32) -> u32 {
    let copies = by_cluster(rows);
    if copies.is_empty() {
        return wanted;
    }
    copies.iter().fold(0, |sum, (_, n)| sum.saturating_add(wanted.saturating_sub(*n)))
}

fn spread_deficit(stage: &Stage<'_, '_>, id: AppId, failure: Failure) -> Option<Deficit> {
    let spread = &stage.view.fleet.app(id).placement.spread;
    let of = |constraint: usize, have: u32, min: u32| {
        let key = spread.get(constraint)?.key.as_str();
        Some(Deficit::Spread { topology_key: key.into(), have, min, greedy: false })
    };
    match failure {
        Failure::NoCandidates | Failure::TooLittleRoom { .. } => None,
        // Fewer replicas than groups: what can hold one is also no more than there are groups.
        Failure::TooFewReplicas { constraint, replicas, min } => {
            let key = &spread.get(constraint)?.key;
            let candidates = stage.view.fleet.app(id).placement.candidates.iter();
            let groups: BTreeSet<u32> = candidates.filter_map(|cluster| stage.view.group(key, cluster)).collect();
            of(constraint, replicas.min(u32::try_from(groups.len()).unwrap_or(u32::MAX)), min)
        }
        Failure::TooFewGroups { constraint, have, min } => of(constraint, have, min),
        Failure::NoFeasibleSet | Failure::SpreadNotFound => {
            let first = spread.iter().max_by_key(|spread| spread.min)?;
            let groups = first.min;
            let greedy = failure == Failure::SpreadNotFound;
            Some(Deficit::Spread { topology_key: first.key.as_str().into(), have: groups, min: groups, greedy })
        }
    }
}

/// Constraints that a set was found for, and that a workload does not meet all the same: it has no room in the groups, or
/// may not use them.
fn unspread(stage: &Stage<'_, '_>, id: AppId, state: &AppState) -> Vec<Deficit> {
    let app = stage.view.fleet.app(id);
    let mut deficits = Vec::new();
    for spread in &app.placement.spread {
        let groups = app.workloads.iter().zip(&state.workloads).filter_map(|(workload, state)| {
            let mut groups: Vec<u32> =
                state.rows.iter().filter_map(|row| stage.view.group(&spread.key, row.cluster)).collect();
            groups.sort_unstable();
            groups.dedup();
            let large = workload.share == Share::Divided && workload.replicas >= spread.min;
            (large && !state.rows.is_empty()).then_some(u32::try_from(groups.len()).unwrap_or(u32::MAX))
        });
        if let Some(have) = groups.min().filter(|have| *have < spread.min) {
            let topology_key = spread.key.as_str().into();
            deficits.push(Deficit::Spread { topology_key, have, min: spread.min, greedy: false });
        }
    }
    deficits
}

/// Books the DaemonSets of an app where its turn will put them, as far as can be told now.
pub(super) fn book_daemons_ahead(stage: &mut Stage<'_, '_>, id: AppId) -> AppState {
    let before = stage.apps[id.index()].clone();
    let decision = decide_tiers(stage, id, Mode::Full);
    stage.rebook(id, &decision.state, &before);
    stage.apps[id.index()] = before.clone();
    stage.look_around(id);
    let mut ahead = AppState { workloads: before.workloads.clone(), ..AppState::default() };
    for (workload, state) in ahead.workloads.iter_mut().enumerate() {
        let decided = &decision.state.workloads[workload].rows;
        let is_daemon = is_daemon(stage.view.workload(id, workload));
        state.rows = if is_daemon {
            decided.iter().filter(|row| !state.rows.contains(row)).copied().collect()
        } else {
            Vec::new()
        };
        stage.book(id, workload, &state.rows);
    }
    ahead
}

/// Books the DaemonSets of the apps that go where this one goes, if it is the first of its group: in every cluster it may come
/// to and they are not in, for they shrink the nodes of whichever it takes. `ahead` is booked of them already.
pub(super) fn book_daemons_of_followers(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    ahead: &[(AppId, AppState)],
) -> Vec<(AppId, AppState)> {
    let Some(group) = stage.view.together.of(id).filter(|group| group.members.first() == Some(&id)) else {
        return Vec::new();
    };
    stage.look_around(id);
    let clusters = stage.fresh(id);
    let mut booked = Vec::new();
    for follower in group.members.iter().copied().filter(|member| *member != id) {
        let ahead = ahead.iter().find(|(other, _)| *other == follower).map(|(_, ahead)| ahead);
        let mut state = AppState { workloads: stage.apps[follower.index()].workloads.clone(), ..AppState::default() };
        for (workload, of) in state.workloads.iter_mut().enumerate() {
            let there = std::mem::take(&mut of.rows);
            if is_daemon(stage.view.workload(follower, workload)) {
                let there: ClusterSet = there
                    .iter()
                    .chain(ahead.into_iter().flat_map(|ahead| &ahead.workloads[workload].rows))
                    .map(|row| row.cluster)
                    .collect();
                let comes = |cluster: &ClusterId| stage.view.allows(follower, workload, *cluster);
                let row = |cluster| Row { cluster, pool: None, replicas: 1 };
                of.rows = clusters.without(&there).iter().filter(comes).map(row).collect();
                stage.book(follower, workload, &of.rows);
            }
        }
        booked.push((follower, state));
    }
    booked
}

/// Takes them back before the turn.
pub(super) fn unbook_daemons_ahead(stage: &mut Stage<'_, '_>, id: AppId, ahead: &AppState) {
    for (workload, state) in ahead.workloads.iter().enumerate() {
        stage.unbook(id, workload, &state.rows);
    }
}
