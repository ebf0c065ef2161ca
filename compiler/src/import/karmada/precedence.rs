//! Which policy a template belongs to, and in which order overrides reach it: Karmada's rules.
//!
//! Of propagation policies: those of the namespace before those of the cluster; then the higher `priority`, the more exact
//! selector, the lower name. A template that a policy has claimed stays with it, unless one with `preemption: Always`
//! takes it. Of override policies all apply: those of the cluster first, then by how exact they select, then by name; what
//! is applied later wins. (`pkg/detector/compare.go`, `preemption.go`; `pkg/util/overridemanager`.)

use super::objects::{Preemption, PropagationSpec, ResourceSelector};
use crate::base::SmolStr;
use crate::base::labels::{LabelSelector, Labels};
use crate::import::documents::Object;

/// A template as selectors see it.
#[derive(Clone, Copy, Debug)]
pub struct Template<'o> {
    /// `group/version`.
    pub api_version: &'o str,
    /// The kind.
    pub kind: &'o str,
    /// Empty for a cluster-scoped one.
    pub namespace: &'o str,
    /// The name.
    pub name: &'o str,
    /// The labels.
    pub labels: &'o Labels,
}

impl<'o> From<&'o Object> for Template<'o> {
    fn from(object: &'o Object) -> Self {
        let Object { api_version, kind, namespace, name, labels, .. } = object;
        Self { api_version, kind, namespace, name, labels }
    }
}

/// How exactly a selector selects a template. The later the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Implicit {
    /// Not at all.
    Miss = 0,
    /// By its kind.
    Kind = 1,
    /// By labels.
    Label = 2,
    /// By name.
    Name = 3,
}

impl ResourceSelector {
    /// How exactly this one selects a template. With a name, labels are not looked at.
    #[must_use]
    pub fn implicit(&self, of: Template<'_>) -> Implicit {
        let Self { api_version, kind, namespace, name, label_selector } = self;
        if api_version != of.api_version || kind != of.kind || !(namespace.is_empty() || namespace == of.namespace) {
            return Implicit::Miss;
        }
        if !name.is_empty() {
            return if name == of.name { Implicit::Name } else { Implicit::Miss };
        }
        match label_selector {
            None => Implicit::Kind,
            Some(_) => match self.labels() {
                Some(selector) if selector.matches(of.labels) => Implicit::Label,
                Some(_) | None => Implicit::Miss,
            },
        }
    }

    /// The label selector, where it is one.
    pub(super) fn labels(&self) -> Option<LabelSelector> {
        let selector: LabelSelector = serde_json::from_value(self.label_selector.clone()?).ok()?;
        selector.validate().is_ok().then_some(selector)
    }
}

/// How exactly the best of several selectors selects a template.
#[must_use]
pub fn implicit(selectors: &[ResourceSelector], of: Template<'_>) -> Implicit {
    selectors.iter().map(|selector| selector.implicit(of)).max().unwrap_or(Implicit::Miss)
}

/// A propagation policy, named.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub file: SmolStr,
    /// Empty for a ClusterPropagationPolicy.
    pub namespace: SmolStr,
    pub name: SmolStr,
    pub spec: PropagationSpec,
}

/// What decides between policies that select one template: the least is the best.
type Rank<'p> = (bool, std::cmp::Reverse<i32>, std::cmp::Reverse<Implicit>, &'p str);

/// The rank of a policy among those that select a template; `None` where it does not.
#[must_use]
pub fn rank<'p>(
    selectors: &[ResourceSelector],
    (namespace, name): (&str, &'p str),
    priority: i32,
    of: Template<'_>,
) -> Option<Rank<'p>> {
    // of a policy in a namespace, the webhook fills in what is absent, and refuses another
    if !namespace.is_empty() && namespace != of.namespace {
        return None;
    }
    match implicit(selectors, of) {
        Implicit::Miss => None,
        found => Some((namespace.is_empty(), std::cmp::Reverse(priority), std::cmp::Reverse(found), name)),
    }
}

impl Policy {
    fn rank(&self, of: Template<'_>) -> Option<Rank<'_>> {
        rank(&self.spec.resource_selectors, (&self.namespace, &self.name), self.spec.priority, of)
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.namespace.is_empty() { "ClusterPropagationPolicy" } else { "PropagationPolicy" }
    }

    /// Whether it takes templates from the other.
    fn preempts(&self, from: &Self) -> bool {
        let higher = self.spec.priority > from.spec.priority;
        self.spec.preemption == Preemption::Always
            && match (self.namespace.is_empty(), from.namespace.is_empty()) {
                (false, true) => true,
                (false, false) | (true, true) => higher,
                (true, false) => false,
            }
    }
}

/// The policy that a template belongs to, by its place in the list, and the one that would have it if claims counted for
/// nothing.
pub(super) fn winner(policies: &[Policy], object: &Object) -> Option<(usize, usize)> {
    let of = Template::from(object);
    let mut reaching: Vec<(Rank<'_>, usize)> =
        (0..).zip(policies).filter_map(|(at, policy)| Some((policy.rank(of)?, at))).collect();
    reaching.sort();
    let (_, best) = *reaching.first()?;
    let claimed = claim(object);
    let holder = reaching.iter().find_map(|(_, at)| {
        let policy = policies.get(*at)?;
        (claimed == Some((policy.namespace.as_str(), policy.name.as_str()))).then_some((*at, policy))
    });
    let Some((holder_at, holder)) = holder else { return Some((best, best)) };
    let taker = reaching.iter().find(|(_, at)| policies.get(*at).is_some_and(|policy| policy.preempts(holder)));
    Some((taker.map_or(holder_at, |(_, at)| *at), best))
}

/// Namespace and name of the policy that claimed a template, as its annotations say; of a policy of the cluster the
/// namespace is empty.
fn claim(object: &Object) -> Option<(&str, &str)> {
    let text = |key: &str| object.annotations.get(key).or_else(|| object.labels.get(key)).map(SmolStr::as_str);
    match (text("propagationpolicy.karmada.io/namespace"), text("propagationpolicy.karmada.io/name")) {
        (Some(namespace), Some(name)) => Some((namespace, name)),
        _ => Some(("", text("clusterpropagationpolicy.karmada.io/name")?)),
    }
}
