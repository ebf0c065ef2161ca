//! Sets of parts: whole, in one cluster, or nowhere.

use crate::api::{Capacity, Strategy};
use crate::model::TopologyKey;
use crate::schedule::fixture::{AppFixture, FleetFixture};
use crate::schedule::{Deficit, Target, Verdict};

/// Seats of the head and the workers of the app `job`.
fn seats(fleet: &FleetFixture, target: &Target) -> (String, String) {
    (fleet.seats_of(target, "job", 0), fleet.seats_of(target, "job", 1))
}

fn at(head: &str, workers: &str) -> (String, String) {
    (head.to_owned(), workers.to_owned())
}

/// A head of 1 CPU, and so many workers of 2.
fn job(fleet: &FleetFixture, workers: u32) -> AppFixture {
    fleet.app("job", Strategy::StaticWeight).parts("main", &[("head", 1, "cpu=1000"), ("worker", workers, "cpu=2000")])
}

/// By cluster, nodes and thousandths of a CPU of each.
type Pools = &'static [(&'static str, u32, u32)];

/// A pool in each cluster.
fn fleet(pools: Pools) -> FleetFixture {
    let names: Vec<&str> = pools.iter().map(|(name, ..)| *name).collect();
    let mut fleet = FleetFixture::new(&names);
    for (name, nodes, cpu) in pools {
        fleet.pool(name, "p", *nodes, &format!("cpu={cpu}"));
    }
    fleet
}

#[test]
fn a_set_goes_where_all_of_it_fits() {
    let facts: [(Pools, u32, (&str, &str)); 5] = [
        (&[("a", 1, 6000), ("b", 1, 7000)], 3, ("b=1", "b=3")),
        // seven CPU on nodes that hold a worker and nothing else
        (&[("a", 4, 2000), ("b", 1, 7000)], 3, ("a=1", "a=3")),
        (&[("a", 3, 2500), ("b", 2, 4000)], 3, ("b=1", "b=3")),
        (&[("a", 1, 6000), ("b", 2, 3000)], 3, ("", "")),
        (&[("a", 1, 1000), ("b", 0, 1000)], 0, ("a=1", "")),
    ];
    for (pools, workers, (head, worker)) in facts {
        let mut fleet = fleet(pools);
        let app = job(&fleet, workers);
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(seats(&fleet, &target), at(head, worker), "{pools:?}");
        assert_eq!(target.apps[0].deficits.is_empty(), !head.is_empty(), "{pools:?}");
    }
}

#[test]
fn a_set_that_fits_nowhere_is_not_split_whatever_the_capacity_says() {
    for capacity in [Capacity::Cap, Capacity::Require] {
        let mut fleet = fleet(&[("a", 1, 5000), ("b", 1, 3000)]);
        let app = job(&fleet, 3).with(|policy| policy.capacity = capacity);
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(seats(&fleet, &target), at("", ""));
        let missing = |workload, n| Deficit::Unplaced { workload, replicas: n, wanted: n, displaced: 0 };
        assert_eq!(target.apps[0].deficits, [missing(0, 1), missing(1, 3)]);
        let short = |fits, free| Verdict::NoRoomForSet {
            part: "worker".into(),
            pods: 3,
            fits,
            resource: "cpu".into(),
            needed: 2000,
            free,
        };
        let verdicts: Vec<&Verdict> = target.apps[0].verdicts.iter().map(|(verdict, _)| verdict).collect();
        assert_eq!(verdicts, [&short(1, 1000), &short(2, 1000)], "{capacity:?}");
    }
    // room is not looked at
    let mut fleet = fleet(&[("a", 1, 5000), ("b", 1, 3000)]);
    let app = job(&fleet, 3).with(|policy| policy.capacity = Capacity::Ignore);
    fleet.add(app);
    assert_eq!(seats(&fleet, &fleet.schedule()), at("a=1", "a=3"));
}

#[test]
fn a_set_stays_where_it_is_and_grows_there_or_not_at_all() {
    let mut fleet = fleet(&[("a", 1, 7000), ("b", 1, 100_000)]);
    let app = job(&fleet, 2);
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target), at("b=1", "b=2"), "most room");
    let small = job(&fleet, 2);
    fleet.add(small.clusters(fleet.set(&["a"])));
    let target = fleet.schedule();
    fleet.record_target(&target);
    for (workers, expected) in [(2, "a=2"), (3, "a=3"), (4, "a=2"), (1, "a=1")] {
        let app = job(&fleet, workers);
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(seats(&fleet, &target), at("a=1", expected), "{workers} workers");
        let missing = u32::from(workers == 4) * 2;
        let deficits =
            (missing > 0).then_some(Deficit::Unplaced { workload: 1, replicas: missing, wanted: 4, displaced: 0 });
        assert_eq!(target.apps[0].deficits, deficits.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_set_whose_pods_no_longer_fit_goes_where_all_of_it_does() {
    let mut fleet = fleet(&[("a", 2, 4000), ("b", 1, 1000)]);
    let app = job(&fleet, 3);
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target), at("a=1", "a=3"));
    fleet.record_target(&target);
    fleet.cluster("a").pools.as_mut().unwrap()[0].nodes = 1;
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target).0, "a=1", "it has no better place");
    fleet.cluster("b").pools.as_mut().unwrap()[0].nodes = 7;
    fleet.pool("b", "q", 3, "cpu=4000");
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target), at("b=1", "b=3"));
    assert_eq!(target.apps[0].deficits, []);
}

#[test]
fn the_set_counts_where_clusters_are_limited_and_copies_are_whole() {
    // the largest part alone fits `a` better
    let mut limited = fleet(&[("a", 3, 2000), ("b", 1, 7000)]);
    let app = job(&limited, 3).spread(TopologyKey::Cluster, 1, Some(1));
    limited.add(app);
    assert_eq!(seats(&limited, &limited.schedule()), at("b=1", "b=3"));

    let mut copies = fleet(&[("a", 3, 2000), ("b", 1, 7000), ("c", 4, 2000)]);
    let parts = [("head", 1, "cpu=1000"), ("worker", 3, "cpu=2000")];
    let app = copies.app("job", Strategy::Duplicated).parts("main", &parts);
    copies.add(app);
    assert_eq!(seats(&copies, &copies.schedule()), at("b=1 c=1", "b=3 c=3"));
}

#[test]
fn a_quota_of_one_cluster_counts_all_parts() {
    for (cpu, expected) in [(7000, at("a=1", "a=3")), (6999, at("", ""))] {
        let mut fleet = fleet(&[("a", 1, 9000)]);
        fleet.quota_per_cluster("team", &format!("requests.cpu={cpu}"));
        let app = job(&fleet, 3);
        fleet.add(app);
        assert_eq!(seats(&fleet, &fleet.schedule()), expected, "{cpu}");
    }
}
