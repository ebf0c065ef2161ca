//! The record, with its names held against the fleet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Lowering;
use crate::base::quantity::{Quantity, amount};
use crate::base::taint::Taint;
use crate::base::{FileId, Resources, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes, some_of};
use crate::model::App;
use crate::parse::DocBody;
use crate::placements::{
    Observed, ObservedPool, PlacedApp, PlacedAppDoc, PlacedSeat, PlacedWorkload, PlacedWorkloadDoc, Record, RecordDoc,
    SeatDoc,
};

/// Reads `placements/` and `state/`.
pub(super) fn record(cx: &mut Lowering<'_>, apps: &[Arc<App>]) -> Record {
    let mut record = Record::default();
    let known: BTreeSet<(SmolStr, SmolStr)> =
        apps.iter().map(|a| (cx.teams[a.team.index()].name.clone(), a.name.clone())).collect();
    let mut gone = Gone::new();
    let files = cx.files;
    for (index, file) in (0_u32..).zip(files) {
        let id = FileId(index);
        let stem = file.path.file_name().and_then(|n| n.rsplit_once('.')).map(|(stem, _)| SmolStr::new(stem));
        let Some(stem) = stem else { continue };
        for doc in &file.ir.docs {
            let DocBody::Record(part) = &doc.body else { continue };
            match part {
                RecordDoc::Placements(placements) => {
                    for app in &placements.apps {
                        placed(cx, id, &stem, app, &known, &mut record, &mut gone);
                    }
                }
                RecordDoc::Capacity(capacity) => {
                    observed(&mut record, &stem).capacity = Some(
                        capacity
                            .pools
                            .iter()
                            .map(|pool| ObservedPool {
                                name: pool.name.value.clone(),
                                nodes: pool.nodes,
                                allocatable: resources(&pool.allocatable),
                                others: pool.others.iter().map(|o| (o.owner.clone(), resources(&o.requests))).collect(),
                            })
                            .collect(),
                    );
                }
                RecordDoc::Taints(taints) => {
                    let taints = taints.iter().map(|t| Taint {
                        key: t.key.clone(),
                        value: t.value.clone().unwrap_or_default(),
                        effect: t.effect,
                    });
                    observed(&mut record, &stem).taints = taints.collect();
                }
                RecordDoc::Lifecycle(doc) => observed(&mut record, &stem).lifecycle = Some(doc.lifecycle),
                RecordDoc::Outage(doc) => observed(&mut record, &stem).outage = Some(doc.state),
            }
        }
    }
    report_gone(cx, gone);
    record
}

fn observed<'r>(record: &'r mut Record, cluster: &SmolStr) -> &'r mut Observed {
    record.clusters.entry(cluster.clone()).or_default()
}

fn resources(written: &BTreeMap<SmolStr, Quantity>) -> Resources {
    Resources(written.iter().map(|(name, q)| (name.clone(), amount(name, q).max(0))).collect())
}

fn placed(
    cx: &mut Lowering<'_>,
    file: FileId,
    team: &SmolStr,
    doc: &PlacedAppDoc,
    known: &BTreeSet<(SmolStr, SmolStr)>,
    record: &mut Record,
    gone: &mut Gone,
) {
    let PlacedAppDoc { app, tier, clusters, workloads } = doc;
    let known = known.contains(&(team.clone(), app.value.clone()));
    let mut placed = PlacedApp {
        place: Some((file, app.span)),
        tier: tier.clone(),
        clusters: clusters.iter().map(|c| c.value.clone()).collect(),
        workloads: BTreeMap::new(),
    };
    placed.clusters.sort();
    placed.clusters.dedup();
    for name in clusters {
        holds(cx, file, name, team, &app.value, gone);
    }
    for PlacedWorkloadDoc { workload, weights, seats } in workloads {
        let mut rows: Vec<PlacedSeat> = Vec::with_capacity(seats.len());
        for SeatDoc { cluster, pool, replicas, completions, min, max } in seats {
            holds(cx, file, cluster, team, &app.value, gone);
            if rows.iter().any(|r| r.cluster == cluster.value && r.pool == *pool) {
                twice(cx, file, cluster, &format!("a seat in cluster `{}`", cluster.value));
                continue;
            }
            rows.push(PlacedSeat {
                cluster: cluster.value.clone(),
                pool: pool.clone(),
                replicas: *replicas,
                completions: *completions,
                bounds: min.zip(*max),
            });
        }
        rows.sort();
        let entry = PlacedWorkload { weights: weights.clone(), seats: rows };
        if placed.workloads.insert(workload.value.clone(), entry).is_some() {
            twice(cx, file, workload, &format!("workload `{}`", workload.value));
        }
    }
    if !known && !cx.unread.apps() {
        cx.error(
            codes::record::RECORD_GONE,
            Place::Span(file, app.span),
            format!("App `{team}/{}` is recorded and no longer there; its seats are given up", app.value),
        );
    }
    if record.apps.insert((team.clone(), app.value.clone()), placed).is_some() {
        twice(cx, file, app, &format!("App `{team}/{}`", app.value));
    }
}

fn twice(cx: &mut Lowering<'_>, file: FileId, at: &Spanned<SmolStr>, what: &str) {
    cx.error(codes::record::DUPLICATE_RECORD, Place::Span(file, at.span), format!("{what} is recorded twice"));
}

/// Clusters without a file that the record still names: where first, and by which apps.
type Gone = BTreeMap<SmolStr, (FileId, Span, BTreeSet<String>)>;

fn holds(cx: &Lowering<'_>, file: FileId, cluster: &Spanned<SmolStr>, team: &SmolStr, app: &SmolStr, gone: &mut Gone) {
    if cx.clusters.binary_search_by(|c| c.name.cmp(&cluster.value)).is_ok() || cx.unread.clusters {
        return;
    }
    let (_, _, apps) = gone.entry(cluster.value.clone()).or_insert_with(|| (file, cluster.span, BTreeSet::new()));
    apps.insert(format!("{team}/{app}"));
}

/// A cluster that holds placements and has no file: its file was removed too early. Said once, however much it holds.
fn report_gone(cx: &mut Lowering<'_>, gone: Gone) {
    for (cluster, (file, span, apps)) in gone {
        let apps: Vec<String> = apps.into_iter().collect();
        let message = format!("cluster `{cluster}` has no file in clusters/ and still holds {}", some_of("App", &apps));
        cx.report(
            Diagnostic::new(codes::record::CLUSTER_STILL_HOLDS, Place::Span(file, span), message)
                .help("restore its file with `lifecycle: Draining`, let its apps move, set Retired, then remove it"),
        );
    }
}
