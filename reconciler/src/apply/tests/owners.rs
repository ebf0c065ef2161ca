//! Fields that others hold: conflicts, drift, HorizontalPodAutoscalers, adoption.

use std::sync::Arc;

use serde_json::{Value, json};

use super::rig::{Rig, annotated, config_map, deployment, done, held, key, namespace};
use crate::apply::fields::managed_entries;
use crate::apply::hold::Hold;
use crate::apply::view::{Drift, Mode};
use crate::cluster::{Apply, ClusterApi as _, Write};

const WEB: &str = "apps/Deployment/shop/web";
const C: &str = "/ConfigMap/default/c";

/// Another controller applies an object.
fn applied_by(rig: &mut Rig, manager: &'static str, object: &Value) {
    let apply =
        Apply { object: Arc::new(object.clone()), manager, force: false, dry_run: false, service_account: None };
    let results = rig.cluster.api().write(&[Write::Apply(apply)]);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

fn replicas(rig: &Rig) -> Value {
    rig.get(WEB).expect("web")["spec"]["replicas"].clone()
}

fn autoscaler(min: u32) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "minReplicas": min},
    })
}

#[test]
fn a_conflict_is_reported_and_not_forced_unless_the_object_says_so() {
    let mut rig = Rig::new();
    applied_by(&mut rig, "argocd-controller", &config_map("default", "c", "theirs"));
    rig.app("shop/web", &[config_map("default", "c", "ours")]);
    let report = rig.pass();
    let Some(Hold::Failed { error, .. }) = held(&report, C) else { panic!("{report:?}") };
    assert_eq!(error, "other managers hold .data.v (by \"argocd-controller\")");
    assert_eq!(rig.get(C).expect("c")["data"]["v"], "theirs");
    // sticky, and not asked again at every pass
    rig.cluster.take_counters();
    assert!(held(&rig.pass(), C).is_some());
    assert_eq!(rig.cluster.take_counters().writes, 0);

    rig.app("shop/web", &[annotated(config_map("default", "c", "ours"), "fleetwright.io/conflicts", "Force")]);
    rig.commit("c2");
    rig.pass();
    assert_eq!(rig.get(C).expect("c")["data"]["v"], "ours");
}

#[test]
fn drift_is_undone_or_reported() {
    for drift in [Drift::Correct, Drift::Report] {
        let mut rig = Rig::new();
        rig.rules.drift = drift;
        rig.app("shop/web", &[config_map("default", "c", "ours"), config_map("default", "d", "ours")]);
        rig.converge();
        rig.cluster.edit(&key(C), "kubectl-edit", |object| object["data"]["v"] = "edited".into());
        rig.cluster.delete(&key("/ConfigMap/default/d"));
        let report = rig.pass();
        match drift {
            Drift::Correct => {
                assert_eq!(done(&report), [format!("Drifted {C}"), "Missing /ConfigMap/default/d".to_owned()]);
                assert_eq!(rig.get(C).expect("c")["data"]["v"], "ours");
                assert!(rig.has("/ConfigMap/default/d"));
            }
            Drift::Report => {
                assert_eq!((held(&report, C), report.done.len()), (Some(&Hold::Drifted), 0));
                assert_eq!(rig.get(C).expect("c")["data"]["v"], "edited");
                assert!(!rig.has("/ConfigMap/default/d"));
            }
        }
        // new content is no drift
        rig.app("shop/web", &[config_map("default", "c", "newer"), config_map("default", "d", "newer")]);
        rig.commit("c2");
        rig.pass();
        assert_eq!(rig.get("/ConfigMap/default/d").expect("d")["data"]["v"], "newer");
    }
}

/// Whether it was looked at between the edit and the commit makes no difference.
#[test]
fn new_content_meets_an_edit_by_hand() {
    for (drift, expected) in [(Drift::Correct, "newer"), (Drift::Report, "edited")] {
        let mut rig = Rig::new();
        rig.rules.drift = drift;
        rig.app("shop/web", &[config_map("default", "c", "ours")]);
        rig.converge();
        rig.cluster.edit(&key(C), "kubectl-edit", |object| object["data"]["v"] = "edited".into());
        rig.app("shop/web", &[config_map("default", "c", "newer")]);
        rig.commit("c2");
        let report = rig.pass();
        assert_eq!(rig.get(C).expect("c")["data"]["v"], expected, "{drift:?} {report:?}");
        assert_eq!(held(&report, C).is_some(), drift == Drift::Report);
    }
}

/// A hand that once wrote what we wrote holds the field beside us: it is still ours to change. In a list too.
#[test]
fn new_content_meets_a_hand_that_agreed_before() {
    for (drift, expected) in [(Drift::Correct, ("i:3", 3)), (Drift::Report, ("i:1", 1))] {
        let mut rig = Rig::new();
        rig.rules.drift = drift;
        rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 1)]);
        rig.converge();
        // edited, and then stated the same: both hold it
        rig.cluster.edit(&key(WEB), "kubectl-edit", |object| {
            object["spec"]["replicas"] = 2.into();
            object["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2".into();
        });
        if drift == Drift::Correct {
            rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:2", 2)]);
            rig.commit("c2");
            rig.converge();
        } else {
            rig.cluster.edit(&key(WEB), "kubectl-edit", |object| {
                object["spec"]["replicas"] = 1.into();
                object["spec"]["template"]["spec"]["containers"][0]["image"] = "i:1".into();
            });
        }
        rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:3", 3)]);
        rig.commit("c3");
        let report = rig.pass();
        let found = rig.get(WEB).expect("web");
        let image = found["spec"]["template"]["spec"]["containers"][0]["image"].as_str().expect("an image").to_owned();
        let replicas = found["spec"]["replicas"].as_i64().expect("a number");
        assert_eq!((image.as_str(), replicas), expected, "{drift:?} {report:?}");
    }
}

/// The answer of the first apply is lost with the process, and somebody edits what was applied: that is drift.
#[test]
fn what_was_applied_and_not_written_down_is_drift_all_the_same() {
    for writes in 0..6 {
        let mut rig = Rig::new();
        rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 2)]);
        {
            let mut store = rig.cluster.store();
            store.faults.writes_left = Some(writes);
            store.faults.lose_answer = true;
        }
        let _ = rig.try_pass();
        rig.cluster.store().faults = crate::simulated::Faults::default();
        rig.restart();
        if rig.has(WEB) {
            rig.cluster.edit(&key(WEB), "kubectl-edit", |object| object["spec"]["replicas"] = 1.into());
        }
        rig.now_secs += 600;
        rig.converge();
        assert_eq!(rig.get(WEB).expect("web")["spec"]["replicas"], 2, "after {writes} writes");
    }
}

/// A field that was never ours is not taken with new content either.
#[test]
fn new_content_meets_a_field_of_another() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "ours")]);
    rig.converge();
    rig.cluster.edit(&key(C), "injector", |object| object["data"]["more"] = "theirs".into());
    let mut wider = config_map("default", "c", "ours");
    wider["data"]["more"] = "ours".into();
    rig.app("shop/web", &[wider]);
    rig.commit("c2");
    let Some(Hold::Failed { error, .. }) = held(&rig.pass(), C).cloned() else { panic!("it is held") };
    assert_eq!(error, "other managers hold .data.more (by \"injector\" using v1)");
    assert_eq!(rig.get(C).expect("c")["data"]["more"], "theirs");
}

/// What is not ours to set is no drift: defaults, status, fields and labels that others add, managedFields.
#[test]
fn what_others_add_is_no_drift() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 2)]);
    rig.converge();
    rig.cluster.edit(&key(WEB), "some-operator", |object| {
        object["metadata"]["annotations"]["operator/checked"] = "yes".into();
        object["spec"]["template"]["spec"]["schedulerName"] = "default-scheduler".into();
    });
    rig.cluster.take_counters();
    assert_eq!(done(&rig.pass()), [""; 0]);
    assert_eq!(rig.cluster.take_counters().writes, 0);
    assert_eq!(rig.get(WEB).expect("web")["metadata"]["annotations"]["operator/checked"], "yes");
}

/// bugs.json ssa-08: a list that the cluster fills is not ours, however often we look.
#[test]
fn what_the_server_adds_stays() {
    let mut rig = Rig::new();
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "s", "namespace": "default"}});
    rig.app("shop/web", &[account]);
    rig.converge();
    let s = key("/ServiceAccount/default/s");
    rig.cluster.edit(&s, "token-controller", |object| object["secrets"] = json!([{"name": "sa-token-abc"}]));
    for _ in 0..20 {
        assert_eq!(done(&rig.pass()), [""; 0]);
    }
    assert_eq!(rig.cluster.get(&s).expect("s")["secrets"], json!([{"name": "sa-token-abc"}]));
}

/// bugs.json ssa-03: never a moment with 1 replica, and never a write of `spec.replicas` once an HPA is there.
#[test]
fn replicas_of_an_autoscaled_workload_are_left_alone() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 3), autoscaler(2)]);
    rig.pass();
    assert_eq!(replicas(&rig), 3);
    rig.converge();
    assert_eq!(replicas(&rig), 3);
    rig.cluster.edit(&key(WEB), "kube-controller-manager", |object| object["spec"]["replicas"] = 8.into());
    rig.converge();
    assert_eq!(replicas(&rig), 8);
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:2", 3), autoscaler(2)]);
    rig.commit("c2");
    assert_eq!(done(&rig.pass()), [format!("Changed {WEB}")]);
    assert_eq!(replicas(&rig), 8);
    rig.cluster.take_counters();
    rig.converge();
    assert_eq!((replicas(&rig), rig.cluster.take_counters().writes), (8.into(), 0));

    // the HPA goes: the count of the placement holds again
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:2", 3)]);
    rig.floor(WEB, 8, 8);
    rig.commit("c3");
    rig.converge();
    assert_eq!(replicas(&rig), 3);
}

/// An HPA that comes later, with the count still ours.
#[test]
fn replicas_are_handed_over_with_their_value() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 5)]);
    rig.converge();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 5), autoscaler(2)]);
    rig.commit("c2");
    for _ in 0..3 {
        rig.pass();
        assert_eq!(replicas(&rig), 5);
        rig.cluster.tick();
    }
    let web = rig.get(WEB).expect("web");
    let holds = |manager: &str| {
        let entry = managed_entries(&web).iter().find(|entry| entry["manager"] == manager);
        entry.is_some_and(|entry| entry.pointer("/fieldsV1/f:spec/f:replicas").is_some())
    };
    assert!(holds("fleetwright-create") && !holds("fleetwright"));
}

/// An HPA that nobody manages in Git counts as well.
#[test]
fn an_hpa_of_somebody_else_owns_replicas_too() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 2)]);
    rig.converge();
    applied_by(&mut rig, "keda", &autoscaler(6));
    rig.converge();
    rig.converge();
    assert_eq!(replicas(&rig), 6);
}

/// bugs.json ssa-01: what kubectl applied becomes ours, so that what leaves Git leaves the cluster; nothing else changes.
#[test]
fn named_managers_are_adopted_and_pods_do_not_restart() {
    let mut rig = Rig::new();
    rig.rules.adopt = vec!["kubectl-client-side-apply".into()];
    let mut running = deployment("default", "web", "i:1", 2);
    running["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "{}".into();
    running["spec"]["paused"] = false.into();
    let web = key("apps/Deployment/default/web");
    applied_by(&mut rig, "bootstrap", &deployment("default", "web", "i:0", 2));
    rig.cluster.edit(&web, "kubectl-client-side-apply", |object| {
        object["spec"] = running["spec"].clone();
        object["metadata"]["annotations"] = running["metadata"]["annotations"].clone();
    });
    let before = rig.cluster.get(&web).expect("web");
    rig.app("shop/web", &[deployment("default", "web", "i:1", 2)]);
    let lines = done(&rig.pass());
    assert_eq!(lines, ["Adopted apps/Deployment/default/web", "New apps/Deployment/default/web"]);
    let after = rig.cluster.get(&web).expect("web");
    assert_eq!(
        (&after["metadata"]["uid"], &after["spec"]["template"]),
        (&before["metadata"]["uid"], &before["spec"]["template"])
    );
    assert_eq!(after["spec"].get("paused"), None);
    assert_eq!(after["metadata"].get("annotations"), None);
    assert!(!managed_entries(&after).iter().any(|entry| entry["manager"] == "kubectl-client-side-apply"));
    rig.converge();
}

#[test]
fn without_adoption_others_keep_their_fields() {
    let mut rig = Rig::new();
    applied_by(
        &mut rig,
        "helm",
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}, "data": {"v": "same", "old": "x"}}),
    );
    rig.app("shop/web", &[config_map("default", "c", "same")]);
    rig.converge();
    assert_eq!(rig.get(C).expect("c")["data"], json!({"v": "same", "old": "x"}));
}

#[test]
fn a_cluster_that_is_observed_is_not_written() {
    let mut rig = Rig::new();
    rig.rules.mode = Mode::Observe;
    applied_by(&mut rig, "helm", &config_map("default", "d", "theirs"));
    rig.app("shop/web", &[config_map("default", "c", "1"), config_map("default", "d", "ours")]);
    let before: Vec<_> = rig.cluster.store().objects().map(|(key, object)| (key.clone(), object.clone())).collect();
    let report = rig.pass();
    assert_eq!(
        done(&report),
        ["WouldFail(other managers hold .data.v (by \"helm\")) /ConfigMap/default/d", "WouldNew /ConfigMap/default/c"]
    );
    assert_eq!(report.writes, 0);
    // asked once for each content
    assert_eq!(done(&rig.pass()), [""; 0]);
    let after: Vec<_> = rig.cluster.store().objects().map(|(key, object)| (key.clone(), object.clone())).collect();
    assert_eq!(before, after);
}

/// Namespaces, rounds and `dependsOn` wait for what is applied, and here nothing ever is: all is asked about at once.
#[test]
fn all_of_an_observed_cluster_is_asked_about() {
    for is_there in [true, false] {
        let mut rig = Rig::new();
        rig.rules.mode = Mode::Observe;
        if is_there {
            applied_by(&mut rig, "kubectl", &namespace("shop"));
        }
        rig.app("/_namespaces", &[namespace("shop")]);
        rig.app("shop/web", &[config_map("shop", "c", "1"), deployment("shop", "web", "i:1", 2)]);
        let expected = ["WouldNew /ConfigMap/shop/c", "WouldNew /Namespace//shop", "WouldNew apps/Deployment/shop/web"];
        assert_eq!(done(&rig.pass()), expected, "{is_there}");
    }
}

#[test]
fn a_suspended_cluster_is_not_even_asked() {
    let mut rig = Rig::new();
    rig.rules.mode = Mode::Suspended;
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    assert!(rig.pass().done.is_empty() && !rig.has(C));
}

/// bugs.json ssa-05: a port number changes under its name, and another manager set the old one.
#[test]
fn a_port_that_changes_its_number_ends_as_one() {
    let service = |port: u32| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"},
               "spec": {"ports": [{"name": "http", "port": port}]}})
    };
    let mut rig = Rig::new();
    let s = key("/Service/default/s");
    applied_by(
        &mut rig,
        "bootstrap",
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"x": 1}}),
    );
    rig.cluster.edit(&s, "kubectl-create", |object| object["spec"] = service(80)["spec"].clone());
    rig.app("shop/web", &[service(8080)]);
    let report = rig.pass();
    assert_eq!(done(&report), ["Adopted /Service/default/s", "New /Service/default/s"], "{report:?}");
    assert_eq!(
        rig.cluster.get(&s).expect("s")["spec"]["ports"],
        json!([{"port": 8080, "protocol": "TCP", "name": "http"}])
    );
    // and where a controller that applies holds it, it is reported
    let mut rig = Rig::new();
    applied_by(&mut rig, "argocd-controller", &service(80));
    rig.app("shop/web", &[service(8080)]);
    let report = rig.pass();
    assert!(
        matches!(held(&report, "/Service/default/s"), Some(Hold::Failed { error, .. }) if error.contains("Duplicate value"))
    );
}

/// A hand-over that fails keeps the count: the workload is not applied without it.
#[test]
fn a_failed_hand_over_keeps_the_replicas() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), deployment("shop", "web", "i:1", 5)]);
    rig.converge();
    applied_by(&mut rig, "keda", &autoscaler(2));
    rig.cluster.store().faults.denied.insert(key(WEB));
    rig.pass();
    assert_eq!(replicas(&rig), 5);
    rig.cluster.store().faults.denied.clear();
    // the hand-over itself is refused, and nothing else
    rig.cluster.store().faults.refused_managers.insert("fleetwright-create".to_owned());
    rig.now_secs += 600;
    rig.pass();
    assert_eq!(replicas(&rig), 5);
}
