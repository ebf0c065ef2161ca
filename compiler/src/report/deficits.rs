//! What could not be done, as warnings at the name of the App.

use super::full::{DisplacedReport, OverdrawnReport};
use super::verdicts::verdicts_line;
use crate::diag::{Code, Diagnostic, Place, codes};
use crate::diff::{Ground, Shortfall};
use crate::model::Fleet;
use crate::placements::Record;
use crate::schedule::{Deficit, Target};
use crate::variants::Variants;
use crate::what_if::Lapse;

/// One warning for each deficit: `2 of 12 replicas of apps/Deployment/web fit nowhere; 1/5 clusters: ...`.
#[must_use]
pub fn deficits(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Vec<Diagnostic> {
    let ground = Ground::new(fleet, variants, record, target);
    let mut found = Vec::new();
    for (id, app_target) in fleet.app_ids().zip(&target.apps) {
        let app = fleet.app(id);
        for deficit in app_target.deficits.iter().filter(|deficit| !follows(deficit, &app_target.deficits)) {
            let shortfall = Shortfall::in_detail(&ground, id, deficit);
            let (code, help, with_clusters) = words(&shortfall);
            let mut message = shortfall.to_string();
            if with_clusters && !app_target.verdicts.is_empty() {
                message = format!("{message}; {}", verdicts_line(fleet, app_target));
            }
            found.push(Diagnostic::new(code, Place::Span(app.file, app.name_span), message).help(help));
        }
    }
    found
}

/// One warning for each pool that lost replicas or holds less than what must run in it.
#[must_use]
pub fn pools(fleet: &Fleet, target: &Target) -> Vec<Diagnostic> {
    let displaced = target.displaced.iter().map(|of| {
        let (app, report) = (fleet.app(of.app), DisplacedReport::of(fleet, of));
        let place = Place::Span(app.file, app.name_span);
        Diagnostic::new(codes::placement::DISPLACED, place, report.to_string())
            .help("add nodes, or ask for less: what found no other place is reported as well")
    });
    let overdrawn = target.overdrawn.iter().map(|of| {
        let (cluster, report) = (fleet.cluster(of.cluster), OverdrawnReport::of(fleet, of));
        let place = Place::Span(cluster.file, cluster.name_span);
        Diagnostic::new(codes::placement::OVERDRAWN, place, report.to_string())
            .help("add nodes, or move or lower what runs there whatever fits")
    });
    displaced.chain(overdrawn).collect()
}

/// One warning for each loss that an app must survive and does not.
#[must_use]
pub fn lapses(fleet: &Fleet, lapses: &[Lapse]) -> Vec<Diagnostic> {
    let warning = |lapse: &Lapse| {
        let app = fleet.app(lapse.app);
        let shortfall = Shortfall::of_lapse(fleet, lapse);
        let (code, help, _) = words(&shortfall);
        Diagnostic::new(code, Place::Span(app.file, app.name_span), shortfall.to_string()).help(help)
    };
    lapses.iter().map(warning).collect()
}

/// Whether a deficit is nothing but the consequence of another: without a weight nothing can be placed.
fn follows(deficit: &Deficit, all: &[Deficit]) -> bool {
    let Deficit::Unplaced { workload, .. } = deficit else { return false };
    all.contains(&Deficit::NoWeightMatches { workload: *workload })
}

/// The code, how to fix it, and whether the clusters have to do with it.
fn words(shortfall: &Shortfall) -> (Code, &'static str, bool) {
    use codes::{placement, rights};
    match shortfall {
        Shortfall::Unplaced { .. } => {
            (placement::UNPLACED, "ask for fewer or smaller replicas, allow more clusters, or add nodes", true)
        }
        Shortfall::Spread { .. } => {
            (placement::SPREAD_UNMET, "lower `min` of the spread, or allow clusters in more groups", true)
        }
        Shortfall::Quota { .. } => {
            (rights::OVER_QUOTA, "ask for less, or have the platform raise the quota in the Team", false)
        }
        Shortfall::Unstated { .. } => {
            (rights::QUOTA_NEEDS_REQUESTS, "state it in every container: it counts as nothing until then", false)
        }
        Shortfall::NoWeightMatches { .. } => {
            (placement::NO_WEIGHT_MATCHES, "add a rule to `weights` that matches a selected cluster", true)
        }
        Shortfall::GaveWay { .. } => {
            (placement::GAVE_WAY, "they run again as soon as there is room: add nodes, or allow more clusters", false)
        }
        Shortfall::Group { .. } => {
            (placement::GROUP_BROKEN, "allow clusters that suit the whole group, or free room in them", true)
        }
        Shortfall::Survival { .. } => {
            (placement::LAPSE, "allow more clusters or regions, add nodes, or state what it need not `survive`", false)
        }
    }
}
