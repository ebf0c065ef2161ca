//! `placement` of a propagation policy as a placement of the fleet.
//!
//! What Karmada does by default is stated: Duplicated without `replicaScheduling`, and no look at room where the strategy
//! is Duplicated or goes by static weights.

use super::affinity::{ClusterFacts, selector};
use super::objects::{AffinityTerm, Placement, ReplicaScheduling, SpreadConstraint, StaticWeight, WorkloadAffinity};
use crate::api::{
    Capacity, ClusterSelector, GroupBy, PlacementClusters, PlacementSpec, ReplicasSpec, SpreadSpec, Strategy,
    TierGroup, TierMode, TiersSpec, WeightRule, Weights,
};
use crate::base::labels::{LabelOperator, LabelRequirement};
use crate::import::repository::{placeless, placeless_all};
use crate::import::{About, Fate};

/// The placement.
pub(super) fn convert(placement: &Placement, clusters: &[ClusterFacts], about: &mut About<'_>) -> PlacementSpec {
    let Placement {
        cluster_affinity,
        cluster_affinities,
        cluster_tolerations,
        spread_constraints,
        replica_scheduling,
        workload_affinity: WorkloadAffinity { affinity, anti_affinity },
        rest,
    } = placement;
    for field in rest.keys() {
        about.say(Fate::NoCounterpart, &format!("spec.placement.{field}"), "is not known to this import");
    }
    let mut chosen = match (cluster_affinity, cluster_affinities.as_slice()) {
        (Some(term), _) => within(term, "spec.placement.clusterAffinity", clusters, about),
        (None, []) => PlacementClusters::default(),
        (None, [only]) => within(only, "spec.placement.clusterAffinities[0]", clusters, about),
        (None, terms) => first_fit(terms, clusters, about),
    };
    let replicas = replicas(replica_scheduling.as_ref(), clusters, about);
    let by_weight = replicas.strategy.as_ref().is_some_and(|strategy| strategy.value == Strategy::StaticWeight);
    let spread = spread(spread_constraints, by_weight, &mut chosen, clusters, about);
    let group = |written: &super::objects::GroupBy| {
        placeless(GroupBy { group_by: placeless(written.group_by_label_key.clone()) })
    };
    PlacementSpec {
        clusters: Some(placeless(chosen)),
        tolerations: cluster_tolerations.iter().cloned().map(placeless).collect(),
        spread: (!spread.is_empty()).then(|| placeless(spread)),
        replicas: Some(placeless(replicas)),
        affinity: affinity.as_ref().map(group),
        anti_affinity: anti_affinity.as_ref().map(group),
        move_: None,
    }
}

/// A selector with tiers.
pub(super) fn with_tiers(selector: ClusterSelector, tiers: Option<TiersSpec>) -> PlacementClusters {
    let ClusterSelector { match_labels, match_expressions, names, exclude, providers, regions, zones } = selector;
    let tiers = tiers.map(placeless);
    PlacementClusters { match_labels, match_expressions, names, exclude, providers, regions, zones, tiers }
}

/// One affinity, and the groups that take what it cannot hold.
fn within(term: &AffinityTerm, field: &str, clusters: &[ClusterFacts], about: &mut About<'_>) -> PlacementClusters {
    let first = selector(&term.affinity, field, clusters, about);
    if term.overflow_affinities.is_empty() {
        return with_tiers(first, None);
    }
    let name = if term.affinity_name.is_empty() { "primary".into() } else { term.affinity_name.clone() };
    let mut groups = vec![TierGroup { name: placeless(name), clusters: first }];
    for (at, tier) in term.overflow_affinities.iter().enumerate() {
        let clusters = selector(&tier.affinity, &format!("{field}.overflowAffinities[{at}]"), clusters, about);
        let name =
            if tier.affinity_name.is_empty() { format!("overflow-{at}").into() } else { tier.affinity_name.clone() };
        groups.push(TierGroup { name: placeless(name), clusters });
    }
    with_tiers(ClusterSelector::default(), Some(TiersSpec { mode: TierMode::Overflow, groups }))
}

/// Groups of which the first that holds everything is used.
fn first_fit(terms: &[AffinityTerm], clusters: &[ClusterFacts], about: &mut About<'_>) -> PlacementClusters {
    let mut groups = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        let field = format!("spec.placement.clusterAffinities[{at}]");
        if !term.overflow_affinities.is_empty() {
            let text = "groups with groups inside are left out: tiers are either FirstFit or Overflow";
            about.say(Fate::NoCounterpart, &format!("{field}.overflowAffinities"), text);
        }
        let clusters = selector(&term.affinity, &field, clusters, about);
        groups.push(TierGroup { name: placeless(term.affinity_name.clone()), clusters });
    }
    let text = "tiers are tried from the one in use and then from the first; Karmada goes forward only";
    about.say(Fate::Differs, "spec.placement.clusterAffinities", text);
    with_tiers(ClusterSelector::default(), Some(TiersSpec { mode: TierMode::FirstFit, groups }))
}

fn replicas(written: Option<&ReplicaScheduling>, clusters: &[ClusterFacts], about: &mut About<'_>) -> ReplicasSpec {
    const FIELD: &str = "spec.placement.replicaScheduling";
    let with = |strategy: Strategy, capacity: Option<Capacity>| ReplicasSpec {
        strategy: Some(placeless(strategy)),
        capacity: capacity.map(placeless),
        ..ReplicasSpec::default()
    };
    let Some(ReplicaScheduling { replica_scheduling_type, replica_division_preference, weight_preference }) = written
    else {
        return with(Strategy::Duplicated, Some(Capacity::Ignore));
    };
    if replica_scheduling_type == "Duplicated" {
        return with(Strategy::Duplicated, Some(Capacity::Ignore));
    }
    if replica_division_preference == "Aggregated" {
        return with(Strategy::Aggregated, None);
    }
    let weights = weight_preference.as_ref();
    if weights.is_some_and(|weights| !weights.dynamic_weight.is_empty()) {
        if weights.is_some_and(|weights| !weights.static_weight_list.is_empty()) {
            let text = "was ignored beside dynamicWeight, and is left out";
            about.say(Fate::NoCounterpart, &format!("{FIELD}.weightPreference.staticWeightList"), text);
        }
        return with(Strategy::DynamicWeight, None);
    }
    let mut spec = with(Strategy::StaticWeight, Some(Capacity::Ignore));
    let list = weights.map(|weights| weights.static_weight_list.as_slice()).unwrap_or_default();
    let mut rules = Vec::new();
    for (at, StaticWeight { target_cluster, weight }) in list.iter().enumerate() {
        let field = format!("{FIELD}.weightPreference.staticWeightList[{at}]");
        let selector = selector(target_cluster, &format!("{field}.targetCluster"), clusters, about);
        let weight = u32::try_from(*weight).unwrap_or_else(|_| {
            let nearest = if *weight < 0 { 0 } else { u32::MAX };
            let text = format!("{weight} is out of range: {nearest} is written");
            about.say(Fate::Differs, &format!("{field}.weight"), text);
            nearest
        });
        rules.push(placeless(WeightRule { clusters: Some(selector), weight: placeless(weight), min: None, max: None }));
    }
    if !rules.is_empty() {
        let text = "where no entry matches any cluster, nothing is placed; Karmada gives each the weight 1 then";
        about.say(Fate::Differs, &format!("{FIELD}.weightPreference.staticWeightList"), text);
        spec.weights = Some(Weights(rules));
    }
    spec
}

/// Constraints that steer: on clusters and on regions. Zones and providers only had to be there.
fn spread(
    written: &[SpreadConstraint],
    by_weight: bool,
    chosen: &mut PlacementClusters,
    clusters: &[ClusterFacts],
    about: &mut About<'_>,
) -> Vec<crate::base::Spanned<SpreadSpec>> {
    let mut found = Vec::new();
    for (at, SpreadConstraint { spread_by_field, spread_by_label, min_groups, max_groups }) in
        written.iter().enumerate()
    {
        let field = format!("spec.placement.spreadConstraints[{at}]");
        if !spread_by_label.is_empty() {
            let text =
                format!("spreadByLabel does nothing in Karmada; `topologyKey: {spread_by_label}` would do it here");
            about.say(Fate::NoCounterpart, &field, text);
            continue;
        }
        match spread_by_field.as_str() {
            "" | "cluster" | "region" if by_weight => {
                let text = "is ignored by Karmada beside static weights, and left out; here it would hold";
                about.say(Fate::NoCounterpart, &field, text);
            }
            key @ ("" | "cluster" | "region") => {
                if *max_groups == Some(0) {
                    about.say(
                        Fate::NoCounterpart,
                        &format!("{field}.maxGroups"),
                        "0 selects nothing in Karmada; here there is no maximum",
                    );
                }
                found.push(placeless(SpreadSpec {
                    topology_key: placeless(if key.is_empty() { "cluster" } else { key }.into()),
                    min: min_groups.filter(|min| *min > 1).map(placeless),
                    max: max_groups.filter(|max| *max > 0).map(placeless),
                }));
            }
            "zone" => {
                let exists = LabelRequirement {
                    key: "topology.kubernetes.io/zone".into(),
                    operator: LabelOperator::Exists,
                    values: Vec::new(),
                };
                chosen.match_expressions.push(placeless(exists));
                let text = "in Karmada only keeps out clusters without a zone, and so does what is written; `topologyKey: zone` would spread";
                about.say(Fate::Differs, &field, text);
            }
            "provider" => {
                let mut providers: Vec<_> =
                    clusters.iter().map(|cluster| &cluster.provider).filter(|p| !p.is_empty()).collect();
                providers.sort();
                providers.dedup();
                if chosen.providers.is_none() && !providers.is_empty() {
                    chosen.providers = Some(placeless_all(providers));
                }
                let text = "in Karmada only keeps out clusters without a provider, and so does what is written; `topologyKey: provider` would spread";
                about.say(Fate::Differs, &field, text);
            }
            other => about.say(Fate::NoCounterpart, &field, format!("there is no field `{other}` to spread over")),
        }
    }
    found
}
