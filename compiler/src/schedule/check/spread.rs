//! Groups in use: at most `max`, and at least `min` for each divisible workload that is large enough.

use std::collections::BTreeSet;

use super::facts::{AppFacts, Inputs};
use crate::base::ClusterId;
use crate::model::{Share, TopologyKey};
use crate::schedule::Deficit;

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    // Where no set of clusters meets all constraints, or a quota refuses what would, what runs stays, and that is said.
    let says_why = |deficit: &Deficit| matches!(deficit, Deficit::Spread { .. } | Deficit::Quota { .. });
    let may_stay = app.target.deficits.iter().any(says_why);
    for spread in &app.app.placement.spread {
        let key = spread.key.as_str();
        let reported = app
            .target
            .deficits
            .iter()
            .any(|deficit| matches!(deficit, Deficit::Spread { topology_key, .. } if topology_key == key));
        for facts in &app.workloads {
            let (groups, lacking) = groups(inputs, &spread.key, facts.proper.keys().copied());
            let mut wrong = |what: String| violations.push(format!("{}: {what}", inputs.name(app, facts.workload)));
            let stays = may_stay && facts.proper.keys().all(|cluster| facts.before.contains_key(cluster));
            if spread.max.is_some_and(|max| groups > max as usize) && !stays {
                wrong(format!("{groups} groups of {key}, at most {:?}", spread.max));
            }
            if let Some(cluster) = lacking.filter(|c| !facts.before.contains_key(c)) {
                wrong(format!("in cluster {}, which has no {key}", inputs.cluster(cluster)));
            }
            let large = facts.workload.share == Share::Divided && facts.wanted() >= spread.min;
            if large && groups < spread.min as usize && !reported && app.target.deficits.is_empty() {
                wrong(format!("{groups} groups of {key}, at least {}", spread.min));
            }
        }
    }
}

/// How many groups, and a cluster that is in none.
pub(super) fn groups(
    inputs: &Inputs<'_>,
    key: &TopologyKey,
    clusters: impl Iterator<Item = ClusterId>,
) -> (usize, Option<ClusterId>) {
    let mut groups = BTreeSet::new();
    let mut lacking = None;
    for cluster in clusters {
        match key.group(inputs.fleet.cluster(cluster)) {
            Some(group) => {
                groups.insert(group);
            }
            None => lacking = lacking.or(Some(cluster)),
        }
    }
    (groups.len(), lacking)
}
