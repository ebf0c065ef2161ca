//! What nodes there are and what others use of them, recorded where it differs noticeably from what is recorded.
//!
//! At most one commit in ten minutes for the whole fleet, so that autoscalers do not fill the history; of the clusters of
//! one, those that would cost replicas are left out ([`affordable`](crate::decide)), and looked at again after as long, so that
//! finding them does not cost its compiles in every tick; others do not wait for that. A cluster that does not answer, or whose nodes could not be read,
//! keeps what is recorded.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::quantity::{Quantity, amount, amount_text};
use fleetwright_compiler::base::{Resources, SmolStr, Span, Spanned};
use fleetwright_compiler::placements::{CapacityDoc, OwnerDoc, PoolDoc};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{PathError, RepoPath};

use crate::commit::Cause;
use crate::decide::{DecideError, Intents, Live, Proposal, Report, Urgency, View, clock, key};
use crate::instant;
use crate::observation::{Answers, ClusterSeen, PoolSeen};

/// The least time between two commits, and between two looks at what was refused.
const EVERY_SECS: i64 = 600;
/// Use by others that changes by less of a pool than this is not worth a commit, in per cent.
const THRESHOLD_PERCENT: i128 = 5;

/// One commit for all clusters whose capacity differs noticeably.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Option<Proposal>, DecideError> {
    let (Some(live), Some(current), Some(observation)) =
        (&view.situation.live, view.current, view.situation.observation)
    else {
        return Ok(None);
    };
    let now = view.situation.now_secs;
    let mut record = live.record.clone();
    let mut changed = Vec::new();
    let mut due = Vec::new();
    for cluster in &current.fleet.clusters {
        let Some(seen) = observation.clusters.get(&cluster.name) else { continue };
        let Some(doc) = document(seen) else { continue };
        let recorded = live.state.capacities.get(&cluster.name);
        if doc.pools.iter().all(|pool| pool.nodes == 0) && recorded.is_none_or(has_nodes) {
            // A list that came back empty looks the same as a cluster that lost all its nodes, and costs every app there.
            reports.push(Report::new(
                Urgency::Guarded,
                format!(
                    "cluster {} answers and shows no node that is Ready and may be scheduled to: its capacity stays as it is \
                     recorded, and nothing leaves it. If that is so for long, `fleetwright drain {}`",
                    cluster.name, cluster.name
                ),
            ));
            continue;
        }
        if recorded.is_none_or(|recorded| differs(recorded, &doc)) {
            if let Some(refusal) = view.situation.refusals.and_then(|refusals| refusals.clusters.get(&cluster.name)) {
                let report = Report::new(Urgency::Guarded, refusal.text.as_str());
                let age_secs = now.saturating_sub(refusal.at_secs);
                if (0..EVERY_SECS).contains(&age_secs) {
                    // It alone: what others show does not wait for it.
                    reports.push(report);
                    continue;
                }
                // It is looked at again, unless a commit was made since: then after that commit's time.
                if (0..EVERY_SECS.saturating_mul(2)).contains(&age_secs) {
                    due.push(report);
                }
            }
            record.put_state(path(&cluster.name)?, &doc);
            changed.push(cluster.name.as_str());
        }
    }
    let of_capacity =
        |c: &&crate::commit::LiveCommit| c.trailers.as_ref().is_some_and(|trailers| trailers.cause == Cause::Capacity);
    let last = live.history.iter().find(of_capacity);
    if changed.is_empty() {
        return Ok(None);
    }
    if last.is_some_and(|last| now.saturating_sub(last.time_secs) < EVERY_SECS) {
        reports.extend(due);
        return Ok(None);
    }
    if let Some(report) = clock::distrust(view) {
        reports.push(report);
        return Ok(None);
    }
    Ok(Some(Proposal {
        cause: Cause::Capacity,
        key: Some(key(Cause::Capacity, &[&instant::text(now)])),
        steps: Vec::new(),
        subject: subject(&changed),
        body: String::new(),
        intents: Intents::Live,
        record,
        scenario: Scenario::default(),
        only: None,
        person: None,
    }))
}

fn path(cluster: &str) -> Result<RepoPath, PathError> {
    RepoPath::new(&format!("state/capacity/{cluster}.yaml"))
}

fn subject(clusters: &[&str]) -> String {
    format!("Record the capacity of {}", crate::decide::some_of(clusters))
}

/// The clusters whose capacity a proposal records, ascending.
pub(in crate::decide) fn clusters(live: &Live<'_>, proposal: &Proposal) -> Vec<SmolStr> {
    let edits = proposal.record.edits_since(&live.record);
    let name = |path: &RepoPath| {
        let name = path.as_str().strip_prefix("state/capacity/")?.strip_suffix(".yaml")?;
        Some(SmolStr::new(name))
    };
    edits.keys().filter_map(name).collect()
}

/// The same for some of its clusters alone.
pub(in crate::decide) fn of_clusters(live: &Live<'_>, proposal: &Proposal, clusters: &[SmolStr]) -> Proposal {
    let mut record = live.record.clone();
    for path in clusters.iter().filter_map(|cluster| path(cluster).ok()) {
        if let Some(bytes) = proposal.record.get(&path) {
            record.put(path, bytes.to_vec());
        }
    }
    let names: Vec<&str> = clusters.iter().map(SmolStr::as_str).collect();
    Proposal { subject: subject(&names), record, ..proposal.clone() }
}

fn has_nodes(recorded: &CapacityDoc) -> bool {
    recorded.pools.iter().any(|pool| pool.nodes > 0)
}

/// What is to be recorded of a cluster; `None` where its nodes were not read.
fn document(seen: &ClusterSeen) -> Option<CapacityDoc> {
    let Answers::Yes { .. } = seen.answers else { return None };
    let mut pools: Vec<PoolDoc> = seen.capacity.as_ref()?.iter().map(pool).collect();
    pools.sort_by(|a, b| a.name.value.cmp(&b.name.value));
    Some(CapacityDoc { uid: seen.uid.clone(), pools })
}

/// Amounts as the record writes them.
type Quantities = BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>;

fn pool(seen: &PoolSeen) -> PoolDoc {
    let others = seen.others.iter().filter(|(_, requests)| !requests.is_empty());
    PoolDoc {
        name: Spanned::new(seen.name.clone(), Span::default()),
        nodes: seen.nodes,
        allocatable: quantities(&seen.allocatable),
        others: others
            .map(|(owner, requests)| OwnerDoc { owner: owner.clone(), requests: quantities(requests) })
            .collect(),
    }
}

fn quantities(resources: &Resources) -> Quantities {
    // What amount_text writes is a quantity, and one of what Kubernetes counts is read again.
    let quantity = |(name, amount): (&SmolStr, i128)| {
        let amount = amount.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        let quantity: Quantity = amount_text(name, amount).parse().ok()?;
        Some((Spanned::new(name.clone(), Span::default()), Spanned::new(quantity, Span::default())))
    };
    resources.iter().filter_map(quantity).collect()
}

/// Whether two records of a cluster differ by more than others' everyday comings and goings.
fn differs(recorded: &CapacityDoc, seen: &CapacityDoc) -> bool {
    let pools = |doc: &CapacityDoc| doc.pools.iter().map(|p| (p.name.value.clone(), p.clone())).collect();
    let (before, after): (BTreeMap<SmolStr, PoolDoc>, BTreeMap<SmolStr, PoolDoc>) = (pools(recorded), pools(seen));
    recorded.uid != seen.uid
        || before.len() != after.len()
        || after.iter().any(|(name, after)| before.get(name).is_none_or(|before| pool_differs(before, after)))
}

fn pool_differs(before: &PoolDoc, after: &PoolDoc) -> bool {
    let amounts = |of: &Quantities| -> BTreeMap<SmolStr, i128> {
        of.iter().map(|(name, quantity)| (name.value.clone(), amount(name, quantity))).collect()
    };
    let used = |doc: &PoolDoc| {
        let mut sum: BTreeMap<SmolStr, i128> = BTreeMap::new();
        for (name, amount) in doc.others.iter().flat_map(|owner| amounts(&owner.requests)) {
            let entry = sum.entry(name).or_default();
            *entry = entry.saturating_add(amount);
        }
        sum
    };
    if before.nodes != after.nodes || amounts(&before.allocatable) != amounts(&after.allocatable) {
        return true;
    }
    let (was, is, of_one) = (used(before), used(after), amounts(&after.allocatable));
    let names: BTreeSet<&SmolStr> = was.keys().chain(is.keys()).collect();
    names.into_iter().any(|name| {
        let get = |of: &BTreeMap<SmolStr, i128>| of.get(name).copied().unwrap_or(0);
        let pool = get(&of_one).saturating_mul(i128::from(after.nodes));
        let change = get(&is).saturating_sub(get(&was)).saturating_abs();
        change.saturating_mul(100) > pool.saturating_mul(THRESHOLD_PERCENT)
    })
}
