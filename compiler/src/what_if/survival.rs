//! `survive`: what apps state that they must survive, tried out.
//!
//! Only losses of clusters that such an app uses are tried; what the loss of another cluster does to it is what that
//! cluster's apps take from it, which scheduling never does: incumbents stay. Of a loss only the apps that it displaces are
//! scheduled again ([`AtRest`]); where that is not enough all are, and the check looks at it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{Loss, World, settled, used_by, without};
use crate::api::Survive;
use crate::base::AppId;
use crate::model::Fleet;
use crate::placements::Record;
use crate::schedule::{AtRest, Deficit, Outcome, Target};
use crate::variants::Variants;

/// An app that does not survive what it must.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lapse {
    /// The app.
    pub app: AppId,
    /// The loss.
    pub loss: Loss,
    /// What it would lack, beyond what it lacks anyway. Empty where it has no replicas and would be nowhere.
    pub lacks: Vec<Deficit>,
}

/// Apps that do not survive what they must, ascending by (app, loss). Costs nothing where no app states `survive`.
///
/// # Errors
/// Our bug: a schedule that breaks its own rules.
pub fn survival(
    fleet: &Fleet,
    variants: &Variants,
    record: &Record,
    target: &Target,
) -> Result<Vec<Lapse>, Vec<String>> {
    let losses_of = |id: AppId| -> BTreeSet<Loss> {
        let used = target.apps.get(id.index()).map(used_by).unwrap_or_default();
        match fleet.app(id).survive {
            None => BTreeSet::new(),
            Some(Survive::AnyCluster) => Loss::each_cluster(fleet, &used).collect(),
            Some(Survive::AnyRegion) => Loss::each_region(fleet, &used),
        }
    };
    let concerned: Vec<(AppId, BTreeSet<Loss>)> =
        fleet.app_ids().map(|id| (id, losses_of(id))).filter(|(_, losses)| !losses.is_empty()).collect();
    if concerned.is_empty() {
        return Ok(Vec::new());
    }
    let record = settled(fleet, record, target);
    let world = World { fleet, variants, settled: &record };
    let mut losses: BTreeMap<&Loss, Vec<AppId>> = BTreeMap::new();
    for (id, of_app) in &concerned {
        of_app.iter().for_each(|loss| losses.entry(loss).or_default().push(*id));
    }
    let losses: Vec<(&Loss, Vec<AppId>)> = losses.into_iter().collect();
    let at_rest = AtRest::new(fleet, variants, &record);
    // Each part works on a copy of its own.
    let parts = losses.par_chunks(LOSSES_OF_A_COPY).map(|losses| {
        let mut at_rest = at_rest.clone();
        losses.iter().map(|(loss, apps)| lapses(&world, &mut at_rest, target, loss, apps)).collect::<Vec<_>>()
    });
    let outcomes: Vec<Vec<Result<Vec<Lapse>, Vec<String>>>> = parts.collect();
    let mut all = Vec::new();
    for outcome in outcomes.into_iter().flatten() {
        all.extend(outcome?);
    }
    all.sort();
    Ok(all)
}

/// How many losses are tried on one copy of the fleet: a copy costs about as much as a few of them.
const LOSSES_OF_A_COPY: usize = 32;

/// What one loss does to the apps that must survive it.
fn lapses(
    world: &World<'_>,
    at_rest: &mut Option<AtRest<'_>>,
    before: &Target,
    loss: &Loss,
    apps: &[AppId],
) -> Result<Vec<Lapse>, Vec<String>> {
    let displaced = at_rest.as_mut().and_then(|at_rest| at_rest.lose(&loss.clusters(world.fleet)));
    let after = match displaced {
        Some(outcomes) => outcomes,
        None => {
            let after = without(world, std::slice::from_ref(loss))?;
            let of = |id: &AppId| {
                let app = after.apps.get(id.index())?;
                Some((*id, Outcome { deficits: app.deficits.clone(), used: used_by(app) }))
            };
            apps.iter().filter_map(of).collect()
        }
    };
    let of = |id: &AppId| {
        let (before, after) = (before.apps.get(id.index())?, after.get(id)?);
        let new = after.deficits.iter().filter(|deficit| !before.deficits.contains(deficit));
        let lacks: Vec<Deficit> = new.cloned().collect();
        let gone = !used_by(before).is_empty() && after.used.is_empty();
        (gone || !lacks.is_empty()).then(|| Lapse { app: *id, loss: loss.clone(), lacks })
    };
    Ok(apps.iter().filter_map(of).collect())
}
