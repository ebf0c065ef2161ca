//! `clusters/`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Docs, Lowering};
use crate::api::{self, ClusterSpec, NodePoolSpec};
use crate::base::name::NameRule;
use crate::base::quantity::{Quantity, amount};
use crate::base::taint::Taint;
use crate::base::{FileId, Resources, SmolStr, Spanned};
use crate::diag::{Place, codes};
use crate::model::{Cluster, Pool, ServedApi};

/// The clusters, ascending by name.
pub(super) fn clusters(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> Vec<Arc<Cluster>> {
    let unique = super::unique(cx, &docs.clusters, "Cluster", |o| &o.metadata.name);
    unique.into_iter().map(|(file, object)| Arc::new(cluster(cx, file, object))).collect()
}

fn cluster(cx: &mut Lowering<'_>, file: FileId, object: &api::Object<ClusterSpec>) -> Cluster {
    let ClusterSpec {
        provider,
        region,
        zones,
        taints,
        node_pools,
        overcommit,
        reserved,
        apis,
        values,
        lifecycle,
        mode: _,       // not yet
        connection: _, // not yet
    } = &object.spec;
    let name = &object.metadata.name;
    cx.check_name(file, name, NameRule::Dns1123Subdomain, "cluster name");
    let mut labels = super::policy::labels(cx, file, &object.metadata);
    let mut zones: Vec<SmolStr> = zones.iter().map(|z| z.value.clone()).collect();
    zones.sort();
    zones.dedup();
    if let Some(region) = region {
        labels.entry("topology.kubernetes.io/region".into()).or_insert_with(|| region.value.clone());
    }
    // the well-known label holds one value; a cluster over several zones has none
    if let [zone] = zones.as_slice() {
        labels.entry("topology.kubernetes.io/zone".into()).or_insert_with(|| zone.clone());
    }
    Cluster {
        name: name.value.clone(),
        file,
        name_span: name.span,
        provider: provider.as_ref().map(|p| p.value.clone()),
        region: region.as_ref().map(|r| r.value.clone()),
        zones,
        labels,
        taints: self::taints(cx, file, taints),
        pools: node_pools.as_ref().map(|pools| self::pools(cx, file, pools)),
        overcommit: factors(cx, file, overcommit),
        reserved: resources(cx, file, reserved),
        apis: apis.as_ref().map(|apis| {
            apis.iter()
                .map(|spec| {
                    let api::ApiGroupSpec { group_version, kinds } = &spec.value;
                    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version.as_str()));
                    ServedApi { group: group.into(), version: version.into(), kinds: kinds.clone() }
                })
                .collect()
        }),
        values: values.clone(),
        lifecycle: lifecycle.as_ref().map(|l| l.value).unwrap_or_default(),
    }
}

/// Taints; what Kubernetes would refuse on a node is reported.
pub(super) fn taints(cx: &mut Lowering<'_>, file: FileId, taints: &[Spanned<Taint>]) -> Vec<Taint> {
    for taint in taints {
        if let Err(error) = taint.validate() {
            cx.error(codes::fields::INVALID_TOLERATION, Place::Span(file, taint.span), error.to_string());
        }
    }
    taints.iter().map(|t| t.value.clone()).collect()
}

fn pools(cx: &mut Lowering<'_>, file: FileId, specs: &[Spanned<NodePoolSpec>]) -> Vec<Pool> {
    let mut pools: Vec<Pool> = Vec::with_capacity(specs.len());
    let mut names: BTreeSet<&SmolStr> = BTreeSet::new();
    for spec in specs {
        let NodePoolSpec { name, nodes, allocatable, labels, taints, scalable_to } = &spec.value;
        if !names.insert(&name.value) {
            cx.error(
                codes::layout::DUPLICATE_NAME,
                Place::Span(file, name.span),
                format!("node pool `{}` is defined twice in this cluster", name.value),
            );
            continue;
        }
        if let Some(most) = scalable_to
            && most.value < nodes.value
        {
            cx.error(
                codes::placement::CONTRADICTION,
                Place::Span(file, most.span),
                format!("`scalableTo: {}` is below the {} nodes there are", most.value, nodes.value),
            );
        }
        pools.push(Pool {
            name: name.value.clone(),
            nodes: nodes.value,
            allocatable: resources(cx, file, allocatable),
            labels: labels.clone(),
            taints: self::taints(cx, file, taints),
            scalable_to: scalable_to.as_ref().map(|s| s.value),
        });
    }
    if pools.len() > usize::from(u16::MAX) {
        cx.error(codes::reading::YAML_LIMIT, Place::File(file), "more than 65,535 node pools");
        pools.truncate(usize::from(u16::MAX));
    }
    pools
}

/// Amounts in the unit of each resource. A negative amount is reported.
pub(super) fn resources(
    cx: &mut Lowering<'_>,
    file: FileId,
    written: &BTreeMap<SmolStr, Spanned<Quantity>>,
) -> Resources {
    let mut resources = Resources::default();
    for (name, quantity) in written {
        if quantity.is_negative() {
            cx.error(
                codes::fields::INVALID_VALUE,
                Place::Span(file, quantity.span),
                format!("`{name}` is negative; an amount of a resource is at least 0"),
            );
        }
        resources.0.insert(name.clone(), amount(name, &quantity.value).max(0));
    }
    resources
}

/// `"1.5"` as 15/10: at least 1/1000 and at most 1000.
fn factors(
    cx: &mut Lowering<'_>,
    file: FileId,
    written: &BTreeMap<SmolStr, Spanned<SmolStr>>,
) -> BTreeMap<SmolStr, (u64, u64)> {
    let mut factors = BTreeMap::new();
    for (name, text) in written {
        match factor(text) {
            Some(factor) => {
                factors.insert(name.clone(), factor);
            }
            None => cx.error(
                codes::fields::INVALID_VALUE,
                Place::Span(file, text.span),
                format!(
                    "`{}` is no factor; expected a decimal from \"0.001\" to \"1000\", such as \"1.5\"",
                    text.value
                ),
            ),
        }
    }
    factors
}

fn factor(text: &str) -> Option<(u64, u64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 4 || fraction.len() > 3 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let thousandths: u64 = format!("{whole}{fraction:0<3}").parse().ok()?;
    (1..=1_000_000).contains(&thousandths).then_some((thousandths, 1000))
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn factors_are_exact() {
        for (text, expected) in [
            ("1.5", Some((1500, 1000))),
            ("1", Some((1000, 1000))),
            ("0.001", Some((1, 1000))),
            ("1000", Some((1_000_000, 1000))),
            ("0", None),
            ("-1", None),
            ("1e3", None),
            ("1.2345", None),
            ("", None),
            (".5", None),
        ] {
            assert_eq!(factor(text), expected, "{text}");
        }
    }
}
