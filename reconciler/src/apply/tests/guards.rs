//! Guards: no cluster is lowered blindly, a cluster that returned is cleaned, failures keep to themselves.

use super::rig::{Rig, config_map, deployment, done, held, key, name, namespace};
use crate::apply::budget::lowering_hash;
use crate::apply::hold::Hold;

const WEB: &str = "apps/Deployment/shop/web";

fn running(replicas: u32) -> Rig {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", replicas), config_map("shop", "c", "1")]);
    rig.converge();
    rig
}

fn lowering(app: &str, ready: u32, needed: u32) -> Hold {
    Hold::Lowering { ready, needed, hash: lowering_hash("uid-a", &name(app)) }
}

#[test]
fn no_cluster_is_lowered_blindly() {
    let mut rig = running(10);
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 2), config_map("shop", "c", "1")]);
    rig.commit("c2");
    // nothing is seen elsewhere
    assert_eq!(held(&rig.pass(), WEB), Some(&lowering("shop/web", 2, 10)));
    rig.floor(WEB, 5, 8);
    assert_eq!(held(&rig.pass(), WEB), Some(&lowering("shop/web", 7, 8)));
    assert_eq!(rig.get(WEB).expect("web")["spec"]["replicas"], 10);
    rig.floor(WEB, 6, 8);
    assert_eq!(done(&rig.pass()), [format!("Changed {WEB}")]);
    assert_eq!(rig.get(WEB).expect("web")["spec"]["replicas"], 2);
}

/// bugs.json prune-08: what a placement moved away goes once the new copy is healthy.
#[test]
fn an_app_leaves_whole_and_only_when_enough_is_ready_elsewhere() {
    let mut rig = running(10);
    rig.moves_away("shop/web");
    rig.floor(WEB, 7, 8);
    let report = rig.converge();
    assert_eq!(held(&report, WEB), Some(&lowering("shop/web", 7, 8)));
    // what it uses stays with it
    assert_eq!(held(&report, "/ConfigMap/shop/c"), Some(&Hold::UntilUserGone(key(WEB))));
    rig.floor(WEB, 8, 8);
    rig.converge();
    assert!(!rig.has(WEB) && !rig.has("/ConfigMap/shop/c"));
}

#[test]
fn a_person_may_let_it_go_anyway_and_a_deleted_intent_needs_nobody() {
    let mut rig = running(10);
    rig.moves_away("shop/web");
    let approved = lowering_hash("uid-a", &name("shop/web"));
    rig.approvals.expires_secs.insert(approved, i64::MAX);
    rig.converge();
    assert!(!rig.has(WEB));

    let mut rig = running(10);
    rig.without("shop/web");
    rig.converge();
    assert!(!rig.has(WEB));
}

#[test]
fn pods_that_are_not_ready_may_go() {
    let mut rig = Rig::new();
    rig.cluster.store().faults.stuck.insert(key(WEB));
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "broken", 10)]);
    rig.pass();
    rig.cluster.tick();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "broken", 2)]);
    rig.commit("c2");
    assert_eq!(done(&rig.pass()), [format!("Changed {WEB}")]);
}

/// Back from an outage: only decreases and deletions, and only of what is replaced.
#[test]
fn a_quarantined_cluster_takes_nothing_new() {
    let mut rig = running(10);
    rig.app("shop/other", &[deployment("shop", "other", "i:1", 4)]);
    rig.converge();
    rig.rules.quarantined = true;
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:2", 12), config_map("shop", "c", "2")]);
    rig.app("shop/new", &[config_map("shop", "n", "1")]);
    rig.commit("c2");
    let report = rig.converge();
    for object in [WEB, "/ConfigMap/shop/c", "/ConfigMap/shop/n"] {
        assert_eq!(held(&report, object), Some(&Hold::Quarantined), "{object}");
    }
    // hand edits are not undone either
    rig.moves_away("shop/web");
    rig.moves_away("shop/other");
    rig.floor(WEB, 10, 8);
    rig.floor("apps/Deployment/shop/other", 2, 3);
    rig.commit("c3");
    let report = rig.converge();
    assert!(!rig.has(WEB));
    // its replacement is not ready: it cancels its failover and stays
    assert_eq!(held(&report, "apps/Deployment/shop/other"), Some(&lowering("shop/other", 2, 3)));
}

#[test]
fn one_object_that_is_refused_holds_what_follows_it_in_its_app_only() {
    let mut rig = Rig::new();
    rig.cluster.store().faults.denied.insert(key("/ConfigMap/shop/c"));
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 2), config_map("shop", "c", "1")]);
    rig.app("shop/other", &[config_map("default", "o", "1")]);
    let report = rig.pass();
    assert!(rig.has("/ConfigMap/default/o") && !rig.has(WEB));
    assert_eq!(held(&report, WEB), Some(&Hold::After { key: key("/ConfigMap/shop/c"), health: None }));
    let Some(Hold::Failed { error, retry_secs: Some(at) }) = held(&report, "/ConfigMap/shop/c").cloned() else {
        panic!("{report:?}")
    };
    assert_eq!(error, "refused: admission webhook denied the request");
    // tried again when it is time, and at once when the content changes
    rig.cluster.take_counters();
    rig.pass();
    assert_eq!(rig.cluster.take_counters().writes, 0);
    rig.cluster.store().faults.denied.clear();
    rig.now_secs = at;
    rig.pass();
    assert!(rig.has(WEB));
}

#[test]
fn an_object_that_is_being_deleted_is_waited_for() {
    let mut rig = Rig::new();
    let mut object = config_map("default", "c", "1");
    object["metadata"]["finalizers"] = serde_json::json!(["example.com/wait"]);
    rig.app("shop/web", &[object]);
    rig.converge();
    rig.cluster.edit(&key("/ConfigMap/default/c"), "kubectl", |o| {
        o["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into()
    });
    assert_eq!(held(&rig.pass(), "/ConfigMap/default/c"), Some(&Hold::Terminating));
    rig.cluster.delete(&key("/ConfigMap/default/c"));
    assert_eq!(done(&rig.pass()), ["Missing /ConfigMap/default/c"]);
}

#[test]
fn secrets_leave_no_digest_and_are_applied_once_more_after_a_restart() {
    let mut rig = Rig::new();
    let secret = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "stringData": {"pw": "swordfish"},
    });
    rig.app("shop/web", &[secret]);
    rig.converge();
    let inventory = rig.get("/ConfigMap/fleetwright-system/inventory.shop.web").expect("inventory");
    let text = inventory["data"]["inventory"].as_str().expect("text");
    assert!(text.contains("/Secret/default/s") && !text.contains("digest") && !text.contains("swordfish"), "{text}");
    rig.restart();
    rig.cluster.take_counters();
    assert_eq!(done(&rig.pass()), ["New /Secret/default/s"]);
    // the inventory's begin and the Secret: nothing changes
    assert_eq!(rig.cluster.take_counters().changes, 0);
    assert_eq!(done(&rig.pass()), [""; 0]);
}

#[test]
fn two_fleets_do_not_share_an_app() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.converge();
    let inventory = key("/ConfigMap/fleetwright-system/inventory.shop.web");
    rig.cluster.edit(&inventory, "x", |object| {
        let text = object["data"]["inventory"].as_str().expect("text").replace("\"test\"", "\"other\"");
        object["data"]["inventory"] = text.into();
    });
    rig.restart();
    let error = rig.try_pass().expect_err("refused").to_string();
    assert_eq!(error, "shop/web is applied here by fleet `other`; two fleets in one cluster need different names");
}

/// Never two running copies: it starts once the other is seen gone, and what runs here already is kept up.
#[test]
fn an_exclusive_app_waits_until_it_is_gone_elsewhere() {
    let mut rig = Rig::new();
    let objects = |image: &str| [namespace("shop"), deployment("shop", "web", image, 1), config_map("shop", "c", "1")];
    rig.app("shop/web", &objects("i:1")).may_run_in = vec!["eu-b".into()];
    let report = rig.pass();
    assert_eq!(held(&report, WEB), Some(&Hold::MayRunIn("eu-b".into())));
    assert!(rig.has("/ConfigMap/shop/c"));
    rig.app("shop/web", &objects("i:1"));
    assert_eq!(done(&rig.pass()), [format!("New {WEB}")]);
    rig.app("shop/web", &objects("i:2")).may_run_in = vec!["eu-b".into()];
    assert_eq!(done(&rig.pass()), [format!("Changed {WEB}")]);
}
