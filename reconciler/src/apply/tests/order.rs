//! In which order, and what waits for what.

use serde_json::{Value, json};

use super::rig::{Rig, annotated, config_map, deployment, done, held, key, name, namespace};
use crate::apply::hold::Hold;
use crate::health::Health;

const WEB: &str = "apps/Deployment/shop/web";
const DB: &str = "apps/Deployment/shop/db";

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
                 "versions": [{"name": "v1"}]},
    })
}

fn widget() -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}, "spec": {"size": 1}})
}

/// bugs.json ordering-01: a custom resource, its definition, a Namespace and a Deployment in one commit.
#[test]
fn definitions_and_namespaces_come_first() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[widget(), definition(), namespace("shop"), deployment("shop", "web", "i:1", 1)]);
    let first = rig.pass();
    assert_eq!(
        done(&first),
        ["New /Namespace//shop", "New apiextensions.k8s.io/CustomResourceDefinition//widgets.example.com"]
    );
    assert_eq!(
        held(&first, "example.com/Widget/shop/w"),
        Some(&Hold::NotServed(key("example.com/Widget/shop/w").kind))
    );
    let waits = Hold::After {
        key: key("apiextensions.k8s.io/CustomResourceDefinition//widgets.example.com"),
        health: Some(Health::InProgress),
    };
    assert_eq!(held(&first, WEB), Some(&waits));
    rig.cluster.tick();
    assert_eq!(done(&rig.pass()), [format!("New {WEB}"), "New example.com/Widget/shop/w".to_owned()]);
    rig.cluster.tick();
    assert!(rig.pass().is_settled());
}

/// What is needed, workloads, what points at them: one pass, in that order.
#[test]
fn kinds_follow_each_other_without_waiting_for_health() {
    let mut rig = Rig::new();
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d", "namespace": "shop"}, "spec": {}});
    let ingress = json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i", "namespace": "shop"}, "spec": {"x": 1}});
    rig.app(
        "shop/web",
        &[ingress, deployment("shop", "web", "i:1", 1), claim, namespace("shop"), config_map("shop", "c", "1")],
    );
    let report = rig.pass();
    let order: Vec<&str> = report.done.iter().map(|done| done.key.kind.kind.as_str()).collect();
    assert_eq!(order, ["Namespace", "ConfigMap", "PersistentVolumeClaim", "Deployment", "Ingress"]);
    assert_eq!(report.unfinished, 0);
}

#[test]
fn webhooks_wait_for_what_answers_them() {
    let mut rig = Rig::new();
    let hook = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "h"}});
    rig.app("shop/web", &[hook, namespace("shop"), deployment("shop", "web", "i:1", 1)]);
    let waits = Hold::After { key: key(WEB), health: Some(Health::InProgress) };
    let hook = "admissionregistration.k8s.io/ValidatingWebhookConfiguration//h";
    assert_eq!(held(&rig.pass(), hook), Some(&waits));
    rig.cluster.tick();
    assert_eq!(done(&rig.pass()), [format!("New {hook}")]);
}

#[test]
fn depends_on_waits_for_health_and_a_newer_commit_cancels_the_wait() {
    let mut rig = Rig::new();
    let web = |image: &str| {
        annotated(
            deployment("shop", "web", image, 1),
            "config.kubernetes.io/depends-on",
            "apps/namespaces/shop/Deployment/db",
        )
    };
    rig.cluster.store().faults.stuck.insert(key(DB));
    rig.app("shop/web", &[namespace("shop"), web("i:1"), deployment("shop", "db", "broken:1", 1)]);
    rig.pass();
    rig.cluster.tick();
    let waits = Hold::After { key: key(DB), health: Some(Health::InProgress) };
    assert_eq!(held(&rig.pass(), WEB), Some(&waits));

    // a bot's commit about something else: still waiting for the same
    rig.commit("c2");
    assert_eq!(held(&rig.pass(), WEB), Some(&waits));

    // a commit that changes what is waited for: applied at once, and waited for in its stead
    rig.commit("c3");
    rig.app("shop/web", &[namespace("shop"), web("i:1"), deployment("shop", "db", "good:1", 1)]);
    assert_eq!(done(&rig.pass()), [format!("Changed {DB}")]);
    rig.cluster.store().faults.stuck.clear();
    rig.cluster.tick();
    assert_eq!(done(&rig.pass()), [format!("New {WEB}")]);

    // and one that no longer depends on it: no wait at all
    rig.cluster.store().faults.stuck.insert(key(DB));
    rig.commit("c4");
    rig.app(
        "shop/web",
        &[namespace("shop"), deployment("shop", "web", "i:2", 1), deployment("shop", "db", "broken:2", 1)],
    );
    assert_eq!(done(&rig.pass()), [format!("Changed {DB}"), format!("Changed {WEB}")]);
}

#[test]
fn depends_on_that_cannot_be_followed_is_said() {
    let mut rig = Rig::new();
    let web = |on: &str| annotated(config_map("default", "c", "1"), "config.kubernetes.io/depends-on", on);
    rig.app("shop/web", &[web("apps/namespaces/shop/Deployment/nobody")]);
    let nobody = Hold::NobodyApplies(key("apps/Deployment/shop/nobody"));
    assert_eq!(held(&rig.pass(), "/ConfigMap/default/c"), Some(&nobody));
    rig.app("shop/web", &[web("nobody")]);
    let report = rig.pass();
    let Some(Hold::Mistake(text)) = held(&report, "/ConfigMap/default/c") else { panic!("{report:?}") };
    assert!(text.contains("`nobody`, expected group/namespaces/NAMESPACE/Kind/NAME"), "{text}");
}

#[test]
fn apps_wait_for_apps_they_depend_on() {
    let mut rig = Rig::new();
    rig.app("shop/db", &[namespace("shop"), deployment("shop", "db", "i:1", 1)]);
    rig.app("shop/web", &[deployment("shop", "web", "i:1", 1)]).depends_on = vec![name("shop/db")];
    let waits = Hold::AfterApp { app: name("shop/db"), key: Box::new(key(DB)) };
    assert_eq!(held(&rig.pass(), WEB), Some(&waits));
    rig.cluster.tick();
    assert_eq!(done(&rig.pass()), [format!("New {WEB}")]);

    rig.apps.get_mut(&name("shop/web")).expect("web").depends_on = vec![name("shop/elsewhere")];
    rig.app("shop/web2", &[config_map("shop", "c", "1")]).depends_on = vec![name("shop/elsewhere")];
    let report = rig.pass();
    assert_eq!(held(&report, "/ConfigMap/shop/c"), Some(&Hold::AppNotHere(name("shop/elsewhere"))));
    // what is applied already is not held for it
    assert_eq!(held(&report, WEB), None);
}

/// bugs.json health-06: a Job runs once for each content, whatever its TTL does.
#[test]
fn jobs_run_once_for_each_content() {
    let job = |image: &str, parallelism: u32| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate", "namespace": "default"},
               "spec": {"parallelism": parallelism, "template": {"spec": {"containers": [{"name": "m", "image": image}]}}}})
    };
    const JOB: &str = "batch/Job/default/migrate";
    for (rule, gone, changed) in [
        (None, &[][..], &["New", "Replaced"][..]),
        (Some("Once"), &[], &["New", "Replaced"]),
        (Some("Recreate"), &["Missing"], &["Changed", "Replaced"]),
    ] {
        let mut rig = Rig::new();
        let job = |image: &str| match rule {
            Some(rule) => annotated(job(image, 1), "fleetwright.io/apply", rule),
            None => job(image, 1),
        };
        rig.app("shop/web", &[job("m:1")]);
        assert_eq!(done(&rig.pass()), [format!("New {JOB}")], "{rule:?}");
        rig.cluster.tick();
        rig.cluster.tick();
        rig.cluster.delete(&key(JOB));
        for _ in 0..3 {
            let expected: Vec<String> = gone.iter().map(|did| format!("{did} {JOB}")).collect();
            assert_eq!(done(&rig.pass()), expected, "{rule:?}");
            rig.cluster.delete(&key(JOB));
        }
        // after a restart as well
        rig.restart();
        let again: Vec<String> = gone.iter().map(|did| format!("{did} {JOB}")).collect();
        assert_eq!(done(&rig.pass()), again, "{rule:?}");

        rig.app("shop/web", &[job("m:2")]);
        rig.commit("c2");
        rig.pass();
        assert_eq!(rig.get(JOB).expect("runs again")["spec"]["template"]["spec"]["containers"][0]["image"], "m:2");
        // while it runs: replaced, then applied, in one pass
        rig.app("shop/web", &[job("m:3")]);
        rig.commit("c3");
        let report = done(&rig.pass());
        assert_eq!(report.len(), 2, "{rule:?}: {report:?}");
        assert!(report.iter().any(|line| line.starts_with("Replaced")), "{rule:?}: {report:?}");
        assert_eq!(rig.get(JOB).expect("runs again")["spec"]["template"]["spec"]["containers"][0]["image"], "m:3");
        let _ = changed;
    }
}

#[test]
fn an_annotation_that_says_something_else_is_refused() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[annotated(config_map("default", "c", "1"), "fleetwright.io/apply", "Twice")]);
    let report = rig.pass();
    let expected = Hold::Mistake("fleetwright.io/apply: `Twice`, expected Once, Recreate or Update".to_owned());
    assert_eq!(held(&report, "/ConfigMap/default/c"), Some(&expected));
    assert!(!rig.has("/ConfigMap/default/c"));
}
