//! An `apiVersion` that no longer exists, and what to write instead.

use super::{NativeKind, Scope, table::TABLE};
use crate::base::SmolStr;
use crate::base::name::nearest;

/// What is wrong with a group, version and kind that the API server does not know, although it knows the group.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VersionAdvice {
    /// The kind is served under another `apiVersion`.
    #[error("there is no {kind} in {given}; use {api_version}")]
    Use {
        /// What was written.
        given: SmolStr,
        /// The kind.
        kind: SmolStr,
        /// What to write.
        api_version: SmolStr,
    },
    /// The kind was removed from Kubernetes.
    #[error("{given} {kind} was removed in Kubernetes {since}: {instead}")]
    Removed {
        /// What was written.
        given: SmolStr,
        /// The kind.
        kind: SmolStr,
        /// The release that no longer has it.
        since: &'static str,
        /// What takes its place.
        instead: &'static str,
    },
    /// The group has no such kind.
    #[error("{given} has no kind {kind}{}", hint(nearest.as_ref()))]
    NoSuchKind {
        /// What was written.
        given: SmolStr,
        /// The kind that does not exist.
        kind: SmolStr,
        /// A kind of the same group with almost that name, or of that name in upper or lower case.
        nearest: Option<SmolStr>,
    },
}

fn hint(nearest: Option<&SmolStr>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Kinds that moved to another group. Source: the deprecated API migration guide of kubernetes.io.
const MOVED: &[(&str, &str, &str)] = &[
    ("extensions", "DaemonSet", "apps/v1"),
    ("extensions", "Deployment", "apps/v1"),
    ("extensions", "ReplicaSet", "apps/v1"),
    ("extensions", "Ingress", "networking.k8s.io/v1"),
    ("extensions", "NetworkPolicy", "networking.k8s.io/v1"),
];

/// Kinds that are gone for good. Source: the same guide.
const REMOVED: &[(&str, &str, &str, &str)] = &[
    ("extensions", "PodSecurityPolicy", "1.16", "use the Pod Security admission labels of the Namespace"),
    ("policy", "PodSecurityPolicy", "1.25", "use the Pod Security admission labels of the Namespace"),
    ("auditregistration.k8s.io", "AuditSink", "1.19", "configure audit webhooks on the API server"),
];

/// Whether the group is one of Kubernetes' own, present or past. A kind of any other group is a custom resource.
#[must_use]
pub fn known_group(group: &str) -> bool {
    TABLE.kinds.iter().any(|k| k.group == group)
        || MOVED.iter().any(|(old, ..)| *old == group)
        || REMOVED.iter().any(|(old, ..)| *old == group)
}

/// The versions in which a kind exists, the most stable and newest first.
#[must_use]
pub fn versions(group: &str, kind: &str) -> Vec<&'static NativeKind> {
    let mut found: Vec<_> = TABLE.kinds.iter().filter(|k| k.group == group && k.kind == kind).collect();
    found.sort_by_key(|k| std::cmp::Reverse(rank(&k.version)));
    found
}

/// Whether the kind is a list of objects, to be read as the objects in its `items`: `v1` List, or `RoleList` and its like.
#[must_use]
pub fn is_list(group: &str, version: &str, kind: &str) -> bool {
    match kind.strip_suffix("List") {
        Some("") => group.is_empty() && version == "v1",
        Some(item) => super::lookup(group, version, item).is_some(),
        None => false,
    }
}

/// Where the objects of one of Kubernetes' own kinds live, in versions that are no longer served too: a kind keeps its
/// scope from version to version. `None` for a custom resource.
#[must_use]
pub fn scope(group: &str, version: &str, kind: &str) -> Option<Scope> {
    if let Some(exact) = super::lookup(group, version, kind) {
        return Some(exact.scope);
    }
    if let Some(other) = versions(group, kind).first() {
        return Some(other.scope);
    }
    if let Some((.., api_version)) = MOVED.iter().find(|(old, moved, _)| *old == group && *moved == kind) {
        return super::lookup_api_version(api_version, kind).map(|moved| moved.scope);
    }
    // all that are gone were cluster-scoped
    REMOVED.iter().any(|(old, gone, ..)| *old == group && *gone == kind).then_some(Scope::Cluster)
}

/// What to say about a kind that [`lookup`](super::lookup) does not find: `None` for a kind that exists, and for a
/// custom resource; and for a list.
#[must_use]
pub fn version_advice(group: &str, version: &str, kind: &str) -> Option<VersionAdvice> {
    if !known_group(group) || super::lookup(group, version, kind).is_some() || is_list(group, version, kind) {
        return None;
    }
    let given = || if group.is_empty() { version.into() } else { smol_str::format_smolstr!("{group}/{version}") };
    if let Some(best) = versions(group, kind).first() {
        return Some(VersionAdvice::Use { given: given(), kind: kind.into(), api_version: best.api_version() });
    }
    if let Some((.., api_version)) = MOVED.iter().find(|(old, moved, _)| *old == group && *moved == kind) {
        return Some(VersionAdvice::Use { given: given(), kind: kind.into(), api_version: (*api_version).into() });
    }
    if let Some((.., since, instead)) = REMOVED.iter().find(|(old, gone, ..)| *old == group && *gone == kind) {
        return Some(VersionAdvice::Removed { given: given(), kind: kind.into(), since, instead });
    }
    // A kind written under the wrong one of Kubernetes' groups, such as `v1` Deployment.
    let mut elsewhere = TABLE.kinds.iter().filter(|k| k.kind == kind).collect::<Vec<_>>();
    elsewhere.sort_by_key(|k| std::cmp::Reverse(rank(&k.version)));
    if let Some(best) = elsewhere.first() {
        return Some(VersionAdvice::Use { given: given(), kind: kind.into(), api_version: best.api_version() });
    }
    let siblings = TABLE.kinds.iter().filter(|k| k.group == group).map(|k| k.kind.as_str());
    Some(VersionAdvice::NoSuchKind {
        given: given(),
        kind: kind.into(),
        nearest: nearest(kind, siblings).map(SmolStr::from),
    })
}

/// Kubernetes' version priority: general availability over beta over alpha, then the higher number.
fn rank(version: &str) -> (u8, u32, u32) {
    let rest = version.strip_prefix('v').unwrap_or(version);
    let (stability, major, minor) = if let Some((major, minor)) = rest.split_once("beta") {
        (1, major, minor)
    } else if let Some((major, minor)) = rest.split_once("alpha") {
        (0, major, minor)
    } else {
        (2, rest, "0")
    };
    (stability, major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}
