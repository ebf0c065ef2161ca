//! What one commit of the live branch wants of every cluster: compiled once, shared by all orders that come of it.
//!
//! Invariants: only of a commit that compiles, so nothing is missing because something could not be read; the intents are
//! those of the pinned commit, whatever the live branch holds beside its record; what runs is what `placements/` says, and
//! nothing that would follow from it (`recorded.rs`); pure but for reading the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::base::{AppId, ClusterId, SmolStr};
use fleetwright_compiler::model::{self, ClusterMode, CustomKind, Fleet, MinAvailable};
use fleetwright_compiler::placements::OutageState;
use fleetwright_compiler::{Compiled, Session};

use super::moves::{self, By, Pair};
use super::order::ClusterOrder;
use super::recorded::Recorded;
use crate::advance::{AdvanceError, Branches};
use crate::apply::budget::{Approvals, Budget};
use crate::apply::desired::{Desired, Intents};
use crate::apply::floor::{self, DEFAULT_MIN_AVAILABLE};
use crate::apply::inventory::AppName;
use crate::apply::view::{Drift, FleetStop, Mode, Rules};
use crate::cluster::{Key, ServiceAccount};
use crate::decide::DecideError;
use crate::instant;
use crate::observation::{Answers, ClusterSeen, Observation};
use crate::ports::{CommitId, FleetRepo};
use crate::seen::SeenLive;
use crate::state::State;

/// What a live commit wants of every cluster.
#[derive(Debug)]
pub struct Wanted {
    fleet: SmolStr,
    commit: CommitId,
    pin: CommitId,
    ancestors: Arc<BTreeSet<SmolStr>>,
    state: State,
    compiled: Compiled,
    intents: Arc<Intents>,
    kinds: Arc<[Arc<CustomKind>]>,
    approvals: Approvals,
    workload_keys: Arc<BTreeMap<Key, SmolStr>>,
    unrecorded: BTreeSet<AppName>,
    removed: BTreeMap<Pair, By>,
    clusters: BTreeMap<SmolStr, OfCluster>,
}

/// What it wants of one.
#[derive(Debug)]
struct OfCluster {
    id: ClusterId,
    desired: Arc<Desired>,
    rules: Rules,
    pools: Vec<(SmolStr, Labels)>,
}

/// Why a live commit cannot be followed. What was followed before it still is.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WantedError {
    /// It could not be read, or is not one that a decider could have made.
    #[error(transparent)]
    Advance(#[from] AdvanceError),
    /// It does not compile.
    #[error("the live commit {} does not compile, so nothing of it is applied; revert it:\n{text}", .commit.short())]
    Refused {
        /// The commit.
        commit: CommitId,
        /// The diagnostics.
        text: String,
    },
}

impl From<DecideError> for WantedError {
    fn from(error: DecideError) -> Self {
        Self::Advance(error.into())
    }
}

impl Wanted {
    /// Reads and compiles the commit that the live branch stands at.
    ///
    /// # Errors
    /// When it cannot be read, was tampered with, or does not compile.
    pub fn read(
        repo: &dyn FleetRepo,
        session: &Session,
        branches: &Branches,
        tip: &CommitId,
    ) -> Result<Self, WantedError> {
        let live = SeenLive::open(repo, branches, tip)?;
        live.live().check_intents()?;
        let recorded = Recorded::read(session, &live, tip)?;
        // While a cluster is lost, what was ever taken from it may still run there.
        let lost_since = live.state.outages.values().filter(|outage| outage.state == OutageState::Lost);
        let lost_since = lost_since.filter_map(|outage| instant::parse(outage.since.as_deref()?)).min();
        let removed = moves::removed(repo, &live.history, lost_since)?;
        let ancestors = live.history.iter().map(|commit| commit.id.0.clone()).chain([tip.0.clone()]).collect();
        Ok(Self::of(recorded, tip.clone(), live.pin, live.state, ancestors, removed))
    }

    fn of(
        Recorded { compiled, unrecorded }: Recorded,
        commit: CommitId,
        pin: CommitId,
        state: State,
        ancestors: BTreeSet<SmolStr>,
        removed: BTreeMap<Pair, By>,
    ) -> Self {
        let fleet = &compiled.fleet;
        let keys = fleet.apps.iter().flat_map(|app| {
            app.workloads.iter().filter_map(|workload| {
                let object = app.objects.get(workload.object)?;
                Some((Key::from(&object.key), workload.key.clone()))
            })
        });
        let workload_keys = Arc::new(keys.collect());
        // What runs of them may have been applied under a name that they had before.
        let ids = unrecorded.iter().filter_map(|(team, app)| fleet.app_id(team, app));
        let before = ids.flat_map(|id| fleet.app(id).previous_names.iter().cloned());
        let untouched: BTreeSet<AppName> = before.chain(unrecorded.iter().cloned()).collect();
        let clusters = fleet.cluster_ids().map(|id| {
            let cluster = fleet.cluster(id);
            let pools = cluster.pools.iter().flatten().map(|pool| (pool.name.clone(), pool.labels.clone())).collect();
            let desired = Arc::new(desired(&compiled, id));
            let rules = Rules { unrecorded: untouched.clone(), ..rules(fleet, &state, id, &removed) };
            let of = OfCluster { id, desired, rules, pools };
            (cluster.name.clone(), of)
        });
        Self {
            fleet: fleet.settings.name.clone(),
            clusters: clusters.collect(),
            intents: Arc::new(Intents::of(&compiled)),
            kinds: fleet.kinds.iter().cloned().collect(),
            approvals: approvals(&state),
            ancestors: Arc::new(ancestors),
            workload_keys,
            unrecorded,
            removed,
            commit,
            pin,
            state,
            compiled,
        }
    }

    /// The commit of the live branch.
    #[must_use]
    pub fn commit(&self) -> &CommitId {
        &self.commit
    }

    /// The commit of the intents that it was made from.
    #[must_use]
    pub fn pin(&self) -> &CommitId {
        &self.pin
    }

    /// What its record says about the decider's own affairs.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What it compiles to.
    #[must_use]
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The names of its clusters, ascending.
    pub fn clusters(&self) -> impl Iterator<Item = &SmolStr> {
        self.clusters.keys()
    }

    /// Whether it is one of its clusters.
    #[must_use]
    pub fn has(&self, cluster: &str) -> bool {
        self.clusters.contains_key(cluster)
    }

    /// The branch that manifests are written to, if they are.
    #[must_use]
    pub fn rendered_branch(&self) -> Option<&str> {
        self.compiled.fleet.settings.rendered_branch.as_deref()
    }

    /// What must stay ready of an app before a cluster is lowered.
    #[must_use]
    pub fn min_available(&self, app: AppId) -> MinAvailable {
        self.compiled.fleet.app(app).min_available.unwrap_or(DEFAULT_MIN_AVAILABLE)
    }

    /// The name of a workload in `placements/`.
    #[must_use]
    pub fn workload_key(&self, key: &Key) -> Option<&SmolStr> {
        self.workload_keys.get(key)
    }

    /// How much may be deleted without approval: in each cluster, and in all together.
    #[must_use]
    pub fn budget(&self) -> Budget {
        budget(&self.compiled.fleet)
    }

    /// Approvals that nobody used.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// What is ordered for a cluster, from what is seen of all of them. `proven` are ancestors that are not in recent history. `None` for a cluster that is not of the fleet.
    #[must_use]
    pub fn order(
        &self,
        cluster: &str,
        observation: &Observation,
        fetched_secs: i64,
        fleet_stop: Option<FleetStop>,
        proven: &BTreeSet<SmolStr>,
    ) -> Option<ClusterOrder> {
        let of = self.clusters.get(cluster)?;
        let min_available = |app: AppId| self.min_available(app);
        Some(ClusterOrder {
            fleet: self.fleet.clone(),
            recorded_uid: self.recorded_uid(cluster),
            live_commit: self.commit.clone(),
            ancestors: if proven.is_empty() {
                Arc::clone(&self.ancestors)
            } else {
                Arc::new(self.ancestors.union(proven).cloned().collect())
            },
            term: self.state.decider.as_ref().map_or(1, |decider| decider.term),
            fetched_secs,
            desired: self.with_exclusive(of, observation),
            intents: Arc::clone(&self.intents),
            floors: floor::floors(&self.compiled, of.id, observation, &min_available),
            approvals: self.approvals.clone(),
            rules: Rules { fleet_stop, ..of.rules.clone() },
            kinds: Arc::clone(&self.kinds),
            workload_keys: Arc::clone(&self.workload_keys),
            pools: of.pools.clone(),
        })
    }

    /// What is wanted of a cluster, with the clusters in which each exclusive app may still run.
    fn with_exclusive(&self, of: &OfCluster, observation: &Observation) -> Arc<Desired> {
        let fleet = &self.compiled.fleet;
        let exclusive = |name: &AppName| fleet.app_id(&name.0, &name.1).is_some_and(|id| fleet.app(id).exclusive);
        if !of.desired.apps().keys().any(exclusive) {
            return Arc::clone(&of.desired);
        }
        let mut apps = of.desired.apps().clone();
        for (name, desired) in apps.iter_mut().filter(|(name, _)| exclusive(name)) {
            let others = self.clusters.iter().filter(|(_, other)| other.id != of.id);
            let may_run = others.filter(|(cluster, _)| self.may_run(name, cluster, observation.clusters.get(*cluster)));
            desired.may_run_in = may_run.map(|(cluster, _)| cluster.clone()).collect();
        }
        Arc::new(Desired::new(apps))
    }

    /// Whether an app may run in a cluster that it should not run in: it is seen there, or was taken from it and was not seen
    /// gone since, nor did anybody confirm that it is.
    fn may_run(&self, app: &AppName, cluster: &SmolStr, seen: Option<&ClusterSeen>) -> bool {
        let fleet = &self.compiled.fleet;
        let before = fleet.app_id(&app.0, &app.1).map(|id| fleet.app(id).previous_names.as_slice()).unwrap_or_default();
        // Under a name that it had before it is the same app.
        let names = || std::iter::once(app).chain(before);
        let here = seen.is_some_and(|seen| names().any(|name| seen.apps.contains_key(name)));
        let is_gone = seen.is_some_and(|seen| seen.is_complete && matches!(seen.answers, Answers::Yes { .. }));
        let was_there = names().any(|name| self.removed.contains_key(&(name.clone(), cluster.clone())));
        here || was_there && !is_gone && !self.is_fenced(cluster)
    }

    /// Whether somebody confirmed that nothing runs in this cluster any more, in this outage.
    fn is_fenced(&self, cluster: &SmolStr) -> bool {
        let fence = self.state.fences.get(cluster);
        fence.is_some_and(|fence| {
            fence.epoch == self.state.epoch(cluster) && self.recorded_uid(cluster).is_some_and(|uid| uid == fence.uid)
        })
    }

    /// The cluster's identity as it was recorded with its capacity.
    fn recorded_uid(&self, cluster: &str) -> Option<SmolStr> {
        self.state.capacities.get(cluster)?.uid.clone()
    }

    /// Whether nothing is recorded of an app.
    #[must_use]
    pub fn is_unrecorded(&self, app: AppId) -> bool {
        self.unrecorded.contains(&app_name(&self.compiled.fleet, app))
    }

    /// Apps of the fleet of which nothing is recorded: what runs of them stays as it is, until the decider recorded where they
    /// are to run.
    #[must_use]
    pub fn unrecorded(&self) -> &BTreeSet<AppName> {
        &self.unrecorded
    }
}

/// What a compile wants in a cluster, with what its apps say of how it is applied.
fn desired(compiled: &Compiled, cluster: ClusterId) -> Desired {
    let fleet = &compiled.fleet;
    let mut apps = Desired::of(compiled, cluster).into_apps();
    for (name, desired) in &mut apps {
        let Some(app) = fleet.app_id(&name.0, &name.1).map(|id| fleet.app(id)) else { continue };
        desired.depends_on = app.depends_on.iter().map(|on| app_name(fleet, *on)).collect();
        let account = fleet.team(app.team).service_account.as_ref();
        desired.service_account =
            account.map(|account| ServiceAccount { namespace: account.namespace.clone(), name: account.name.clone() });
        desired.keep_removed = app.keep_removed || compiled.record.suspended.contains(name);
    }
    Desired::new(apps)
}

pub(super) fn app_name(fleet: &Fleet, app: AppId) -> AppName {
    let app = fleet.app(app);
    (fleet.team(app.team).name.clone(), app.name.clone())
}

fn rules(fleet: &Fleet, state: &State, cluster: ClusterId, removed: &BTreeMap<Pair, By>) -> Rules {
    let cluster = fleet.cluster(cluster);
    let outage = state.outages.get(&cluster.name).map(|outage| outage.state);
    let moved = removed.iter().filter(|((_, from), by)| *from == cluster.name && **by == By::Decision);
    Rules {
        mode: match cluster.mode {
            ClusterMode::Apply => Mode::Apply,
            ClusterMode::Observe => Mode::Observe,
            ClusterMode::Suspended => Mode::Suspended,
        },
        drift: match fleet.settings.drift {
            model::Drift::Correct => Drift::Correct,
            model::Drift::Report => Drift::Report,
        },
        budget: budget(fleet),
        // One that was declared lost is cleaned before it takes anything, whenever it answers.
        quarantined: matches!(outage, Some(OutageState::Lost | OutageState::Quarantined)),
        adopt: fleet.settings.adopt_managers.clone(),
        moved: moved.map(|((app, _), _)| app.clone()).collect(),
        unrecorded: BTreeSet::new(),
        fleet_stop: None,
    }
}

fn budget(fleet: &Fleet) -> Budget {
    match &fleet.settings.limits.deletions {
        None => Budget::Default,
        Some(limit) => Budget::Stated { share_percent: limit.share_percent, count: limit.count },
    }
}

/// Approvals that nobody used. One whose end cannot be read has ended.
fn approvals(state: &State) -> Approvals {
    let unused = state.approvals.values().filter(|approval| approval.used.is_none());
    let expires = unused.filter_map(|approval| Some((approval.hash.clone(), instant::parse(&approval.expires)?)));
    Approvals { expires_secs: expires.collect() }
}
