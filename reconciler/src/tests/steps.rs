//! Moves in steps: what is raised is waited for, what it replaces is lowered, and nothing but the decider takes a step.

use std::collections::BTreeMap;

use fleetwright_compiler::rebalance::Budget;

use super::undo::undo_commit;
use super::world::{Files, NOW, World, app, down, fleet, seats, seen, up};
use crate::advance::Advanced;
use crate::decide::{Urgency, orders};
use crate::health::Health;
use crate::observation::{AppSeen, Observation, WorkloadSeen};

pub(super) const NIGHT: i64 = NOW + 4 * 3600;

/// Ten replicas of `web` in clusters a and b, 80:20 by day and 20:80 by night (it is 19:00), two at a time.
pub(super) fn tidal(move_: &str) -> Files {
    let mut files = fleet();
    app(&mut files, "web", 10, ", clusters: {names: [a, b]}");
    files.insert(
        "policies/tide.yaml".into(),
        format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {{name: inference}}\nspec:\n  timeZone: \
             Asia/Shanghai\n  apps: {{}}\n  phases:\n  - {{name: day, from: \"07:00\", weights: {{a: 80, b: 20}}}}\n  - \
             {{name: night, from: \"23:00\", weights: {{a: 20, b: 80}}}}\n  move: {move_}\n"
        ),
    );
    files
}

/// Three clusters that answer, with so many ready replicas of `web`.
pub(super) fn ready<const N: usize>(of: [(&str, u32); N]) -> Observation {
    let mut seen = seen([("a", up()), ("b", up()), ("c", up())]);
    for (cluster, ready) in of {
        let workload = ("apps/Deployment/web".into(), WorkloadSeen { replicas: ready, ready });
        let app = AppSeen {
            health: Health::Current,
            blocking: Vec::new(),
            workloads: BTreeMap::from([workload]),
            content: "b3:1".into(),
            since_secs: NOW,
        };
        let cluster = seen.clusters.get_mut(cluster).expect("a cluster");
        cluster.apps.insert(("t".into(), "web".into()), app);
    }
    seen
}

pub(super) fn subjects(advanced: &Advanced) -> Vec<&str> {
    advanced.pushed.iter().map(crate::advance::Pushed::subject).collect()
}

#[test]
fn a_tide_turns_in_steps_that_wait() {
    let world = World::live(&tidal("{max: 20%, every: 5m, wait: Current, deadline: 2h}"));
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 2)]));
    world.clock.0.set(NIGHT);
    // By Git alone: the turn is recorded and the first step taken; nothing is lowered that nobody saw replaced.
    let turned = world.advance().unwrap();
    assert_eq!(subjects(&turned), ["Turn tide inference from day to night"]);
    let says = "t/web in 3 steps: apps/Deployment/web: a 8 -> 2, b 2 -> 8\nt/web now: apps/Deployment/web: b 2 -> 4\n";
    assert!(turned.pushed[0].message.contains(says), "{turned:?}");
    assert_eq!((turned.reports.len(), turned.reports[0].urgency), (1, Urgency::Waits));
    assert!(turned.reports[0].text.contains("nobody looked at the clusters"), "{turned:?}");
    let of_move = world.live_text("state/moves/t/web.yaml");
    for part in ["kind: Tide", "number: 1", "deadline: 2026-11-30T17:00:00Z", "replicas: 8"] {
        assert!(of_move.contains(part), "{part}: {of_move}");
    }
    // seconds after the turn, ready replicas in a and b, what is committed, and what runs then
    for (at, a, b, commits, expected) in [
        (10, 8, 2, vec![], [("a", 8), ("b", 4)]),
        (20, 8, 3, vec![], [("a", 8), ("b", 4)]),
        (30, 8, 4, vec!["Move t/web: step 1"], [("a", 6), ("b", 4)]),
        (40, 6, 4, vec![], [("a", 6), ("b", 4)]),
        (299, 6, 4, vec![], [("a", 6), ("b", 4)]),
        (300, 6, 4, vec!["Move t/web: step 2"], [("a", 6), ("b", 6)]),
        // a step that took long is lowered, and the next begins with it
        (700, 6, 6, vec!["Move t/web: step 3"], [("a", 4), ("b", 8)]),
        (710, 4, 8, vec!["Move t/web: done"], [("a", 2), ("b", 8)]),
        (720, 2, 8, vec![], [("a", 2), ("b", 8)]),
        (4000, 2, 8, vec![], [("a", 2), ("b", 8)]),
    ] {
        world.clock.0.set(NIGHT + at);
        let advanced = world.advance_seeing(Some(&ready([("a", a), ("b", b)]))).unwrap();
        assert_eq!(subjects(&advanced), commits, "{at}: {:?}", advanced.reports);
        assert_eq!(world.seats("web"), seats(expected), "{at}");
    }
    assert!(!world.files("live").contains_key("state/moves/t/web.yaml"));
}

#[test]
fn a_step_that_is_late_is_reported_and_goes_on_once_it_is_current() {
    let world = World::live(&tidal("{max: 2, deadline: 1h}"));
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    for (at, urgency) in [(3600, Urgency::Waits), (3601, Urgency::Guarded)] {
        world.clock.0.set(NIGHT + at);
        let advanced = world.advance_seeing(Some(&ready([("a", 8), ("b", 3)]))).unwrap();
        assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, urgency), "{at}");
        assert!(advanced.reports[0].text.contains("3 of 4 replicas of apps/Deployment/web are ready in b"));
    }
    let advanced = world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    assert_eq!(subjects(&advanced), ["Move t/web: step 2"]);
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6)]));
}

#[test]
fn a_merge_takes_no_step_of_a_move_and_a_changed_total_leads_it_elsewhere() {
    let mut files = tidal("{max: 20%}");
    let world = World::live(&files);
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]));
    let manifest = files.get_mut("teams/t/web/web.yaml").unwrap();
    *manifest = manifest.replace("web:1", "web:2");
    world.commit_main(&files);
    let advanced = world.advance_seeing(Some(&ready([("a", 8), ("b", 3)]))).unwrap();
    assert_eq!((advanced.pushed.len(), world.seats("web")), (1, seats([("a", 8), ("b", 4)])));
    // 20 in all: ten more at once, and the rest of the way in steps of four
    let manifest = files.get_mut("teams/t/web/web.yaml").unwrap();
    *manifest = manifest.replace("replicas: 10", "replicas: 20");
    world.commit_main(&files);
    world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 16)]));
    let text = world.live_text("state/moves/t/web.yaml");
    assert!(text.contains("kind: Tide") && text.contains("replicas: 16"), "{text}");
    world.advance_seeing(Some(&ready([("a", 8), ("b", 16)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 16)]));
    assert!(!world.files("live").contains_key("state/moves/t/web.yaml"));
}

#[test]
fn a_failover_takes_no_steps_and_ends_the_move() {
    let world = World::live(&tidal("{max: 20%}"));
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    let mut lost = ready([("a", 8), ("b", 4)]);
    lost.clusters.get_mut("b").expect("it is there").answers = down(NOW);
    let advanced = world.advance_seeing(Some(&lost)).unwrap();
    assert_eq!(subjects(&advanced), ["Fail over from b: it does not answer"]);
    assert_eq!(world.seats("web"), seats([("a", 10)]));
    assert!(!world.files("live").contains_key("state/moves/t/web.yaml"));
}

#[test]
fn a_drained_receiver_gives_back_what_it_got() {
    let world = World::live(&tidal("{max: 20%}"));
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6)]));
    world.order(|desk| orders::drain(desk, "b")).unwrap().expect("it is a commit");
    let text = world.live_text("state/moves/t/web.yaml");
    assert!(text.contains("kind: Tide") && text.contains("replicas: 10"), "{text}");
    // What b got may be all that is ready: nothing goes before that was looked at.
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6)]));
    for (a, b, expected) in [
        (5, 6, seats([("a", 6), ("b", 6)])),
        (6, 6, seats([("a", 8), ("b", 4)])),
        (8, 4, seats([("a", 10), ("b", 2)])),
        (10, 2, seats([("a", 10)])),
    ] {
        world.advance_seeing(Some(&ready([("a", a), ("b", b)]))).unwrap();
        assert_eq!(world.seats("web"), expected, "{a} {b}");
    }
}

#[test]
fn an_app_states_steps_of_its_own_for_all_that_moves_it() {
    let mut files = fleet();
    app(&mut files, "web", 10, ", clusters: {names: [a, b]}, move: {max: 3}");
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5)]));
    world.order(|desk| orders::drain(desk, "b")).unwrap().expect("it is a commit");
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 5)]));
    // a person who edits weights on main has them reached in steps as well
    let mut files = files.clone();
    app(&mut files, "web", 10, ", clusters: {names: [a, b]}, move: {max: 3}");
    let app = files.get_mut("teams/t/web/app.yaml").unwrap();
    *app = app.replace("{strategy: StaticWeight}", "{strategy: StaticWeight, weights: {a: 9, b: 1}}");
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 1)]), "what is new is there at once");
    let app = files.get_mut("teams/t/web/app.yaml").unwrap();
    *app = app.replace("{a: 9, b: 1}", "{a: 1, b: 9}");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 4)]));
    assert!(world.live_text("state/moves/t/web.yaml").contains("kind: Pin"));
}

/// Replicas in a were raised for b, which is drained, and nobody saw them ready yet: whatever happens to a, b keeps its own.
#[test]
fn what_was_to_be_replaced_stays_until_somebody_saw_what_replaces_it() {
    let drained = |max: &str| {
        let mut files = fleet();
        app(&mut files, "web", 10, &format!(", clusters: {{names: [a, b]}}, move: {{max: {max}}}"));
        let world = World::live(&files);
        world.order(|desk| orders::drain(desk, "b")).unwrap().expect("it is a commit");
        (world, files)
    };
    for (max, raised) in [("100%", 10), ("2", 7)] {
        let (world, _) = drained(max);
        assert_eq!(world.seats("web"), seats([("a", raised), ("b", 5)]), "{max}");
        world.order(|desk| orders::failover(desk, "a", false)).unwrap().expect("it is a commit");
        assert_eq!(world.seats("web")["b"], 5, "{max}: failover");

        let (world, _) = drained(max);
        world.order(|desk| orders::cordon(desk, "a")).unwrap().expect("it is a commit");
        assert_eq!(world.seats("web")["b"], 5, "{max}: cordon");
        world.advance().unwrap();
        assert_eq!(world.seats("web")["b"], 5, "{max}: cordon, and a look at nothing");
        world.advance_seeing(Some(&ready([("a", raised), ("b", 5)]))).unwrap();
        assert_eq!(world.seats("web").values().sum::<u32>(), 10, "{max}: once a was seen");

        let (world, mut files) = drained(max);
        let text = files["clusters/a.yaml"].replace("spec: {}", "spec: {lifecycle: Draining}");
        files.insert("clusters/a.yaml".into(), text);
        world.commit_main(&files);
        world.advance().unwrap();
        assert_eq!(world.seats("web")["b"], 5, "{max}: both are drained");
    }
}

#[test]
fn what_was_merged_while_an_app_was_suspended_follows_in_steps() {
    let with = |weights: &str| {
        let mut files = fleet();
        app(&mut files, "web", 10, ", clusters: {names: [a, b]}, move: {max: 2}");
        let text = files.get_mut("teams/t/web/app.yaml").unwrap();
        *text = text.replace("{strategy: StaticWeight}", &format!("{{strategy: StaticWeight, weights: {weights}}}"));
        files
    };
    let world = World::live(&with("{a: 9, b: 1}"));
    world.order(|desk| orders::suspend(desk, "t/web")).unwrap().expect("it is a commit");
    world.commit_main(&with("{a: 1, b: 9}"));
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 1)]));
    world.order(|desk| orders::resume(desk, "t/web")).unwrap().expect("it is a commit");
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 3)]));
    // suspended on the way, and led elsewhere meanwhile
    world.order(|desk| orders::suspend(desk, "t/web")).unwrap().expect("it is a commit");
    world.commit_main(&with("{a: 5, b: 5}"));
    world.advance().unwrap();
    world.order(|desk| orders::resume(desk, "t/web")).unwrap().expect("it is a commit");
    let now = world.seats("web");
    assert!(now["a"] == 9 && now["b"] <= 5, "{now:?}");
}

#[test]
fn what_is_taken_back_on_the_way_goes_back_in_steps() {
    let world = World::live(&tidal("{max: 20%}"));
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    let turn = world.live_tip().id().to_string();
    world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6)]));
    undo_commit(&world, &turn, None).unwrap().expect("it is a commit");
    for (a, b, expected) in [
        (5, 6, [("a", 6), ("b", 6)]),
        (6, 6, [("a", 8), ("b", 4)]),
        (8, 4, [("a", 8), ("b", 2)]),
        (8, 2, [("a", 8), ("b", 2)]),
    ] {
        world.advance_seeing(Some(&ready([("a", a), ("b", b)]))).unwrap();
        assert_eq!(world.seats("web"), seats(expected), "{a} {b}");
    }
    let quiet = world.advance_seeing(Some(&ready([("a", 8), ("b", 2)]))).unwrap();
    assert_eq!((quiet.pushed.len(), quiet.reports[0].urgency), (0, Urgency::Waits), "it holds for this night");
}

#[test]
fn a_move_that_is_over_is_taken_back_as_a_whole() {
    let world = World::live(&tidal("{max: 50%}"));
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    let turn = world.live_tip().id().to_string();
    for (a, b) in [(8, 7), (3, 8)] {
        world.advance_seeing(Some(&ready([("a", a), ("b", b)]))).unwrap();
    }
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 8)]));
    undo_commit(&world, &turn, None).unwrap().expect("it is a commit");
    assert_eq!(world.seats("web"), seats([("a", 7), ("b", 8)]));
    assert!(world.live_text("state/tides.yaml").contains("phase: day"));
}

#[test]
fn a_tide_that_comes_to_what_runs_turns_in_its_steps() {
    let mut files = tidal("{max: 20%}");
    let tide = files.remove("policies/tide.yaml").unwrap();
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5)]));
    files.insert("policies/tide.yaml".into(), tide);
    world.commit_main(&files);
    let advanced = world.advance().unwrap();
    assert_eq!(subjects(&advanced).last(), Some(&"Turn tide inference to day"));
    assert_eq!(world.seats("web"), seats([("a", 7), ("b", 5)]));
}

#[test]
fn a_quota_and_a_move_do_not_stop_each_other() {
    for scope in ["Total", "PerCluster"] {
        let mut files = fleet();
        let team = files.get_mut("teams/t.yaml").unwrap();
        let quota =
            format!("{{namespaces: [{{name: t}}], quota: [{{hard: {{requests.cpu: 1200m}}, scope: {scope}}}]}}");
        *team = team.replace("{namespaces: [{name: t}]}", &quota);
        let with = |weights: &str| {
            let mut files = files.clone();
            app(&mut files, "web", 10, ", clusters: {names: [a, b]}, move: {max: 2}");
            let text = files.get_mut("teams/t/web/app.yaml").unwrap();
            *text =
                text.replace("{strategy: StaticWeight}", &format!("{{strategy: StaticWeight, weights: {weights}}}"));
            files
        };
        let world = World::live(&with("{a: 9, b: 1}"));
        world.commit_main(&with("{a: 1, b: 9}"));
        world.advance().unwrap();
        assert_eq!(world.seats("web"), seats([("a", 9), ("b", 3)]));
        let mut more = with("{a: 1, b: 9}");
        app(&mut more, "late", 2, ", clusters: {names: [a]}");
        world.commit_main(&more);
        let advanced = world.advance().unwrap();
        assert_eq!(advanced.pushed.len(), 1, "{scope}: {advanced:?}");
        assert_eq!(world.seats("late"), seats([("a", 2)]), "{scope}");
    }
}

#[test]
fn pools_that_change_lead_the_move_anew_and_break_nothing() {
    let pools = |names: &[&str]| {
        let pools: Vec<String> = names
            .iter()
            .map(|name| format!("{{name: {name}, nodes: 1, allocatable: {{cpu: 700m, memory: 64Gi, pods: 110}}}}"))
            .collect();
        let spec = format!("{{nodePools: [{}]}}", pools.join(", "));
        format!("apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata: {{name: b}}\nspec: {spec}\n")
    };
    for after in [&["p", "r"][..], &["p", "q", "r"], &["r"]] {
        let mut files = tidal("{max: 20%}");
        files.insert("clusters/b.yaml".into(), pools(&["p", "q"]));
        let world = World::live(&files);
        world.clock.0.set(NIGHT);
        world.advance().unwrap();
        assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]));
        files.insert("clusters/b.yaml".into(), pools(after));
        world.commit_main(&files);
        world.advance().unwrap();
        for _ in 0..12 {
            let now = world.seats("web");
            let at = |cluster: &str| now.get(cluster).copied().unwrap_or(0);
            world.advance_seeing(Some(&ready([("a", at("a")), ("b", at("b"))]))).unwrap();
        }
        let fits = u32::try_from(after.len()).unwrap() * 7;
        assert_eq!(world.seats("web"), seats([("a", 10 - fits.min(8)), ("b", fits.min(8))]), "{after:?}");
    }
}

#[test]
fn what_somebody_wrote_into_a_move_is_not_followed() {
    for (from, to) in [
        ("replicas: 8", "replicas: 2147483647"),
        ("cluster: b", "cluster: c"),
        ("cluster: b", "cluster: nowhere"),
        ("number: 1", "number: 4294967295"),
        ("kind: Tide", "kind: Nonsense"),
        ("weights: b3:", "weights: b4:"),
    ] {
        let world = World::live(&tidal("{max: 20%, every: 5m}"));
        world.clock.0.set(NIGHT);
        world.advance().unwrap();
        world.edit_live(|files| {
            let text = files.get_mut("state/moves/t/web.yaml").unwrap();
            let plain = text.replace('"', "");
            assert!(plain.contains(from), "{plain}");
            *text = plain
                .replace(from, to)
                .replace("b3:", "\"b3:")
                .lines()
                .map(|line| {
                    // what was taken out of quotes goes back
                    if line.contains("\"b3:") { format!("{line}\"\n") } else { format!("{line}\n") }
                })
                .collect();
        });
        for _ in 0..12 {
            let now = world.seats("web");
            let at = |cluster: &str| now.get(cluster).copied().unwrap_or(0);
            assert!(now.values().sum::<u32>() <= 12, "{from} -> {to}: {now:?}");
            world.later(300);
            world.advance_seeing(Some(&ready([("a", at("a")), ("b", at("b"))]))).unwrap();
        }
        assert_eq!(world.seats("web"), seats([("a", 2), ("b", 8)]), "{from} -> {to}");
        assert!(!world.files("live").contains_key("state/moves/t/web.yaml"), "{from} -> {to}");
    }
}

#[test]
fn a_step_that_is_reverted_is_not_taken_again() {
    let world = World::live(&tidal("{max: 20%}"));
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    let step = ready([("a", 8), ("b", 4)]);
    world.advance_seeing(Some(&step)).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6)]));
    world.revert_live();
    let advanced = world.advance_seeing(Some(&step)).unwrap();
    assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Waits), "{advanced:?}");
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]));
}

#[test]
fn a_rebalance_goes_in_steps_and_leaves_what_is_on_the_way_alone() {
    let mut files = fleet();
    let late = files.remove("clusters/b.yaml").unwrap();
    files.remove("clusters/c.yaml");
    app(&mut files, "web", 10, ", move: {max: 2}");
    let world = World::live(&files);
    files.insert("clusters/b.yaml".into(), late);
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 10)]), "a new cluster moves nothing");
    let rebalance = || {
        world.order(|desk| {
            let all = |fleet: &fleetwright_compiler::model::Fleet| fleet.app_ids().collect();
            Ok(orders::rebalance(desk, &all, Budget::Unlimited)?.0)
        })
    };
    rebalance().unwrap().expect("it is a commit");
    assert_eq!(world.seats("web"), seats([("a", 10), ("b", 2)]));
    assert!(world.live_text("state/moves/t/web.yaml").contains("kind: Rebalance"));
    assert_eq!(rebalance().unwrap(), None);
    world.advance_seeing(Some(&ready([("a", 10), ("b", 2)]))).unwrap();
    world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    world.advance_seeing(Some(&ready([("a", 6), ("b", 5)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5)]));
    assert_eq!(rebalance().unwrap(), None);
}

/// Cluster b has room for so many replicas of 100m CPU.
pub(super) fn with_room(files: &mut Files, replicas: u32) {
    let text = format!(
        "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata: {{name: b}}\nspec: {{nodePools: [{{name: p, nodes: \
         1, allocatable: {{cpu: {}m, memory: 64Gi, pods: 110}}}}]}}\n",
        replicas * 100
    );
    files.insert("clusters/b.yaml".into(), text);
}

#[test]
fn what_fits_moves_and_the_rest_is_reported() {
    let mut files = tidal("{max: 20%}");
    with_room(&mut files, 5);
    let world = World::live(&files);
    world.clock.0.set(NIGHT);
    let all = |a, b| world.advance_seeing(Some(&ready([("a", a), ("b", b)]))).unwrap();
    all(8, 2);
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]));
    all(8, 4);
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 5)]));
    all(6, 5);
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5)]), "nothing pends, and all ten run");
    assert!(!world.files("live").contains_key("state/moves/t/web.yaml"));
    assert_eq!(all(5, 5).pushed, [], "it is quiet");
}

#[test]
fn an_app_that_moves_keeps_its_room_from_others() {
    let mut files = tidal("{max: 20%}");
    with_room(&mut files, 9);
    let world = World::live(&files);
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]));
    // Eight of the nine are promised to it.
    app(&mut files, "late", 3, ", clusters: {names: [b]}");
    world.commit_main(&files);
    let advanced = world.advance_seeing(Some(&ready([("a", 8), ("b", 3)]))).unwrap();
    assert_eq!(subjects(&advanced).len(), 1, "{advanced:?}");
    assert_eq!(world.seats("late"), seats([("b", 1)]));
}

#[test]
fn a_renamed_app_goes_on_with_its_move() {
    let mut files = tidal("{max: 20%}");
    let world = World::live(&files);
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    let app = files.get_mut("teams/t/web/app.yaml").unwrap();
    *app = app.replace("{name: web}", "{name: site}").replace("namespace: t", "namespace: t\n  previousNames: [t/web]");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("site"), seats([("a", 8), ("b", 4)]));
    let moves: Vec<String> = world.files("live").into_keys().filter(|path| path.starts_with("state/moves/")).collect();
    assert_eq!(moves, ["state/moves/t/site.yaml"]);
    assert!(world.live_text("state/moves/t/site.yaml").contains("app: site"));
}

#[test]
fn the_move_of_an_app_that_is_gone_is_forgotten() {
    let mut files = tidal("{max: 20%}");
    let world = World::live(&files);
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    files.retain(|path, _| !path.starts_with("teams/t/web/"));
    files.remove("policies/tide.yaml");
    world.commit_main(&files);
    world.advance().unwrap();
    let left: Vec<String> = world.files("live").into_keys().filter(|path| path.starts_with("state/moves/")).collect();
    assert_eq!(left, Vec::<String>::new());
}
