//! The rows of one workload between two placements.

use std::collections::BTreeMap;

use super::Fits;
use crate::base::SmolStr;
use crate::placements::{PlacedSeat, PlacedWorkload};

/// Where replicas are to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row<'a> {
    /// The workload's key.
    pub workload: &'a SmolStr,
    /// The cluster.
    pub cluster: &'a SmolStr,
    /// The pool, where the record tells them apart.
    pub pool: Option<&'a SmolStr>,
}

type Place<'a> = (&'a SmolStr, Option<&'a SmolStr>);

/// One row now and at the end.
struct Between<'a> {
    now: Option<&'a PlacedSeat>,
    target: Option<&'a PlacedSeat>,
}

impl Between<'_> {
    fn now(&self) -> u32 {
        self.now.map_or(0, |seat| seat.replicas)
    }

    fn target(&self) -> u32 {
        self.target.map_or(0, |seat| seat.replicas)
    }

    /// The row with so many replicas, which lie between the two. What else it counts lies there in proportion.
    fn at(&self, (cluster, pool): Place<'_>, replicas: u32) -> PlacedSeat {
        let (from, to) = (self.now(), self.target());
        let share = |from_value: u32, to_value: u32| {
            if replicas == to {
                return to_value;
            }
            // from != to, or replicas would be both
            let (part, whole) = (u64::from(replicas.abs_diff(from)), u64::from(to.abs_diff(from)).max(1));
            let change = u64::from(to_value.abs_diff(from_value)) * part / whole;
            let change = u32::try_from(change).unwrap_or(u32::MAX);
            if to_value > from_value { from_value.saturating_add(change) } else { from_value.saturating_sub(change) }
        };
        let bounds = |seat: Option<&PlacedSeat>| seat.and_then(|seat| seat.bounds);
        let completions = |seat: Option<&PlacedSeat>| seat.and_then(|seat| seat.completions);
        let both = |is_some: bool, from: u32, to: u32| is_some.then(|| share(from, to));
        let (b, e) = (bounds(self.now), bounds(self.target));
        let (was, will) = (b.unwrap_or((0, 0)), e.unwrap_or((0, 0)));
        let any = b.is_some() || e.is_some();
        let (c, d) = (completions(self.now), completions(self.target));
        PlacedSeat {
            cluster: cluster.clone(),
            pool: pool.cloned(),
            replicas,
            completions: both(c.is_some() || d.is_some(), c.unwrap_or(0), d.unwrap_or(0)),
            // an autoscaler has at least one replica wherever it is
            bounds: both(any, was.0, will.0).zip(both(any, was.1, will.1)).map(|(min, max)| (min.max(1), max.max(1))),
        }
    }
}

fn rows<'a>(now: &'a PlacedWorkload, target: &'a PlacedWorkload) -> BTreeMap<Place<'a>, Between<'a>> {
    let mut rows: BTreeMap<Place<'a>, Between<'a>> = BTreeMap::new();
    for seat in &now.seats {
        rows.insert((&seat.cluster, seat.pool.as_ref()), Between { now: Some(seat), target: None });
    }
    for seat in &target.seats {
        let row = rows.entry((&seat.cluster, seat.pool.as_ref())).or_insert(Between { now: None, target: None });
        row.target = Some(seat);
    }
    rows
}

fn total(workload: &PlacedWorkload) -> u64 {
    workload.seats.iter().map(|seat| u64::from(seat.replicas)).sum()
}

/// Lowers rows that lose until no more run than the target has.
pub(super) fn lowered(now: &PlacedWorkload, target: &PlacedWorkload) -> PlacedWorkload {
    let rows = rows(now, target);
    let surplus = total(now).saturating_sub(total(target));
    let gaps: Vec<u32> = rows.values().map(|row| row.now().saturating_sub(row.target())).collect();
    let less = shares(surplus, &gaps);
    let seats = rows.iter().zip(less).map(|((place, row), less)| row.at(*place, row.now() - less));
    with(now, target, seats.collect())
}

/// Raises rows that gain by one step, and by what the target has more in all.
pub(super) fn raised(
    key: &SmolStr,
    step: u32,
    now: &PlacedWorkload,
    target: &PlacedWorkload,
    fits: &mut Fits<'_>,
) -> PlacedWorkload {
    let rows = rows(now, target);
    let (runs, wanted) = (total(now), total(target));
    // What was raised and not lowered for is part of the step.
    let step = u64::from(step).saturating_sub(runs.saturating_sub(wanted));
    let budget = step.saturating_add(wanted.saturating_sub(runs));
    let gaps: Vec<u32> = rows.values().map(|row| row.target().saturating_sub(row.now())).collect();
    let more = shares(budget, &gaps);
    let seats = rows.iter().zip(more).map(|((place, row), more)| {
        let (cluster, pool) = *place;
        let more = if more == 0 { 0 } else { fits(&Row { workload: key, cluster, pool }, more).min(more) };
        row.at(*place, row.now() + more)
    });
    with(now, target, seats.collect())
}

fn with(now: &PlacedWorkload, target: &PlacedWorkload, mut seats: Vec<PlacedSeat>) -> PlacedWorkload {
    seats.retain(|seat| seat.replicas > 0);
    seats.sort();
    let is_target = seats == target.seats;
    // what it gave up for others is known of where it is, until it is there
    let of = if is_target { target } else { now };
    PlacedWorkload { weights: of.weights.clone(), seats, gave_way: of.gave_way.clone() }
}

/// So many replicas in proportion to gaps, none of which is exceeded; what is left over goes to the largest remainders,
/// then to the first.
fn shares(replicas: u64, gaps: &[u32]) -> Vec<u32> {
    let all: u64 = gaps.iter().map(|gap| u64::from(*gap)).sum();
    if replicas >= all {
        return gaps.to_vec();
    }
    // replicas < all, so that no share reaches its gap by more than the remainder
    let product = |gap: u32| u128::from(replicas) * u128::from(gap);
    let whole = |gap: u32| u32::try_from(product(gap) / u128::from(all)).unwrap_or(gap);
    let mut shares: Vec<u32> = gaps.iter().map(|gap| whole(*gap)).collect();
    let given: u64 = shares.iter().map(|share| u64::from(*share)).sum();
    let mut order: Vec<usize> = (0..gaps.len()).filter(|at| shares[*at] < gaps[*at]).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(product(gaps[*at]) % u128::from(all)), *at));
    let rest = usize::try_from(replicas - given).unwrap_or(usize::MAX);
    for at in order.into_iter().take(rest) {
        shares[at] += 1;
    }
    shares
}
