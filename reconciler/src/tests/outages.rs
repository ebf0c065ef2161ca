//! Lost clusters: when their apps leave, what guards hold them, what a revert means, how a cluster comes back.

use super::world::{Files, NOW, World, app, down, fleet, refusal, seats, seen, up};
use crate::commit::{Cause, Trailers};
use crate::decide::{Urgency, orders};
use crate::observation::{Answers, Observation};
use crate::ports::CommitId;

fn a_down(since_secs: i64) -> Observation {
    seen([("a", down(since_secs)), ("b", up()), ("c", up())])
}

fn lost_a() -> World {
    let world = World::live(&fleet());
    assert_eq!(world.advance_seeing(Some(&a_down(NOW - 300))).unwrap().pushed.len(), 1);
    world
}

#[test]
fn apps_leave_a_lost_cluster_after_five_minutes_in_one_commit_with_the_plan() {
    let world = World::live(&fleet());
    let observation = a_down(NOW - 299);
    assert_eq!(world.advance_seeing(Some(&observation)).unwrap().pushed, []);
    world.later(1);
    let advanced = world.advance_seeing(Some(&observation)).unwrap();
    assert_eq!(advanced.pushed.len(), 1);
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    assert_eq!(world.live_text("state/outages/a.yaml"), "state: Lost\nepoch: 0\nsince: 2026-11-30T10:55:01Z\n");
    let tip = world.live_tip();
    let message = tip.message().unwrap();
    assert!(message.starts_with("Fail over from a: it does not answer\n"), "{message}");
    assert!(message.contains("t/web apps/Deployment/web: a 2 -> 0, b 2 -> 3, c 2 -> 3"), "{message}");
    assert!(message.contains("connection refused"), "{message}");
    assert_eq!(Trailers::parse(message).unwrap().cause, Cause::Failover);
    for _ in 0..10 {
        world.later(60);
        assert_eq!(world.advance_seeing(Some(&observation)).unwrap().pushed, []);
    }
}

#[test]
fn tolerations_and_the_fleet_say_when() {
    let unreachable = |more: &str| {
        format!(", tolerations: [{{key: fleetwright.io/unreachable, operator: Exists, effect: NoExecute{more}}}]")
    };
    let after = |text: &str| format!("spec: {{failover: {{after: {text}}}}}");
    // the app's placement, the Fleet, and the first second at which it leaves
    let rows = [
        (String::new(), "spec: {}".to_owned(), Some(300)),
        (String::new(), after("90s"), Some(90)),
        (unreachable(", tolerationSeconds: 60"), "spec: {}".to_owned(), Some(60)),
        (unreachable(", tolerationSeconds: 900"), after("90s"), Some(900)),
        (unreachable(", tolerationSeconds: -5"), "spec: {}".to_owned(), Some(0)),
        (unreachable(""), "spec: {}".to_owned(), None),
        (", tolerations: [{operator: Exists}]".to_owned(), "spec: {}".to_owned(), None),
        (", tolerations: [{key: other, operator: Exists}]".to_owned(), "spec: {}".to_owned(), Some(300)),
    ];
    for (placement, spec, leaves_after) in rows {
        let mut files = fleet();
        app(&mut files, "web", 6, &placement);
        let head = files["fleet.yaml"].replace("spec: {}", &spec);
        files.insert("fleet.yaml".into(), head);
        let world = World::live(&files);
        let observation = a_down(NOW);
        for (secs, expected) in [(-1, false), (0, true)].map(|(d, e)| (leaves_after.map(|secs| secs + d), e)) {
            let Some(secs) = secs.filter(|secs| *secs >= 0) else { continue };
            world.clock.0.set(NOW + secs);
            world.advance_seeing(Some(&observation)).unwrap();
            assert_eq!(!world.seats("web").contains_key("a"), expected, "{placement} {spec} after {secs} s");
        }
        if leaves_after.is_none() {
            world.clock.0.set(NOW + 1_000_000);
            world.advance_seeing(Some(&observation)).unwrap();
            assert_eq!(world.seats("web")["a"], 2, "{placement}");
        }
    }
}

#[test]
fn what_is_copied_to_every_cluster_and_what_is_suspended_stays() {
    let mut files = fleet();
    app(&mut files, "addon", 1, "");
    let copied = files["teams/t/addon/app.yaml"].replace("StaticWeight", "Duplicated");
    files.insert("teams/t/addon/app.yaml".into(), copied);
    app(&mut files, "frozen", 3, "");
    let world = World::live(&files);
    world.edit_live(|files| drop(files.insert("state/suspended.yaml".into(), "- t/frozen\n".into())));
    world.advance_seeing(Some(&a_down(NOW - 300))).unwrap();
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    for app in ["addon", "frozen"] {
        assert_eq!(world.seats(app), seats([("a", 1), ("b", 1), ("c", 1)]), "{app}");
    }
}

#[test]
fn mass_loss_is_us() {
    let before = NOW - 4000;
    let rows: [(Observation, &str, usize); 5] = [
        (seen([("a", down(before)), ("b", down(before)), ("c", up())]), "", 0),
        (seen([("a", down(before)), ("b", down(before)), ("c", up())]), "maxClusters: 2", 2),
        (seen([("a", down(before)), ("b", down(before)), ("c", up())]), "maxClusters: 50%", 0),
        (seen([("a", down(before)), ("b", down(before)), ("c", down(before))]), "maxClusters: 100%", 0),
        (seen([("a", down(before)), ("b", Answers::NotYetKnown)]), "", 0),
    ];
    for (observation, setting, commits) in rows {
        let mut files = fleet();
        let head = files["fleet.yaml"].replace("spec: {}", &format!("spec: {{failover: {{{setting}}}}}"));
        files.insert("fleet.yaml".into(), head);
        let world = World::live(&files);
        let advanced = world.advance_seeing(Some(&observation)).unwrap();
        assert_eq!(advanced.pushed.len(), commits, "{setting}: {advanced:?}");
        let guarded = advanced.reports.iter().any(|report| report.urgency == Urgency::Guarded);
        assert_eq!(guarded, commits == 0, "{setting}: {advanced:?}");
    }
}

#[test]
fn a_revert_of_a_failover_holds_in_its_epoch() {
    let world = lost_a();
    world.revert_live();
    let observation = a_down(NOW - 300);
    for _ in 0..3 {
        world.later(100);
        let advanced = world.advance_seeing(Some(&observation)).unwrap();
        assert_eq!(advanced.pushed, []);
        assert_eq!(advanced.reports[0].urgency, Urgency::Guarded);
        assert!(advanced.reports[0].text.contains("`fleetwright failover a --again`"), "{advanced:?}");
    }
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));

    // A person may say so.
    let (kind, text) = refusal(world.order(|desk| orders::failover(desk, "a", false)));
    assert_eq!(kind, "guarded", "{text}");
    world.order(|desk| orders::failover(desk, "a", true)).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
}

#[test]
fn when_it_answers_after_a_revert_the_next_outage_is_another() {
    let world = lost_a();
    world.revert_live();
    world.later(600);
    let back = seen([("a", Answers::Yes { since_secs: NOW + 500 }), ("b", up()), ("c", up())]);
    let advanced = world.advance_seeing(Some(&back)).unwrap();
    assert_eq!(advanced.pushed.iter().map(|p| p.subject()).collect::<Vec<_>>(), ["Declare a ready"]);
    assert_eq!(world.advance_seeing(Some(&back)).unwrap().pushed, []);
    world.later(10_000);
    assert_eq!(world.advance_seeing(Some(&a_down(NOW + 5000))).unwrap().pushed.len(), 1);
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
}

#[test]
fn a_cluster_comes_back_by_way_of_quarantine_and_its_epoch_rises() {
    let world = lost_a();
    let lost_at = CommitId(world.tip("live").unwrap().to_string().into());
    world.later(1000);
    let mut back = seen([("a", Answers::Yes { since_secs: NOW + 900 }), ("b", up()), ("c", up())]);
    let advanced = world.advance_seeing(Some(&back)).unwrap();
    assert_eq!(advanced.pushed.iter().map(|p| p.subject()).collect::<Vec<_>>(), ["Quarantine a: it answers again"]);
    let quarantined = advanced.pushed[0].id.clone();
    // It takes nothing new, and is not ready before it has applied what was decided.
    for applied in [None, Some(lost_at)] {
        back.clusters.get_mut("a").unwrap().applied = applied;
        let advanced = world.advance_seeing(Some(&back)).unwrap();
        assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Waits));
    }
    back.clusters.get_mut("a").unwrap().applied = Some(quarantined);
    let advanced = world.advance_seeing(Some(&back)).unwrap();
    assert_eq!(advanced.pushed.iter().map(|p| p.subject()).collect::<Vec<_>>(), ["Declare a ready"]);
    assert_eq!(world.live_text("state/outages/a.yaml"), "state: Ready\nepoch: 1\n");
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]), "nothing moves back by itself");
    assert_eq!(world.advance_seeing(Some(&back)).unwrap().pushed, []);
    // New replicas may come again.
    let mut files = fleet();
    app(&mut files, "new", 3, "");
    world.commit_main(&files);
    world.advance_seeing(Some(&back)).unwrap();
    assert_eq!(world.seats("new"), seats([("a", 1), ("b", 1), ("c", 1)]));
}

#[test]
fn it_fails_again_while_it_is_quarantined() {
    let world = lost_a();
    world.later(1000);
    let back = seen([("a", Answers::Yes { since_secs: NOW + 900 }), ("b", up()), ("c", up())]);
    assert_eq!(world.advance_seeing(Some(&back)).unwrap().pushed.len(), 1);
    world.later(1000);
    assert_eq!(world.advance_seeing(Some(&a_down(NOW + 1100))).unwrap().pushed.len(), 1);
    assert!(world.live_text("state/outages/a.yaml").starts_with("state: Lost\nepoch: 0\n"));
}

#[test]
fn another_cluster_under_the_same_name_stays_lost() {
    let world = World::live(&fleet());
    world.edit_live(|files| {
        drop(files.insert("state/capacity/a.yaml".into(), "uid: uid-of-before\npools: []\n".into()))
    });
    world.advance_seeing(Some(&a_down(NOW - 300))).unwrap();
    world.later(1000);
    let back = seen([("a", Answers::Yes { since_secs: NOW + 900 }), ("b", up()), ("c", up())]);
    let advanced = world.advance_seeing(Some(&back)).unwrap();
    assert_eq!(advanced.pushed, []);
    assert!(advanced.reports[0].text.contains("another cluster answers under the name of a"), "{advanced:?}");
}

#[test]
fn a_cluster_that_flaps_is_left_alone() {
    let world = World::live(&fleet());
    let mut now = NOW;
    for round in 0..3 {
        now += 600;
        world.clock.0.set(now);
        let advanced = world.advance_seeing(Some(&a_down(now - 300))).unwrap();
        assert_eq!(advanced.pushed.len(), usize::from(round < 2), "{round}: {advanced:?}");
        if round < 2 {
            world.order(|desk| orders::failback(desk, "a")).unwrap();
        } else {
            assert!(advanced.reports[0].text.contains("failed over 2 times"), "{advanced:?}");
        }
    }
    world.clock.0.set(now + 3600);
    assert_eq!(world.advance_seeing(Some(&a_down(now))).unwrap().pushed.len(), 1, "an hour later it may again");
}

#[test]
fn decisions_that_depend_on_time_wait_for_a_clock_that_can_be_trusted() {
    type Change = fn(&World, &mut Observation);
    let rows: [(&str, Change); 2] = [
        ("set back", |world, _| world.clock.0.set(NOW - 10_000)),
        ("ahead of all others", |_, seen| {
            seen.clusters.values_mut().for_each(|cluster| cluster.clock_ahead_secs = Some(-500));
        }),
    ];
    for (name, change) in rows {
        let world = World::live(&fleet());
        let mut observation = a_down(NOW - 20_000);
        change(&world, &mut observation);
        let advanced = world.advance_seeing(Some(&observation)).unwrap();
        assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Waits), "{name}");
        // What people merge goes live all the same, and the date does not go back.
        let mut files: Files = fleet();
        files.insert("x".into(), "1".into());
        world.commit_main(&files);
        assert_eq!(world.advance_seeing(Some(&observation)).unwrap().pushed.len(), 1, "{name}");
        assert!(world.live_tip().time().seconds() >= NOW);
    }
    // One cluster's wrong clock stops nobody.
    let world = World::live(&fleet());
    let mut observation = a_down(NOW - 300);
    observation.clusters.get_mut("b").unwrap().clock_ahead_secs = Some(9000);
    observation.clusters.insert("d".into(), observation.clusters["c"].clone());
    assert_eq!(world.advance_seeing(Some(&observation)).unwrap().pushed.len(), 1);
}

#[test]
fn a_failover_stays_within_quota_and_room() {
    let mut files = fleet();
    let team = files["teams/t.yaml"].replace(
        "spec: {namespaces: [{name: t}]}",
        "spec: {namespaces: [{name: t}], quota: [{hard: {requests.cpu: 300m}, clusters: {names: [b]}}]}",
    );
    files.insert("teams/t.yaml".into(), team);
    for cluster in ["a", "b", "c"] {
        let file = files[&format!("clusters/{cluster}.yaml")].replace(
            "spec: {}",
            "spec: {nodePools: [{name: p, nodes: 1, allocatable: {cpu: 250m, memory: 8Gi, pods: \"110\"}}]}",
        );
        files.insert(format!("clusters/{cluster}.yaml"), file);
    }
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert_eq!(world.advance_seeing(Some(&a_down(NOW - 300))).unwrap().pushed.len(), 1);
    // Two pods of 100m fit into each of the others' nodes, and those are there: what finds no place stays.
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    let tip = world.live_tip();
    let message = tip.message().unwrap();
    assert!(message.contains("not possible: t/web"), "{message}");
}
