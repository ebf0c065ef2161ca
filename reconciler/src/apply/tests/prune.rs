//! What is deleted, and what never is.

use std::sync::Arc;

use serde_json::{Value, json};

use super::rig::{Rig, annotated, config_map, deployment, done, held, key, name, namespace};
use crate::apply::budget::Budget;
use crate::apply::hold::Hold;
use crate::apply::run::PassError;
use crate::cluster::{Apply, ClusterApi as _, GroupKind, Write};
use crate::health::Health;

const WEB: &str = "apps/Deployment/shop/web";

fn many(count: usize) -> Vec<Value> {
    (0..count).map(|n| config_map("default", &format!("c{n:03}"), "1")).collect()
}

/// bugs.json prune-01: an error is never an empty set, whatever could not be read.
#[test]
fn nothing_is_pruned_that_could_not_be_seen() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.app("shop/other", &[config_map("default", "d", "1")]);
    rig.converge();
    rig.without("shop/web");
    rig.commit("c2");

    rig.restart();
    rig.cluster.store().faults.unlisted.insert(GroupKind::new("", "ConfigMap"));
    // the inventories themselves cannot be listed
    assert!(matches!(rig.try_pass(), Err(PassError::Cluster(_))));
    assert!(rig.has("/ConfigMap/default/c"));
    rig.cluster.store().faults = crate::simulated::Faults::default();
    // one of them cannot be read
    let inventory = key("/ConfigMap/fleetwright-system/inventory.shop.web");
    let good = rig.cluster.get(&inventory).expect("inventory")["data"]["inventory"].clone();
    rig.cluster.edit(&inventory, "x", |object| object["data"]["inventory"] = "{".into());
    assert!(matches!(rig.try_pass(), Err(PassError::Inventory(_))));
    assert!(rig.has("/ConfigMap/default/c"));
    rig.cluster.edit(&inventory, "x", |object| object["data"]["inventory"] = good);
    assert_eq!(done(&rig.pass()), ["Pruned /ConfigMap/default/c"]);
}

#[test]
fn a_kind_that_cannot_be_listed_keeps_its_objects() {
    let mut rig = Rig::new();
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}});
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.app("shop/gone", &[secret]);
    rig.converge();
    rig.without("shop/gone");
    rig.cluster.store().faults.unlisted.insert(GroupKind::new("", "Secret"));
    let report = rig.pass();
    let why = held(&report, "/Secret/default/s").map(ToString::to_string);
    let expected = "Secret could not be observed (connection refused; it is tried again); nothing is done until it can";
    assert_eq!(why.as_deref(), Some(expected));
    assert!(rig.has("/Secret/default/s"));
}

/// bugs.json prune-06: a label shared with a neighbour means nothing; only the inventory does.
#[test]
fn only_what_the_inventory_lists_goes() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "ours", "1")]);
    rig.converge();
    let labels = rig.get("/ConfigMap/default/ours").expect("ours")["metadata"]["labels"].clone();
    let mut theirs = config_map("default", "theirs", "1");
    theirs["metadata"]["labels"] = labels;
    rig.cluster.store().put(&key("/ConfigMap/default/theirs"), theirs);
    rig.without("shop/web");
    rig.converge();
    assert!(!rig.has("/ConfigMap/default/ours") && rig.has("/ConfigMap/default/theirs"));
}

/// An object made anew by somebody under the name of ours is theirs.
#[test]
fn another_object_of_the_name_is_kept() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.converge();
    let old = rig.get("/ConfigMap/default/c").expect("c");
    rig.cluster.delete(&key("/ConfigMap/default/c"));
    let mut new = old;
    new["metadata"].as_object_mut().expect("metadata").shift_remove("uid");
    rig.cluster.store().put(&key("/ConfigMap/default/c"), new);
    rig.without("shop/web");
    assert_eq!(held(&rig.pass(), "/ConfigMap/default/c"), Some(&Hold::AnotherObject));
    assert!(rig.has("/ConfigMap/default/c"));
}

/// bugs.json prune-11: gone already is done.
#[test]
fn what_is_gone_already_is_struck_out() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.converge();
    rig.cluster.delete(&key("/ConfigMap/default/c"));
    rig.without("shop/web");
    assert_eq!(done(&rig.pass()), ["WasGone /ConfigMap/default/c"]);
    assert!(rig.pass().is_settled());
    assert!(!rig.has("/ConfigMap/fleetwright-system/inventory.shop.web"));
}

/// bugs.json prune-12
#[test]
fn protected_objects_stay_and_are_listed() {
    for (annotation, value) in [("fleetwright.io/prune", "disabled"), ("helm.sh/resource-policy", "keep")] {
        let mut rig = Rig::new();
        rig.app("shop/web", &[annotated(config_map("default", "c", "1"), annotation, value)]);
        rig.converge();
        rig.without("shop/web");
        let report = rig.pass();
        assert_eq!(held(&report, "/ConfigMap/default/c"), Some(&Hold::Protected));
        assert_eq!(report.held[0].why.to_string(), "orphaned (protected): it says fleetwright.io/prune: disabled");
    }
    // also when the annotation was set by hand in the cluster
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.converge();
    rig.cluster.edit(&key("/ConfigMap/default/c"), "kubectl", |o| {
        o["metadata"]["annotations"]["fleetwright.io/prune"] = "disabled".into()
    });
    rig.without("shop/web");
    assert_eq!(held(&rig.pass(), "/ConfigMap/default/c"), Some(&Hold::Protected));
}

#[test]
fn prune_false_keeps_what_is_removed() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1"), config_map("default", "d", "1")]);
    rig.converge();
    rig.app("shop/web", &[config_map("default", "c", "1")]).keep_removed = true;
    assert_eq!(held(&rig.pass(), "/ConfigMap/default/d"), Some(&Hold::PruneOff));
}

/// bugs.json prune-04
#[test]
fn namespaces_and_data_need_an_approval_and_must_be_empty() {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d", "namespace": "shop"}, "spec": {}});
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), config_map("shop", "c", "1"), claim]);
    rig.app("shop/stays", &[config_map("default", "s", "1")]);
    rig.converge();

    // a placement that moved away never takes them
    let web = rig.apps.clone();
    rig.moves_away("shop/web");
    let report = rig.converge();
    assert_eq!(held(&report, "/Namespace//shop"), Some(&Hold::NeverByPlacement));
    assert_eq!(held(&report, "/PersistentVolumeClaim/shop/d"), Some(&Hold::NeverByPlacement));
    rig.apps = web;
    rig.elsewhere.clear();
    rig.converge();

    // a deleted intent takes them after an approval
    rig.without("shop/web");
    let report = rig.converge();
    let Some(Hold::NeedsApproval { hash, objects: 2, allowed: 0 }) = held(&report, "/Namespace//shop").cloned() else {
        panic!("{report:?}")
    };
    assert!(rig.has("/PersistentVolumeClaim/shop/d") && !rig.has("/ConfigMap/shop/c"));
    rig.cluster.store().put(&key("/ConfigMap/shop/foreign"), config_map("shop", "foreign", "1"));
    rig.approvals.expires_secs.insert(hash, i64::MAX);
    let report = rig.converge();
    assert!(!rig.has("/PersistentVolumeClaim/shop/d"));
    let Some(Hold::Failed { error, .. }) = held(&report, "/Namespace//shop") else { panic!("{report:?}") };
    assert_eq!(error, "refused: /ConfigMap/shop/foreign lives in it and is not to be deleted");
    assert!(rig.has("/Namespace//shop"));

    rig.cluster.delete(&key("/ConfigMap/shop/foreign"));
    rig.now_secs += 600;
    rig.converge();
    assert!(!rig.has("/Namespace//shop"));
}

#[test]
fn a_definition_with_instances_of_others_stays() {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": "v1"}]},
    });
    const CRD: &str = "apiextensions.k8s.io/CustomResourceDefinition//widgets.example.com";
    let widget = |name: &str| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": "default"}});
    let mut rig = Rig::new();
    rig.app("shop/operator", &[definition, widget("ours")]);
    rig.converge();
    rig.cluster.store().put(&key("example.com/Widget/default/theirs"), widget("theirs"));
    rig.without("shop/operator");
    let report = rig.converge();
    let Some(Hold::NeedsApproval { hash, .. }) = held(&report, CRD).cloned() else { panic!("{report:?}") };
    rig.approvals.expires_secs.insert(hash, i64::MAX);
    let report = rig.converge();
    assert!(
        matches!(held(&report, CRD), Some(Hold::Failed { error, .. }) if error.contains("Widget/default/theirs lives in it")),
        "{report:?}"
    );
    rig.cluster.delete(&key("example.com/Widget/default/theirs"));
    rig.now_secs += 600;
    rig.converge();
    assert!(!rig.has(CRD));
    rig.converge();
    assert!(rig.pass().is_settled());
}

#[test]
fn what_belongs_to_kubernetes_never_goes() {
    for system in ["default", "kube-system", "fleetwright-system"] {
        let mut rig = Rig::new();
        rig.app("shop/web", &[namespace(system), config_map("default", "c", "1")]);
        rig.converge();
        rig.without("shop/web");
        assert_eq!(held(&rig.converge(), &format!("/Namespace//{system}")), Some(&Hold::System));
    }
}

/// 119 of 120 objects vanish: nothing goes until exactly this set is approved.
#[test]
fn the_budget_stops_the_whole_prune_until_it_is_approved() {
    let mut rig = Rig::new();
    rig.app("shop/web", &many(120));
    rig.converge();
    rig.app("shop/web", &many(1));
    rig.commit("c2");
    let report = rig.pass();
    let Some(Hold::NeedsApproval { hash, objects: 119, allowed: 24 }) =
        held(&report, "/ConfigMap/default/c001").cloned()
    else {
        panic!("{report:?}")
    };
    assert!(rig.has("/ConfigMap/default/c001") && rig.has("/ConfigMap/default/c119"));

    // an approval of another set, or one that expired, is none
    rig.approvals.expires_secs.insert("b3:other".into(), i64::MAX);
    rig.approvals.expires_secs.insert(hash.clone(), rig.now_secs);
    assert_eq!(done(&rig.pass()), [""; 0]);
    // one more object vanishes: another set
    rig.approvals.expires_secs.insert(hash.clone(), i64::MAX);
    rig.app("shop/web", &[]);
    rig.commit("c3");
    rig.pass();
    assert!(rig.has("/ConfigMap/default/c119"));
    rig.app("shop/web", &many(1));
    rig.commit("c4");

    // killed in the middle of it, the rest goes without asking again
    rig.cluster.store().faults.writes_left = Some(60);
    let _ = rig.try_pass();
    rig.cluster.store().faults = crate::simulated::Faults::default();
    assert!(rig.has("/ConfigMap/default/c119") && !rig.has("/ConfigMap/default/c001"));
    rig.restart();
    rig.approvals.expires_secs.clear();
    rig.now_secs += 600;
    rig.converge();
    assert!(!rig.has("/ConfigMap/default/c119") && rig.has("/ConfigMap/default/c000"));
}

#[test]
fn moves_count_against_no_budget_and_the_fleet_has_one_too() {
    let mut rig = Rig::new();
    rig.rules.budget = Budget::Stated { share_percent: None, count: Some(3) };
    rig.app("shop/web", &many(5));
    rig.converge();
    let web = rig.apps.clone();
    rig.moves_away("shop/web");
    let report = rig.pass();
    assert!(matches!(
        held(&report, "/ConfigMap/default/c000"),
        Some(Hold::NeedsApproval { objects: 5, allowed: 3, .. })
    ));
    rig.rules.moved.insert(name("shop/web"));
    assert_eq!(rig.pass().done.len(), 5);

    rig.apps = web;
    rig.elsewhere.clear();
    rig.rules = crate::apply::view::Rules::plain();
    rig.converge();
    rig.without("shop/web");
    let stop = crate::apply::view::FleetStop { hash: "b3:fleet".into(), objects: 50, allowed: 20 };
    rig.rules.fleet_stop = Some(stop);
    let needs = Hold::NeedsApproval { hash: "b3:fleet".into(), objects: 50, allowed: 20 };
    assert_eq!(held(&rig.pass(), "/ConfigMap/default/c000"), Some(&needs));
    rig.approvals.expires_secs.insert("b3:fleet".into(), i64::MAX);
    assert_eq!(rig.pass().done.len(), 5);
}

/// An app that was renamed, or moved between teams: the objects change hands, and nothing is deleted.
#[test]
fn a_renamed_app_keeps_its_objects() {
    let mut rig = Rig::new();
    let objects = [namespace("shop"), deployment("shop", "web", "i:1", 2), config_map("shop", "c", "1")];
    rig.app("shop/web", &objects);
    rig.converge();
    let uid = rig.get(WEB).expect("web")["metadata"]["uid"].clone();
    rig.without("shop/web");
    rig.app("market/web", &objects);
    rig.commit("c2");
    rig.converge();
    assert_eq!(rig.get(WEB).expect("web")["metadata"]["uid"], uid);
    assert!(!rig.has("/ConfigMap/fleetwright-system/inventory.shop.web"));
    assert!(rig.pass().is_settled());
}

/// What is replaced goes once what replaces it is Current; what workloads use goes after them.
#[test]
fn old_objects_go_after_new_ones_are_current_and_backwards() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "old", "i:1", 2), config_map("shop", "old", "1")]);
    rig.converge();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 2)]);
    rig.commit("c2");
    let report = rig.pass();
    assert_eq!(held(&report, "apps/Deployment/shop/old"), Some(&Hold::UntilReplaced(key(WEB))));
    rig.cluster.tick();
    let report = rig.pass();
    let order: Vec<String> = report.done.iter().map(|done| done.key.to_string()).collect();
    assert_eq!(order, ["apps/Deployment/shop/old", "/ConfigMap/shop/old"]);
}

/// A workload that lingers keeps what it uses.
#[test]
fn what_a_lingering_workload_uses_stays() {
    let mut rig = Rig::new();
    let mut web = deployment("shop", "web", "i:1", 2);
    web["metadata"]["finalizers"] = json!(["example.com/wait"]);
    rig.app("shop/web", &[namespace("shop"), web, config_map("shop", "c", "1")]);
    rig.converge();
    rig.without("shop/web");
    let report = rig.converge();
    assert_eq!(held(&report, "/ConfigMap/shop/c"), Some(&Hold::UntilUserGone(key(WEB))));
    assert!(rig.applier.live().get(&key(WEB)).is_some_and(|live| live.deleting && live.health == Health::Terminating));
    rig.cluster.delete(&key(WEB));
    rig.converge();
    assert!(!rig.has("/ConfigMap/shop/c"));
}

/// Listed before it was written, and never written, because it is somebody else's: it is not ours to delete.
#[test]
fn what_was_never_applied_is_not_pruned() {
    let mut rig = Rig::new();
    let theirs = Apply {
        object: Arc::new(config_map("default", "c", "theirs")),
        manager: "argocd-controller",
        force: false,
        dry_run: false,
        service_account: None,
    };
    assert!(rig.cluster.api().write(&[Write::Apply(theirs)])[0].is_ok());
    rig.app("shop/web", &[config_map("default", "c", "ours")]);
    assert!(matches!(held(&rig.pass(), "/ConfigMap/default/c"), Some(Hold::Failed { .. })));
    rig.without("shop/web");
    rig.commit("c2");
    rig.converge();
    assert!(rig.has("/ConfigMap/default/c") && !rig.has("/ConfigMap/fleetwright-system/inventory.shop.web"));
}

/// Killed between the apply and the record of it: the label says that it is ours.
#[test]
fn what_was_applied_and_not_recorded_is_pruned() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    // the namespace, the inventory twice, the object; not the record
    rig.cluster.store().faults.writes_left = Some(4);
    let _ = rig.try_pass();
    assert!(rig.has("/ConfigMap/default/c"));
    rig.cluster.store().faults = crate::simulated::Faults::default();
    rig.restart();
    rig.without("shop/web");
    rig.commit("c2");
    rig.converge();
    assert!(!rig.has("/ConfigMap/default/c"));
}

/// A definition and the namespace of its objects go together, although discovery still names the kind.
#[test]
fn a_namespace_goes_after_the_kinds_that_went_with_it() {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": "v1"}]},
    });
    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}});
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), definition, widget]);
    rig.converge();
    rig.without("shop/web");
    rig.commit("c2");
    let report = rig.converge();
    let Some(Hold::NeedsApproval { hash, .. }) = held(&report, "/Namespace//shop").cloned() else {
        panic!("{report:?}")
    };
    rig.cluster.store().put(&key("/ConfigMap/shop/foreign"), config_map("shop", "foreign", "1"));
    rig.approvals.expires_secs.insert(hash, i64::MAX);
    rig.converge();
    assert!(rig.has("/Namespace//shop"));
    rig.cluster.delete(&key("/ConfigMap/shop/foreign"));
    rig.now_secs += 600;
    rig.converge();
    assert!(!rig.has("/Namespace//shop"));
}

/// A Deployment that cannot be seen may run: what it uses stays until that is known.
#[test]
fn what_an_unseen_workload_uses_stays() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}});
    let mut rig = Rig::new();
    rig.app(
        "shop/web",
        &[namespace("shop"), deployment("shop", "web", "i:1", 1), config_map("shop", "c", "1"), service],
    );
    rig.app("shop/other", &[config_map("shop", "d", "1")]);
    rig.converge();
    rig.without("shop/web");
    rig.commit("c2");
    rig.restart();
    rig.cluster.store().faults.unlisted.insert(GroupKind::new("apps", "Deployment"));
    let report = rig.pass();
    assert!(rig.has("/ConfigMap/shop/c") && rig.has("/Service/shop/web") && rig.has(WEB));
    assert_eq!(held(&report, "/ConfigMap/shop/c"), Some(&Hold::UntilUserGone(key(WEB))));
    rig.cluster.store().faults.unlisted.clear();
    rig.converge();
    assert!(!rig.has("/ConfigMap/shop/c") && !rig.has(WEB));
}
