//! `survive`: what apps state that they must survive, tried out.
//!
//! Only losses of clusters that such an app uses are tried; what the loss of another cluster does to it is what that
//! cluster's apps take from it, which scheduling never does: incumbents stay.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::{Loss, World, is_gone, new_deficits, settled, used_by, without};
use crate::api::Survive;
use crate::base::AppId;
use crate::model::Fleet;
use crate::placements::Record;
use crate::schedule::{Deficit, Target};
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
    let losses: BTreeSet<&Loss> = concerned.iter().flat_map(|(_, losses)| losses).collect();
    let losses: Vec<&Loss> = losses.into_iter().collect();
    let outcomes: Vec<Result<Vec<Lapse>, Vec<String>>> =
        losses.par_iter().map(|loss| lapses(&world, target, loss, &concerned)).collect();
    let mut all = Vec::new();
    for outcome in outcomes {
        all.extend(outcome?);
    }
    all.sort();
    Ok(all)
}

/// What one loss does to the apps that must survive it.
fn lapses(
    world: &World<'_>,
    before: &Target,
    loss: &Loss,
    concerned: &[(AppId, BTreeSet<Loss>)],
) -> Result<Vec<Lapse>, Vec<String>> {
    let after = without(world, std::slice::from_ref(loss))?;
    let of = |(id, losses): &(AppId, BTreeSet<Loss>)| {
        let (before, after) = (before.apps.get(id.index())?, after.apps.get(id.index())?);
        let lacks = new_deficits(before, after);
        let lapses = losses.contains(loss) && (!lacks.is_empty() || is_gone(before, after));
        lapses.then(|| Lapse { app: *id, loss: loss.clone(), lacks })
    };
    Ok(concerned.iter().filter_map(of).collect())
}
