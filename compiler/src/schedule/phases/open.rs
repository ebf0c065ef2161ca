//! Which apps take a turn: what is settled stays as it is, however the fleet looks now.

use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Share, Spread, TopologyKey, Workload};
use crate::schedule::select::Class;
use crate::schedule::stage::{Held, Stage};
use crate::schedule::state::Weights;
use crate::schedule::view::{bounds, is_daemon};

/// Why an app takes a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Open {
    /// What it runs is no longer what is wanted. If not, the app is only short of something, and changes only for more
    /// replicas than it has.
    pub must: bool,
    /// It only gives up replicas of a lowered total.
    pub only_shrinks: bool,
    /// Nothing but its spread is wrong: then it changes only for a better one, or for more replicas.
    pub only_spread: bool,
}

#[derive(Default)]
struct Findings {
    must: bool,
    short: bool,
    shrinks: bool,
}

/// Whether an app takes a turn, and why.
pub(super) fn open(stage: &mut Stage<'_, '_>, id: AppId) -> Option<Open> {
    if stage.view.is_held(id) {
        return None;
    }
    stage.look_around(id);
    let mut found =
        Findings { must: !stage.apps[id.index()].known || stage.entered.contains_key(&id), ..Findings::default() };
    set(stage, id, &mut found);
    let mut in_use: Vec<Vec<ClusterId>> = Vec::new();
    for workload in 0..stage.view.fleet.app(id).workloads.len() {
        let held = stage.held(id, workload);
        found.must |= stage.apps[id.index()].workloads[workload].weights != Weights::Same;
        let selected = &stage.apps[id.index()].clusters;
        found.must |= held
            .iter()
            .any(|(cluster, h)| h.moves > 0 || h.unusable > 0 || h.displaced > 0 || !selected.contains(*cluster));
        match stage.view.workload(id, workload) {
            w if w.share == Share::Everywhere => copies(stage, id, workload, &held, &mut found),
            w => divided(w, &held, &mut found),
        }
        in_use.push(held.iter().filter(|(_, h)| h.stays > 0).map(|(cluster, _)| *cluster).collect());
    }
    let breaks_spread = breach(stage, id, &stage.apps[id.index()].clusters, &in_use) > 0;
    let only_spread = breaks_spread && !found.must && !found.shrinks;
    found.must |= breaks_spread;
    let only_shrinks = found.shrinks && !found.must && !found.short;
    let must = found.must || found.shrinks;
    (must || found.short).then_some(Open { must, only_shrinks, only_spread })
}

/// The set of an app that is copied to every cluster follows the clusters at once; so does one that has no set yet.
fn set(stage: &Stage<'_, '_>, id: AppId, found: &mut Findings) {
    let (state, view) = (&stage.apps[id.index()], stage.view.app(id));
    let stays = |cluster: ClusterId| stage.scope(id).keeps(cluster);
    found.must |=
        !stage.view.releases_none(id, &state.clusters) || (stage.is_narrowed(id) && !state.clusters.iter().all(stays));
    let may_grow = (view.class == Class::Duplicated && !is_full(stage, id)) || state.clusters.is_empty();
    found.short |= may_grow && !stage.fresh(id).is_within(&state.clusters);
}

/// Whether an app has as many clusters as its spread allows, all of which may take new replicas. Then no other set is found
/// for it, unless keys cross or there are too many groups to search them all: such an app is asked each time.
fn is_full(stage: &Stage<'_, '_>, id: AppId) -> bool {
    const FEW: u32 = 60;
    let spread = &stage.view.fleet.app(id).placement.spread;
    let most = spread.iter().filter(|spread| spread.key == TopologyKey::Cluster).filter_map(|spread| spread.max).min();
    let others = spread.iter().filter(|spread| spread.key != TopologyKey::Cluster);
    let searched = others.clone().count() <= 1 && others.into_iter().all(|s| s.max.unwrap_or(s.min).max(s.min) <= FEW);
    let clusters = &stage.apps[id.index()].clusters;
    searched
        && most.is_some_and(|most| most <= FEW && usize::try_from(most).is_ok_and(|most| clusters.len() >= most))
        && clusters.is_within(&stage.fresh(id))
}

fn divided(workload: &Workload, held: &[(ClusterId, Held)], found: &mut Findings) {
    let total: u64 = held.iter().map(|(_, h)| u64::from(h.stays)).sum();
    let wanted = u64::from(workload.replicas);
    found.short |= total < wanted;
    found.shrinks |= total > wanted;
    if workload.share == Share::Whole {
        found.must |= held.iter().filter(|(_, h)| h.stays > 0).count() > 1;
        return;
    }
    for (cluster, held) in held {
        let bounds = bounds(workload, *cluster);
        found.must |= bounds.max.is_some_and(|max| held.stays > max);
        found.must |= held.stays > 0 && held.stays < bounds.min.min(workload.replicas);
    }
}

fn copies(stage: &Stage<'_, '_>, id: AppId, workload: usize, held: &[(ClusterId, Held)], found: &mut Findings) {
    let w = stage.view.workload(id, workload);
    let wanted = if is_daemon(w) { 1 } else { w.replicas };
    found.short |= held.is_empty() && wanted > 0;
    for (_, held) in held {
        found.short |= held.stays < wanted;
        found.shrinks |= held.stays > wanted;
    }
    let holds = |cluster: ClusterId| held.binary_search_by_key(&cluster, |(c, _)| *c).is_ok();
    let lacking = |cluster: &ClusterId| {
        stage.is_fresh(id, *cluster) && stage.view.allows(id, workload, *cluster) && !holds(*cluster)
    };
    found.short |= wanted > 0 && stage.apps[id.index()].clusters.iter().any(|c| lacking(&c));
}

/// By how many groups what runs misses its constraints, too many and too few together: a constraint changed, a group was
/// lost, or a workload found no room in one. `in_use` is by workload.
pub(super) fn breach(stage: &Stage<'_, '_>, id: AppId, selected: &ClusterSet, in_use: &[Vec<ClusterId>]) -> u32 {
    let app = stage.view.fleet.app(id);
    let groups = |key: &TopologyKey, clusters: &mut dyn Iterator<Item = ClusterId>| {
        let mut groups: Vec<u32> = clusters.filter_map(|cluster| stage.view.group(key, cluster)).collect();
        groups.sort_unstable();
        groups.dedup();
        u32::try_from(groups.len()).unwrap_or(u32::MAX)
    };
    let of = |spread: &Spread| {
        let excess = spread.max.map_or(0, |max| groups(&spread.key, &mut selected.iter()).saturating_sub(max));
        let missing = app.workloads.iter().zip(in_use).map(|(workload, clusters)| {
            let have = groups(&spread.key, &mut clusters.iter().copied());
            // one group is where anything is, unless its clusters have lost the key
            let can_miss = spread.min > 1 || (have == 0 && !clusters.is_empty());
            let spreads = workload.share == Share::Divided && workload.replicas >= spread.min && can_miss;
            let copied = workload.share == Share::Everywhere && !is_daemon(workload) && workload.replicas > 0;
            let counts = spreads || (copied && stage.view.app(id).class == Class::Duplicated);
            if counts { spread.min.saturating_sub(have) } else { 0 }
        });
        missing.fold(excess, u32::saturating_add)
    };
    app.placement.spread.iter().map(of).fold(0, u32::saturating_add)
}
