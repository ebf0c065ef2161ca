//! Override policies as override policies of the fleet.
//!
//! Karmada orders them anew for every template, by how exactly they select it; here an order is stated. So a policy that
//! selects some templates more exactly than others becomes one document for each, and `precedence` is their order.
//! Operations that depend on what a manifest says (a tag with something added, a list with an item less) are computed from
//! the manifest of today, and said.

mod edits;
mod images;

use std::collections::{BTreeMap, BTreeSet};

use super::affinity::{ClusterFacts, selector};
use super::objects::{OverrideRule, OverrideSpec as Source};
use super::precedence::{Implicit, Template, implicit};
use crate::api::{AppSelector, ClusterSelector, OverridePolicySpec, OverrideSpec, OverrideTarget};
use crate::base::{SmolStr, Spanned};
use crate::import::documents::{Object, title};
use crate::import::repository::{placeless, placeless_all};
use crate::import::{About, Fate, Note};

/// An OverridePolicy or a ClusterOverridePolicy, named.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub file: SmolStr,
    /// Empty for a ClusterOverridePolicy.
    pub namespace: SmolStr,
    pub name: SmolStr,
    pub spec: Source,
}

/// A policy of the fleet that one of Karmada's became, in part or as a whole.
pub(super) struct Made<'p> {
    pub policy: &'p Policy,
    /// Whether its precedence says where in an order it stands.
    pub ordered: bool,
    pub spec: OverridePolicySpec,
}

impl Policy {
    /// How exactly it selects a template. Without selectors it selects all that it reaches, by kind alone.
    fn level(&self, of: Template<'_>) -> Implicit {
        if !self.namespace.is_empty() && self.namespace != of.namespace {
            return Implicit::Miss;
        }
        match self.spec.resource_selectors.as_slice() {
            [] => Implicit::Kind,
            selectors => implicit(selectors, of),
        }
    }

    pub(super) fn about<'n>(&self, notes: &'n mut Vec<Note>) -> About<'n> {
        let kind = if self.namespace.is_empty() { "ClusterOverridePolicy" } else { "OverridePolicy" };
        About { file: self.file.clone(), object: title(kind, &self.namespace, &self.name), notes }
    }
}

/// The order in which policies reach a template, as places in the list: `(namespace, name, selectors)`, where the
/// namespace of a policy of the cluster is empty.
#[must_use]
pub fn order(policies: &[(&str, &str, &[super::ResourceSelector])], of: Template<'_>) -> Vec<usize> {
    let mut reached: Vec<(bool, Implicit, &str, usize)> = Vec::new();
    for (at, (namespace, name, selectors)) in policies.iter().enumerate() {
        let level = if selectors.is_empty() { Implicit::Kind } else { implicit(selectors, of) };
        if level != Implicit::Miss && (namespace.is_empty() || *namespace == of.namespace) {
            reached.push((!namespace.is_empty(), level, name, at));
        }
    }
    reached.sort();
    reached.into_iter().map(|(.., at)| at).collect()
}

/// An object of an app, and the app as `team/app`.
pub(super) type Placed<'o> = (&'o str, &'o Object);

/// The policies of one layer (of the fleet, or of one namespace) in the order of application.
pub(super) fn layer<'p>(
    policies: &[&'p Policy],
    objects: &[Placed<'_>],
    clusters: &[ClusterFacts],
    notes: &mut Vec<Note>,
) -> Vec<Made<'p>> {
    let mut parts: BTreeMap<(Implicit, &str), (&'p Policy, Vec<Placed<'_>>)> = BTreeMap::new();
    for policy in policies {
        let mut reached = false;
        for (app, object) in objects {
            let level = policy.level(Template::from(*object));
            if level != Implicit::Miss {
                reached = true;
                let part = parts.entry((level, policy.name.as_str())).or_insert_with(|| (policy, Vec::new()));
                part.1.push((app, object));
            }
        }
        if !reached {
            policy.about(notes).say(Fate::Skipped, "", "selects no object that is placed");
        }
    }
    let several = parts.len() > 1;
    let mut made = Vec::new();
    for (precedence, (policy, objects)) in (0_i32..).zip(parts.into_values()) {
        let overrides = rules(policy, &objects, clusters, &mut policy.about(notes));
        if overrides.is_empty() {
            continue;
        }
        let apps: BTreeSet<SmolStr> = objects.iter().map(|(app, _)| (*app).into()).collect();
        let spec = OverridePolicySpec {
            apps: placeless(AppSelector { names: Some(placeless_all(&apps)), ..AppSelector::default() }),
            precedence: if several { precedence } else { 0 },
            enforced: None,
            overrides,
        };
        made.push(Made { policy, ordered: several, spec });
    }
    made
}

/// The objects that one entry is for.
struct Aim<'a> {
    target: OverrideTarget,
    objects: Vec<&'a Object>,
}

/// An object by its name.
fn exactly(object: &Object) -> OverrideTarget {
    let Object { group, kind, namespace, name, .. } = object;
    let stated = |text: &SmolStr| (!text.is_empty()).then(|| text.clone());
    OverrideTarget {
        group: stated(group),
        kind: Some(placeless(kind.clone())),
        name: Some(placeless(name.clone())),
        namespace: stated(namespace),
        ..OverrideTarget::default()
    }
}

/// The selectors of a policy as targets, where each object is met by one of them and our targets can say it; else every
/// object by its name.
fn aims<'a>(policy: &Policy, objects: &[Placed<'a>], about: &mut About<'_>) -> Vec<Aim<'a>> {
    let all = || objects.iter().map(|(_, object)| *object);
    let selectors = &policy.spec.resource_selectors;
    if selectors.is_empty() {
        return vec![Aim { target: OverrideTarget::default(), objects: all().collect() }];
    }
    let mut aims = Vec::new();
    let mut once = true;
    for selector in selectors {
        let met: Vec<&Object> = all().filter(|o| selector.implicit(Template::from(*o)) != Implicit::Miss).collect();
        if met.is_empty() {
            continue;
        }
        let labels = match (&selector.label_selector, selector.labels()) {
            (Some(_), Some(labels)) if selector.name.is_empty() => {
                once &= labels.match_expressions.is_empty();
                labels.match_labels
            }
            _ => BTreeMap::new(),
        };
        let stated = |text: &SmolStr| (!text.is_empty()).then(|| text.clone());
        let target = OverrideTarget {
            group: selector.api_version.split_once('/').map(|(group, _)| group.into()),
            kind: Some(placeless(selector.kind.clone())),
            name: stated(&selector.name).map(placeless),
            namespace: stated(&selector.namespace),
            labels,
            container: None,
        };
        aims.push(Aim { target, objects: met });
    }
    let count: usize = aims.iter().map(|aim| aim.objects.len()).sum();
    if once && count == objects.len() {
        return aims;
    }
    about.say(Fate::Resolved, "spec.resourceSelectors", "the objects selected today are named one by one");
    all().map(|object| Aim { target: exactly(object), objects: vec![object] }).collect()
}

/// What the rules of a policy do to these objects.
fn rules(
    policy: &Policy,
    objects: &[Placed<'_>],
    clusters: &[ClusterFacts],
    about: &mut About<'_>,
) -> Vec<Spanned<OverrideSpec>> {
    let Source { override_rules, target_cluster, overriders, resource_selectors: _, rest } = &policy.spec;
    for field in rest.keys() {
        about.say(Fate::NoCounterpart, &format!("spec.{field}"), "is not known to this import");
    }
    let older = overriders
        .as_ref()
        .filter(|_| override_rules.is_empty())
        .map(|overriders| OverrideRule { target_cluster: target_cluster.clone(), overriders: overriders.clone() });
    let aims = aims(policy, objects, about);
    let mut found = Vec::new();
    for (at, rule) in older.iter().chain(override_rules).enumerate() {
        let field = if older.is_some() { "spec".to_owned() } else { format!("spec.overrideRules[{at}]") };
        let clusters = rule
            .target_cluster
            .as_ref()
            .map(|target| selector(target, &format!("{field}.targetCluster"), clusters, about))
            .filter(|selector| *selector != ClusterSelector::default());
        let mut entries = Vec::new();
        let field = format!("{field}.overriders");
        images::entries(&rule.overriders.image_overrider, &aims, &field, &mut entries, about);
        edits::entries(&rule.overriders, &aims, &field, &mut entries, about);
        for field_name in rule.overriders.rest.keys() {
            about.say(Fate::NoCounterpart, &format!("{field}.{field_name}"), "is not known to this import");
        }
        let at_clusters = |spec| placeless(OverrideSpec { clusters: clusters.clone().map(placeless), ..spec });
        found.extend(entries.into_iter().map(at_clusters));
    }
    found
}

/// The containers of the kinds that Karmada knows to have some, and the pointer to them. Init containers are not among
/// them.
fn containers(object: &Object) -> Option<(&'static str, Vec<&serde_json::Value>)> {
    let pointer = match object.kind.as_str() {
        "Pod" => "/spec/containers",
        "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet" | "Job" => "/spec/template/spec/containers",
        _ => return None,
    };
    let list = object.value.pointer(pointer)?.as_array()?;
    Some((pointer, list.iter().collect()))
}
