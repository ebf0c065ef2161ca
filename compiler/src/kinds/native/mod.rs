//! Kubernetes' own kinds: which there are, their scope, their fields, and how their lists merge.
//!
//! The data is `kinds/native.json`, made from the OpenAPI document of the Kubernetes release named in its first line
//! ([`source`]). Types are kept as far as a kind of that release reaches them; `status` is left out, since nobody
//! declares it. A new release is a new file; nothing here names one of its fields.
//!
//! Invariant: pure tables. A kind that is not listed is a custom resource, of which nothing is known here; its
//! replicas, pod templates and health come from WorkloadKind files. What interprets a workload goes into a file of
//! `kinds/`, not here.

mod advice;
mod check;
mod limits;
mod pod_template;
mod table;

#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::base::SmolStr;

pub use advice::{VersionAdvice, is_list, known_group, scope, version_advice, versions};
pub use check::{FieldProblem, JsonType, Problem, check_fields, quantities};
pub use limits::{SizeProblem, check_sizes};
pub use pod_template::{pod_spec_path, pod_template_path};
pub use table::{Field, ListKind, Shape, Strategy, TypeDef, TypeId};

/// One kind in one version of one group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeKind {
    /// The API group; empty for the core group.
    pub group: SmolStr,
    /// The version, such as `v1`.
    pub version: SmolStr,
    /// The kind, such as `Deployment`.
    pub kind: SmolStr,
    /// The resource in URLs and rules, such as `deployments`.
    pub plural: SmolStr,
    /// Whether its objects live in a namespace.
    pub scope: Scope,
    /// The type of its objects.
    pub ty: TypeId,
}

/// Where the objects of a kind live.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Scope {
    /// Each in a namespace.
    Namespaced,
    /// In the cluster; `metadata.namespace` is not allowed.
    Cluster,
}

/// The kind of that group, version and name, when it is one of Kubernetes' own.
#[must_use]
pub fn lookup(group: &str, version: &str, kind: &str) -> Option<&'static NativeKind> {
    let kinds = &table::TABLE.kinds;
    let found = kinds.binary_search_by(|k| (&*k.group, &*k.kind, &*k.version).cmp(&(group, kind, version)));
    found.ok().and_then(|index| kinds.get(index))
}

/// The same by the `apiVersion` of an object: `v1`, `apps/v1`.
#[must_use]
pub fn lookup_api_version(api_version: &str, kind: &str) -> Option<&'static NativeKind> {
    let (group, version) = split_api_version(api_version);
    lookup(group, version, kind)
}

/// The plural that Kubernetes guesses for a kind whose definition is not at hand.
/// Source: `meta.UnsafeGuessKindToResource` of k8s.io/apimachinery.
#[must_use]
pub fn guessed_plural(kind: &str) -> SmolStr {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        _ if lower.is_empty() => lower.into(),
        _ if lower == "endpoints" => lower.into(),
        _ if lower.ends_with('s') => format!("{lower}es").into(),
        Some(stem) => format!("{stem}ies").into(),
        None => format!("{lower}s").into(),
    }
}

/// Group and version of an `apiVersion`; the core group is empty.
#[must_use]
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// All kinds, ascending by group, kind, version.
#[must_use]
pub fn all() -> &'static [NativeKind] {
    &table::TABLE.kinds
}

/// The fields of a type.
#[must_use]
pub fn type_def(id: TypeId) -> &'static TypeDef {
    table::TABLE.type_def(id)
}

/// How a list field of a type merges; `None` when the type has no such list.
#[must_use]
pub fn list_kind(id: TypeId, field: &str) -> Option<&'static ListKind> {
    match &type_def(id).fields.get(field)?.shape {
        Shape::List(_, kind) => Some(kind),
        _ => None,
    }
}

/// Which document of which Kubernetes release the tables were made from.
#[must_use]
pub fn source() -> &'static str {
    &table::TABLE.source
}

impl NativeKind {
    /// `apiVersion` as an object writes it.
    #[must_use]
    pub fn api_version(&self) -> SmolStr {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            smol_str::format_smolstr!("{}/{}", self.group, self.version)
        }
    }

    /// Whether its objects live in a namespace.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }
}
