//! Objects after overrides, once per variant: the set of override rules, and the values of the variables they use, that
//! clusters share.
//!
//! Invariants: clusters with the same rules and values share one variant, whatever their names; an object that no rule
//! touches keeps the template it was parsed to; requests, node selectors and tolerations are read here, after overrides,
//! and nowhere else.

mod apply;
mod built;
mod issues;
mod labels;
mod ordinals;
mod pods;
mod rights;
mod share;
mod unstated;

pub use unstated::unstated;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::base::{AppId, ClusterId, Resources};
use crate::diag::{Code, Diagnostics, Place};
use crate::kinds::pod::PodFacts;
use crate::model::{App, ClusterSet, Fleet};
use crate::overrides::Variables;
use crate::parse::Template;
use crate::placements::Record;
use apply::Built;
use issues::{Found, Gathered};

/// The variants of every app, by app id.
#[derive(Clone, Debug, Default)]
pub struct Variants {
    /// By app id.
    pub apps: Vec<AppVariants>,
}

/// The variants of one app.
#[derive(Clone, Debug, Default)]
pub struct AppVariants {
    /// At least one.
    pub variants: Vec<Variant>,
    /// By cluster id, which variant; empty where all clusters share the first. `None` for a cluster that is no candidate
    /// and holds nothing of the app: no object of it is ever asked for.
    pub of_cluster: Vec<Option<u16>>,
    /// The objects without any rule: variants share those that none of their rules touches.
    base: Arc<[Arc<Template>]>,
    /// By variant, the first of those that scheduling is told the same of; empty where each stands for itself.
    like: Vec<u16>,
}

/// The objects of an app as some clusters get them, but for their share of replicas.
///
/// What scheduling asks is there from the start. The objects themselves are built when they are first asked for: of a
/// hundred candidates an app runs in a few, and variables make each cluster a variant of its own.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// By workload of the app.
    pub workloads: Vec<WorkloadVariant>,
    /// What objects of the app count beside themselves, ascending by object; of those that count anything, and only where the
    /// team has a quota of such things.
    pub counted: Vec<(usize, Resources)>,
    /// Which of the app's rules are applied.
    rules: Arc<[usize]>,
    /// The variables of a cluster with this variant.
    vars: Arc<Variables>,
    built: OnceLock<Built>,
}

/// What a variant says of a workload.
#[derive(Clone, Debug)]
pub struct WorkloadVariant {
    /// What one pod asks for and where it may run; `None` where the pod could not be read, which was reported.
    pub pod: Option<Arc<PodFacts>>,
    /// The replicas that an override wrote, or 1 where it removed the field: they replace the share after division, and
    /// plan, room and quota count them.
    pub replicas: Option<u32>,
    /// Whether an override wrote or removed a Job's completions: they are not filled in after it.
    pub completions: bool,
    /// The number of its first pod: `spec.ordinals.start` of a StatefulSet.
    pub first_ordinal: u32,
    /// The bounds of its autoscaler, least and most, where an override states others than the manifest: they count in place
    /// of its share.
    pub bounds: Option<(u32, u32)>,
}

impl Variant {
    /// A variant without rules.
    #[must_use]
    pub fn of_workloads(workloads: Vec<WorkloadVariant>) -> Self {
        Self { workloads, ..Self::default() }
    }
}

impl Variants {
    /// The objects of an app as a cluster gets them, by object of the app: namespace and fleetwright's labels are set,
    /// overrides applied. Built on the first call.
    #[must_use]
    pub fn objects(&self, fleet: &Fleet, app: AppId, cluster: ClusterId) -> &[Arc<Template>] {
        let app_variants = &self.apps[app.index()];
        let variant = app_variants.of(cluster);
        &variant.built.get_or_init(|| apply::build(fleet, fleet.app(app), app_variants, variant)).objects
    }

    /// Reports what showed only when objects were built: mistakes that depend on the value of a variable.
    pub fn report_late(&self, fleet: &Fleet, diagnostics: &mut Diagnostics) {
        let mut gathered = Gathered::default();
        // of variants that are alike the first was built before, and what it says it says for all
        let said: BTreeSet<(Code, Place)> = diagnostics.iter().map(|d| (d.code, d.place.clone())).collect();
        for (id, app) in fleet.app_ids().zip(&self.apps) {
            for (index, variant) in app.variants.iter().enumerate() {
                let Some(late) = variant.built.get().map(|b| &b.late).filter(|late| !late.is_empty()) else { continue };
                let clusters: ClusterSet = fleet.cluster_ids().filter(|c| app.index_of(*c) == index).collect();
                let new = late.iter().filter(|issue| !said.contains(&(issue.code, issue.place.clone())));
                let issues = new.map(|issue| (issue.clone(), clusters.clone())).collect();
                gathered.add(fleet, id, Found { issues, images: Vec::new() });
            }
        }
        gathered.report(fleet, diagnostics);
    }
}

impl AppVariants {
    /// Variants by cluster, and the app's objects without any rule.
    #[must_use]
    pub fn new(variants: Vec<Variant>, of_cluster: Vec<Option<u16>>, base: Arc<[Arc<Template>]>) -> Self {
        Self { variants, of_cluster, base, like: Vec::new() }
    }

    /// The variants that differ in what scheduling asks, or may differ.
    pub fn shapes(&self) -> impl Iterator<Item = &Variant> {
        let stands = |(at, _): &(usize, &Variant)| self.like.get(*at).is_none_or(|like| usize::from(*like) == *at);
        self.variants.iter().enumerate().filter(stands).map(|(_, variant)| variant)
    }

    /// By variant, its position among [`shapes`](Self::shapes).
    pub fn shape_of_each(&self) -> impl Iterator<Item = usize> {
        let mut shapes = 0;
        let mut positions: Vec<usize> = Vec::with_capacity(self.variants.len());
        (0..self.variants.len()).map(move |at| {
            let like = self.like.get(at).map_or(at, |like| usize::from(*like));
            let position = positions.get(like).copied().unwrap_or(shapes);
            shapes += usize::from(like == at);
            positions.push(position);
            position
        })
    }

    /// Which variant a cluster gets; that of another where it [is not covered](Self::covers).
    #[must_use]
    pub fn index_of(&self, cluster: ClusterId) -> usize {
        self.of_cluster.get(cluster.index()).copied().flatten().map_or(0, usize::from)
    }

    /// Whether the cluster has a variant of its own: every candidate has, and every cluster that the record names.
    #[must_use]
    pub fn covers(&self, cluster: ClusterId) -> bool {
        self.of_cluster.is_empty() || self.of_cluster.get(cluster.index()).is_some_and(Option::is_some)
    }

    /// The variant a cluster gets.
    #[must_use]
    pub fn of(&self, cluster: ClusterId) -> &Variant {
        &self.variants[self.index_of(cluster)]
    }
}

/// What a pod of a workload requests as its manifest has it, before any override; `None` where it is a part of a set, or its
/// pod cannot be read.
#[must_use]
pub fn requests_as_written(app: &App, workload: usize) -> Option<Resources> {
    let workload = app.workloads.get(workload).filter(|workload| workload.part.is_none())?;
    let object = app.objects.get(workload.object)?;
    let pod = pods::read(workload.kind, object, workload.object, &object.template.value(), &mut Vec::new())?;
    Some(pod.requests.clone())
}

/// Applies overrides and reads pods, app by app in parallel; every mistake is reported once, whatever it hits.
///
/// What runs in a cluster that is no candidate any more may stay there for want of another place, so the clusters of the
/// record count as well.
#[must_use]
pub fn variants(fleet: &Fleet, record: &Record, diagnostics: &mut Diagnostics) -> Variants {
    let vars: Vec<Arc<Variables>> = fleet.cluster_ids().map(|id| Arc::new(share::variables(fleet, id))).collect();
    let built: Vec<(AppVariants, Found)> =
        fleet.apps.par_iter().map(|app| share::app(fleet, record, app, &vars)).collect();
    let mut variants = Variants { apps: Vec::with_capacity(built.len()) };
    let mut gathered = Gathered::default();
    for (id, (app, found)) in fleet.app_ids().zip(built) {
        variants.apps.push(app);
        gathered.add(fleet, id, found);
    }
    gathered.report(fleet, diagnostics);
    unstated::report(fleet, &variants, diagnostics);
    ordinals::report(fleet, &variants, record, diagnostics);
    variants
}
