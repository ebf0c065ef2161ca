//! A knapsack over the tree of groups.
//!
//! A state counts the chosen groups of each constrained level: up to `max`, or saturating at `min` where there is no `max`. For
//! each group, and each state within it, the best value is kept; groups are merged in order, and a tie goes to the earlier groups.
//! The clusters of an innermost group are interchangeable but for their value, so a count of them means the best ones.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use super::exact::Unsolved;
use super::problem::{Level, Problem};
use super::states::{Digit, States};

/// States beyond which the greedy search takes over, where more than one level is constrained.
const MOST_STATES: usize = 4096;

/// What to look for.
pub(super) struct Query<'q> {
    /// Members that must be in the set.
    pub forced: &'q [usize],
    /// Members of higher tiers are left out, unless forced.
    pub max_tier: u32,
    /// At most so many clusters, and of the sets whose value reaches the bound the one with fewest.
    pub most_clusters: Option<(usize, u128)>,
    /// Additive worth of a member.
    pub value: &'q dyn Fn(usize) -> u128,
}

impl Query<'_> {
    /// Whether a set of this value and size may be picked.
    pub fn accepts(&self, value: u128, clusters: usize) -> bool {
        self.most_clusters.is_none_or(|(most, bound)| clusters <= most && value >= bound)
    }

    /// Whether the first of two acceptable sets, each given by value and size, is better.
    pub fn prefers(&self, (value, clusters): (u128, usize), (held, than): (u128, usize)) -> bool {
        let fewer = self.most_clusters.map_or(Ordering::Equal, |_| than.cmp(&clusters));
        fewer.then(value.cmp(&held)) == Ordering::Greater
    }
}

/// The best set.
#[derive(Debug)]
pub(super) struct Pick {
    pub members: Vec<usize>,
    pub value: u128,
}

/// The groups of a problem whose keys nest.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    problem: &'a Problem,
    /// Constrained levels whose groups hold several clusters, the outermost first. Each refines the one before.
    levels: Vec<Bounded<'a>>,
    /// Bounds on the number of clusters, if any.
    clusters: Option<(u32, Option<u32>)>,
    /// All members, by group path, then by name.
    by_group: Vec<usize>,
}

#[derive(Debug)]
struct Bounded<'a> {
    level: &'a Level,
    min: u32,
    max: Option<u32>,
}

impl<'a> Tree<'a> {
    pub fn new(problem: &'a Problem) -> Result<Self, Unsolved> {
        let mut sorted: Vec<&Level> = problem.levels.iter().collect();
        sorted.sort_by_key(|level| level.count);
        let mut levels: Vec<Bounded<'a>> = Vec::new();
        let mut clusters: Option<(u32, Option<u32>)> = None;
        for level in sorted {
            let (min, max) = (level.min, level.max);
            if level.is_discrete() {
                let (other_min, other_max) = clusters.unwrap_or((0, None));
                clusters = Some((min.max(other_min), tighter(max, other_max)));
                continue;
            }
            match levels.last_mut() {
                Some(outer) if !refines(level, outer.level) => return Err(Unsolved::NotApplicable),
                Some(outer) if outer.level.count == level.count => {
                    outer.min = outer.min.max(min);
                    outer.max = tighter(outer.max, max);
                }
                _ => levels.push(Bounded { level, min, max }),
            }
        }
        let mut by_group: Vec<usize> = (0..problem.clusters.len()).collect();
        if !levels.is_empty() {
            let path = |member: usize| levels.iter().map(move |bounded| bounded.level.group(member));
            by_group.sort_by(|&a, &b| path(a).cmp(path(b)));
        }
        Ok(Self { problem, levels, clusters, by_group })
    }

    /// The set of greatest value that satisfies the constraints, if there is one.
    pub fn best(&self, query: &Query<'_>) -> Result<Option<Pick>, Unsolved> {
        let mut forced = vec![false; self.problem.clusters.len()];
        for &member in query.forced {
            if let Some(forced) = forced.get_mut(member) {
                *forced = true;
            }
        }
        let is_forced = |member: usize| forced.get(member).copied().unwrap_or(false);
        let taken = |member: &usize| {
            is_forced(*member)
                || self.problem.clusters.get(*member).is_some_and(|cluster| cluster.tier <= query.max_tier)
        };
        let mut order: Vec<usize> = self.by_group.iter().copied().filter(taken).collect();
        let states = self.states(query, &order)?;
        let innermost = |member: usize| self.levels.last().map_or(0, |bounded| bounded.level.group(member));
        let told_apart = states.most_told_apart();
        for group in order.chunk_by_mut(|&a, &b| innermost(a) == innermost(b)) {
            let first = |a: &usize, b: &usize| {
                let value = |member: usize| Reverse((query.value)(member));
                (!is_forced(*a), value(*a), *a).cmp(&(!is_forced(*b), value(*b), *b))
            };
            // Of the clusters beyond the highest count only the sum is asked for, if that.
            let best = if told_apart < group.len() { group.select_nth_unstable_by(told_apart, first).0 } else { group };
            best.sort_unstable_by(first);
        }
        let mut fold = Fold { tree: self, query, states, order: &order, forced: &forced, steps: Vec::new() };
        let entries = fold.group(0, order.len(), 0);
        let size = |entry: &Entry| fold.states.cluster_count(entry.state);
        let acceptable = entries
            .into_iter()
            .filter(|entry| fold.states.is_complete(entry.state) && query.accepts(entry.value, size(entry)));
        let best = acceptable.reduce(|held, entry| {
            if query.prefers((entry.value, size(&entry)), (held.value, size(&held))) { entry } else { held }
        });
        Ok(best.map(|best| Pick { members: fold.members(best.step), value: best.value }))
    }

    /// The state space of a query over these clusters, which are sorted by group.
    fn states(&self, query: &Query<'_>, order: &[usize]) -> Result<States, Unsolved> {
        let mut digits: Vec<Digit> = self.levels.iter().map(|bounded| Digit::new(bounded.min, bounded.max)).collect();
        let limit = query.most_clusters.map(|(most, _)| u32::try_from(most).unwrap_or(u32::MAX));
        let counts_clusters = self.clusters.is_some() || limit.is_some();
        if counts_clusters {
            let (min, max) = self.clusters.unwrap_or((0, None));
            let reachable = u32::try_from(self.most_reachable(order)).unwrap_or(u32::MAX);
            digits.push(Digit::new(min, tighter(max, limit).map(|max| max.min(reachable.max(min)))));
        }
        let states = States::new(digits, counts_clusters);
        if states.digits.len() > 1 && states.total > MOST_STATES { Err(Unsolved::NotApplicable) } else { Ok(states) }
    }

    /// No set has more clusters: those of the largest innermost groups, as many as may be chosen.
    fn most_reachable(&self, order: &[usize]) -> usize {
        let Some(innermost) = self.levels.last() else { return order.len() };
        let group = |member: usize| innermost.level.group(member);
        let mut sizes: Vec<usize> = order.chunk_by(|&a, &b| group(a) == group(b)).map(<[usize]>::len).collect();
        sizes.sort_unstable_by_key(|&size| Reverse(size));
        let most = innermost.max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
        sizes.into_iter().take(most).sum()
    }
}

fn tighter(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    a.into_iter().chain(b).min()
}

/// Whether each group of `inner` lies in one group of `outer`.
fn refines(inner: &Level, outer: &Level) -> bool {
    let mut parent: Vec<Option<u32>> = vec![None; usize::try_from(inner.count).unwrap_or(0)];
    (0..inner.groups.len()).all(|member| {
        let own = outer.group(member);
        let slot = usize::try_from(inner.group(member)).ok().and_then(|group| parent.get_mut(group));
        slot.is_some_and(|slot| *slot.get_or_insert(own) == own)
    })
}

/// The best way to reach a state.
#[derive(Debug, Clone, Copy)]
struct Entry {
    state: usize,
    value: u128,
    /// Position in `Fold::steps`.
    step: usize,
}

/// An entry in the making.
#[derive(Debug, Clone, Copy)]
struct Merged {
    value: u128,
    step: usize,
    other: Option<usize>,
}

/// How an entry came about.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The first `count` clusters from `start` on, in `Fold::order`.
    Clusters { start: usize, count: usize },
    /// Two earlier entries together.
    Both { first: usize, second: usize },
}

/// An innermost group within the one around it.
struct Inside {
    /// Whether it holds a forced cluster.
    must: bool,
    entries: Vec<Entry>,
}

struct Fold<'f> {
    tree: &'f Tree<'f>,
    query: &'f Query<'f>,
    states: States,
    /// Members by group path; inside an innermost group the forced first, then by value.
    order: &'f [usize],
    forced: &'f [bool],
    steps: Vec<Step>,
}

impl Fold<'_> {
    /// Entries of the group that spans `order[start..end]`, with at least one cluster chosen. Its depth is bounded by the number of
    /// levels, at most twelve with [`MOST_STATES`].
    fn group(&mut self, start: usize, end: usize, depth: usize) -> Vec<Entry> {
        let Some(bounded) = self.tree.levels.get(depth) else { return self.innermost(start, end) };
        let level = bounded.level;
        let group_of = |i: usize| self.order.get(i).map(|&member| level.group(member));
        let mut ends: Vec<usize> = (start + 1..end).filter(|&i| group_of(i) != group_of(i - 1)).collect();
        ends.push(end);
        let mut inside = Vec::with_capacity(ends.len());
        let mut from = start;
        for to in ends {
            let must = self.is_forced(from, to);
            let entries = self.group(from, to, depth + 1);
            inside.push(Inside { must, entries: self.count_group(entries, depth) });
            from = to;
        }
        if depth + 1 == self.tree.levels.len() {
            self.drop_outdone(&mut inside, depth);
        }
        let mut merged: Option<Vec<Entry>> = None;
        let mut may_skip_all = true;
        for Inside { must, entries } in inside {
            merged = Some(match merged {
                None => entries,
                Some(before) => self.merge(&before, &entries, may_skip_all, !must),
            });
            may_skip_all &= !must;
        }
        merged.unwrap_or_default()
    }

    /// Drops innermost groups that no best set uses, so that the cost hardly grows with their number.
    ///
    /// A set uses at most `most` of them. One that is used for so many clusters, and is not among the `most` best for that number,
    /// can give way to one of these that is unused: with no less value, and earlier where the value is the same.
    fn drop_outdone(&self, inside: &mut Vec<Inside>, depth: usize) {
        let most = self.states.most_groups(depth);
        if inside.len() <= most {
            return;
        }
        let mut by_state: BTreeMap<usize, Vec<(Reverse<u128>, usize)>> = BTreeMap::new();
        for (at, group) in inside.iter().enumerate() {
            for entry in &group.entries {
                by_state.entry(entry.state).or_default().push((Reverse(entry.value), at));
            }
        }
        let mut keep: Vec<bool> = inside.iter().map(|group| group.must).collect();
        for ranked in by_state.values_mut() {
            if most < ranked.len() {
                ranked.select_nth_unstable(most);
                ranked.truncate(most);
            }
            for (_, at) in ranked {
                if let Some(keep) = keep.get_mut(*at) {
                    *keep = true;
                }
            }
        }
        let mut keep = keep.into_iter();
        inside.retain(|_| keep.next().unwrap_or(true));
    }

    fn is_forced(&self, start: usize, end: usize) -> bool {
        self.forced_count(start, end) > 0
    }

    fn forced_count(&self, start: usize, end: usize) -> usize {
        let members = self.order.get(start..end).unwrap_or_default();
        members.iter().filter(|&&member| self.forced.get(member).copied().unwrap_or(false)).count()
    }

    /// The best of each count of clusters; without a count all of them, since more is never worse.
    fn innermost(&mut self, start: usize, end: usize) -> Vec<Entry> {
        let least = self.forced_count(start, end).max(1);
        let mut entries: Vec<Entry> = Vec::new();
        let mut value = 0_u128;
        for (count, &member) in (1..).zip(self.order.get(start..end).unwrap_or_default()) {
            value += (self.query.value)(member);
            let Some(state) = self.states.clusters(count) else { break };
            if count < least {
                continue;
            }
            let step = self.steps.len();
            self.steps.push(Step::Clusters { start, count });
            let entry = Entry { state, value, step };
            match entries.last_mut() {
                Some(last) if last.state == state => *last = entry,
                _ => entries.push(entry),
            }
        }
        entries
    }

    /// Counts the group itself, at its own level.
    fn count_group(&self, entries: Vec<Entry>, depth: usize) -> Vec<Entry> {
        let Some(one) = self.states.one_group(depth) else { return Vec::new() };
        entries.into_iter().map(|entry| Entry { state: entry.state + one, ..entry }).collect()
    }

    /// Entries of neighbouring groups together, or of one side where the other may be skipped. A tie goes to the side that is first,
    /// and there to the entry that leaves least to the other.
    fn merge(&mut self, first: &[Entry], second: &[Entry], skip_first: bool, skip_second: bool) -> Vec<Entry> {
        let mut best: Vec<Option<Merged>> = vec![None; self.states.total];
        let mut offer = |state: usize, merged: Merged| {
            if let Some(slot) = best.get_mut(state)
                && slot.is_none_or(|held| held.value < merged.value)
            {
                *slot = Some(merged);
            }
        };
        let alone = |entry: &Entry| Merged { value: entry.value, step: entry.step, other: None };
        if skip_second {
            first.iter().for_each(|entry| offer(entry.state, alone(entry)));
        }
        for b in second {
            for a in first {
                if let Some(state) = self.states.add(a.state, b.state) {
                    offer(state, Merged { value: a.value + b.value, step: a.step, other: Some(b.step) });
                }
            }
        }
        if skip_first {
            second.iter().for_each(|entry| offer(entry.state, alone(entry)));
        }
        let mut entries = Vec::new();
        for (state, slot) in best.into_iter().enumerate() {
            let Some(Merged { value, mut step, other }) = slot else { continue };
            if let Some(second) = other {
                self.steps.push(Step::Both { first: step, second });
                step = self.steps.len() - 1;
            }
            entries.push(Entry { state, value, step });
        }
        entries
    }

    fn members(&self, step: usize) -> Vec<usize> {
        let mut members = Vec::new();
        let mut open = vec![step];
        while let Some(step) = open.pop() {
            match self.steps.get(step) {
                Some(&Step::Clusters { start, count }) => {
                    members.extend(self.order.iter().skip(start).take(count).copied());
                }
                Some(&Step::Both { first, second }) => open.extend([first, second]),
                None => {}
            }
        }
        members.sort_unstable();
        members
    }
}
