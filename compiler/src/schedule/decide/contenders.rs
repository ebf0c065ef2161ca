//! Which clusters selection has to look at, where that can be told beforehand.
//!
//! A set of at most `k` clusters holds of each group at most `k`. So of the clusters that an app does not hold yet, those that
//! are not among the `k` with most room of their group are in no best set: one of these `k` is unused and would do instead, with
//! no less room, and earlier by name where the room is the same. What it holds is always looked at.
//!
//! The same holds of groups: a set uses at most so many, so one that has less room than as many others, however many of its
//! clusters were used, is in no best set (see [`Ledger::roomiest`](crate::schedule::ledger::Ledger::roomiest)).
//!
//! This is so only where nothing but room, group and name tells clusters apart; everywhere else all are looked at.

use super::Task;
use crate::api::{Capacity, TierMode};
use crate::base::AppId;
use crate::model::{ClusterSet, Share, TopologyKey};
use crate::schedule::ledger::Sought;
use crate::schedule::select::Class;
use crate::schedule::stage::Stage;
use crate::schedule::state::Weights;
use crate::schedule::view::is_static;

/// So many states, at most, are few enough for an exact search over groups and clusters.
const MOST_STATES: u64 = 4096;

/// The clusters that may be selected for an app, whose leading workload is taken out of the ledger; `None` where all may be.
/// `fresh` are those that may take new replicas.
pub(super) fn contenders(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    tasks: &[Task],
    fresh: &ClusterSet,
) -> Option<ClusterSet> {
    let view = stage.view;
    let (app, known) = (view.fleet.app(id), view.app(id));
    let lead = known.lead?;
    let (workload, task) = (view.workload(id, lead), tasks.get(lead)?);
    let policy = &workload.policy;
    let class = view.uniform_class(id, lead)?;
    let rules = policy.weights.as_deref().filter(|_| is_static(policy) && workload.share != Share::Everywhere);
    let by_room_alone = policy.capacity != Capacity::Ignore
        && workload.part.is_none()
        && task.wanted > 0
        && task.left.is_empty()
        && task.shared.is_empty()
        && !view.is_estimated(id, lead)
        && !matches!(stage.apps[id.index()].workloads[lead].weights, Weights::Former(_))
        && app.placement.tiers.as_ref().is_none_or(|tiers| tiers.mode != TierMode::Overflow)
        && rules.unwrap_or_default().iter().all(|rule| rule.max.is_none());
    if !by_room_alone {
        return None;
    }
    let mut usable = fresh.clone();
    if let Some(only) = &app.objects[workload.object].only {
        usable = usable.and(only);
    }
    if let Some(rules) = rules {
        let heavy = rules.iter().filter(|rule| rule.weight > 0);
        usable = usable.and(&heavy.fold(ClusterSet::empty(), |all, rule| all.or(&rule.clusters)));
    }
    // other workloads may use what the one that leads may not
    if app.workloads.len() > 1 && usable != *fresh {
        return None;
    }
    let held = tasks.iter().flat_map(|task| &task.held).map(|(cluster, _)| *cluster);
    let held = held.collect::<ClusterSet>().or(&stage.apps[id.index()].clusters);
    let least = match known.class {
        Class::Duplicated => task.wanted,
        Class::Widest | Class::Fewest if policy.min <= task.wanted => policy.min.max(1),
        Class::Widest | Class::Fewest => 1,
    };
    let (most, group, most_groups) = most(stage, id, task.wanted)?;
    let most = usize::try_from(most).ok()?;
    if held.len() > most {
        return None;
    }
    let sought = Sought {
        at_least: u64::from(least),
        cap: policy.max.map(u64::from),
        unknown: u64::from(task.wanted),
        most,
        groups: group.map(|key| view.groups(key)),
        most_groups: usize::try_from(most_groups).ok()?,
        used: &held,
    };
    let best = stage.ledger.roomiest(class, &usable.without(&held), &sought);
    Some(best.or(&usable.and(&held)))
}

/// The most clusters an app may use; the one other key that it is spread over, if any; and the most groups of that. `None` where
/// there is no such number, and where more than one other key, or too many groups, leave no exact answer.
fn most<'a>(stage: &Stage<'_, 'a>, id: AppId, wanted: u32) -> Option<(u32, Option<&'a TopologyKey>, u32)> {
    let app = stage.view.fleet.app(id);
    let spread = &app.placement.spread;
    let lead = stage.view.app(id).lead?;
    let of_floor = wanted.checked_div(stage.view.workload(id, lead).policy.min).map(|most| most.max(1));
    let of_floor = of_floor.filter(|_| stage.view.app(id).class != Class::Duplicated);
    let of_key = spread.iter().filter(|s| s.key == TopologyKey::Cluster).filter_map(|s| s.max);
    let least = spread.iter().filter(|s| s.key == TopologyKey::Cluster).map(|s| s.min).max().unwrap_or(0);
    // a constraint that cannot hold is reported with all that there is
    let most = of_key.chain(of_floor).min().filter(|most| *most > 0 && *most >= least)?;
    let mut others = spread.iter().filter(|s| s.key != TopologyKey::Cluster);
    let Some(other) = others.next() else { return Some((most, None, 1)) };
    let groups = others.by_ref().chain([other]).map(|s| s.max.unwrap_or(s.min).max(s.min)).max()?;
    let few = (u64::from(groups) + 1).saturating_mul(u64::from(most) + 1) <= MOST_STATES;
    let one_key = spread.iter().all(|s| s.key == TopologyKey::Cluster || s.key == other.key);
    // with one cluster of each group left, groups would no longer be told from clusters
    let of_other = spread.iter().filter(|s| s.key == other.key);
    let least_groups = of_other.clone().map(|s| s.min).max().unwrap_or(0);
    // as above, with all groups that there are
    let most_groups = of_other.filter_map(|s| s.max).chain([most]).min().filter(|groups| *groups >= least_groups);
    let most_groups = most_groups.unwrap_or(u32::MAX);
    (few && one_key && most > 1).then_some((most, Some(&other.key), most_groups))
}
