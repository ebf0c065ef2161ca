//! What a WorkloadKind teaches of a kind of custom resource: where its counts, its pods and what it refers to stand, and when
//! it is healthy. The kinds of operators in wide use are taught by files of the same form in `kinds/shipped`.
//!
//! Invariant: an object is only read by paths; a path that ends nowhere says nothing, so that an operator's own defaults
//! apply. The next thing a WorkloadKind teaches is a field of [`CustomKind`] and a reader here.

mod derived;
mod paths;
mod sets;

use serde_json::Value;

use super::cel::Expression;
use super::replicas::{BadCount, Counts, CustomForm};
use crate::base::{Path, SmolStr};

pub use paths::{all, first};
pub use sets::{Component, ComponentRule, Components, Derivation};

/// A custom kind that a WorkloadKind teaches.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CustomKind {
    /// Its API group.
    pub group: SmolStr,
    /// Its name.
    pub kind: SmolStr,
    /// When its objects are healthy; `None`: by their conditions.
    pub health: Option<HealthRules>,
    /// Where its count of replicas stands: the first that an object has, else the first of all.
    pub replicas: Vec<Path>,
    /// Where its pod templates stand.
    pub templates: Vec<Path>,
    /// The parts of a set.
    pub components: Components,
    /// Whether its replicas may run in several clusters.
    pub dividable: bool,
    /// Whether it runs one pod on each node.
    pub per_node: bool,
    /// What it refers to beside what its pods do.
    pub dependencies: Vec<DependencyRule>,
}

/// When objects of a custom kind are healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthRules {
    /// It is as it should be.
    pub current: Expression,
    /// It is on its way.
    pub in_progress: Option<Expression>,
    /// It will not get there by itself.
    pub failed: Option<Expression>,
}

/// Where an object names what it refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum DependencyRule {
    /// A pod spec, or a map with some of its fields.
    PodSpec(Path),
    /// Names of objects.
    Names {
        /// `v1`, `apps/v1`.
        api_version: SmolStr,
        /// Their kind, or where it is named, from the same place as the name.
        kind: KindOf,
        /// The place that names one; each item where the path has a `*`.
        at: Path,
        /// Where the name stands, from there.
        name: Path,
    },
}

/// The kind of an object that is named.
#[derive(Clone, Debug, PartialEq)]
pub enum KindOf {
    /// Always this.
    Fixed(SmolStr),
    /// What stands there.
    Named(Path),
}

impl CustomKind {
    /// How its objects run pods; `None` for a kind of which no pods, counts or parts are known.
    #[must_use]
    pub fn form(&self) -> Option<CustomForm> {
        if !matches!(self.components, Components::None) {
            Some(CustomForm::Part)
        } else if self.per_node {
            Some(CustomForm::PerNode)
        } else if !self.replicas.is_empty() {
            Some(if self.dividable { CustomForm::Divisible } else { CustomForm::Undivided })
        } else {
            (!self.templates.is_empty()).then_some(CustomForm::Single)
        }
    }

    /// Reads the count of replicas. One that is no number, such as a percentage, is none.
    ///
    /// # Errors
    /// Where it is a number and no whole one from 0 to 2147483647.
    pub fn counts(&self, object: &Value) -> Result<Counts, BadCount> {
        let found = self.replicas.iter().find_map(|path| Some((path, first(object, path)?)));
        let replicas = match found {
            Some((path, Value::Number(number))) => {
                let whole = number.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= i32::MAX as u32);
                Some(whole.ok_or_else(|| BadCount { path: path.clone() })?)
            }
            Some(_) | None => None,
        };
        Ok(Counts { replicas, ..Counts::default() })
    }

    /// Writes the count of replicas where it stands, or where it would.
    pub fn set_replicas(&self, object: &mut Value, replicas: u32) {
        let stands = self.replicas.iter().find(|path| first(object, path).is_some());
        if let Some(path) = stands.or(self.replicas.first()) {
            paths::set(object, path, replicas.into());
        }
    }

    /// Removes the count of replicas: somebody else owns it in the cluster.
    pub fn unset_replicas(&self, object: &mut Value) {
        for path in &self.replicas {
            paths::remove(object, path);
        }
    }

    /// The pod spec of an object that runs one sort of pods: of the first template that it has.
    #[must_use]
    pub fn pod_spec<'v>(&self, object: &'v Value) -> Option<(Path, &'v Value)> {
        self.templates.iter().find_map(|path| {
            let spec = path.join("spec".into());
            Some((spec.clone(), first(object, &spec).filter(|value| value.is_object())?))
        })
    }

    /// All places of its pod templates, of parts of a set as well.
    #[must_use]
    pub fn pod_spec_paths(&self, object: &Value) -> Vec<Path> {
        let own = self.templates.iter().map(|path| path.join("spec".into()));
        let of_parts = self.components.template_paths(object);
        own.chain(of_parts).filter(|path| first(object, path).is_some_and(Value::is_object)).collect()
    }

    /// The parts of an object that is a set, with names that differ. Empty for an object that states none.
    #[must_use]
    pub fn components(&self, object: &Value) -> Vec<Component> {
        self.components.of(object)
    }
}

/// The kind of that group and name.
#[must_use]
pub fn find<'k>(
    kinds: &'k [std::sync::Arc<CustomKind>],
    group: &str,
    kind: &str,
) -> Option<&'k std::sync::Arc<CustomKind>> {
    let key = |known: &std::sync::Arc<CustomKind>| (known.group.as_str(), known.kind.as_str()).cmp(&(group, kind));
    kinds.binary_search_by(key).ok().and_then(|at| kinds.get(at))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(replicas: &[&str], templates: &[&str]) -> CustomKind {
        let paths = |texts: &[&str]| texts.iter().map(|text| Path::parse(text).unwrap()).collect();
        CustomKind { replicas: paths(replicas), templates: paths(templates), ..CustomKind::default() }
    }

    #[test]
    fn counts_stand_where_the_kind_says() {
        let kind = kind(&["/spec/size", "/spec/old/size"], &[]);
        for (object, expected, after) in [
            (json!({"spec": {"size": 3}}), Ok(Some(3)), json!({"spec": {"size": 7}})),
            (json!({"spec": {"old": {"size": 2}}}), Ok(Some(2)), json!({"spec": {"old": {"size": 7}}})),
            (json!({}), Ok(None), json!({"spec": {"size": 7}})),
            (json!({"spec": {"size": "50%"}}), Ok(None), json!({"spec": {"size": 7}})),
            (json!({"spec": {"size": -1}}), Err("spec.size"), json!({"spec": {"size": 7}})),
            (json!({"spec": {"size": 1.5}}), Err("spec.size"), json!({"spec": {"size": 7}})),
            (json!({"spec": 4}), Ok(None), json!({"spec": 4})),
        ] {
            let read = kind.counts(&object).map(|counts| counts.replicas).map_err(|bad| bad.path.dotted());
            assert_eq!(read, expected.map_err(str::to_owned), "{object}");
            let mut written = object.clone();
            kind.set_replicas(&mut written, 7);
            assert_eq!(written, after);
        }
        let mut object = json!({"spec": {"size": 3, "other": 1}});
        kind.unset_replicas(&mut object);
        assert_eq!(object, json!({"spec": {"other": 1}}));
    }

    #[test]
    fn the_first_template_that_is_there_has_the_pods() {
        let kind = kind(&[], &["/spec/jobTemplate/spec/template", "/spec/broadcast/template"]);
        let pod = json!({"containers": []});
        let object = json!({"spec": {"broadcast": {"template": {"spec": pod}}}});
        let found = kind.pod_spec(&object).map(|(path, spec)| (path.to_string(), spec));
        assert_eq!(found, Some(("/spec/broadcast/template/spec".to_owned(), &pod)));
        assert_eq!(kind.pod_spec(&json!({})), None);
        assert_eq!(kind.form(), Some(CustomForm::Single));
    }
}
