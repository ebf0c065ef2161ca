//! `state/`: what was observed of and decided for clusters.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Lowering, cluster};
use super::twice;
use crate::base::taint::Taint;
use crate::base::{FileId, SmolStr, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::Cluster;
use crate::placements::{CapacityDoc, LifecycleDoc, Observed, ObservedPool, OutageDoc, OwnerDoc, PoolDoc};
use crate::placements::{OTHER_POOL, Record, RecordDoc, TaintDoc};

/// Files of `state/` about clusters that have no file, by cluster.
pub(super) type Strays = BTreeMap<SmolStr, Vec<FileId>>;

/// Reads a document of `state/` about the cluster it is named after. Placements are not for here.
pub(super) fn read(
    cx: &mut Lowering<'_>,
    file: FileId,
    name: &SmolStr,
    doc: &RecordDoc,
    record: &mut Record,
    strays: &mut Strays,
) {
    match doc {
        RecordDoc::Placements(_)
        | RecordDoc::Tides(_)
        | RecordDoc::Suspended(_)
        | RecordDoc::Estimates(_)
        | RecordDoc::Move(_)
        | RecordDoc::App(_)
        // the decider's own, which decides nothing about a compile
        | RecordDoc::Decider(_)
        | RecordDoc::Pin(_)
        | RecordDoc::Holds(_)
        | RecordDoc::Fence(_)
        | RecordDoc::Approval(_) => return,
        RecordDoc::Capacity(doc) => of_cluster(record, name).capacity = Some(capacity(cx, file, name, doc)),
        RecordDoc::Taints(docs) => of_cluster(record, name).taints = taints(cx, file, docs),
        RecordDoc::Lifecycle(LifecycleDoc { lifecycle, by: _ }) => {
            of_cluster(record, name).lifecycle = Some(*lifecycle)
        }
        RecordDoc::Outage(OutageDoc { state, epoch: _, since: _, by: _ }) => of_cluster(record, name).outage = Some(*state),
    }
    if known(cx, name).is_none() {
        strays.entry(name.clone()).or_default().push(file);
    }
}

fn of_cluster<'r>(record: &'r mut Record, name: &SmolStr) -> &'r mut Observed {
    record.clusters.entry(name.clone()).or_default()
}

fn known<'c>(cx: &'c Lowering<'_>, name: &SmolStr) -> Option<&'c Cluster> {
    let index = cx.clusters.binary_search_by(|c| c.name.cmp(name)).ok()?;
    cx.clusters.get(index).map(|cluster| &**cluster)
}

fn taints(cx: &mut Lowering<'_>, file: FileId, docs: &[Spanned<TaintDoc>]) -> Vec<Taint> {
    let taint = |doc: &Spanned<TaintDoc>| {
        let TaintDoc { key, value, effect, since: _ } = &doc.value;
        let taint = Taint { key: key.clone(), value: value.clone().unwrap_or_default(), effect: *effect };
        Spanned::new(taint, doc.span)
    };
    cluster::taints(cx, file, &docs.iter().map(taint).collect::<Vec<_>>())
}

fn capacity(cx: &mut Lowering<'_>, file: FileId, cluster: &SmolStr, doc: &CapacityDoc) -> Vec<ObservedPool> {
    let CapacityDoc { uid: _, pools } = doc;
    let stated: Option<BTreeSet<SmolStr>> = known(cx, cluster)
        .map(|c| c.pools.iter().flatten().map(|pool| pool.name.clone()).chain([OTHER_POOL.into()]).collect());
    let mut names: BTreeSet<&SmolStr> = BTreeSet::new();
    let mut observed = Vec::with_capacity(pools.len());
    for PoolDoc { name, nodes, allocatable, others } in pools {
        if !names.insert(&name.value) {
            twice(cx, file, name, &format!("pool `{}`", name.value));
            continue;
        }
        if stated.as_ref().is_some_and(|stated| !stated.contains(&name.value)) {
            let message = format!("pool `{}` was observed, and cluster `{cluster}` states no such pool", name.value);
            cx.report(Diagnostic::new(codes::record::RECORD_GONE, Place::Span(file, name.span), message).help(
                "its nodes count as pool `other`, without labels and taints: state it in `nodePools` of the cluster",
            ));
        }
        let others = others.iter().map(|OwnerDoc { owner, requests }| {
            let requests = cluster::resources(cx, file, requests);
            (owner.clone(), requests)
        });
        let others = others.collect();
        observed.push(ObservedPool {
            name: name.value.clone(),
            nodes: *nodes,
            allocatable: cluster::resources(cx, file, allocatable),
            others,
        });
    }
    observed
}

/// What is recorded of a cluster that has no file counts for nothing: it was removed, or a name is misspelt.
pub(super) fn report_strays(cx: &mut Lowering<'_>, strays: Strays) {
    if cx.unread.clusters {
        return;
    }
    for (cluster, files) in strays {
        let mut places = files.into_iter().map(Place::File);
        let Some(first) = places.next() else { continue };
        let message = format!(
            "cluster `{cluster}` is recorded here and has no file in clusters/; what is recorded of it does not count"
        );
        let mut diagnostic = Diagnostic::new(codes::record::RECORD_GONE, first, message).help(
            "remove the file once the cluster is gone; otherwise correct the name, or restore the cluster's file",
        );
        for place in places {
            diagnostic = diagnostic.related(place, "this one too");
        }
        cx.report(diagnostic);
    }
}
