//! Workloads of an app: how each takes part in division, and how its replicas are divided.

use super::{Lowering, placement};
use crate::api::{ObjectRule, ReplicasSpec, Strategy};
use crate::base::{DigestWriter, FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::kinds::replicas::Counts;
use crate::model::{Object, Placement, Replicas, Share, TopologyKey, Workload, WorkloadKind};

/// The workloads of an app, ascending by (kind, name, namespace).
pub(super) fn workloads(
    cx: &mut Lowering<'_>,
    (app_file, app_span): (FileId, Span),
    objects: &[Object],
    namespace: Option<&SmolStr>,
    rules: &[Spanned<ObjectRule>],
    matched: &[Option<usize>],
    placement: &Placement,
) -> Vec<Workload> {
    let mut workloads = Vec::new();
    let mut own_total = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let Some(kind) = object.facts.workload else { continue };
        let rule = matched.get(index).copied().flatten().map(|i| &rules[i].value);
        let written = rule.and_then(|r| r.replicas.as_ref());
        let policy = match written {
            Some(own) => {
                let lowered = placement::replicas(cx, app_file, &own.value);
                overlay(&placement.replicas, &own.value, lowered)
            }
            None => placement.replicas.clone(),
        };
        let share = share(cx, app_file, object, kind, policy.strategy, rule);
        let (replicas, completions) = totals(kind, object.facts.counts);
        own_total.push(written.is_some_and(|w| w.value.total.is_some()));
        workloads.push(Workload {
            object: index,
            kind,
            key: key(object, namespace),
            share,
            replicas: policy.total.filter(|_| kind.replicas_field().is_some()).unwrap_or(replicas),
            completions,
            policy,
        });
    }
    let counted: Vec<usize> =
        (0..workloads.len()).filter(|i| workloads[*i].kind.replicas_field().is_some() && !own_total[*i]).collect();
    if placement.replicas.total.is_some() && counted.len() > 1 {
        let names: Vec<&str> = counted.iter().map(|i| workloads[*i].key.as_str()).collect();
        cx.report(
            Diagnostic::new(
                codes::placement::AMBIGUOUS_TOTAL,
                Place::Span(app_file, app_span),
                format!("`total` does not say which of {} workloads is meant: {}", counted.len(), names.join(", ")),
            )
            .help("state `replicas.total` in a rule of `objects` for one of them"),
        );
    }
    if placement.replicas.total.is_some() && workloads.iter().all(|w| w.kind.replicas_field().is_none()) {
        cx.error(
            codes::placement::CONTRADICTION,
            Place::Span(app_file, app_span),
            "`total` is stated, and no workload of the app has replicas",
        );
    }
    let one_cluster = placement.candidates.len() <= 1
        || placement.spread.iter().any(|s| s.key == TopologyKey::Cluster && s.max == Some(1));
    let open: Vec<&str> = workloads
        .iter()
        .filter(|w| w.share == Share::Divided && w.policy.strategy.is_none())
        .map(|w| w.key.as_str())
        .collect();
    if !one_cluster && !open.is_empty() {
        cx.report(
            Diagnostic::new(
                codes::placement::STRATEGY_NOT_STATED,
                Place::Span(app_file, app_span),
                format!(
                    "{} clusters are selected and nothing states how the replicas of {} are divided",
                    placement.candidates.len(),
                    open.join(", ")
                ),
            )
            .help("state `placement.replicas.strategy`: Duplicated (all in each), StaticWeight, DynamicWeight or Aggregated"),
        );
    }
    workloads.sort_by(|a, b| {
        let key = |w: &Workload| (w.kind, objects[w.object].key.name.clone(), objects[w.object].key.namespace.clone());
        key(a).cmp(&key(b))
    });
    if workloads.len() > usize::from(u16::MAX) {
        cx.error(codes::layout::TOO_MANY_FILES, Place::File(app_file), "more than 65,535 workloads in one App");
        workloads.truncate(usize::from(u16::MAX));
    }
    workloads
}

/// `apps/Deployment/checkout`; the namespace stands before the name where it is not the app's.
fn key(object: &Object, namespace: Option<&SmolStr>) -> SmolStr {
    let group = if object.key.group.is_empty() { "core" } else { object.key.group.as_str() };
    let (kind, name) = (&object.key.kind, &object.key.name);
    match &object.key.namespace {
        Some(own) if Some(own) != namespace => format!("{group}/{kind}/{own}/{name}").into(),
        _ => format!("{group}/{kind}/{name}").into(),
    }
}

/// Replicas and completions to place. Absent replicas are 1; a Job runs min(parallelism, completions) pods at once.
fn totals(kind: WorkloadKind, counts: Counts) -> (u32, Option<u32>) {
    let replicas = counts.replicas.unwrap_or(1);
    match (kind, counts.completions) {
        (WorkloadKind::Job, Some(completions)) => (replicas.min(completions), Some(completions)),
        _ => (replicas, None),
    }
}

fn share(
    cx: &mut Lowering<'_>,
    app_file: FileId,
    object: &Object,
    kind: WorkloadKind,
    strategy: Option<Strategy>,
    rule: Option<&ObjectRule>,
) -> Share {
    let asked = rule.and_then(|r| r.divide.as_ref());
    if strategy == Some(Strategy::Duplicated) {
        return Share::Everywhere;
    }
    let counts = object.facts.counts;
    let divisible_job = counts.completions.is_some() && !counts.indexed;
    let mut refuse = |code, message: String, help: &str| {
        if let Some(asked) = asked.filter(|a| a.value) {
            cx.report(Diagnostic::new(code, Place::Span(app_file, asked.span), message).help(help));
        }
    };
    match kind {
        WorkloadKind::DaemonSet => Share::Everywhere,
        WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::ReplicationController => {
            if asked.is_some_and(|a| !a.value) { Share::Whole } else { Share::Divided }
        }
        WorkloadKind::Job if divisible_job => {
            if asked.is_some_and(|a| !a.value) {
                Share::Whole
            } else {
                Share::Divided
            }
        }
        WorkloadKind::Job => {
            refuse(
                codes::placement::JOB_NOT_DIVISIBLE,
                format!("Job `{}` has no `completions`, or is Indexed, and cannot be divided", object.key.name),
                "leave it on one cluster, state `completions`, or ask for Duplicated",
            );
            Share::Whole
        }
        WorkloadKind::StatefulSet => {
            refuse(
                codes::placement::STATEFULSET_DIVIDED,
                format!("StatefulSet `{}` cannot be divided: its pods would share names", object.key.name),
                "leave it on one cluster, or ask for Duplicated",
            );
            Share::Whole
        }
        WorkloadKind::CronJob | WorkloadKind::Pod => {
            refuse(
                codes::placement::JOB_NOT_DIVISIBLE,
                format!("{} `{}` has no replicas to divide", object.key.kind, object.key.name),
                "leave it on one cluster, or ask for Duplicated",
            );
            Share::Whole
        }
    }
}

/// A rule's `replicas` over the app's, field by field. Weights and what follows from a strategy belong together: a rule
/// that states a strategy takes none of them from the app.
fn overlay(base: &Replicas, written: &ReplicasSpec, own: Replicas) -> Replicas {
    let ReplicasSpec { strategy, total, weights, weigh_by: _, capacity, per_cluster, autoscaled: _ } = written;
    let mut digest = DigestWriter::new();
    digest.part(&base.digest.0).part(&own.digest.0);
    let divides = strategy.is_some() || weights.is_some();
    Replicas {
        strategy: own.strategy.or(base.strategy),
        total: if total.is_some() { own.total } else { base.total },
        weights: if divides { own.weights } else { base.weights.clone() },
        capacity: if capacity.is_some() || strategy.is_some() { own.capacity } else { base.capacity },
        min: if per_cluster.is_some() { own.min } else { base.min },
        max: if per_cluster.is_some() { own.max } else { base.max },
        digest: if divides { digest.finish() } else { base.digest },
    }
}
