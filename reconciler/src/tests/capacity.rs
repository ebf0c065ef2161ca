//! Observed capacity: recorded where it matters, rarely.

use std::collections::BTreeMap;

use fleetwright_compiler::base::Resources;

use super::world::{NOW, World, app, fleet, seats, seen, up};
use crate::commit::Cause;
use crate::health::Health;
use crate::observation::{AppSeen, Observation, PoolSeen, WorkloadSeen};

fn resources(cpu_milli: i128) -> Resources {
    Resources(BTreeMap::from([("cpu".into(), cpu_milli), ("pods".into(), 110)]))
}

fn with_nodes(nodes: u32, others_milli: i128) -> Observation {
    let mut seen = seen([("a", up()), ("b", up()), ("c", up())]);
    let proxy = ("apps/DaemonSet/kube-system/proxy".into(), Resources(BTreeMap::from([("cpu".into(), others_milli)])));
    seen.clusters.get_mut("a").unwrap().capacity = Some(vec![PoolSeen {
        name: "other".into(),
        nodes,
        allocatable: resources(1500),
        others: BTreeMap::from([proxy]),
    }]);
    seen
}

/// One node that no replica fits on.
fn too_small() -> Observation {
    let mut seen = with_nodes(1, 0);
    for pool in seen.clusters.get_mut("a").unwrap().capacity.iter_mut().flatten() {
        pool.allocatable = resources(50);
    }
    seen
}

fn tick(world: &World, observation: &Observation) -> Vec<Cause> {
    let advanced = world.advance_seeing(Some(observation)).unwrap();
    assert_eq!(advanced.reports, []);
    advanced.pushed.iter().map(|pushed| pushed.cause).collect()
}

#[test]
fn what_differs_noticeably_is_recorded_at_most_every_ten_minutes() {
    let world = World::live(&fleet());
    assert_eq!(tick(&world, &with_nodes(4, 1000)), [Cause::Capacity]);
    let expected = "uid: uid-a\npools:\n- name: other\n  nodes: 4\n  allocatable:\n    cpu: 1500m\n    pods: 110\n  \
                    others:\n  - owner: apps/DaemonSet/kube-system/proxy\n    requests:\n      cpu: 1\n";
    assert_eq!(world.live_text("state/capacity/a.yaml"), expected);
    assert_eq!(tick(&world, &with_nodes(4, 1000)), []);
    // 300m of 6 CPU are 5 %.
    let rows =
        [(601, 4, 1300, false), (601, 4, 1301, true), (599, 5, 1301, false), (1, 5, 1301, true), (601, 5, 0, true)];
    for (later, nodes, others, recorded) in rows {
        world.later(later);
        let causes = tick(&world, &with_nodes(nodes, others));
        assert_eq!(causes.contains(&Cause::Capacity), recorded, "{nodes} nodes, {others} by others");
    }
}

#[test]
fn a_cluster_whose_nodes_were_not_read_keeps_what_is_recorded() {
    let world = World::live(&fleet());
    assert_eq!(tick(&world, &with_nodes(4, 0)), [Cause::Capacity]);
    let before = world.files("live");
    world.later(5000);
    assert_eq!(tick(&world, &seen([("a", up()), ("b", up()), ("c", up())])), []);
    assert_eq!(world.files("live"), before);
}

#[test]
fn room_that_is_gone_moves_what_it_held_in_the_same_commit() {
    let world = World::live(&fleet());
    assert_eq!(tick(&world, &with_nodes(4, 0)), [Cause::Capacity]);
    world.later(601);
    assert_eq!(tick(&world, &too_small()), [Cause::Capacity]);
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    assert_eq!(tick(&world, &too_small()), []);
}

/// A list of nodes that came back empty, or nodes that are all away for a moment, end nothing that runs.
#[test]
fn a_cluster_that_shows_no_node_keeps_what_is_recorded() {
    for before in [None, Some(with_nodes(4, 0))] {
        let world = World::live(&fleet());
        before.iter().for_each(|before| assert_eq!(tick(&world, before), [Cause::Capacity]));
        world.later(601);
        let files = world.files("live");
        let advanced = world.advance_seeing(Some(&with_nodes(0, 0))).unwrap();
        assert!(advanced.reports[0].text.contains("shows no node that is Ready"), "{:?}", advanced.reports);
        assert_eq!((advanced.pushed.len(), world.files("live")), (0, files));
    }
}

/// What is placed stays, where room that is gone is nowhere else either.
#[test]
fn room_that_is_gone_everywhere_ends_nothing() {
    let mut files = fleet();
    for name in ["b", "c"] {
        files.retain(|path, _| *path != format!("clusters/{name}.yaml"));
    }
    let world = World::live(&files);
    let files = world.files("live");
    let mut seen = too_small();
    seen.clusters.retain(|name, _| *name == "a");
    let advanced = world.advance_seeing(Some(&seen)).unwrap();
    assert!(advanced.reports[0].text.contains("6 more replicas without a place"), "{:?}", advanced.reports);
    assert_eq!((advanced.pushed.len(), world.files("live")), (0, files));
}

/// What one app gains by an observation makes up for nothing that another loses.
#[test]
fn no_app_pays_for_the_room_of_another() {
    let mut files = fleet();
    files.retain(|path, _| !path.starts_with("teams/t/web/"));
    app(&mut files, "one", 3, ", clusters: {names: [a]}");
    let world = World::live(&files);
    let nodes = |large: &str, small: &str| {
        let mut both = seen([("a", up()), ("b", up()), ("c", up())]);
        for (name, of) in [(large, with_nodes(4, 0)), (small, too_small())] {
            both.clusters.get_mut(name).unwrap().capacity.clone_from(&of.clusters["a"].capacity);
        }
        both
    };
    assert_eq!(tick(&world, &nodes("a", "b")), [Cause::Capacity]);
    app(&mut files, "two", 3, ", clusters: {names: [b]}");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!((world.seats("one"), world.seats("two")), (seats([("a", 3)]), seats([])));
    world.later(601);
    let advanced = world.advance_seeing(Some(&nodes("b", "a"))).unwrap();
    let refused = |report: &crate::decide::Report| report.text.contains("in a would leave 3 more replicas");
    assert!(advanced.pushed[0].message.contains("in a would leave 3 more replicas"), "{:?}", advanced.pushed);
    assert_eq!((world.seats("one"), world.seats("two")), (seats([("a", 3)]), seats([("b", 3)])));
    let said: Vec<&str> = advanced.pushed.iter().map(crate::advance::Pushed::subject).collect();
    assert_eq!(said, ["Record the capacity of b"], "one cluster holds back no other");
    // and what is refused stays refused, without a commit
    world.later(601);
    let advanced = world.advance_seeing(Some(&nodes("b", "a"))).unwrap();
    assert_eq!((advanced.pushed.len(), advanced.reports.iter().filter(|report| refused(report)).count()), (0, 1));
}

/// Several that cost replicas among many are found, and all others are recorded.
#[test]
fn each_cluster_that_costs_replicas_is_left_out_alone() {
    let mut files = fleet();
    files.retain(|path, _| !path.starts_with("teams/t/web/"));
    for name in ["d", "e", "f", "g"] {
        files.insert(
            format!("clusters/{name}.yaml"),
            files["clusters/a.yaml"].replace("name: a", &format!("name: {name}")),
        );
    }
    for name in ["b", "f"] {
        app(&mut files, &format!("in-{name}"), 3, &format!(", clusters: {{names: [{name}]}}"));
    }
    let world = World::live(&files);
    let mut seen = seen([("a", up()), ("b", up()), ("c", up()), ("d", up()), ("e", up()), ("f", up()), ("g", up())]);
    for cluster in seen.clusters.values_mut() {
        cluster.capacity.clone_from(&too_small().clusters["a"].capacity);
    }
    let advanced = world.advance_seeing(Some(&seen)).unwrap();
    let recorded: Vec<String> = world
        .files("live")
        .into_keys()
        .filter_map(|path| Some(path.strip_prefix("state/capacity/")?.to_owned()))
        .collect();
    assert_eq!(recorded, ["a.yaml", "c.yaml", "d.yaml", "e.yaml", "g.yaml"]);
    assert_eq!(advanced.pushed[0].subject(), "Record the capacity of a, c and 3 more");
    for name in ["b", "f"] {
        let says = format!("observed in {name} would leave 3 more replicas");
        assert!(advanced.pushed[0].message.contains(&says), "{:?}", advanced.pushed);
        assert_eq!(world.seats(&format!("in-{name}")), seats([(name, 3)]));
    }
}

/// Clusters that answer, with these nodes: (name, how many, milli-CPU of each).
fn nodes_of<const N: usize>(of: [(&str, u32, i128); N]) -> Observation {
    let mut all = seen(of.map(|(name, _, _)| (name, up())));
    for (name, nodes, cpu_milli) in of {
        let allocatable = resources(cpu_milli);
        let pool = PoolSeen { name: "other".into(), nodes, allocatable, others: BTreeMap::new() };
        all.clusters.get_mut(name).unwrap().capacity = Some(vec![pool]);
    }
    all
}

/// Whatever the clusters are called: what one loses may find room in one that is admitted after it.
#[test]
fn what_costs_nothing_beside_another_is_recorded_with_it_and_a_refusal_is_no_work_for_every_tick() {
    for (loses, gains, costs) in [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")] {
        let mut files = fleet();
        files.retain(|path, _| !path.starts_with("teams/t/web/"));
        app(&mut files, "moves", 3, &format!(", clusters: {{names: [{loses}, {gains}]}}"));
        app(&mut files, "stays", 3, &format!(", clusters: {{names: [{costs}]}}"));
        let world = World::live(&files);
        let before = nodes_of([(loses, 4, 1500), (gains, 1, 50), (costs, 4, 1500)]);
        assert_eq!(tick(&world, &before), [Cause::Capacity]);
        assert_eq!((world.seats("moves"), world.seats("stays")), (seats([(loses, 3)]), seats([(costs, 3)])));
        world.later(601);
        let after = |left: i128| nodes_of([(loses, 1, 50), (gains, 4, 1500), (costs, 1, left)]);
        let advanced = world.advance_seeing(Some(&after(50))).unwrap();
        let (first, second) = if loses < gains { (loses, gains) } else { (gains, loses) };
        assert_eq!(advanced.pushed[0].subject(), format!("Record the capacity of {first} and {second}"));
        assert_eq!((world.seats("moves"), world.seats("stays")), (seats([(gains, 3)]), seats([(costs, 3)])));
        // What is refused is told in every tick, and tried every ten minutes: what is told is what was found then.
        for (later, left, short) in [(1, 50, 3), (1, 250, 3), (597, 250, 3), (1, 250, 1), (1, 50, 1), (599, 50, 3)] {
            world.later(later);
            let advanced = world.advance_seeing(Some(&after(left))).unwrap();
            let says = format!("in {costs} would leave {short} more replicas");
            assert!(advanced.reports.iter().any(|r| r.text.contains(&says)), "{later}: {:?}", advanced.reports);
            assert_eq!((advanced.pushed.len(), advanced.reports.len()), (0, 1));
        }
        // and where it ends, so does what is told
        assert_eq!(tick(&world, &nodes_of([(loses, 1, 50), (gains, 4, 1500), (costs, 4, 1500)])), []);
    }
}

/// What one cluster is refused holds nothing back that another shows later, and is told until it is looked at again.
#[test]
fn a_refusal_delays_no_other_cluster() {
    let mut files = fleet();
    files.retain(|path, _| !path.starts_with("teams/t/web/"));
    app(&mut files, "stays", 3, ", clusters: {names: [a]}");
    let world = World::live(&files);
    let of = |a: i128, b: u32| nodes_of([("a", 1, a), ("b", b, 1500)]);
    assert_eq!(tick(&world, &nodes_of([("a", 4, 1500), ("b", 4, 1500)])), [Cause::Capacity]);
    // how much later, milli-CPU of a's node, nodes of b; what is recorded, and how many find no place in a
    for (later, a, b, recorded, short) in [
        (601, 50, 4, None, 3),
        (60, 50, 5, Some("Record the capacity of b"), 3),
        (1, 50, 5, None, 3),
        // looked at again once the commit of b is ten minutes old, and not before
        (598, 250, 6, None, 3),
        (1, 250, 6, Some("Record the capacity of b"), 1),
        (1, 50, 6, None, 1),
    ] {
        world.later(later);
        let advanced = world.advance_seeing(Some(&of(a, b))).unwrap();
        let subjects: Vec<&str> = advanced.pushed.iter().map(crate::advance::Pushed::subject).collect();
        assert_eq!(subjects, recorded.into_iter().collect::<Vec<_>>(), "{later}, {a}, {b}");
        let says = format!("in a would leave {short} more replicas");
        assert!(advanced.reports.iter().any(|report| report.text.contains(&says)), "{later}: {:?}", advanced.reports);
    }
}

/// Of two that cost nothing alone, and something together, the first by name is recorded.
#[test]
fn of_two_that_cannot_both_shrink_one_does() {
    let mut files = fleet();
    files.retain(|path, _| !path.starts_with("teams/t/web/"));
    app(&mut files, "either", 3, ", clusters: {names: [a, b]}");
    let world = World::live(&files);
    assert_eq!(tick(&world, &nodes_of([("a", 4, 1500), ("b", 4, 1500)])), [Cause::Capacity]);
    world.later(601);
    let advanced = world.advance_seeing(Some(&nodes_of([("a", 1, 50), ("b", 1, 50)]))).unwrap();
    assert_eq!(advanced.pushed[0].subject(), "Record the capacity of a");
    assert_eq!(world.seats("either"), seats([("b", 3)]));
}

/// What finds no room any more leaves in the steps of its app, beside replicas that never become ready again.
#[test]
fn what_is_displaced_leaves_in_steps() {
    let mut files = fleet();
    app(&mut files, "web", 6, ", move: {max: 1}");
    let world = World::live(&files);
    assert_eq!(tick(&world, &with_nodes(4, 0)), [Cause::Capacity]);
    world.later(601);
    let look = |a: u32, b: u32, c: u32| {
        let mut seen = too_small();
        for (name, ready) in [("a", a), ("b", b), ("c", c)] {
            let workload = ("apps/Deployment/web".into(), WorkloadSeen { replicas: 3, ready });
            let app = AppSeen {
                health: if name == "a" { Health::Failed } else { Health::Current },
                blocking: Vec::new(),
                workloads: BTreeMap::from([workload]),
                content: "b3:1".into(),
                since_secs: NOW,
            };
            seen.clusters.get_mut(name).unwrap().apps.insert(("t".into(), "web".into()), app);
        }
        let advanced = world.advance_seeing(Some(&seen)).unwrap();
        advanced.pushed.iter().map(|pushed| pushed.cause).collect::<Vec<_>>()
    };
    assert_eq!(look(0, 2, 2), [Cause::Capacity]);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 3), ("c", 2)]));
    assert!(world.live_text("state/moves/t/web.yaml").contains("kind: Capacity"));
    assert_eq!(look(0, 2, 2), [], "what was raised is waited for");
    assert_eq!(look(0, 3, 2), [Cause::Move]);
    assert_eq!(world.seats("web"), seats([("a", 1), ("b", 3), ("c", 3)]));
    assert_eq!(look(0, 3, 3), [Cause::Move]);
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    assert_eq!(look(0, 3, 3), []);
}
