//! What people order.

use std::collections::BTreeSet;

use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::rebalance::Budget;

use super::world::{World, app, fleet, refusal, seats};
use crate::commit::{Cause, Trailers};
use crate::decide::orders;
use crate::order::OrderFailure;

#[test]
fn a_drain_moves_everything_in_one_commit_and_uncordon_takes_it_back() {
    let world = World::live(&fleet());
    let pushed = world.order(|desk| orders::drain(desk, "a")).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    assert_eq!(world.live_text("state/lifecycle/a.yaml"), "lifecycle: Draining\nby: ann\n");
    let trailers = Trailers::parse(&pushed.message).unwrap();
    assert_eq!((trailers.cause, trailers.term), (Cause::Lifecycle, None), "a person's has no term");
    assert_eq!(world.live_tip().author().name(), Ok("ann"));
    assert_eq!(world.advance().unwrap().pushed, [], "the decider has nothing to add");

    assert_eq!(refusal(world.order(|desk| orders::drain(desk, "a"))).1, "cluster a is Draining already");
    world.order(|desk| orders::uncordon(desk, "a")).unwrap().expect("a commit");
    assert!(!world.files("live").contains_key("state/lifecycle/a.yaml"));
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]), "nothing moves back by itself");
    assert_eq!(world.advance().unwrap().pushed, []);
}

#[test]
fn a_rebalance_is_one_commit_and_the_next_is_none() {
    let world = World::live(&fleet());
    world.order(|desk| orders::drain(desk, "a")).unwrap().expect("a commit");
    world.order(|desk| orders::uncordon(desk, "a")).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    let rebalance = |budget| {
        let all = |fleet: &Fleet| fleet.app_ids().collect();
        let pushed = world.order(|desk| orders::rebalance(desk, &all, budget).map(|(proposal, _)| proposal));
        pushed.unwrap().map(|pushed| (pushed.cause, pushed.message.lines().next().unwrap().to_owned()))
    };
    assert_eq!(rebalance(Budget::Replicas(1)), Some((Cause::Rebalance, "Rebalance t/web".to_owned())));
    assert_eq!(world.seats("web"), seats([("a", 1), ("b", 2), ("c", 3)]));
    assert_eq!(world.advance().unwrap().pushed, [], "what is left to move waits for the next order");
    assert!(rebalance(Budget::Unlimited).is_some());
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert_eq!(rebalance(Budget::Unlimited), None);
    assert_eq!(rebalance(Budget::Percent(0)), None);
    let nobody = world.order(|desk| orders::rebalance(desk, &|_| BTreeSet::new(), Budget::Unlimited).map(|(p, _)| p));
    assert_eq!(refusal(nobody).1, "no App of what is live is selected");
}

#[test]
fn others_give_way_only_when_somebody_says_so() {
    let mut files = fleet();
    for name in ["a", "b", "c"] {
        let cluster = files.get_mut(&format!("clusters/{name}.yaml")).unwrap();
        let pool = "{nodePools: [{name: p, nodes: 1, allocatable: {cpu: 600m, memory: 1Gi, pods: \"100\"}}]}";
        *cluster = cluster.replace("spec: {}", &format!("spec: {pool}"));
    }
    let team = files.get_mut("teams/t.yaml").unwrap();
    *team = team.replace("spec: {", "spec: {priorityClassNames: [urgent], ");
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\nvalue: 10\npreemptionPolicy: \
                 PreemptLowerPriority\n";
    files.insert("policies/urgent.yaml".into(), class.into());
    app(&mut files, "web", 18, "");
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6), ("c", 6)]));
    app(&mut files, "hot", 2, "");
    let hot = files.get_mut("teams/t/hot/app.yaml").unwrap();
    *hot = hot.replace("namespace: t\n", "namespace: t\n  priorityClassName: urgent\n");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!((world.seats("web"), world.seats("hot")), (seats([("a", 6), ("b", 6), ("c", 6)]), seats([])));
    let nothing = refusal(world.order(|desk| orders::preempt(desk, "t/web")));
    assert!(nothing.0 == "guarded" && nothing.1.contains("nothing is proposed for App t/web"), "{nothing:?}");
    let pushed = world.order(|desk| orders::preempt(desk, "t/hot")).unwrap().expect("a commit");
    assert_eq!((pushed.cause, pushed.message.lines().next()), (Cause::Preempt, Some("Preempt for t/hot")));
    let moves = "\n\nt/hot apps/Deployment/hot: a 0 -> 2\nt/web apps/Deployment/web: a 6 -> 4\n\n";
    assert!(pushed.message.contains(moves), "{}", pushed.message);
    assert_eq!((world.seats("web"), world.seats("hot")), (seats([("a", 4), ("b", 6), ("c", 6)]), seats([("a", 2)])));
    assert_eq!(world.advance().unwrap().pushed, []);
}

#[test]
fn a_cordoned_cluster_keeps_what_it_has_and_takes_nothing() {
    let world = World::live(&fleet());
    world.order(|desk| orders::cordon(desk, "a")).unwrap().expect("a commit");
    let mut files = fleet();
    app(&mut files, "web", 10, "");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 4), ("c", 4)]));
}

#[test]
fn a_suspended_app_stays_until_it_is_resumed() {
    let world = World::live(&fleet());
    world.order(|desk| orders::suspend(desk, "t/web")).unwrap().expect("a commit");
    assert_eq!(world.live_text("state/suspended.yaml"), "- t/web\n");
    let mut files = fleet();
    app(&mut files, "web", 9, "");
    world.commit_main(&files);
    world.advance().unwrap();
    world.order(|desk| orders::drain(desk, "b")).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert_eq!(world.advance().unwrap().pushed, []);
    let resumed = world.order(|desk| orders::resume(desk, "t/web")).unwrap().expect("a commit");
    assert_eq!(resumed.cause, Cause::Resume);
    assert_eq!(world.seats("web"), seats([("a", 5), ("c", 4)]));
    assert!(!world.files("live").contains_key("state/suspended.yaml"));
}

#[test]
fn approvals_are_recorded_once() {
    let world = World::live(&fleet());
    let hash = "b3:0123456789abcdef";
    world.order(|desk| orders::approve(desk, hash, 3600)).unwrap().expect("a commit");
    assert_eq!(
        world.live_text("state/approvals/0123456789abcdef.yaml"),
        "hash: b3:0123456789abcdef\nby: ann\nexpires: 2026-11-30T12:00:00Z\n"
    );
    assert_eq!(refusal(world.order(|desk| orders::approve(desk, hash, 3600))).0, "guarded");
    world.later(3600);
    assert!(world.order(|desk| orders::approve(desk, hash, 3600)).unwrap().is_some(), "it had expired");
    assert_eq!(world.advance().unwrap().pushed, []);
}

#[test]
fn another_decider_takes_over_in_a_higher_term() {
    let world = World::live(&fleet());
    world.order(|desk| orders::promote(desk, "hub-2")).unwrap().expect("a commit");
    assert_eq!(world.live_text("state/decider.yaml"), "term: 2\nholder: hub-2\n");
    assert!(world.advance().is_err(), "the former one stops");
    let world = World { identity: crate::decide::Identity { holder: "hub-2".into(), term: None }, ..world };
    let mut files = fleet();
    files.insert("x".into(), "1".into());
    world.commit_main(&files);
    let pushed = world.advance().unwrap().pushed;
    assert_eq!(Trailers::parse(&pushed[0].message).unwrap().term, Some(2));
}

#[test]
fn a_person_declares_a_cluster_lost_and_ready() {
    let world = World::live(&fleet());
    let pushed = world.order(|desk| orders::failover(desk, "a", false)).unwrap().expect("a commit");
    assert!(pushed.message.starts_with("Fail over from a: ann says so\n"), "{}", pushed.message);
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    assert_eq!(
        world.live_text("state/outages/a.yaml"),
        "state: Lost\nepoch: 0\nsince: 2026-11-30T11:00:00Z\nby: ann\n"
    );
    // It answers all the time: it is not quarantined for that.
    let up = super::world::seen([("a", super::world::up()), ("b", super::world::up()), ("c", super::world::up())]);
    assert_eq!(world.advance_seeing(Some(&up)).unwrap().pushed, []);
    assert_eq!(refusal(world.order(|desk| orders::failover(desk, "a", false))).0, "guarded");
    world.order(|desk| orders::failback(desk, "a")).unwrap().expect("a commit");
    assert_eq!(world.live_text("state/outages/a.yaml"), "state: Ready\nepoch: 1\n");
    assert_eq!(refusal(world.order(|desk| orders::failback(desk, "a"))).0, "guarded");
}

#[test]
fn orders_that_make_no_sense() {
    let mut files = fleet();
    let retired = files["clusters/c.yaml"].replace("spec: {}", "spec: {lifecycle: Cordoned}");
    files.insert("clusters/c.yaml".into(), retired);
    let world = World::live(&files);
    let tip = world.tip("live");
    for (result, kind, says) in [
        (world.order(|d| orders::drain(d, "aa")), "wrong", "there is no cluster `aa` in what is live"),
        (world.order(|d| orders::suspend(d, "t/wbe")), "wrong", "did you mean `t/web`?"),
        (world.order(|d| orders::suspend(d, "web")), "wrong", "Apps are named TEAM/APP"),
        (world.order(|d| orders::resume(d, "t/web")), "guarded", "t/web is not suspended (none is)"),
        (world.order(|d| orders::cordon(d, "c")), "guarded", "cluster c is Cordoned already"),
        (world.order(|d| orders::uncordon(d, "c")), "guarded", "change `lifecycle` there"),
        (world.order(|d| orders::uncordon(d, "a")), "guarded", "takes new replicas already"),
        (world.order(|d| orders::approve(d, "../../x", 1)), "wrong", "is no hash"),
        (world.order(|d| orders::promote(d, "hub")), "guarded", "`hub` decides this repository already"),
        (world.order(|d| orders::promote(d, "a\nb")), "wrong", "one word"),
    ] {
        let (got, text) = refusal(result);
        assert_eq!(got, kind, "{text}");
        assert!(text.contains(says), "{text}");
    }
    assert_eq!(world.tip("live"), tip);
}

#[test]
fn before_anything_is_live_nothing_can_be_ordered() {
    let world = World::new();
    world.commit_main(&fleet());
    let (kind, text) = refusal(world.order(|desk| orders::drain(desk, "a")));
    assert_eq!((kind, text.contains("`fleetwright advance`")), ("guarded", true), "{text}");
}

#[test]
fn an_order_on_a_record_that_does_not_compile_is_refused() {
    let world = World::live(&fleet());
    world.edit_live(|files| drop(files.insert("placements/t.yaml".into(), "apiVersion: x\n".into())));
    assert!(matches!(world.order(|desk| orders::drain(desk, "a")).unwrap_err(), OrderFailure::Refused(_)));
}
