//! A cluster, an applier, and what should be there, in a few words.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::plan::Fill;
use serde_json::{Value, json};

use crate::apply::budget::Approvals;
use crate::apply::desired::{Desired, DesiredApp, Intents, desired_object};
use crate::apply::floor::{Floor, Floors};
use crate::apply::hold::Hold;
use crate::apply::inventory::AppName;
use crate::apply::run::{Applier, Did, Order, PassError, Report};
use crate::apply::view::Rules;
use crate::cluster::Key;
use crate::health::Health;
use crate::ports::CommitId;
use crate::simulated::{SimulatedApi, SimulatedCluster};

pub(super) struct Rig {
    pub cluster: SimulatedCluster,
    pub api: SimulatedApi,
    pub applier: Applier,
    pub apps: BTreeMap<AppName, DesiredApp>,
    /// Objects that the fleet wants, if not here.
    pub elsewhere: BTreeSet<Key>,
    pub rules: Rules,
    pub floors: Floors,
    pub approvals: Approvals,
    /// Commits of `live`, oldest first; the last is applied.
    pub commits: Vec<String>,
    pub term: u64,
    pub now_secs: i64,
    /// When the repository was fetched; `None`: just now.
    pub fetched_secs: Option<i64>,
}

pub(super) fn name(text: &str) -> AppName {
    let (team, app) = text.split_once('/').expect("team/app");
    (team.into(), app.into())
}

pub(super) fn key(text: &str) -> Key {
    Key::parse(text).expect("group/Kind/namespace/name")
}

/// What kstatus says of the few kinds that are used here.
pub(super) fn assess(object: &Value) -> (Health, String) {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return (Health::Terminating, String::new());
    }
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_u64);
    let current = match object["kind"].as_str().unwrap_or_default() {
        "Deployment" | "StatefulSet" => {
            number("/status/observedGeneration") == number("/metadata/generation")
                && number("/status/readyReplicas") == number("/spec/replicas")
        }
        "CustomResourceDefinition" => object.pointer("/status/conditions").is_some(),
        "Job" => object.pointer("/status/startTime").is_some(),
        _ => true,
    };
    if current { (Health::Current, String::new()) } else { (Health::InProgress, "on its way".to_owned()) }
}

pub(super) fn config_map(namespace: &str, name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": {"v": value}})
}

pub(super) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

pub(super) fn deployment(namespace: &str, name: &str, image: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "web", "image": image}]}}},
    })
}

pub(super) fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"][key] = value.into();
    object
}

impl Rig {
    pub(super) fn new() -> Self {
        let cluster = SimulatedCluster::new("uid-a");
        Self {
            api: cluster.api(),
            cluster,
            applier: Applier::default(),
            apps: BTreeMap::new(),
            elsewhere: BTreeSet::new(),
            rules: Rules::plain(),
            floors: Floors::new(),
            approvals: Approvals::default(),
            commits: vec!["c1".to_owned()],
            term: 1,
            now_secs: 1_000,
            fetched_secs: None,
        }
    }

    /// States an app anew. Replicas that an HPA of it owns are not written, as the compiler has it.
    pub(super) fn app(&mut self, app: &str, objects: &[Value]) -> &mut DesiredApp {
        let is_autoscaled = objects.iter().any(|object| object["kind"] == "HorizontalPodAutoscaler");
        let objects = objects.iter().map(|object| {
            let replicas = object.pointer("/spec/replicas").and_then(Value::as_u64).map(|n| n as u32);
            let fill = match replicas {
                Some(replicas) if is_autoscaled => Fill::Owned { replicas },
                Some(replicas) => Fill::Share { replicas: Some(replicas), completions: None },
                None => Fill::AsIs,
            };
            desired_object(object, fill).expect("an object")
        });
        let stated = DesiredApp { objects: objects.collect(), ..DesiredApp::default() };
        self.apps.insert(name(app), stated);
        self.apps.get_mut(&name(app)).expect("stated")
    }

    pub(super) fn without(&mut self, app: &str) {
        self.apps.remove(&name(app)).expect("was there");
    }

    /// The app leaves this cluster and stays in the fleet.
    pub(super) fn moves_away(&mut self, app: &str) {
        let gone = self.apps.remove(&name(app)).expect("was there");
        self.elsewhere.extend(gone.objects.into_keys());
    }

    pub(super) fn floor(&mut self, workload: &str, ready_elsewhere: u32, needed: u32) {
        self.floors.insert(key(workload), Floor { ready_elsewhere, needed });
    }

    pub(super) fn commit(&mut self, commit: &str) {
        self.commits.push(commit.to_owned());
    }

    pub(super) fn try_pass(&mut self) -> Result<Report, PassError> {
        let desired = Desired::new(self.apps.clone());
        let here = self.apps.values().flat_map(|app| app.objects.keys().cloned());
        let intents = Intents { objects: here.chain(self.elsewhere.iter().cloned()).collect() };
        let commits = self.commits.clone();
        let live_commit = CommitId(commits.last().expect("a commit").as_str().into());
        let order = Order {
            fleet: "test",
            recorded_uid: Some("uid-a"),
            live_commit: &live_commit,
            term: self.term,
            fetched_secs: self.fetched_secs.unwrap_or(self.now_secs + 10),
            desired: &desired,
            intents: &intents,
            floors: &self.floors,
            approvals: &self.approvals,
            rules: &self.rules,
            is_ancestor: &|commit| commits.iter().any(|known| *known == *commit.0),
            assess: &assess,
        };
        self.now_secs += 10;
        self.applier.pass(&mut self.api, &order, self.now_secs)
    }

    pub(super) fn pass(&mut self) -> Report {
        self.try_pass().expect("a pass")
    }

    /// Passes and time, until a pass neither does nor waits; at most ten.
    pub(super) fn converge(&mut self) -> Report {
        for _ in 0..10 {
            let report = self.pass();
            self.cluster.tick();
            if report.done.is_empty() {
                return report;
            }
        }
        panic!("it does not settle: {:#?}", self.pass());
    }

    /// The process is started again, with nothing in memory.
    pub(super) fn restart(&mut self) {
        self.applier = Applier::default();
        self.api = self.cluster.api();
    }

    pub(super) fn get(&self, text: &str) -> Option<Value> {
        self.cluster.get(&key(text))
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.get(text).is_some()
    }
}

/// Each thing that was done as `did key`.
pub(super) fn done(report: &Report) -> Vec<String> {
    let word = |did: &Did| match did {
        Did::Applied(why) => format!("{why:?}"),
        Did::WouldApply(why) => format!("Would{why:?}"),
        Did::WouldFail(error) => format!("WouldFail({error})"),
        other => format!("{other:?}"),
    };
    let mut lines: Vec<String> = report.done.iter().map(|done| format!("{} {}", word(&done.did), done.key)).collect();
    lines.sort();
    lines
}

/// Why an object is held.
pub(super) fn held<'r>(report: &'r Report, text: &str) -> Option<&'r Hold> {
    report.held.iter().find(|held| held.key == key(text)).map(|held| &held.why)
}
