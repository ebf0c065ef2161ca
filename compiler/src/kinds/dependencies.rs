//! What an object refers to by name in its own namespace, and needs there: what pods read, mount, pull with and run as, and
//! the certificates of an Ingress. What a custom kind refers to beside its pods its WorkloadKind says.
//!
//! Source of the fields: the pod spec of Kubernetes 1.36 (`PodSpec`, `Volume`, `EnvVarSource`, `EnvFromSource`).
//! Invariants: empty names, the ServiceAccount `default` (every namespace has it) and claims that a StatefulSet makes itself
//! are no references; a reference that may be absent (`optional: true`) is one all the same, told apart.

use std::collections::BTreeMap;

use serde_json::Value;

use super::custom::{CustomKind, DependencyRule, KindOf, all, first};
use super::replicas::WorkloadKind;
use crate::base::SmolStr;

/// An object that is referred to, in the namespace of the one that refers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// `v1`.
    pub api_version: SmolStr,
    /// `ConfigMap`, `Secret`, ...
    pub kind: SmolStr,
    /// Its name.
    pub name: SmolStr,
}

/// What an object refers to, and whether every place that refers to it can do without; ascending. `custom` is what a
/// WorkloadKind teaches of its kind.
#[must_use]
pub fn of_object(group: &str, kind: &str, object: &Value, custom: Option<&CustomKind>) -> BTreeMap<Reference, bool> {
    let mut found = Found::default();
    if let Some(native) = WorkloadKind::of(group, kind) {
        if let Some(spec) = native.pod_spec_keys().iter().try_fold(object, |value, key| value.get(key)) {
            found.pod(spec);
        }
        if native == WorkloadKind::StatefulSet {
            found.without_own_claims(object);
        }
    } else if (group, kind) == ("networking.k8s.io", "Ingress") {
        for tls in list(object.pointer("/spec/tls")) {
            found.add("Secret", tls.get("secretName"), false);
        }
    } else if let Some(custom) = custom {
        for path in custom.pod_spec_paths(object) {
            first(object, &path).into_iter().for_each(|spec| found.pod(spec));
        }
        custom.dependencies.iter().for_each(|rule| found.rule(rule, object));
        found.without_own_claims(object);
    }
    found.0
}

/// What a pod spec refers to.
#[must_use]
pub fn of_pod_spec(spec: &Value) -> BTreeMap<Reference, bool> {
    let mut found = Found::default();
    found.pod(spec);
    found.0
}

#[derive(Default)]
struct Found(BTreeMap<Reference, bool>);

impl Found {
    fn add(&mut self, kind: &str, name: Option<&Value>, optional: bool) {
        self.named("v1", kind, name, optional);
    }

    fn named(&mut self, api_version: &str, kind: &str, name: Option<&Value>, optional: bool) {
        let Some(name) = name.and_then(Value::as_str).filter(|name| !name.is_empty()) else { return };
        if kind == "ServiceAccount" && name == "default" {
            return;
        }
        let reference = Reference { api_version: api_version.into(), kind: kind.into(), name: name.into() };
        self.0.entry(reference).and_modify(|known| *known &= optional).or_insert(optional);
    }

    /// A map with `name` (or another field) and perhaps `optional`.
    fn source(&mut self, kind: &str, source: Option<&Value>, field: &str) {
        let Some(source) = source else { return };
        self.add(kind, source.get(field), source.get("optional") == Some(&Value::Bool(true)));
    }

    fn pod(&mut self, spec: &Value) {
        for field in ["serviceAccountName", "serviceAccount"] {
            self.add("ServiceAccount", spec.get(field), false);
        }
        for secret in list(spec.get("imagePullSecrets")) {
            self.add("Secret", secret.get("name"), false);
        }
        for field in ["initContainers", "containers", "ephemeralContainers"] {
            list(spec.get(field)).for_each(|container| self.container(container));
        }
        list(spec.get("volumes")).for_each(|volume| self.volume(volume));
    }

    fn container(&mut self, container: &Value) {
        for variable in list(container.get("env")) {
            self.source("ConfigMap", variable.pointer("/valueFrom/configMapKeyRef"), "name");
            self.source("Secret", variable.pointer("/valueFrom/secretKeyRef"), "name");
        }
        for all in list(container.get("envFrom")) {
            self.source("ConfigMap", all.get("configMapRef"), "name");
            self.source("Secret", all.get("secretRef"), "name");
        }
    }

    fn volume(&mut self, volume: &Value) {
        self.source("ConfigMap", volume.get("configMap"), "name");
        self.source("Secret", volume.get("secret"), "secretName");
        self.add("Secret", volume.pointer("/azureFile/secretName"), false);
        for driver in ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"] {
            self.add("Secret", volume.get(driver).and_then(|source| source.pointer("/secretRef/name")), false);
        }
        self.add("Secret", volume.pointer("/csi/nodePublishSecretRef/name"), false);
        self.add("PersistentVolumeClaim", volume.pointer("/persistentVolumeClaim/claimName"), false);
        for source in list(volume.pointer("/projected/sources")) {
            self.source("ConfigMap", source.get("configMap"), "name");
            self.source("Secret", source.get("secret"), "name");
        }
    }

    fn rule(&mut self, rule: &DependencyRule, object: &Value) {
        match rule {
            DependencyRule::PodSpec(path) => all(object, path).into_iter().for_each(|spec| self.pod(spec)),
            DependencyRule::Names { api_version, kind, at, name } => {
                for place in all(object, at) {
                    let kind = match kind {
                        KindOf::Fixed(kind) => Some(kind.as_str()),
                        KindOf::Named(path) => first(place, path).and_then(Value::as_str),
                    };
                    let names = all(place, name);
                    kind.into_iter().for_each(|kind| {
                        names.iter().for_each(|name| self.named(api_version, kind, Some(name), false));
                    });
                }
            }
        }
    }

    /// Claims that the controller makes from `spec.volumeClaimTemplates`.
    fn without_own_claims(&mut self, object: &Value) {
        for claim in list(object.pointer("/spec/volumeClaimTemplates")) {
            let Some(name) = claim.pointer("/metadata/name").and_then(Value::as_str) else { continue };
            self.0.retain(|known, _| known.kind != "PersistentVolumeClaim" || known.name != name);
        }
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::Path;

    fn words(found: &BTreeMap<Reference, bool>) -> Vec<String> {
        let word =
            |(r, optional): (&Reference, &bool)| format!("{}/{}{}", r.kind, r.name, if *optional { "?" } else { "" });
        found.iter().map(word).collect()
    }

    #[test]
    fn what_a_pod_refers_to() {
        let spec = json!({
            "serviceAccountName": "runner",
            "imagePullSecrets": [{"name": "registry"}, {"name": ""}],
            "initContainers": [{"envFrom": [{"secretRef": {"name": "setup", "optional": true}}]}],
            "containers": [{
                "env": [
                    {"name": "A", "value": "plain"},
                    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "config", "key": "b"}}},
                    {"name": "C", "valueFrom": {"secretKeyRef": {"name": "registry", "key": "c", "optional": true}}},
                ],
            }],
            "volumes": [
                {"name": "a", "secret": {"secretName": "tls"}},
                {"name": "b", "projected": {"sources": [{"configMap": {"name": "extra"}}, {"serviceAccountToken": {}}]}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "d", "csi": {"driver": "x", "nodePublishSecretRef": {"name": "driver"}}},
                {"name": "e", "emptyDir": {}},
            ],
        });
        assert_eq!(
            words(&of_pod_spec(&spec)),
            [
                "ConfigMap/config",
                "ConfigMap/extra",
                "PersistentVolumeClaim/data",
                "Secret/driver",
                "Secret/registry",
                "Secret/setup?",
                "Secret/tls",
                "ServiceAccount/runner",
            ]
        );
    }

    #[test]
    fn what_objects_refer_to() {
        let rule = |kind: KindOf, at: &str, name: &str| DependencyRule::Names {
            api_version: "v1".into(),
            kind,
            at: Path::parse(at).unwrap(),
            name: Path::parse(name).unwrap(),
        };
        let custom = CustomKind {
            templates: vec![Path::parse("/spec/template").unwrap()],
            dependencies: vec![
                rule(KindOf::Fixed("Secret".into()), "", "/spec/secretRef/name"),
                rule(KindOf::Named(Path::parse("/kind").unwrap()), "/spec/valuesFrom/*", "/name"),
                DependencyRule::PodSpec(Path::parse("/spec").unwrap()),
            ],
            ..CustomKind::default()
        };
        let mounts = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]);
        for (group, kind, object, expected) in [
            (
                "",
                "Pod",
                json!({"spec": {"serviceAccountName": "default", "volumes": mounts}}),
                vec!["PersistentVolumeClaim/data"],
            ),
            (
                "apps",
                "StatefulSet",
                json!({"spec": {
                    "template": {"spec": {"volumes": mounts}},
                    "volumeClaimTemplates": [{"metadata": {"name": "data"}}],
                }}),
                vec![],
            ),
            (
                "batch",
                "CronJob",
                json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": {"volumes": mounts}}}}}}),
                vec!["PersistentVolumeClaim/data"],
            ),
            (
                "networking.k8s.io",
                "Ingress",
                json!({"spec": {"tls": [{"secretName": "cert"}, {}]}}),
                vec!["Secret/cert"],
            ),
            (
                "example.com",
                "Thing",
                json!({"spec": {
                    "secretRef": {"name": "own"},
                    "valuesFrom": [{"kind": "ConfigMap", "name": "values"}, {"name": "nameless"}],
                    "serviceAccountName": "thing",
                    "template": {"spec": {"volumes": mounts}},
                }}),
                vec!["ConfigMap/values", "PersistentVolumeClaim/data", "Secret/own", "ServiceAccount/thing"],
            ),
            ("", "ConfigMap", json!({"data": {"a": "b"}}), vec![]),
        ] {
            assert_eq!(words(&of_object(group, kind, &object, Some(&custom))), expected, "{kind}");
        }
    }
}
