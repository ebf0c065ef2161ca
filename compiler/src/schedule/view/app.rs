//! What is known of one app whatever runs: where it may go, which pods it runs, which workload leads.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::bounds::is_daemon;
use crate::api::Strategy;
use crate::base::ClusterId;
use crate::kinds::pod::PodFacts;
use crate::model::{App, ClusterSet, Fleet, Share};
use crate::schedule::conditions::Conditions;
use crate::schedule::filter::{self, Need, Question, Traits};
use crate::schedule::ledger::{ClassId, Ledger};
use crate::schedule::select::Class;
use crate::variants::{AppVariants, Variant};

/// What is known of one app.
#[derive(Clone)]
pub(in crate::schedule) struct AppView {
    pub(super) needs: Vec<Need>,
    /// The number of its traits: apps of one number pass the same filters, but for their placement.
    pub alike: usize,
    /// Clusters that may take new replicas, but for those supposed lost.
    pub(super) fresh: ClusterSet,
    /// Which set of clusters it wants.
    pub class: Class,
    /// The workload that clusters are selected for: the largest; `None` where nothing is to be placed.
    pub lead: Option<usize>,
    pub(super) workloads: Vec<WorkloadView>,
}

/// What is known of one workload.
#[derive(Clone)]
pub(super) struct WorkloadView {
    pub pods: Pods,
    /// Whether an override writes its replicas in some variant.
    pub is_written: bool,
    /// Whether it mounts claims: its data keeps it where it is.
    pub bound: bool,
}

/// The classes of the pods of a workload; `None` where the pod could not be read.
#[derive(Clone)]
pub(super) enum Pods {
    /// The same in every cluster.
    Uniform(Option<ClassId>),
    /// By variant.
    ByVariant(Box<[Option<ClassId>]>),
}

/// What filters say of all clusters, but that of the placement, once for all apps that are alike.
#[derive(Default)]
pub(super) struct Alike<'f> {
    numbers: FxHashMap<Traits<'f>, usize>,
    /// By number: clusters that take new replicas.
    passing: Vec<ClusterSet>,
    /// By number: clusters that placed replicas need not leave.
    pub calm: Vec<ClusterSet>,
}

impl<'f> Alike<'f> {
    /// The number of such traits.
    fn number(&mut self, fleet: &'f Fleet, app: &App, conditions: &[Conditions], traits: Traits<'f>) -> usize {
        if let Some(number) = self.numbers.get(&traits) {
            return *number;
        }
        let question = |cluster: ClusterId| {
            let (conditions, evicted) = (&conditions[cluster.index()], traits.evicted.contains(cluster));
            Question { fleet, app, needs: &traits.needs, cluster, conditions, evicted }
        };
        let passes = |cluster: &ClusterId| filter::passes_all_but_affinity(&question(*cluster));
        let stays = |cluster: &ClusterId| filter::releases_none_but_affinity(&question(*cluster));
        self.passing.push(fleet.cluster_ids().filter(passes).collect());
        self.calm.push(fleet.cluster_ids().filter(stays).collect());
        self.numbers.insert(traits, self.calm.len() - 1);
        self.calm.len() - 1
    }
}

impl AppView {
    /// Of an app with such needs, that is evicted from some clusters.
    pub(super) fn new<'f>(
        fleet: &'f Fleet,
        app: &'f App,
        variants: &AppVariants,
        conditions: &[Conditions],
        (needs, evicted): (Vec<Need>, ClusterSet),
        known: &mut Alike<'f>,
        ledger: &mut Ledger,
    ) -> Self {
        let traits = Traits { tolerations: &app.placement.tolerations, needs: needs.clone(), evicted };
        let alike = known.number(fleet, app, conditions, traits);
        let fresh = app.placement.candidates.and(&known.passing[alike]);
        let mut workloads: Vec<WorkloadView> =
            (0..app.workloads.len()).map(|workload| workload_view(variants, workload, ledger)).collect();
        // data of one part keeps the whole set
        for at in 0..workloads.len() {
            workloads[at].bound = app.members(at).any(|member| workloads[member].bound);
        }
        let lead = lead(app, variants);
        Self { needs, alike, fresh, class: class(app, lead), lead, workloads }
    }
}

fn workload_view<'v>(variants: &'v AppVariants, workload: usize, ledger: &mut Ledger) -> WorkloadView {
    let (mut bound, mut is_written) = (false, false);
    let mut last: Option<(&'v PodFacts, ClassId)> = None;
    let mut of = |variant: &'v Variant| {
        is_written |= variant.workloads[workload].replicas.is_some();
        let pod = variant.workloads[workload].pod.as_deref()?;
        bound |= !pod.pvc_claims.is_empty();
        let class = match last {
            Some((known, class)) if known == pod => class,
            _ => ledger.class(pod),
        };
        last = Some((pod, class));
        Some(class)
    };
    // Most variants differ in something that no scheduler asks about.
    let of_shapes: Vec<Option<ClassId>> = variants.shapes().map(&mut of).collect();
    let first = of_shapes.first().copied().flatten();
    let pods = if of_shapes.iter().all(|class| *class == first) {
        Pods::Uniform(first)
    } else {
        Pods::ByVariant(variants.shape_of_each().map(|shape| of_shapes.get(shape).copied().flatten()).collect())
    };
    WorkloadView { pods, is_written, bound }
}

/// Divided workloads lead before copied ones; then the largest total × share of a node's worth.
fn lead(app: &App, variants: &AppVariants) -> Option<usize> {
    let placed = app.workloads.iter().enumerate().filter(|(_, w)| w.replicas > 0 && !is_daemon(w));
    placed
        .max_by_key(|(index, workload)| {
            let rank = match workload.share {
                Share::Divided => 2,
                Share::Whole => 1,
                Share::Everywhere => 0,
            };
            let pod = variants.variants.first().and_then(|v| v.workloads[*index].pod.as_ref());
            let share = pod.map_or(1, |pod| dominant_share(&pod.requests));
            (rank, share.saturating_mul(i128::from(workload.replicas)), workload.replicas, Reverse(*index))
        })
        .map(|(index, _)| index)
}

/// How much of a node of common proportions (1 CPU to 4 GiB; one of anything else is as much as 8 CPU) a pod takes.
fn dominant_share(requests: &crate::base::Resources) -> i128 {
    let shares = requests.iter().map(|(name, amount)| match name.as_str() {
        "cpu" => amount,
        "memory" | "ephemeral-storage" => amount >> 22,
        "pods" => 1,
        _ if name.starts_with("hugepages-") => amount >> 22,
        _ => amount.saturating_mul(8000),
    });
    shares.max().unwrap_or(1).max(1)
}

fn class(app: &App, lead: Option<usize>) -> Class {
    let lead = lead.and_then(|lead| app.workloads.get(lead));
    let divided = app.workloads.iter().any(|w| w.share == Share::Divided);
    match lead {
        Some(lead) if lead.share == Share::Everywhere && !divided => Class::Duplicated,
        Some(lead) if lead.share == Share::Divided && lead.policy.strategy == Some(Strategy::Aggregated) => {
            Class::Fewest
        }
        Some(_) => Class::Widest,
        // Nothing has replicas: copies go everywhere, an app of zero replicas stays where it is.
        None if divided || app.workloads.iter().any(|w| w.share == Share::Whole) => Class::Widest,
        None => Class::Duplicated,
    }
}
