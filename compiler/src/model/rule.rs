//! Override rules, resolved.

use crate::base::labels::Labels;
use crate::base::{FileId, SmolStr, Span, Spanned};
use crate::overrides::Operation;

use super::ClusterSet;

/// One override rule as it applies to one app.
#[derive(Clone, Debug)]
pub struct OverrideRule {
    /// Whose rule it is.
    pub layer: RuleLayer,
    /// The policy's or the app's name, for messages.
    pub name: SmolStr,
    /// Where it is written.
    pub file: FileId,
    /// Where the rule begins.
    pub span: Span,
    /// Where its target is written; the rule itself where it states none.
    pub target_span: Span,
    /// Which objects.
    pub target: Target,
    /// Which clusters.
    pub clusters: ClusterSet,
    /// What it does, in order, each with the place of its value.
    pub operations: Vec<(Operation, Span)>,
    /// The images it names, with the place of each.
    pub images: Vec<Spanned<SmolStr>>,
}

/// The layers of overrides in the order of application: later wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleLayer {
    /// The App's `images`.
    Images,
    /// A policy in `policies/`.
    Fleet,
    /// A policy in the team's folder.
    Team,
    /// The App's `overrides`.
    App,
    /// A policy in `policies/` with `enforced: true`.
    Enforced,
}

/// Which objects a rule is for. All parts that are stated must hold.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Target {
    /// The API group.
    pub group: Option<SmolStr>,
    /// The kind.
    pub kind: Option<SmolStr>,
    /// The name.
    pub name: Option<SmolStr>,
    /// The namespace.
    pub namespace: Option<SmolStr>,
    /// Labels.
    pub labels: Labels,
}

impl Target {
    /// Whether an object is meant.
    #[must_use]
    pub fn matches(&self, object: &super::Object) -> bool {
        let is = |part: &Option<SmolStr>, value: &str| part.as_ref().is_none_or(|p| p == value);
        is(&self.group, &object.key.group)
            && is(&self.kind, &object.key.kind)
            && is(&self.name, &object.key.name)
            && self.namespace.as_ref().is_none_or(|n| object.key.namespace.as_ref() == Some(n))
            && self.labels.iter().all(|(k, v)| object.facts.labels.get(k) == Some(v))
    }
}
