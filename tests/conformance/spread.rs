//! Selecting clusters under spread constraints.
//!
//! Karmada orders clusters by a score and walks down that order; we have no scores: constraints, fewest unplaced, what
//! runs stays, room, names. A set that differs for such a reason must still keep the constraints.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::schedule::select::{Candidate, Class, Constraint, Need, Selection, select};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered, refused};
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "select_best_clusters", answer: select_best, normal: as_set, deviations: DEVIATIONS },
    Op { name: "select_clusters", answer: select_clusters, normal: as_set, deviations: DEVIATIONS },
    Op { name: "select_by_region", answer: select_by_region, normal: as_set, deviations: DEVIATIONS },
];

/// The set; its order is that of Karmada's scores.
fn as_set(_: &Value, mut value: Value) -> Value {
    if let Some(Value::Array(clusters)) = value.get_mut("clusters") {
        clusters.sort_by_key(|cluster| cluster.as_str().map(str::to_owned));
    }
    value
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Cluster {
    name: String,
    #[serde(default)]
    score: i64,
    #[serde(default)]
    available: u64,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    region: Option<String>,
    #[serde(default)]
    zones: Vec<String>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SpreadConstraint {
    #[serde(default)]
    spread_by_field: Option<String>,
    #[serde(default)]
    min_groups: Option<u32>,
    #[serde(default)]
    max_groups: Option<u32>,
}

#[derive(Deserialize, Clone, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplicaScheduling {
    #[serde(default)]
    replica_scheduling_type: Option<String>,
    #[serde(default)]
    replica_division_preference: Option<String>,
    #[serde(default, rename = "weightPreference")]
    weight_preference: Option<Value>,
}

impl ReplicaScheduling {
    fn class(&self) -> Class {
        match (self.replica_scheduling_type.as_deref(), self.replica_division_preference.as_deref()) {
            (Some("Divided"), Some("Aggregated")) => Class::Fewest,
            (Some("Divided"), _) => Class::Widest,
            _ => Class::Duplicated,
        }
    }

    /// Karmada ignores constraints with static weights.
    fn is_static(&self) -> bool {
        self.class() == Class::Widest
            && self.weight_preference.as_ref().is_none_or(|preference| preference.get("dynamicWeight").is_none())
    }
}

/// The question in our words; clusters in name order.
struct Question {
    clusters: Vec<Cluster>,
    candidates: Vec<Candidate>,
    constraints: Vec<Constraint>,
    need: Need,
}

impl Question {
    fn new(
        mut clusters: Vec<Cluster>,
        spread: &[SpreadConstraint],
        replicas: u32,
        class: Class,
    ) -> Result<Self, Unanswered> {
        clusters.sort_by(|a, b| a.name.cmp(&b.name));
        let mut groups: Vec<Vec<Option<u32>>> = vec![Vec::new(); clusters.len()];
        let mut constraints = Vec::new();
        for constraint in spread {
            let key = |cluster: &Cluster| -> Result<Option<String>, Unanswered> {
                match constraint.spread_by_field.as_deref() {
                    None | Some("cluster") => Ok(Some(cluster.name.clone())),
                    Some("region") => Ok(cluster.region.clone()),
                    Some("provider") => Ok(cluster.provider.clone()),
                    Some("zone") => Ok(Some(cluster.zones.join(",")).filter(|zones| !zones.is_empty())),
                    Some(other) => Err(Unanswered::Unmapped(format!("spread by {other}"))),
                }
            };
            let keys = clusters.iter().map(key).collect::<Result<Vec<_>, _>>()?;
            let names: BTreeSet<&String> = keys.iter().flatten().collect();
            let numbers: BTreeMap<&String, u32> = names.into_iter().zip(0_u32..).collect();
            for (groups, key) in groups.iter_mut().zip(&keys) {
                groups.push(key.as_ref().and_then(|key| numbers.get(key).copied()));
            }
            constraints.push(Constraint {
                min: constraint.min_groups.unwrap_or(1),
                max: constraint.max_groups.filter(|max| *max > 0),
            });
        }
        let candidates = clusters
            .iter()
            .zip(groups)
            .map(|(cluster, groups)| Candidate {
                room: Some(cluster.available),
                held: false,
                kept: 0,
                pinned: false,
                weight: 1,
                tier: 0,
                groups,
            })
            .collect();
        Ok(Self {
            clusters,
            candidates,
            constraints,
            need: Need { replicas, per_cluster_min: 0, class, fresh: false, all_or_nothing: true },
        })
    }

    fn answer(&self) -> Value {
        let Selection { chosen, failure, .. } = select(&self.candidates, &self.constraints, &self.need);
        if failure.is_some() {
            return refused();
        }
        let names: Vec<&str> =
            chosen.iter().filter_map(|at| self.clusters.get(*at)).map(|cluster| cluster.name.as_str()).collect();
        json!({ "clusters": names })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Best {
    need_replicas: u32,
    clusters_sorted: Vec<Cluster>,
    spread_constraints: Vec<SpreadConstraint>,
    replica_scheduling: Option<ReplicaScheduling>,
}

fn select_best(input: &Value) -> Result<Value, Unanswered> {
    Ok(best(input)?.answer())
}

fn best(input: &Value) -> Result<Question, Unanswered> {
    let Best { need_replicas, clusters_sorted, spread_constraints, replica_scheduling } = read(input)?;
    let scheduling = replica_scheduling.unwrap_or_default();
    if scheduling.is_static() {
        return Err(Unanswered::Unmapped("Karmada ignores constraints with static weights".to_owned()));
    }
    // Only a Divided workload needs room for all its replicas together; Karmada duplicates whatever the room.
    let replicas = if scheduling.class() == Class::Duplicated { 0 } else { need_replicas };
    Question::new(clusters_sorted, &spread_constraints, replicas, scheduling.class())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SelectClusters {
    clusters: Vec<Cluster>,
    placement: Placement,
    replicas: u32,
    #[serde(default)]
    observed_affinity: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Placement {
    #[serde(default, rename = "clusterAffinity")]
    _cluster_affinity: Option<Value>,
    #[serde(default)]
    cluster_affinities: Vec<Affinity>,
    #[serde(default)]
    spread_constraints: Vec<SpreadConstraint>,
    #[serde(default)]
    replica_scheduling: Option<ReplicaScheduling>,
}

fn select_clusters(input: &Value) -> Result<Value, Unanswered> {
    Ok(of_clusters(input)?.answer())
}

fn of_clusters(input: &Value) -> Result<Question, Unanswered> {
    let SelectClusters { clusters, placement, replicas, observed_affinity } = read(input)?;
    let scheduling = placement.replica_scheduling.unwrap_or_default();
    if scheduling.is_static() {
        return Err(Unanswered::Unmapped("Karmada ignores constraints with static weights".to_owned()));
    }
    let replicas = if scheduling.class() == Class::Duplicated { 0 } else { replicas };
    let mut question = Question::new(clusters, &placement.spread_constraints, replicas, scheduling.class())?;
    // Of several groups one is in use; where it overflows, its clusters are tiers.
    let in_use = placement.cluster_affinities.iter().find(|affinity| affinity.affinity_name == observed_affinity);
    for (cluster, candidate) in question.clusters.iter().zip(&mut question.candidates) {
        let tiers = in_use.into_iter().flat_map(|first| std::iter::once(first).chain(&first.overflow_affinities));
        let position = tiers.into_iter().position(|tier| tier.cluster_names.contains(&cluster.name));
        candidate.tier = position.and_then(|at| u32::try_from(at).ok()).unwrap_or(0);
    }
    Ok(question)
}

/// A group of clusters, and those that it overflows to.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Affinity {
    affinity_name: String,
    #[serde(default)]
    cluster_names: Vec<String>,
    #[serde(default)]
    overflow_affinities: Vec<Affinity>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByRegion {
    regions: BTreeMap<String, Region>,
    constraints: BTreeMap<String, Groups>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    #[serde(default, rename = "score")]
    _score: i64,
    clusters: Vec<Cluster>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    #[serde(default)]
    min_groups: u32,
    #[serde(default)]
    max_groups: u32,
}

fn select_by_region(input: &Value) -> Result<Value, Unanswered> {
    Ok(by_region(input)?.answer())
}

/// Karmada looks at no room here.
fn by_region(input: &Value) -> Result<Question, Unanswered> {
    let ByRegion { regions, constraints } = read(input)?;
    let clusters = regions.into_iter().flat_map(|(name, region)| {
        region.clusters.into_iter().map(move |cluster| Cluster { region: Some(name.clone()), ..cluster })
    });
    let spread: Vec<SpreadConstraint> = constraints
        .into_iter()
        .map(|(field, groups)| SpreadConstraint {
            spread_by_field: Some(field),
            min_groups: Some(groups.min_groups),
            max_groups: Some(groups.max_groups),
        })
        .collect();
    let clusters: Vec<Cluster> =
        clusters.map(|cluster| Cluster { available: cluster.available.max(1), ..cluster }).collect();
    let replicas = u32::try_from(clusters.len()).unwrap_or(u32::MAX);
    Question::new(clusters, &spread, replicas, Class::Widest)
}

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        why: "a constraint without a max has no limit: Karmada's 0 selects no cluster",
        holds: |asked| {
            let unlimited =
                question(asked).is_some_and(|question| question.constraints.iter().any(|c| c.max.is_none()));
            unlimited && *asked.expected == refused() && keeps_constraints(asked)
        },
    },
    Deviation {
        why: "Aggregated takes the fewest clusters that hold all replicas: Karmada as many as max allows",
        holds: |asked| {
            let fewest = question(asked).is_some_and(|question| question.need.class == Class::Fewest);
            fewest && asked.expected.get("clusters").is_some() && keeps_constraints(asked)
        },
    },
    Deviation {
        why: "Karmada takes clusters by score, we by room and name, under the same constraints",
        holds: |asked| {
            let scores = question(asked).is_some_and(|question| {
                let scores: BTreeSet<i64> = question.clusters.iter().map(|cluster| cluster.score).collect();
                scores.len() > 1
            });
            scores && asked.expected.get("clusters").is_some() && keeps_constraints(asked)
        },
    },
    Deviation {
        why: "regions must have room for all replicas too: Karmada does not look",
        holds: |asked| {
            question(asked).is_some_and(|question| {
                let room: u64 = question.clusters.iter().map(|cluster| cluster.available).fold(0, u64::saturating_add);
                question.constraints.len() > 1
                    && room < u64::from(question.need.replicas)
                    && *asked.answer == refused()
                    && asked.expected.get("clusters").is_some()
            })
        },
    },
];

fn question(asked: &Asked<'_>) -> Option<Question> {
    match asked.input.get("op").and_then(Value::as_str)? {
        "select_best_clusters" => best(asked.input).ok(),
        "select_clusters" => of_clusters(asked.input).ok(),
        "select_by_region" => by_region(asked.input).ok(),
        _ => None,
    }
}

/// Whether our set has as many groups as each constraint wants.
fn keeps_constraints(asked: &Asked<'_>) -> bool {
    let (Some(question), Some(chosen)) = (question(asked), asked.answer.get("clusters").and_then(Value::as_array))
    else {
        return false;
    };
    let is_chosen = |cluster: &Cluster| chosen.iter().any(|name| name.as_str() == Some(&cluster.name));
    question.constraints.iter().enumerate().all(|(at, constraint)| {
        let pairs = question.clusters.iter().zip(&question.candidates);
        let groups: BTreeSet<Option<u32>> = pairs
            .filter(|(cluster, _)| is_chosen(cluster))
            .map(|(_, candidate)| candidate.groups.get(at).copied().flatten())
            .collect();
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        let least = if question.need.replicas == 0 { 0 } else { constraint.min };
        !groups.contains(&None) && count >= least && constraint.max.is_none_or(|max| count <= max)
    })
}
