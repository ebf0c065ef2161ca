//! Workloads of an app: how each takes part in division, and by which numbers.

use crate::api::{AutoscaledRoom, Capacity, Strategy};
use crate::base::{ClusterId, Digest, SmolStr};
use crate::divide::share;

use super::{ClusterSet, WorkloadKind};

/// How a workload takes part in division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// Its replicas are divided by the strategy.
    Divided,
    /// It runs as a whole in one of the selected clusters.
    Whole,
    /// It runs as it is in every selected cluster (DaemonSets; everything under Duplicated).
    Everywhere,
}

/// A workload of an app.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Which of the app's objects it is.
    pub object: usize,
    /// Its kind.
    pub kind: WorkloadKind,
    /// Which part of a set it is, by name. The parts of an object lie together, and run in the same clusters.
    pub part: Option<SmolStr>,
    /// `apps/Deployment/checkout`, with the namespace before the name where it is not the app's; of a part
    /// `flink.apache.org/FlinkDeployment/clicks#taskmanager`.
    pub key: SmolStr,
    /// How it takes part in division.
    pub share: Share,
    /// Replicas to place: of the manifest, or `total`. For a Job min(parallelism, completions).
    pub replicas: u32,
    /// A Job's completions, divided by the same shares.
    pub completions: Option<u32>,
    /// The autoscaler that owns its replicas; `replicas` is then the bound of it that is divided.
    pub autoscaled: Option<Autoscaled>,
    /// How its replicas are divided.
    pub policy: Replicas,
    /// The same without the phase of a tide that counts now, where one does.
    pub stated: Option<Box<Workload>>,
}

/// The bounds of a workload in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// 0 where nothing may run.
    pub weight: u64,
    /// Fewest replicas.
    pub min: u32,
    /// Most replicas.
    pub max: Option<u32>,
}

/// Weight and bounds of a cluster: the largest weight of the matching rules, the strictest bounds. Copies have no weight.
#[must_use]
pub fn bounds(workload: &Workload, cluster: ClusterId) -> Bounds {
    let policy = &workload.policy;
    let weighs = is_static(policy) && workload.share != Share::Everywhere;
    let mut bounds = Bounds { weight: 1, min: policy.min, max: policy.max };
    let Some(rules) = policy.weights.as_ref().filter(|_| weighs) else { return bounds };
    bounds.weight = 0;
    for rule in rules.iter().filter(|rule| rule.clusters.contains(cluster)) {
        bounds.weight = bounds.weight.max(u64::from(rule.weight));
        bounds.min = bounds.min.max(rule.min.unwrap_or(0));
        bounds.max = [bounds.max, rule.max].into_iter().flatten().min();
    }
    bounds
}

/// Whether replicas are divided by stated weights. A strategy is not stated only where one cluster is selected.
#[must_use]
pub fn is_static(policy: &Replicas) -> bool {
    matches!(policy.strategy, None | Some(Strategy::StaticWeight))
}

/// An autoscaler of a workload. Its bounds are divided over the clusters that the workload runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Autoscaled {
    /// Which of the app's objects it is.
    pub object: usize,
    /// Fewest replicas, at least 1.
    pub min: u32,
    /// Most replicas, at least `min`.
    pub max: u32,
    /// How it is counted.
    pub policy: AutoscaledPolicy,
}

/// How autoscaled workloads are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoscaledPolicy {
    /// What is booked of them as room.
    pub room: AutoscaledRoom,
    /// Whether the most replicas are held against quota, in place of the fewest.
    pub counts_max: bool,
}

impl AutoscaledPolicy {
    /// Whether it is the most replicas that are divided, in place of the fewest.
    #[must_use]
    pub fn divides_max(self) -> bool {
        match self.room {
            AutoscaledRoom::Min | AutoscaledRoom::Observed => false,
            AutoscaledRoom::Max => true,
        }
    }
}

impl Autoscaled {
    /// How many replicas are booked as room in each cluster, where it holds `seats` of the bound that is divided and so many
    /// were observed (`None`: nothing was); `copied` where each cluster has all of it. At least the seats.
    #[must_use]
    pub fn booked(&self, seats: &[u32], observed: impl Fn(usize) -> Option<u32>, copied: bool) -> Vec<u32> {
        match self.policy.room {
            AutoscaledRoom::Min | AutoscaledRoom::Max => seats.to_vec(),
            AutoscaledRoom::Observed => {
                let of = |(at, (seat, (_, max))): (usize, (&u32, (u32, u32)))| {
                    observed(at).filter(|_| *seat > 0).map_or(*seat, |seen| seen.min(max).max(*seat))
                };
                seats.iter().zip(self.bounds(seats, copied)).enumerate().map(of).collect()
            }
        }
    }

    /// The bounds in each cluster, where it holds `seats` of the one that is divided; `copied` where each cluster has all of
    /// it.
    #[must_use]
    pub fn bounds(&self, seats: &[u32], copied: bool) -> Vec<(u32, u32)> {
        if copied {
            return seats.iter().map(|_| (self.min, self.max)).collect();
        }
        let most = self.policy.divides_max();
        let parts = share::divide_bound(if most { self.min } else { self.max }, seats, most);
        let pair = |(seat, part): (&u32, u32)| if most { (part, *seat) } else { (*seat, part) };
        seats.iter().zip(parts).map(pair).collect()
    }

    /// What quota counts of bounds.
    #[must_use]
    pub fn counted(&self, (min, max): (u32, u32)) -> u32 {
        if self.policy.counts_max { max } else { min }
    }

    /// What quota counts for each replica of the bound that is divided, rounded up.
    #[must_use]
    pub fn counted_for_each(&self) -> u32 {
        let divided = if self.policy.divides_max() { self.max } else { self.min };
        self.counted((self.min, self.max)).div_ceil(divided.max(1)).max(1)
    }
}

impl Workload {
    /// Whether its pods are counted: its object states a count, for all of it or for this part.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.part.is_some() || self.kind.is_counted()
    }

    /// The weight of a cluster: the largest of the rules that match, 1 where none are stated, 0 where none matches.
    #[must_use]
    pub fn weight(&self, cluster: ClusterId) -> u32 {
        self.policy.weights.as_ref().map_or(1, |_| self.rules(cluster).map(|rule| rule.weight).max().unwrap_or(0))
    }

    /// The fewest replicas that a cluster in use shall have: `perCluster.min`, or the `min` of a matching weight. 0 for
    /// what is not divided.
    #[must_use]
    pub fn floor(&self, cluster: ClusterId) -> u32 {
        if self.share != Share::Divided {
            return 0;
        }
        self.rules(cluster).filter_map(|rule| rule.min).fold(self.policy.min, u32::max)
    }

    /// Hands its replicas to an autoscaler. What is divided is one of its bounds, in equal shares of at least 1, so over at
    /// most `min` clusters.
    pub fn own(&mut self, autoscaled: Autoscaled) {
        let Autoscaled { min, max, policy, .. } = autoscaled;
        self.replicas = if policy.divides_max() { max } else { min };
        if policy.divides_max() {
            self.policy.min = self.policy.min.max(max.div_ceil(min.max(1)));
        }
        if self.policy.strategy == Some(Strategy::DynamicWeight) {
            self.policy.strategy = Some(Strategy::StaticWeight);
        }
        for rule in self.policy.weights.iter_mut().flatten() {
            rule.weight = rule.weight.min(1);
        }
        self.autoscaled = Some(autoscaled);
    }

    fn rules(&self, cluster: ClusterId) -> impl Iterator<Item = &WeightRule> {
        let weighs = matches!(self.policy.strategy, None | Some(Strategy::StaticWeight));
        let rules = self.policy.weights.iter().filter(move |_| weighs).flatten();
        rules.filter(move |rule| rule.clusters.contains(cluster))
    }
}

/// How replicas are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// The rule; `None` where no layer states one, which is an error once more than one cluster is selected.
    pub strategy: Option<Strategy>,
    /// Replaces the manifest's replicas.
    pub total: Option<u32>,
    /// Static weights; `None`: none stated, 1 each.
    pub weights: Option<Vec<WeightRule>>,
    /// Whose estimates a dynamic weight is; `None`: the room that there is.
    pub weigh_by: Option<SmolStr>,
    /// What happens when room is short.
    pub capacity: Capacity,
    /// At least so many replicas in each cluster that is used.
    pub min: u32,
    /// At most so many replicas in each cluster.
    pub max: Option<u32>,
    /// How autoscaled workloads are counted.
    pub autoscaled: AutoscaledPolicy,
    /// Digest of strategy, weight rules and weighBy, as text: what the lock compares.
    pub digest: Digest,
}

/// One weight rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightRule {
    /// The clusters it is for.
    pub clusters: ClusterSet,
    /// The weight.
    pub weight: u32,
    /// At least so many replicas.
    pub min: Option<u32>,
    /// At most so many replicas.
    pub max: Option<u32>,
}
