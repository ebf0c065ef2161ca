//! Kinds that run several sorts of pods, each with its own number: what one object of them asks for.
//!
//! The whole of it is one *set*: a FlinkDeployment without its job manager is no half of one. What stands in the object is
//! found by rules; what an operator derives from the rest of it (Flink's task managers, Spark's memory overhead) is derived
//! in `derived`.

use serde_json::{Value, json};

use super::paths::{all, each, first};
use crate::base::{Path, SmolStr};

/// Pods of one sort within a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// As its operator or the object names it.
    pub name: SmolStr,
    /// How many of them a set has.
    pub replicas: u32,
    /// Their pod spec, as far as room depends on it; `None` where the object says nothing of it.
    pub pod: Option<Value>,
}

/// Where the parts of a set stand.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Components {
    /// It is no set.
    #[default]
    None,
    /// In the object.
    Stated(Vec<ComponentRule>),
    /// An operator derives them.
    Derived(Derivation),
}

/// An operator that derives parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// The Flink operator: task managers from the parallelism of the job.
    Flink,
    /// The Spark operator: executors from dynamic allocation, memory with its overhead.
    Spark,
}

/// A part of a set, or one for each item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentRule {
    /// Its name; `{index}` stands for the position in the list from 0, `{number}` from 1.
    pub name: SmolStr,
    /// What it is; no such part where it ends nowhere. The root is always there.
    pub at: Path,
    /// Where an item states its own name, from there.
    pub name_from: Option<Path>,
    /// Where its count stands, from there: the first that is stated.
    pub replicas: Vec<Path>,
    /// Its count where none is stated.
    pub absent: u32,
    /// Where its pod template stands, from there.
    pub template: Option<Path>,
    /// Where what one of its pods requests stands, from there; for what has no template.
    pub requests: Option<Path>,
}

impl Components {
    /// The parts of an object, with names that differ.
    #[must_use]
    pub fn of(&self, object: &Value) -> Vec<Component> {
        let mut components: Vec<Component> = match self {
            Self::None => Vec::new(),
            Self::Stated(rules) => rules.iter().flat_map(|rule| rule.of(object)).collect(),
            Self::Derived(derivation) => super::derived::components(*derivation, object),
        };
        for index in 0..components.len() {
            let (before, rest) = components.split_at_mut(index);
            let Some(component) = rest.first_mut() else { break };
            let taken = |name: &str| before.iter().any(|other| other.name == name);
            if taken(&component.name) {
                let numbered = (2_u32..).map(|n| format!("{}-{n}", component.name));
                if let Some(name) = numbered.take(before.len() + 1).find(|name| !taken(name)) {
                    component.name = name.into();
                }
            }
        }
        components
    }

    /// Where the pod templates of the parts stand, to their `spec`.
    pub(super) fn template_paths(&self, object: &Value) -> Vec<Path> {
        let Self::Stated(rules) = self else { return Vec::new() };
        let paths = |rule: &ComponentRule| -> Vec<Path> {
            let Some(template) = &rule.template else { return Vec::new() };
            let whole =
                |at: Path| Path(at.0.into_iter().chain(template.0.iter().cloned()).chain(["spec".into()]).collect());
            each(object, &rule.at).into_iter().map(whole).collect()
        };
        rules.iter().flat_map(paths).collect()
    }
}

impl ComponentRule {
    fn of(&self, object: &Value) -> Vec<Component> {
        let component = |(index, place): (usize, &Value)| {
            let own = self.name_from.as_ref().and_then(|path| first(place, path)?.as_str());
            let name = own.filter(|name| !name.is_empty()).map_or_else(
                || self.name.replace("{index}", &index.to_string()).replace("{number}", &(index + 1).to_string()),
                str::to_owned,
            );
            let template = self.template.as_ref().and_then(|path| first(place, path)?.get("spec"));
            let requests = || {
                let requests = first(place, self.requests.as_ref()?)?;
                Some(json!({ "containers": [{ "name": "main", "resources": { "requests": requests } }] }))
            };
            let stated = self.replicas.iter().find_map(|path| count(first(place, path)?));
            Component {
                name: name.into(),
                replicas: stated.unwrap_or(self.absent),
                pod: template.cloned().or_else(requests),
            }
        };
        all(object, &self.at).into_iter().enumerate().map(component).collect()
    }
}

/// A count that is a number or a text of one.
pub(super) fn count(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))?;
    u32::try_from(number).ok().filter(|n| *n <= i32::MAX as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, at: &str) -> ComponentRule {
        let path = |text: &str| Path::parse(text).unwrap();
        ComponentRule {
            name: name.into(),
            at: path(at),
            name_from: Some(path("/groupName")),
            replicas: vec![path("/replicas"), path("/minAvailable")],
            absent: 1,
            template: Some(path("/template")),
            requests: Some(path("/resources")),
        }
    }

    #[test]
    fn parts_of_maps_and_lists() {
        let components =
            Components::Stated(vec![rule("head", "/spec/head"), rule("worker-{number}", "/spec/groups/*")]);
        let pod = json!({"containers": []});
        let object = json!({"spec": {
            "head": {"template": {"spec": pod}},
            "groups": [
                {"replicas": 2, "resources": {"cpu": "1"}},
                {"groupName": "gpu", "minAvailable": "3"},
                {"groupName": "head", "replicas": 0},
                {"groupName": "head", "replicas": -4},
            ],
        }});
        let found = components.of(&object);
        let counts: Vec<String> = found.iter().map(|c| format!("{}={}", c.name, c.replicas)).collect();
        assert_eq!(counts, ["head=1", "worker-1=2", "gpu=3", "head-2=0", "head-3=1"]);
        assert_eq!(found[0].pod, Some(pod));
        let requests = found[1].pod.as_ref().and_then(|pod| pod.pointer("/containers/0/resources/requests/cpu"));
        assert_eq!(requests, Some(&json!("1")));
        assert_eq!(found[2].pod, None);
        let paths: Vec<String> = components.template_paths(&object).iter().map(ToString::to_string).collect();
        assert_eq!(
            paths,
            ["head", "groups/0", "groups/1", "groups/2", "groups/3"].map(|at| format!("/spec/{at}/template/spec"))
        );
        assert_eq!(components.of(&json!({})), []);
    }
}
