//! Small fleets from a few calls.
//!
//! ```
//! use fleetwright_tests::fleet::{FleetBuilder, deployment, pool};
//! use serde_json::json;
//!
//! let fleet = FleetBuilder::new()
//!     .cluster("eu-a", json!({"region": "eu", "nodePools": [pool("general", 10, "8", "32Gi")]}))
//!     .cluster(("eu-b", json!({"env": "prod"})), json!({"region": "eu"}))
//!     .open_team("shop")
//!     .app("shop", "checkout", json!({"placement": {"replicas": {"strategy": "Duplicated"}}}), &[
//!         deployment("web", 3, "500m", "1Gi"),
//!     ]);
//! assert_eq!(fleet.texts().len(), 6);
//! ```
//!
//! Specs are JSON values in the words of the API, so a test reads like the file it stands for. Whatever has no call of
//! its own is a [`FleetBuilder::file`].

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::placements::{PlacedApp, file_path, placements_text};
use fleetwright_compiler::source::{MemoryFiles, PathError};
use fleetwright_compiler::{Compiled, schedule, yaml};
use serde_json::{Value, json};

/// The files of a fleet, growing by calls. A later call with the same path replaces the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetBuilder {
    texts: BTreeMap<String, String>,
}

/// A name, alone or with labels.
#[derive(Clone, Debug)]
pub struct Meta {
    name: String,
    labels: Value,
}

impl From<&str> for Meta {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), labels: json!({}) }
    }
}

impl From<&String> for Meta {
    fn from(name: &String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<(&str, Value)> for Meta {
    fn from((name, labels): (&str, Value)) -> Self {
        Self { name: name.to_owned(), labels }
    }
}

impl Default for FleetBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl FleetBuilder {
    /// A fleet with nothing but its `fleet.yaml`.
    #[must_use]
    pub fn new() -> Self {
        Self { texts: BTreeMap::new() }.intent("fleet.yaml", "Fleet", "test", json!({}))
    }

    /// A file as it is.
    #[must_use]
    pub fn file(mut self, path: &str, text: impl Into<String>) -> Self {
        self.texts.insert(path.to_owned(), text.into());
        self
    }

    /// Without a file.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.texts.remove(path);
        self
    }

    /// An object of the fleet's own API.
    #[must_use]
    pub fn intent(self, path: &str, kind: &str, meta: impl Into<Meta>, spec: Value) -> Self {
        let Meta { name, labels } = meta.into();
        let mut metadata = json!({ "name": name });
        if labels.as_object().is_some_and(|labels| !labels.is_empty()) {
            metadata["labels"] = labels;
        }
        let object =
            json!({ "apiVersion": "fleetwright.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec });
        self.file(path, text_of(&object))
    }

    /// The `fleet.yaml`.
    #[must_use]
    pub fn settings(self, spec: Value) -> Self {
        self.intent("fleet.yaml", "Fleet", "test", spec)
    }

    /// `clusters/<name>.yaml`.
    #[must_use]
    pub fn cluster(self, meta: impl Into<Meta>, spec: Value) -> Self {
        let meta = meta.into();
        self.intent(&format!("clusters/{}.yaml", meta.name), "Cluster", meta, spec)
    }

    /// `teams/<name>.yaml`.
    #[must_use]
    pub fn team(self, name: &str, spec: Value) -> Self {
        self.intent(&format!("teams/{name}.yaml"), "Team", name, spec)
    }

    /// A team that may use every namespace and every kind.
    #[must_use]
    pub fn open_team(self, name: &str) -> Self {
        self.team(name, open_team())
    }

    /// `teams/<team>/<app>/app.yaml`, with the team's name as namespace unless `spec` states one, and its manifests
    /// beside it.
    #[must_use]
    pub fn app(mut self, team: &str, meta: impl Into<Meta>, mut spec: Value, manifests: &[Value]) -> Self {
        let meta = meta.into();
        let folder = format!("teams/{team}/{}", meta.name);
        if let Value::Object(spec) = &mut spec {
            spec.entry("namespace").or_insert_with(|| team.into());
        }
        for manifest in manifests {
            let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or("unnamed");
            let name = format!("{}-{}.yaml", text("/kind").to_lowercase(), text("/metadata/name"));
            self = self.file(&format!("{folder}/{name}"), text_of(manifest));
        }
        self.intent(&format!("{folder}/app.yaml"), "App", meta, spec)
    }

    /// `policies/<name>.yaml`: a PlacementPolicy.
    #[must_use]
    pub fn placement_policy(self, name: &str, spec: Value) -> Self {
        self.intent(&format!("policies/{name}.yaml"), "PlacementPolicy", name, spec)
    }

    /// `policies/<name>.yaml`: an OverridePolicy.
    #[must_use]
    pub fn override_policy(self, name: &str, spec: Value) -> Self {
        self.intent(&format!("policies/{name}.yaml"), "OverridePolicy", name, spec)
    }

    /// `placements/<team>.yaml`, in the format of the lock.
    #[must_use]
    pub fn placements(self, team: &str, apps: Value) -> Self {
        let record = json!({ "apiVersion": "fleetwright.io/v1alpha1", "kind": "Placements", "apps": apps });
        self.file(&format!("placements/{team}.yaml"), text_of(&record))
    }

    /// With the target of a compile as its record, in place of any record it has.
    #[must_use]
    pub fn placed(self, compiled: &Compiled) -> Self {
        self.recorded(&schedule::placed(&compiled.fleet, &compiled.target))
    }

    /// Records these placements, by (team, app), as what runs.
    #[must_use]
    pub fn recorded(mut self, placed: &BTreeMap<(SmolStr, SmolStr), PlacedApp>) -> Self {
        self.texts.retain(|path, _| !path.starts_with("placements/"));
        let mut teams: BTreeMap<&SmolStr, Vec<(&SmolStr, &PlacedApp)>> = BTreeMap::new();
        for ((team, app), placed) in placed {
            teams.entry(team).or_default().push((app, placed));
        }
        for (team, apps) in teams {
            self.texts.insert(file_path(team), placements_text(apps));
        }
        self
    }

    /// With the placements of another fleet as its record, in place of any record it has.
    #[must_use]
    pub fn recorded_as(mut self, other: &Self) -> Self {
        self.texts.retain(|path, _| !path.starts_with("placements/"));
        let placements = other.texts.iter().filter(|(path, _)| path.starts_with("placements/"));
        self.texts.extend(placements.map(|(path, text)| (path.clone(), text.clone())));
        self
    }

    /// The texts by path.
    #[must_use]
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// As a tree.
    ///
    /// # Errors
    /// When a path is not one inside a repository.
    pub fn files(&self) -> Result<MemoryFiles, PathError> {
        MemoryFiles::new(&self.texts)
    }

    /// As a folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        for (path, text) in &self.texts {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(())
    }
}

fn text_of(value: &Value) -> String {
    let mut text = String::new();
    yaml::emit(value, &mut text);
    text
}

/// The spec of a team that may use every namespace and every kind.
#[must_use]
pub fn open_team() -> Value {
    json!({ "namespaces": [{ "prefix": "" }], "kinds": { "allow": [{ "group": "*", "kind": "*" }] } })
}

/// A node pool: `nodes` nodes that each offer so much.
#[must_use]
pub fn pool(name: &str, nodes: u32, cpu: &str, memory: &str) -> Value {
    json!({ "name": name, "nodes": nodes, "allocatable": { "cpu": cpu, "memory": memory } })
}

/// A Deployment with one container.
#[must_use]
pub fn deployment(name: &str, replicas: u32, cpu: &str, memory: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{
                    "name": "main",
                    "image": format!("registry.example/{name}:v1"),
                    "resources": { "requests": { "cpu": cpu, "memory": memory } },
                }] },
            },
        },
    })
}

/// A ConfigMap.
#[must_use]
pub fn config_map(name: &str, data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data })
}
