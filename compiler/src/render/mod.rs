//! Manifests for each cluster, as templates and fills: text exists only while it is written.
//!
//! Invariants: one file for each app in each cluster, `<cluster>/<team>/<app>.yaml`, and `<cluster>/_namespaces.yaml` for
//! generated Namespaces and the ResourceQuotas in them; objects in the order Kubernetes needs them (module `order`), then by key; equal objects are equal
//! bytes in every cluster.

mod order;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::labels::Labels;
use crate::base::{AppId, ClusterId, Digest, DigestWriter, SmolStr};
use crate::kinds::custom::CustomKind;
use crate::kinds::replicas::Counter;
use crate::model::Fleet;
use crate::parse::{ObjKey, Template};
use crate::plan::{Fill, Plan, PlannedQuota};
use crate::variants::Variants;
use crate::yaml;

/// All manifests, by cluster id.
#[derive(Clone, Debug, Default)]
pub struct RenderedFleet {
    /// By cluster id.
    pub clusters: Vec<RenderedCluster>,
}

/// The manifests of one cluster.
#[derive(Clone, Debug, Default)]
pub struct RenderedCluster {
    /// Ascending by path.
    pub files: Vec<RenderedFile>,
}

/// One file.
#[derive(Clone, Debug)]
pub struct RenderedFile {
    /// The app; `None` for `_namespaces.yaml`.
    pub app: Option<AppId>,
    /// Its objects, in the order of the file.
    pub objects: Vec<RenderedObject>,
}

/// One object.
#[derive(Clone, Debug)]
pub struct RenderedObject {
    /// Which of the app's objects; of a generated Namespace its position in the file.
    pub object: u32,
    /// Its text, but for the fill.
    pub template: Arc<Template>,
    /// What a WorkloadKind teaches of its kind.
    pub custom: Option<Arc<CustomKind>>,
    /// What is written into it.
    pub fill: Fill,
}

/// Puts objects together with their templates.
#[must_use]
pub fn render(fleet: &Fleet, variants: &Variants, plan: &Plan) -> RenderedFleet {
    let mut rendered = RenderedFleet { clusters: vec![RenderedCluster::default(); fleet.clusters.len()] };
    let mut namespaces: Vec<Vec<RenderedObject>> = vec![Vec::new(); fleet.clusters.len()];
    for (cluster, name, labels) in &plan.namespaces {
        let file = &mut namespaces[cluster.index()];
        let object = u32::try_from(file.len()).unwrap_or(u32::MAX);
        file.push(RenderedObject { object, template: namespace(name, labels), custom: None, fill: Fill::AsIs });
    }
    for quota in &plan.quotas {
        let file = &mut namespaces[quota.cluster.index()];
        let object = u32::try_from(file.len()).unwrap_or(u32::MAX);
        file.push(RenderedObject { object, template: resource_quota(quota), custom: None, fill: Fill::AsIs });
    }
    for (cluster, objects) in rendered.clusters.iter_mut().zip(namespaces) {
        if !objects.is_empty() {
            cluster.files.push(RenderedFile { app: None, objects });
        }
    }
    for (id, plan) in fleet.app_ids().zip(&plan.apps) {
        let app = fleet.app(id);
        for planned in plan.objects.chunk_by(|a, b| a.cluster == b.cluster) {
            let Some(first) = planned.first() else { continue };
            let templates = variants.objects(fleet, id, first.cluster);
            let mut objects: Vec<RenderedObject> = planned
                .iter()
                .map(|p| RenderedObject {
                    object: p.object,
                    template: Arc::clone(&templates[p.object as usize]),
                    custom: app.objects[p.object as usize].custom.clone(),
                    fill: p.fill,
                })
                .collect();
            objects.sort_by_key(|o| (order::rank(&app.objects[o.object as usize].key), o.object));
            rendered.clusters[first.cluster.index()].files.push(RenderedFile { app: Some(id), objects });
        }
    }
    rendered
}

fn namespace(name: &SmolStr, labels: &Labels) -> Arc<Template> {
    let mut metadata = json!({"name": name.as_str()});
    if !labels.is_empty() {
        metadata["labels"] = labels.iter().map(|(k, v)| (k.to_string(), Value::from(v.as_str()))).collect();
    }
    Template::of(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}))
}

/// Writes the bounds of an autoscaler.
fn set_bounds(value: &mut Value, min: u32, max: u32) {
    if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("minReplicas".to_owned(), min.into());
        spec.insert("maxReplicas".to_owned(), max.into());
    }
}

/// The quota of a team in one cluster and namespace.
fn resource_quota(quota: &PlannedQuota) -> Arc<Template> {
    let hard: Value = quota.hard.iter().map(|(name, most)| (name.to_string(), Value::from(most.as_str()))).collect();
    let metadata = json!({"name": quota.name.as_str(), "namespace": quota.namespace.as_str()});
    Template::of(&json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}))
}

impl RenderedFleet {
    /// The files of a cluster.
    #[must_use]
    pub fn files(&self, cluster: ClusterId) -> &[RenderedFile] {
        self.clusters.get(cluster.index()).map_or(&[], |c| &c.files)
    }
}

impl RenderedFile {
    /// Its path below the folder of all clusters.
    #[must_use]
    pub fn path(&self, fleet: &Fleet, cluster: ClusterId) -> String {
        let cluster = &fleet.cluster(cluster).name;
        match self.app {
            Some(app) => format!("{cluster}/{}.yaml", fleet.app_name(app)),
            None => format!("{cluster}/_namespaces.yaml"),
        }
    }

    /// Appends its text.
    pub fn write(&self, fleet: &Fleet, out: &mut String) {
        for (i, object) in self.objects.iter().enumerate() {
            if i > 0 {
                out.push_str("---\n");
            }
            yaml::emit(&object.value(self.key(fleet, object)), out);
        }
    }

    /// The key of one of its objects; `None` for a generated Namespace.
    #[must_use]
    pub fn key<'f>(&self, fleet: &'f Fleet, object: &RenderedObject) -> Option<&'f ObjKey> {
        self.app.and_then(|app| fleet.app(app).objects.get(object.object as usize)).map(|o| &o.key)
    }
}

impl RenderedObject {
    /// The object as a value, with its share filled in. `key` is its key, `None` for a generated Namespace.
    #[must_use]
    pub fn value(&self, key: Option<&ObjKey>) -> Value {
        let mut value = self.template.value();
        let kind = || key.and_then(|k| Counter::of(&k.group, &k.kind, self.custom.as_deref()));
        match self.fill {
            Fill::AsIs => return value,
            Fill::Share { replicas, completions } => {
                let Some(kind) = kind() else { return value };
                kind.set_counts(&mut value, replicas, completions);
            }
            Fill::Owned { replicas: _ } => {
                let Some(kind) = kind() else { return value };
                kind.unset_replicas(&mut value);
            }
            Fill::Bounds { min, max } => set_bounds(&mut value, min, max),
        }
        // a field that the manifest left out lands where its neighbours would expect it
        crate::parse::canonical(&value)
    }

    /// The text, and where counts are written into it.
    fn filled(&self) -> DigestWriter {
        let paths = self.custom.iter().flat_map(|custom| &custom.replicas);
        let mut digest = DigestWriter::new();
        digest.part(&self.template.digest.0);
        for path in paths {
            digest.part(path.to_string().as_bytes());
        }
        digest
    }

    /// Digest of its meaning: equal digests are equal text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self.fill {
            Fill::AsIs => self.template.digest,
            Fill::Share { replicas, completions } => self
                .filled()
                .number(replicas.map_or(u64::MAX, u64::from))
                .number(completions.map_or(u64::MAX, u64::from))
                .finish(),
            // What is booked is not in the text.
            Fill::Owned { replicas: _ } => self.filled().part(b"owned").finish(),
            Fill::Bounds { min, max } => DigestWriter::new()
                .part(&self.template.digest.0)
                .part(b"bounds")
                .number(u64::from(min))
                .number(u64::from(max))
                .finish(),
        }
    }
}
