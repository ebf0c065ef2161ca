//! Objects after overrides, once per variant: the set of override rules, and the values of the variables they use, that
//! clusters share.
//!
//! Invariants: clusters with the same rules and values share one variant, whatever their names; an object that no rule
//! touches keeps the template it was parsed to; requests, node selectors and tolerations are read here, after overrides,
//! and nowhere else.

mod apply;
mod issues;
mod pods;

use std::sync::Arc;

use rayon::prelude::*;

use crate::base::ClusterId;
use crate::diag::Diagnostics;
use crate::kinds::pod::PodFacts;
use crate::model::Fleet;
use crate::parse::Template;
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
    /// By cluster id, which variant; empty where all clusters share the first.
    pub of_cluster: Vec<u16>,
}

/// The objects of an app as some clusters get them, but for their share of replicas.
#[derive(Clone, Debug)]
pub struct Variant {
    /// By object of the app: namespace and fleetwright's labels are set, overrides applied.
    pub objects: Vec<Arc<Template>>,
    /// By workload of the app.
    pub workloads: Vec<WorkloadVariant>,
}

/// What a variant says of a workload.
#[derive(Clone, Debug)]
pub struct WorkloadVariant {
    /// What one pod asks for and where it may run; `None` where the pod could not be read, which was reported.
    pub pod: Option<Arc<PodFacts>>,
    /// The replicas that an override wrote: they replace the share after division, and plan, room and quota count them.
    pub replicas: Option<u32>,
}

impl AppVariants {
    /// Which variant a cluster gets.
    #[must_use]
    pub fn index_of(&self, cluster: ClusterId) -> usize {
        self.of_cluster.get(cluster.index()).map_or(0, |i| usize::from(*i))
    }

    /// The variant a cluster gets.
    #[must_use]
    pub fn of(&self, cluster: ClusterId) -> &Variant {
        &self.variants[self.index_of(cluster)]
    }
}

/// Applies overrides and reads pods, app by app in parallel; every mistake is reported once, whatever it hits.
#[must_use]
pub fn variants(fleet: &Fleet, diagnostics: &mut Diagnostics) -> Variants {
    let built: Vec<(AppVariants, Found)> = fleet.apps.par_iter().map(|app| apply::app(fleet, app)).collect();
    let mut variants = Variants { apps: Vec::with_capacity(built.len()) };
    let mut gathered = Gathered::default();
    for (id, (app, found)) in fleet.app_ids().zip(built) {
        variants.apps.push(app);
        gathered.add(fleet, id, found);
    }
    gathered.report(fleet, diagnostics);
    variants
}
