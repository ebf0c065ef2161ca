//! What moves, within which budget, and what does not.

use std::collections::BTreeSet;

use super::{Budget, Left, Rebalance, World, rebalance};
use crate::api::{Strategy, TierMode};
use crate::base::AppId;
use crate::model::{Tier, Tiers, WorkloadKind};
use crate::schedule::fixture::FleetFixture;
use crate::what_if::settled;

fn run(fleet: &FleetFixture, budget: Budget) -> Rebalance {
    let target = fleet.schedule();
    let settled = settled(&fleet.fleet, &fleet.record, &target);
    let world = World { fleet: &fleet.fleet, variants: &fleet.variants, settled: &settled };
    rebalance(&world, &fleet.fleet.app_ids().collect(), budget)
}

/// `a=8->6 b=0->2` of every app that moves.
fn moves(found: &Rebalance) -> String {
    let texts = found.moves.iter().map(|m| format!("{}={}->{}", m.cluster, m.before, m.after));
    texts.collect::<Vec<_>>().join(" ")
}

/// Three clusters of ten CPUs; everything is in the first two.
fn lopsided() -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for cluster in ["a", "b", "c"] {
        fleet.pool(cluster, "p", 10, "cpu=1000");
    }
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(12, "cpu=1000");
    fleet.add(web).runs("web", "a=6 b=6");
    fleet
}

#[test]
fn a_new_cluster_gets_its_share_within_the_budget() {
    for (budget, expected, moved, left) in [
        (Budget::Unlimited, "a=6->4 b=6->4 c=0->4", 4, None),
        (Budget::Replicas(4), "a=6->4 b=6->4 c=0->4", 4, None),
        (Budget::Replicas(3), "a=6->4 b=6->5 c=0->3", 3, Some(Left::Budget(1))),
        (Budget::Replicas(1), "a=6->5 c=0->1", 1, Some(Left::Budget(3))),
        (Budget::Replicas(0), "", 0, Some(Left::Budget(4))),
        (Budget::Percent(25), "a=6->4 b=6->5 c=0->3", 3, Some(Left::Budget(1))),
        (Budget::Percent(0), "", 0, Some(Left::Budget(4))),
        // a share of few is at least one
        (Budget::Percent(1), "a=6->5 c=0->1", 1, Some(Left::Budget(3))),
    ] {
        let found = run(&lopsided(), budget);
        assert_eq!(moves(&found), expected, "{budget:?}");
        assert_eq!((found.moved, found.running), (moved, 12), "{budget:?}");
        assert_eq!(found.left.first().map(|(_, why)| *why), left, "{budget:?}");
    }
}

#[test]
fn a_second_run_finds_nothing_to_do() {
    let mut fleet = lopsided();
    let mut steps = Vec::new();
    for _ in 0..6 {
        let found = run(&fleet, Budget::Replicas(1));
        steps.push(found.moved);
        fleet.record.apps.extend(found.placed);
    }
    assert_eq!(steps, [1, 1, 1, 1, 0, 0]);
    assert_eq!(fleet.placed("web"), "a=4 b=4 c=4");
}

#[test]
fn what_others_run_stays_and_nothing_is_lost() {
    let mut fleet = lopsided();
    // c is full of what is not selected
    let other = fleet.app("other", Strategy::StaticWeight).deployment_of(9, "cpu=1000");
    fleet.add(other).runs("other", "c=9");
    let target = fleet.schedule();
    let settled = settled(&fleet.fleet, &fleet.record, &target);
    let world = World { fleet: &fleet.fleet, variants: &fleet.variants, settled: &settled };
    let web: BTreeSet<AppId> = fleet.fleet.app_id("team", "web").into_iter().collect();
    assert_eq!(moves(&rebalance(&world, &web, Budget::Unlimited)), "b=6->5 c=0->1");
    // both: one third each, wherever they were
    let both = rebalance(&world, &fleet.fleet.app_ids().collect(), Budget::Unlimited);
    assert_eq!(moves(&both), "a=0->3 b=0->3 c=9->3 a=6->4 b=6->4 c=0->4");
}

#[test]
fn data_jobs_and_frozen_apps_stay() {
    let mut fleet = lopsided();
    let job = fleet.app("job", Strategy::StaticWeight).workload(WorkloadKind::Job, "j", 2, "cpu=100");
    fleet.add(job).runs("job", "a=2");
    fleet.record.suspended.insert(("team".into(), "web".into()));
    let found = run(&fleet, Budget::Unlimited);
    assert_eq!(found.moves, []);
    assert_eq!(found.left, [(AppId(0), Left::Job), (AppId(1), Left::Suspended)]);
}

#[test]
fn a_tier_is_gone_back_to() {
    let mut fleet = FleetFixture::new(&["cloud", "own"]);
    fleet.pool("own", "p", 10, "cpu=1000");
    fleet.pool("cloud", "p", 10, "cpu=1000");
    let (own, cloud) = (fleet.set(&["own"]), fleet.set(&["cloud"]));
    let tier = |name: &str, clusters| Tier { name: name.into(), clusters };
    let app = fleet
        .app("web", Strategy::StaticWeight)
        .deployment_of(4, "cpu=1000")
        .tiers(Tiers { mode: TierMode::FirstFit, groups: vec![tier("own", own), tier("cloud", cloud)] });
    fleet.add(app).runs("web", "cloud=4").in_tier("web", "cloud");
    assert_eq!(fleet.placed("web"), "cloud=4");
    assert_eq!(moves(&run(&fleet, Budget::Unlimited)), "cloud=4->0 own=0->4");
    // a tier is entered as a whole
    assert_eq!(moves(&run(&fleet, Budget::Replicas(3))), "");
}
