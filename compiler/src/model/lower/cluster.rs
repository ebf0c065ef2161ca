//! `clusters/`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Docs, Lowering};
use crate::api::{self, ClusterSpec, ConnectionSpec, NodePoolSpec};
use crate::base::name::{NameRule, check};
use crate::base::quantity::Quantity;
use crate::base::taint::Taint;
use crate::base::{FileId, Resources, SmolStr, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{Cluster, Connection, Pool, ServedApi};

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
        mode,
        connection,
    } = &object.spec;
    let name = &object.metadata.name;
    cx.check_name(file, name, NameRule::Dns1123Subdomain, "cluster name");
    let mut labels = super::policy::labels(cx, file, &object.metadata);
    let topology = provider.iter().map(|p| (p, "provider")).chain(region.iter().map(|r| (r, "region")));
    for (value, what) in topology.chain(zones.iter().map(|z| (z, "zone"))) {
        topology_value(cx, file, value, what);
    }
    let mut zones: Vec<SmolStr> = zones.iter().map(|z| z.value.clone()).collect();
    zones.sort();
    zones.dedup();
    let stated: Vec<&str> = region.iter().map(|r| r.value.as_str()).collect();
    topology_label(cx, file, object, ("topology.kubernetes.io/region", "region"), &stated);
    let stated: Vec<&str> = zones.iter().map(SmolStr::as_str).collect();
    topology_label(cx, file, object, ("topology.kubernetes.io/zone", "zones"), &stated);
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
        mode: mode.as_ref().map(|mode| mode.value).unwrap_or_default(),
        connection: connection.as_ref().map(|connection| self::connection(cx, file, connection)),
    }
}

/// How the reconciler reaches a cluster: one name, of a context or of a Secret.
fn connection(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<ConnectionSpec>) -> Connection {
    let ConnectionSpec { context, secret_ref } = &written.value;
    if context.is_some() == secret_ref.is_some() {
        let message = "a connection states either `context` or `secretRef`";
        cx.error(codes::placement::CONTRADICTION, Place::Span(file, written.span), message);
    }
    if let Some(context) = context.as_ref().filter(|context| context.value.trim().is_empty()) {
        let message = "`context` is empty: expected the name of a context of the reconciler's kubeconfig";
        cx.error(codes::fields::INVALID_VALUE, Place::Span(file, context.span), message);
    }
    if let Some(secret) = secret_ref {
        cx.check_name(file, secret, NameRule::Dns1123Subdomain, "name of a Secret");
    }
    let value = |name: &Option<Spanned<SmolStr>>| name.as_ref().map(|name| name.value.clone());
    Connection { context: value(context), secret_ref: value(secret_ref) }
}

/// A provider, region or zone: nodes carry it as the value of a well-known label, and clusters are grouped by it.
fn topology_value(cx: &mut Lowering<'_>, file: FileId, value: &Spanned<SmolStr>, what: &str) {
    let expected = match check(NameRule::LabelValue, &value.value) {
        Ok(()) if value.value.is_empty() => "a name; leave it out where there is none".to_owned(),
        Ok(()) => return,
        Err(expected) => expected,
    };
    cx.error(
        codes::fields::INVALID_LABEL,
        Place::Span(file, value.span),
        format!("`{}` is not a valid {what}: {expected}", value.value),
    );
}

/// A well-known label that says something else than the field it is filled in from.
fn topology_label(
    cx: &mut Lowering<'_>,
    file: FileId,
    object: &api::Object<ClusterSpec>,
    (key, field): (&str, &str),
    stated: &[&str],
) {
    let Some((label, value)) = object.metadata.labels.iter().find(|(label, _)| label.as_str() == key) else { return };
    if stated.is_empty() || stated.contains(&value.as_str()) {
        return;
    }
    let message = format!("label `{key}` is `{}`, and `spec.{field}` says {}", value.value, stated.join(", "));
    cx.report(
        Diagnostic::new(codes::placement::CONTRADICTION, Place::Span(file, label.span), message)
            .help("leave the label out: it is filled in"),
    );
}

/// Taints; what Kubernetes would refuse on a node is reported.
pub(super) fn taints(cx: &mut Lowering<'_>, file: FileId, taints: &[Spanned<Taint>]) -> Vec<Taint> {
    for taint in taints {
        if let Err(error) = taint.validate() {
            cx.error(codes::fields::INVALID_TOLERATION, Place::Span(file, taint.span), error.message);
        }
    }
    taints.iter().map(|t| t.value.clone()).collect()
}

fn pools(cx: &mut Lowering<'_>, file: FileId, specs: &[Spanned<NodePoolSpec>]) -> Vec<Pool> {
    let mut pools: Vec<Pool> = Vec::with_capacity(specs.len());
    let mut names: BTreeSet<&SmolStr> = BTreeSet::new();
    for spec in specs {
        let NodePoolSpec { name, nodes, allocatable, labels, taints, scalable_to } = &spec.value;
        cx.check_name(file, name, NameRule::Dns1123Subdomain, "node pool name");
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
            let message = format!("`scalableTo: {}` is below the {} nodes there are", most.value, nodes.value);
            cx.report(Diagnostic::new(codes::placement::CONTRADICTION, Place::Span(file, most.span), message).help(
                "it is the most nodes that the pool may grow to, those of now included; leave it out where it does not grow",
            ));
        }
        pools.push(Pool {
            name: name.value.clone(),
            nodes: nodes.value,
            allocatable: resources(cx, file, allocatable),
            labels: super::policy::plain_labels(cx, file, labels, spec.span),
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
    written: &BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>,
) -> Resources {
    let mut resources = Resources::default();
    for (name, quantity) in written {
        cx.check_resource(file, name, &name.value);
        if quantity.is_negative() {
            cx.error(
                codes::fields::INVALID_VALUE,
                Place::Span(file, quantity.span),
                format!("`{}` is negative; an amount of a resource is at least 0", name.value),
            );
        }
        let counted = cx.counted(file, name, quantity);
        resources.0.insert(name.value.clone(), counted.max(0));
    }
    resources
}

/// `"1.5"` as 15/10: at least 1/1000 and at most 1000.
fn factors(
    cx: &mut Lowering<'_>,
    file: FileId,
    written: &BTreeMap<Spanned<SmolStr>, Spanned<SmolStr>>,
) -> BTreeMap<SmolStr, (u64, u64)> {
    let mut factors = BTreeMap::new();
    for (name, text) in written {
        cx.check_resource(file, name, &name.value);
        match factor(text) {
            Some(factor) => {
                factors.insert(name.value.clone(), factor);
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
