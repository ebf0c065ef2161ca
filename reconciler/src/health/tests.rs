//! Every file of `testdata/` says in its name what it is judged to be; texts that are not objects are Unknown.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fleetwright_compiler::kinds::cel::Expression;
use fleetwright_compiler::model::{CustomKind, HealthRules};
use fleetwright_compiler::yaml;
use serde_json::{Value, json};

use super::{Health, assess, assess_by};

const WORDS: [(&str, Health); 5] = [
    ("current", Health::Current),
    ("in_progress", Health::InProgress),
    ("terminating", Health::Terminating),
    ("unknown", Health::Unknown),
    ("failed", Health::Failed),
];

#[test]
fn every_file_is_judged_as_its_name_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/health/testdata");
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/health/rules");
    let mut untested: BTreeSet<String> = std::fs::read_dir(rules)
        .expect("rules")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().trim_end_matches(".rs").to_owned())
        .filter(|rule| rule != "mod")
        .collect();
    untested.extend(["generic".to_owned(), "ready".to_owned(), "at_once".to_owned()]);
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("testdata")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in &names {
        let mut parts = name.trim_end_matches(".yaml").split('-');
        let rule = parts.next().expect("a rule");
        let word = parts.next().expect("<rule>-<state>");
        let (_, expected) = WORDS.iter().find(|row| row.0 == word).expect("a state of WORDS");
        let text = std::fs::read_to_string(folder.join(name)).expect("a text");
        let (health, why) = assess(&object(&text));
        assert_eq!(health, *expected, "{name}: {why}");
        assert!(!why.is_empty() && !why.ends_with(": "), "{name}: {why:?}");
        untested.remove(rule);
    }
    assert!(untested.is_empty(), "rules without a file: {untested:?}");
}

/// The one document of a text, as JSON.
fn object(text: &str) -> Value {
    let (documents, errors) = yaml::compose(text, &yaml::Limits::default());
    assert!(errors.is_empty(), "{errors:?}");
    documents.into_iter().find_map(|document| document.root).expect("a document").to_json()
}

#[test]
fn reasons_say_what_is_missing() {
    let deployment = |status: Value| {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "generation": 2 }, "spec": { "replicas": 3 }, "status": status })
    };
    let rows = [
        (json!({ "observedGeneration": 1 }), "its controller has seen generation 1, the object is at 2"),
        (json!({ "observedGeneration": 2, "replicas": 2 }), "2 of 3 replicas exist"),
        (
            json!({ "conditions": [{ "type": "Stalled", "status": "True", "reason": "R", "message": "no quota" }] }),
            "Stalled is True: no quota",
        ),
        (json!({ "replicas": "3" }), "`.status.replicas` is not a whole number"),
        (json!({ "conditions": {} }), "`.status.conditions` is not a list"),
    ];
    for (status, expected) in rows {
        assert_eq!(assess(&deployment(status)).1, expected);
    }
}

/// Problem cases: counters of an older generation say nothing, and an autoscaler's growth is on its way, not failed.
#[test]
fn health_01_health_03_on_its_way_is_neither_healthy_nor_failed() {
    let deployment = |generation: u64, replicas: u32, status: Value| {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "generation": generation }, "spec": { "replicas": replicas }, "status": status })
    };
    let progressing =
        |status: &str, reason: &str| json!([{ "type": "Progressing", "status": status, "reason": reason }]);
    let available = json!([{ "type": "Available", "status": "True" }]);
    let counts = |seen: u64, ready: u32, conditions: &Value| {
        json!({ "observedGeneration": seen, "replicas": 6, "updatedReplicas": 6, "readyReplicas": ready,
                "availableReplicas": ready, "conditions": conditions })
    };
    let rows = [
        ("health-01", deployment(7, 6, counts(6, 6, &available)), Health::InProgress),
        ("health-01", deployment(7, 6, counts(7, 6, &available)), Health::Current),
        ("health-03", deployment(2, 6, counts(2, 3, &progressing("True", "ReplicaSetUpdated"))), Health::InProgress),
        (
            "health-03",
            deployment(2, 6, counts(2, 3, &progressing("False", "ProgressDeadlineExceeded"))),
            Health::Failed,
        ),
        ("health-03", deployment(2, 6, counts(2, 6, &available)), Health::Current),
    ];
    for (case, object, expected) in rows {
        let (health, why) = assess(&object);
        assert_eq!(health, expected, "{case}: {why}");
    }
}

#[test]
fn what_cannot_be_read_is_never_healthy() {
    let rows = [
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "spec": { "replicas": "3" } }),
        json!({ "apiVersion": "v1", "kind": "Pod", "status": { "phase": ["Running"] } }),
        json!({ "apiVersion": "example.com/v1", "kind": "Thing", "status": { "conditions": [{ "type": 7 }] } }),
        json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "generation": 1.5 } }),
        json!(null),
        json!([]),
    ];
    for object in rows {
        assert_eq!(assess(&object).0, Health::Unknown, "{object}");
    }
}

/// Flink's own words for the state of a job.
fn flink() -> Vec<Arc<CustomKind>> {
    let expression = |text: &str| Expression::compile(text).expect("an expression");
    let health = HealthRules {
        current: expression("status.state == 'RUNNING' && status.slots >= spec.slots"),
        in_progress: Some(expression("status.state in ['CREATED', 'RESTARTING']")),
        failed: Some(expression("status.state == 'FAILED' && size(status.errors) > 0")),
    };
    let custom = CustomKind {
        group: "flink.example".into(),
        kind: "Flink".into(),
        health: Some(health),
        ..CustomKind::default()
    };
    vec![Arc::new(custom)]
}

#[test]
fn custom_kinds_are_judged_by_their_expressions() {
    let object = |metadata: Value, status: Value| {
        json!({ "apiVersion": "flink.example/v1", "kind": "Flink",
        "metadata": metadata, "spec": { "slots": 2 }, "status": status })
    };
    let plain = || json!({ "generation": 2 });
    let rows = [
        (plain(), json!(null), Health::InProgress, "`status` is not there yet"),
        (plain(), json!({ "state": "CREATED" }), Health::InProgress, "holds"),
        (plain(), json!({ "state": "RUNNING", "slots": 1 }), Health::InProgress, "does not hold yet"),
        (plain(), json!({ "state": "RUNNING", "slots": 2 }), Health::Current, "holds"),
        (plain(), json!({ "state": "FAILED", "errors": ["x"] }), Health::Failed, "holds"),
        (plain(), json!({ "state": "FAILED", "errors": [] }), Health::InProgress, "does not hold yet"),
        (plain(), json!({ "state": "RUNNING", "slots": "2" }), Health::Unknown, "types"),
        // what all kinds share comes first
        (
            plain(),
            json!({ "observedGeneration": 1, "state": "RUNNING", "slots": 2 }),
            Health::InProgress,
            "generation 1",
        ),
        (
            json!({ "deletionTimestamp": "2026-11-30T10:00:00Z" }),
            json!({ "state": "RUNNING", "slots": 2 }),
            Health::Terminating,
            "deleted",
        ),
    ];
    for (metadata, status, expected, part) in rows {
        let object = object(metadata, status);
        let (health, why) = assess_by(&object, &flink());
        assert_eq!(health, expected, "{object}: {why}");
        assert!(why.contains(part), "{object}: {why}");
    }
    let other = json!({ "apiVersion": "other.example/v1", "kind": "Flink", "metadata": {}, "status": {} });
    assert_eq!(assess_by(&other, &flink()).0, Health::Current);
}

#[test]
fn the_worst_object_is_the_health_of_an_app() {
    let app = [Health::Current, Health::Unknown, Health::InProgress];
    assert_eq!(app.iter().max(), Some(&Health::Unknown));
    assert_eq!([Health::Failed, Health::Unknown].iter().max(), Some(&Health::Failed));
}
