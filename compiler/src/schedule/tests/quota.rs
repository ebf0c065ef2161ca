//! Team quota.

use crate::api::{Lifecycle, Strategy};
use crate::schedule::Deficit;
use crate::schedule::fixture::FleetFixture;

#[test]
fn quota_01_growth_of_copies_counts_in_every_cluster() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.quota("team", "cpu=10000");
    let app = fleet.app("web", Strategy::Duplicated).deployment_of(4, "cpu=1000");
    fleet.add(app).runs("web", "a=2 b=2 c=2");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=2 b=2 c=2");
    let refused = Deficit::Quota { resource: "cpu".into(), used: 6000, more: 6000, hard: 10_000 };
    assert_eq!(target.apps[0].deficits, [refused]);
}

#[test]
fn quota_04_a_failover_is_not_refused_and_growth_is() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "requests.cpu=48000");
    fleet.pool("a", "p", 24, "cpu=1000");
    fleet.pool("b", "p", 72, "cpu=1000");
    let one = fleet.app("app1", Strategy::StaticWeight).deployment_of(24, "cpu=1000");
    let two = fleet.app("app2", Strategy::StaticWeight).deployment_of(25, "cpu=1000");
    fleet.add(one).add(two).runs("app1", "a=24").runs("app2", "b=24");
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "app1"), "b=24");
    assert_eq!(fleet.seats(&target, "app2"), "b=24");
    let refused = Deficit::Quota { resource: "requests.cpu".into(), used: 48_000, more: 1000, hard: 48_000 };
    assert_eq!(target.apps[1].deficits, [refused]);
}

#[test]
fn equality_passes_and_order_is_by_priority() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.quota("team", "pods=5");
    for (name, replicas, priority) in [("a", 3, 0), ("b", 3, 9), ("c", 2, 1)] {
        let app = fleet.app(name, Strategy::StaticWeight).deployment(replicas).priority(priority);
        fleet.add(app);
    }
    let target = fleet.schedule();
    let seats: Vec<_> = ["a", "b", "c"].map(|app| fleet.seats(&target, app)).into();
    assert_eq!(seats, ["", "a=3", "a=2"]);
}

#[test]
fn an_app_that_grows_and_must_move_moves_and_does_not_grow() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "pods=8");
    let app = fleet.app("web", Strategy::StaticWeight).deployment(10);
    fleet.add(app).runs("web", "a=4 b=4");
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    assert_eq!(fleet.placed("web"), "b=8");
}

#[test]
fn what_runs_stays_when_the_quota_is_lowered_and_a_written_number_counts() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "pods=2");
    let app = fleet.app("web", Strategy::StaticWeight).deployment(4);
    fleet.add(app.clone()).runs("web", "a=2 b=2");
    assert_eq!(fleet.placed("web"), "a=2 b=2");
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "pods=10");
    fleet.add(app.writes(fleet.id("a"), 9));
    assert_eq!(fleet.placed("web"), "", "9 and 2 are more than 10");
}
