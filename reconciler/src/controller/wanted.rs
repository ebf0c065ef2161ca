//! What one commit of the live branch wants of every cluster: compiled once, shared by all orders that come of it.
//!
//! Invariants: only of a commit that compiles, so nothing is missing because something could not be read; the intents are
//! those of the pinned commit, whatever the live branch holds beside its record; pure but for reading the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::base::{ClusterId, SmolStr};
use fleetwright_compiler::model::CustomKind;
use fleetwright_compiler::placements::{OutageState, Record};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Compiled, Session, compile};

use super::moves;
use super::order::ClusterOrder;
use crate::advance::{AdvanceError, Branches};
use crate::apply::budget::{Approvals, Budget};
use crate::apply::desired::{Desired, Intents};
use crate::apply::floor::{self, DEFAULT_MIN_AVAILABLE_PERCENT};
use crate::apply::inventory::AppName;
use crate::apply::view::{FleetStop, Rules};
use crate::cluster::Key;
use crate::decide::{DecideError, refusal_text};
use crate::instant;
use crate::observation::Observation;
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
    moved: BTreeSet<(AppName, SmolStr)>,
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
        let record = live.record.tree();
        let overlay = Overlay::with_record(&*live.pinned, &record);
        let compiled = match compile(session, &overlay, &Scenario::default()) {
            Ok(compiled) => compiled,
            Err(CompileError::Refused(refusal)) => {
                let text = refusal_text(&overlay, &refusal);
                return Err(WantedError::Refused { commit: tip.clone(), text });
            }
            Err(CompileError::Files(error)) => return Err(DecideError::from(error).into()),
            Err(CompileError::Bug(violations)) => return Err(DecideError::Bug(violations).into()),
        };
        let moved = moves::removed_by_decisions(repo, &live.history).map_err(AdvanceError::from)?;
        let ancestors = live.history.iter().map(|commit| commit.id.0.clone()).chain([tip.0.clone()]).collect();
        Ok(Self::of(compiled, tip.clone(), live.pin, live.state, ancestors, moved))
    }

    fn of(
        compiled: Compiled,
        commit: CommitId,
        pin: CommitId,
        state: State,
        ancestors: BTreeSet<SmolStr>,
        moved: BTreeSet<(AppName, SmolStr)>,
    ) -> Self {
        let fleet = &compiled.fleet;
        let keys = fleet.apps.iter().flat_map(|app| {
            app.workloads.iter().filter_map(|workload| {
                let object = app.objects.get(workload.object)?;
                Some((Key::from(&object.key), workload.key.clone()))
            })
        });
        let workload_keys = Arc::new(keys.collect());
        let clusters = fleet.cluster_ids().map(|id| {
            let cluster = fleet.cluster(id);
            let pools = cluster.pools.iter().flatten().map(|pool| (pool.name.clone(), pool.labels.clone())).collect();
            let desired = Arc::new(Desired::of(&compiled, id));
            let of = OfCluster { id, desired, rules: rules(&state, &cluster.name, &moved), pools };
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
            moved,
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

    /// How much may be deleted without approval: in each cluster, and in all together.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget::Default
    }

    /// Approvals that nobody used.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Apps that a decision removed from a cluster, and that no decision put back.
    #[must_use]
    pub fn moved(&self) -> &BTreeSet<(AppName, SmolStr)> {
        &self.moved
    }

    /// What is ordered for a cluster, from what is seen of all of them. `None` for a cluster that is not of the fleet.
    #[must_use]
    pub fn order(
        &self,
        cluster: &str,
        observation: &Observation,
        fetched_secs: i64,
        fleet_stop: Option<FleetStop>,
    ) -> Option<ClusterOrder> {
        let of = self.clusters.get(cluster)?;
        let min_available = |_| DEFAULT_MIN_AVAILABLE_PERCENT;
        Some(ClusterOrder {
            fleet: self.fleet.clone(),
            recorded_uid: self.recorded_uid(cluster),
            live_commit: self.commit.clone(),
            ancestors: Arc::clone(&self.ancestors),
            term: self.state.decider.as_ref().map_or(1, |decider| decider.term),
            fetched_secs,
            desired: Arc::clone(&of.desired),
            intents: Arc::clone(&self.intents),
            floors: floor::floors(&self.compiled, of.id, observation, &min_available),
            approvals: self.approvals.clone(),
            rules: Rules { fleet_stop, ..of.rules.clone() },
            kinds: Arc::clone(&self.kinds),
            workload_keys: Arc::clone(&self.workload_keys),
            pools: of.pools.clone(),
        })
    }

    /// The cluster's identity as it was recorded with its capacity.
    fn recorded_uid(&self, cluster: &str) -> Option<SmolStr> {
        self.state.capacities.get(cluster)?.uid.clone()
    }

    /// The record that is live.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.compiled.record
    }
}

fn rules(state: &State, cluster: &SmolStr, moved: &BTreeSet<(AppName, SmolStr)>) -> Rules {
    let outage = state.outages.get(cluster).map(|outage| outage.state);
    Rules {
        // One that was declared lost is cleaned before it takes anything, whenever it answers.
        quarantined: matches!(outage, Some(OutageState::Lost | OutageState::Quarantined)),
        moved: moved.iter().filter(|(_, from)| from == cluster).map(|(app, _)| app.clone()).collect(),
        ..Rules::plain()
    }
}

/// Approvals that nobody used. One whose end cannot be read has ended.
fn approvals(state: &State) -> Approvals {
    let unused = state.approvals.values().filter(|approval| approval.used.is_none());
    let expires = unused.filter_map(|approval| Some((approval.hash.clone(), instant::parse(&approval.expires)?)));
    Approvals { expires_secs: expires.collect() }
}
