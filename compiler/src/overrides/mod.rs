//! Override operations: what a team or the platform changes in an object on some clusters. One file for each.
//!
//! An operation is a typed value ([`Operation`]) that was parsed once; [`apply`] runs it on the JSON value of one object
//! for one cluster. Which operation runs on which object, in which order, is the caller's; labels and annotations that
//! we add ourselves are no operation.
//!
//! Invariants: identity (`apiVersion`, `kind`, `metadata.name`, `metadata.namespace`) never changes; no message holds a
//! value of the object or of the operation, only names and places, so that a Secret may be overridden; after an error
//! the object is half changed and must be thrown away. The next operation is a file here and a variant of [`Operation`].

mod annotate;
mod containers;
mod env;
mod error;
pub mod image;
mod images;
pub mod json_patch;
mod list_edit;
pub mod merge_patch;
mod metadata;
mod pointer;
mod set;
mod strategic;
mod strategic_list;
pub mod substitute;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::{Path, SmolStr};
use crate::kinds::native::{FieldProblem, NativeKind, check_fields, pod_spec_path};

pub use containers::Containers;
pub use error::{Missing, MissingAt, OpError, OpWarning};
pub use images::ImageRule;
pub use list_edit::ListEdit;
pub use metadata::{LabelProblem, check_labels_after, label_problems};
pub use substitute::{TemplateError, Variables};

/// One change to one object. Every string value in it may hold `${variables}`; keys and names never do.
#[derive(Clone, PartialEq, Debug)]
pub enum Operation {
    /// Merged into the object: lists of native kinds by their Kubernetes merge keys, with `null` and `$patch: delete`
    /// to delete and `$patch: replace` to replace; custom resources by JSON merge patch (RFC 7396).
    Patch(Value),
    /// One value put at a place. Its parent must exist; `-` appends to a list.
    Set {
        /// The place.
        pointer: Path,
        /// What to put there, in place of what is there.
        value: Value,
    },
    /// One value taken away; it must exist.
    Remove(Path),
    /// RFC 6902, with the API server's indexes from the end of a list.
    JsonPatch(Vec<json_patch::Step>),
    /// Image references of all containers and image volumes.
    Images {
        /// Kustomize's `images`.
        rules: Vec<ImageRule>,
        /// The registry, with an optional path, that takes the place of each image's own; after the rules.
        new_registry: Option<String>,
    },
    /// Environment variables. Without a container: of all containers and init containers.
    Env {
        /// Which containers.
        containers: Containers,
        /// Variables that get a plain value, in place of any value or `valueFrom`.
        set: BTreeMap<SmolStr, String>,
        /// Variables that are taken away; each must exist in one of the containers.
        remove: BTreeSet<SmolStr>,
    },
    /// The arguments of a container. Without a container: of the only one.
    Args {
        /// Which containers.
        containers: Containers,
        /// The change.
        edit: ListEdit,
    },
    /// The command of a container. Without a container: of the only one.
    Command {
        /// Which containers.
        containers: Containers,
        /// The change.
        edit: ListEdit,
    },
    /// Labels of the object itself, never of selectors or pod templates. `None` takes one away.
    Labels(BTreeMap<SmolStr, Option<String>>),
    /// Annotations of the object itself. `None` takes one away.
    Annotations(BTreeMap<SmolStr, Option<String>>),
}

/// What is known about the kind of an object.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The kind, when it is one of Kubernetes' own.
    pub native: Option<&'static NativeKind>,
    /// Where its pod specs are: maps with `containers`. The key `*` stands for every item of a list.
    pub pod_specs: Vec<Path>,
}

/// What there is to say about an operation that succeeded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpReport {
    /// Things that a person should look at.
    pub warnings: Vec<OpWarning>,
    /// Names of image rules that matched no image of this object. One that matches in no object at all is a mistake.
    pub unmatched_images: Vec<SmolStr>,
}

impl Subject {
    /// Of a kind of Kubernetes' own.
    #[must_use]
    pub fn native(kind: &'static NativeKind) -> Self {
        let pod_specs = pod_spec_path(kind).map(|keys| Path::of_keys(keys.iter().copied()));
        Self { native: Some(kind), pod_specs: pod_specs.into_iter().collect() }
    }

    /// Of a custom resource with its pod specs at these places.
    #[must_use]
    pub fn custom(pod_specs: Vec<Path>) -> Self {
        Self { native: None, pod_specs }
    }
}

/// Runs one operation on one object. `vars` are the variables of the cluster the object goes to.
///
/// # Errors
/// When the operation does not fit the object, names what does not exist, or would change its identity. The object is
/// then half changed and must not be used.
pub fn apply(op: &Operation, object: &mut Value, subject: &Subject, vars: &Variables) -> Result<OpReport, OpError> {
    let before = identity(object);
    let mut report = OpReport::default();
    match op {
        Operation::Patch(patch) => {
            let patch = substitute::in_value(patch, vars)?;
            report.warnings = match subject.native {
                Some(kind) => strategic::merge(object, &patch, kind.ty)?,
                None => merge_patch::merge(object, &patch).map_err(|_| OpError::PatchIsNoMap)?,
            };
        }
        Operation::Set { pointer, value } => set::set(object, pointer, substitute::in_value(value, vars)?)?,
        Operation::Remove(pointer) => set::remove(object, pointer)?,
        Operation::JsonPatch(steps) => {
            let steps = json_patch::substituted(steps, vars)?;
            json_patch::apply(object, &steps, json_patch::Rules::Override)?;
        }
        Operation::Images { rules, new_registry } => {
            report.unmatched_images = images::rewrite(object, subject, rules, new_registry.as_deref(), vars)?;
        }
        Operation::Env { containers, set, remove } => env::edit(object, subject, containers, set, remove, vars)?,
        Operation::Args { containers, edit } => list_edit::edit(object, subject, containers, "args", edit, vars)?,
        Operation::Command { containers, edit } => list_edit::edit(object, subject, containers, "command", edit, vars)?,
        Operation::Labels(labels) => annotate::edit(object, "labels", labels, vars)?,
        Operation::Annotations(annotations) => annotate::edit(object, "annotations", annotations, vars)?,
    }
    let after = identity(object);
    for ((field, old), (_, new)) in before.iter().zip(&after) {
        if old != new {
            return Err(OpError::Identity { field });
        }
    }
    Ok(report)
}

/// Checks an object of a native kind after its operations: whether they left a field of a wrong type, an unknown field,
/// or a hole. `known` are the problems that the manifest had before.
///
/// # Errors
/// [`OpError::Shape`] with the problems that are new.
pub fn check_after(object: &Value, kind: &NativeKind, known: &[FieldProblem]) -> Result<(), OpError> {
    let same = |a: &FieldProblem, b: &FieldProblem| a.problem == b.problem && without_indexes(a).eq(without_indexes(b));
    let mut problems = check_fields(kind, object);
    problems.retain(|problem| !known.iter().any(|old| same(old, problem)));
    if problems.is_empty() { Ok(()) } else { Err(OpError::Shape { problems }) }
}

/// An item that an operation put in front of others moves them, but not their problems.
fn without_indexes(problem: &FieldProblem) -> impl Iterator<Item = &SmolStr> {
    problem.path.0.iter().filter_map(|seg| match seg {
        crate::base::Seg::Key(key) => Some(key),
        crate::base::Seg::Index(_) => None,
    })
}

impl Operation {
    /// The variables it uses, so that an operation without any is run once for all clusters.
    ///
    /// # Errors
    /// When a `${` is not a variable.
    pub fn variables(&self) -> Result<BTreeSet<SmolStr>, OpError> {
        let mut used = BTreeSet::new();
        let texts: Vec<&str> = match self {
            Self::Patch(value) | Self::Set { value, .. } => {
                substitute::variables_in(value, &mut used)?;
                Vec::new()
            }
            Self::JsonPatch(steps) => {
                for value in steps.iter().filter_map(json_patch::Step::value) {
                    substitute::variables_in(value, &mut used)?;
                }
                Vec::new()
            }
            Self::Remove(_) => Vec::new(),
            Self::Images { rules, new_registry } => {
                rules.iter().flat_map(ImageRule::texts).chain(new_registry.as_deref()).collect()
            }
            Self::Env { set, .. } => set.values().map(String::as_str).collect(),
            Self::Args { edit, .. } | Self::Command { edit, .. } => edit.items().iter().map(String::as_str).collect(),
            Self::Labels(map) | Self::Annotations(map) => map.values().flatten().map(String::as_str).collect(),
        };
        for text in texts {
            used.extend(substitute::Template::parse(text).map_err(OpError::template_at_root)?.variables().cloned());
        }
        Ok(used)
    }
}

/// The fields that make an object that object.
fn identity(object: &Value) -> [(&'static str, Option<Value>); 4] {
    let meta = object.get("metadata");
    let of =
        |map: Option<&Value>, key: &str| map.and_then(|map| map.get(key)).filter(|value| !value.is_null()).cloned();
    [
        ("apiVersion", of(Some(object), "apiVersion")),
        ("kind", of(Some(object), "kind")),
        ("metadata.name", of(meta, "name")),
        ("metadata.namespace", of(meta, "namespace")),
    ]
}
