//! A team and its rights.

use std::collections::BTreeMap;

use super::ClusterSet;
use crate::api::Survive;
use crate::base::labels::Labels;
use crate::base::{ClusterId, FileId, SmolStr, Span};
use crate::parse::ObjKey;

/// A team.
#[derive(Clone, Debug)]
pub struct Team {
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// The namespaces it may use.
    pub namespaces: Vec<NamespaceRule>,
    /// The clusters it may use.
    pub clusters: ClusterSet,
    /// Its quotas, in the order of its file.
    pub quota: Vec<Quota>,
    /// Kinds allowed beyond the default.
    pub allow: Vec<(SmolStr, SmolStr)>,
    /// Kinds denied.
    pub deny: Vec<(SmolStr, SmolStr)>,
    /// The priority classes that its pods may name; empty where that is not stated.
    pub priority_classes: Vec<SmolStr>,
    /// Impersonated when its objects are applied; `None`: the applier writes in its own name.
    pub service_account: Option<ServiceAccount>,
    /// What must not leave its apps short, where they do not state it themselves.
    pub survive: Option<Survive>,
    /// Who to ask, in the order of its file.
    pub owners: Vec<SmolStr>,
}

/// A service account of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
}

impl Team {
    /// Whether the platform allows the kind beyond the default.
    #[must_use]
    pub fn allows(&self, key: &ObjKey) -> bool {
        covered(&self.allow, key)
    }

    /// Whether the platform denies the kind, whatever is allowed.
    #[must_use]
    pub fn denies(&self, key: &ObjKey) -> bool {
        covered(&self.deny, key)
    }
}

/// Namespaces a team may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceRule {
    /// The name, or the prefix.
    pub text: SmolStr,
    /// Whether `text` is a prefix.
    pub prefix: bool,
    /// Labels of the generated Namespace.
    pub labels: Labels,
}

impl NamespaceRule {
    /// Whether it covers a namespace.
    #[must_use]
    pub fn covers(&self, namespace: &str) -> bool {
        if self.prefix { namespace.starts_with(self.text.as_str()) } else { namespace == self.text }
    }
}

/// A quota over some clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Where it is written, in the team's file.
    pub span: Span,
    /// The most that may be asked for, by name (`requests.cpu`, `limits.memory`, `pods`, `count/deployments.apps`), in the
    /// unit of the resource.
    pub hard: BTreeMap<SmolStr, i128>,
    /// The clusters it counts in.
    pub clusters: ClusterSet,
    /// The one cluster it counts in, where it holds for each cluster by itself: such a quota is one of these for each.
    pub of_cluster: Option<ClusterId>,
}

/// Whether (group, kind) pairs, each with `*` for any, cover a kind.
fn covered(pairs: &[(SmolStr, SmolStr)], key: &ObjKey) -> bool {
    let any_or = |written: &SmolStr, wanted: &SmolStr| written == "*" || written == wanted;
    pairs.iter().any(|(group, kind)| any_or(group, &key.group) && any_or(kind, &key.kind))
}
