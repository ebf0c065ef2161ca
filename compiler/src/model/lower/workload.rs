//! Workloads of an app: how each takes part in division, and how its replicas are divided.

use std::collections::BTreeMap;

use super::{Lowering, autoscale, placement, replicas};
use crate::api::{ObjectRule, ReplicasSpec, Strategy};
use crate::base::{DigestWriter, FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes, first_of, some_of};
use crate::kinds::replicas::{Counts, CustomForm};
use crate::model::{Object, Placement, Replicas, Share, TopologyKey, Workload, WorkloadKind};

/// The workloads of an app, ascending by (kind, name, namespace).
pub(super) fn workloads(
    cx: &mut Lowering<'_>,
    (app_file, app_span): (FileId, Span),
    objects: &[Object],
    (team, namespace): (&str, Option<&SmolStr>),
    rules: &[Spanned<ObjectRule>],
    matched: &[Option<usize>],
    (placement, total): (&Placement, Option<placement::Total>),
) -> Vec<Workload> {
    let mut workloads = Vec::new();
    let mut refused: BTreeMap<(usize, Refusal), Vec<SmolStr>> = BTreeMap::new();
    let mut own_total = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let Some(kind) = object.facts.workload else { continue };
        let rule_index = matched.get(index).copied().flatten();
        let rule = rule_index.map(|i| &rules[i].value);
        let written = rule.and_then(|r| r.replicas.as_ref());
        let policy = match written {
            Some(own) => {
                let lowered = replicas::lower(cx, app_file, &own.value);
                overlay(&placement.replicas, &own.value, lowered)
            }
            None => placement.replicas.clone(),
        };
        let asked = rule.and_then(|r| r.divide.as_ref()).map(|d| d.value);
        let share = match share(object, kind, policy.strategy, asked) {
            Ok(share) => share,
            Err(refusal) => {
                if let Some(rule) = rule_index.filter(|_| asked == Some(true)) {
                    refused.entry((rule, refusal)).or_default().push(object.key.name.clone());
                }
                Share::Whole
            }
        };
        let key = key(object, namespace);
        for (part, replicas, completions) in members(object, kind) {
            own_total.push(written.is_some_and(|w| w.value.total.is_some()));
            workloads.push(Workload {
                object: index,
                kind,
                key: part.as_ref().map_or_else(|| key.clone(), |part| format!("{key}#{part}").into()),
                part,
                share,
                replicas: policy.total.filter(|_| kind.is_counted()).unwrap_or(replicas),
                completions,
                autoscaled: None,
                policy: policy.clone(),
                stated: None,
            });
        }
    }
    let counted: Vec<usize> =
        (0..workloads.len()).filter(|i| workloads[*i].kind.is_counted() && !own_total[*i]).collect();
    if let Some(total) = &total {
        if counted.len() > 1 {
            let names: Vec<&str> = counted.iter().map(|i| workloads[*i].key.as_str()).collect();
            let message =
                format!("`total` does not say which of {} workloads is meant: {}", counted.len(), first_of(&names));
            cx.report(
                Diagnostic::new(codes::placement::AMBIGUOUS_TOTAL, total.place.clone(), message)
                    .related(Place::Span(app_file, app_span), "the App that has them")
                    .help("state `replicas.total` in a rule of `objects` for one of them"),
            );
        }
        if total.of_app && workloads.iter().all(|w| !w.kind.is_counted()) {
            let message = "`total` is stated, and no workload of the App has replicas";
            cx.error(codes::placement::CONTRADICTION, total.place.clone(), message);
        }
    }
    autoscale::apply(cx, objects, &mut workloads, &own_total, total.as_ref());
    for ((rule, refusal), names) in refused {
        let span = rules[rule].value.divide.as_ref().map_or(rules[rule].span, |d| d.span);
        cx.report(refusal.diagnostic(Place::Span(app_file, span), &names));
    }
    let one_cluster = placement.candidates.len() <= 1
        || placement.spread.iter().any(|s| s.key == TopologyKey::Cluster && s.max == Some(1));
    let open: Vec<&str> = workloads
        .iter()
        .filter(|w| w.share == Share::Divided && w.policy.strategy.is_none())
        .map(|w| w.key.as_str())
        .collect();
    // a layer that could not be read may state it
    let stated_elsewhere = cx.unread.fleet || cx.unread.policies || cx.unread.intents_of(team);
    if !one_cluster && !open.is_empty() && !stated_elsewhere {
        cx.report(
            Diagnostic::new(
                codes::placement::STRATEGY_NOT_STATED,
                Place::Span(app_file, app_span),
                format!(
                    "{} clusters are selected and nothing states how the replicas of {} are divided",
                    placement.candidates.len(),
                    first_of(&open)
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

/// What an object runs: itself, or its parts by name; with replicas and completions to place.
fn members(object: &Object, kind: WorkloadKind) -> Vec<(Option<SmolStr>, u32, Option<u32>)> {
    match (kind, &object.custom) {
        (WorkloadKind::Custom(CustomForm::Part), Some(custom)) => {
            let parts = custom.components(&object.template.value());
            parts.into_iter().map(|part| (Some(part.name), part.replicas, None)).collect()
        }
        _ => {
            let (replicas, completions) = totals(kind, object.facts.counts);
            vec![(None, replicas, completions)]
        }
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

/// Why a workload cannot be divided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Refusal {
    Job,
    CronJob,
    Pod,
    Undivided,
    Single,
    Set,
}

impl Refusal {
    fn diagnostic(self, place: Place, names: &[SmolStr]) -> Diagnostic {
        use codes::placement as code;
        let (code, kind, why, help) = match self {
            Self::Job => (
                code::JOB_NOT_DIVISIBLE,
                "Job",
                "without `completions`, or Indexed: each part would complete by itself",
                "leave it on one cluster, state `completions`, or ask for Duplicated",
            ),
            Self::CronJob => (
                code::JOB_NOT_DIVISIBLE,
                "CronJob",
                "it has no replicas to divide",
                "leave it on one cluster, or ask for Duplicated",
            ),
            Self::Pod => (
                code::JOB_NOT_DIVISIBLE,
                "Pod",
                "it has no replicas to divide",
                "leave it on one cluster, or ask for Duplicated",
            ),
            Self::Undivided => (
                code::JOB_NOT_DIVISIBLE,
                "custom resource",
                "its WorkloadKind does not say that its replicas may run in several clusters",
                "leave it on one cluster, ask for Duplicated, or say `dividable: true` in a WorkloadKind of the fleet",
            ),
            Self::Single => (
                code::JOB_NOT_DIVISIBLE,
                "custom resource",
                "its WorkloadKind names no replicas",
                "leave it on one cluster, or ask for Duplicated",
            ),
            Self::Set => (
                code::JOB_NOT_DIVISIBLE,
                "custom resource",
                "its parts are a set, which runs as a whole",
                "leave it on one cluster, or ask for Duplicated",
            ),
        };
        Diagnostic::new(code, place, format!("{} cannot be divided: {why}", some_of(kind, names))).help(help)
    }
}

/// How a workload takes part in division. `asked` is what the rule for it says about dividing.
fn share(
    object: &Object,
    kind: WorkloadKind,
    strategy: Option<Strategy>,
    asked: Option<bool>,
) -> Result<Share, Refusal> {
    if strategy == Some(Strategy::Duplicated) {
        return Ok(Share::Everywhere);
    }
    let counts = object.facts.counts;
    let divisible = if asked == Some(false) { Share::Whole } else { Share::Divided };
    match kind {
        WorkloadKind::DaemonSet => Ok(Share::Everywhere),
        WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::ReplicationController => Ok(divisible),
        WorkloadKind::Job if counts.completions.is_some() && !counts.indexed => Ok(divisible),
        WorkloadKind::Job => Err(Refusal::Job),
        // only when asked: `variants` then holds it against the ordinals that each cluster is given
        WorkloadKind::StatefulSet if asked == Some(true) => Ok(Share::Divided),
        WorkloadKind::StatefulSet => Ok(Share::Whole),
        WorkloadKind::CronJob => Err(Refusal::CronJob),
        WorkloadKind::Pod => Err(Refusal::Pod),
        WorkloadKind::Custom(CustomForm::PerNode) => Ok(Share::Everywhere),
        WorkloadKind::Custom(CustomForm::Divisible) => Ok(divisible),
        WorkloadKind::Custom(CustomForm::Undivided) => Err(Refusal::Undivided),
        WorkloadKind::Custom(CustomForm::Single) => Err(Refusal::Single),
        WorkloadKind::Custom(CustomForm::Part) => Err(Refusal::Set),
    }
}

/// A rule's `replicas` over the app's, field by field. Weights and what follows from a strategy belong together: a rule
/// that states a strategy takes none of them from the app.
fn overlay(base: &Replicas, written: &ReplicasSpec, own: Replicas) -> Replicas {
    let ReplicasSpec { strategy, total, weights, weigh_by, capacity, per_cluster, autoscaled } = written;
    let mut digest = DigestWriter::new();
    digest.part(&base.digest.0).part(&own.digest.0);
    let weighs = strategy.is_some() || weigh_by.is_some();
    let divides = weighs || weights.is_some();
    Replicas {
        strategy: own.strategy.or(base.strategy),
        total: if total.is_some() { own.total } else { base.total },
        weights: if divides { own.weights } else { base.weights.clone() },
        weigh_by: if weighs { own.weigh_by } else { base.weigh_by.clone() },
        capacity: if capacity.is_some() || strategy.is_some() { own.capacity } else { base.capacity },
        min: if per_cluster.is_some() { own.min } else { base.min },
        max: if per_cluster.is_some() { own.max } else { base.max },
        autoscaled: if autoscaled.is_some() { own.autoscaled } else { base.autoscaled },
        digest: if divides { digest.finish() } else { base.digest },
    }
}
