//! The thin shell around [`decide`]: observe, decide, write, record, until nothing is left to do now.
//!
//! Invariants: what an [`Applier`] remembers can be lost at any instruction; it only saves requests. Every batch for an app
//! begins with the conditioned write of its inventory; whoever loses that race writes nothing.

mod begin;
mod delete;
mod execute;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::{Digest, SmolStr};

use super::budget::Approvals;
use super::decide::{Pass, decide};
use super::desired::{Desired, Intents};
use super::floor::Floors;
use super::inventory::{AppName, ID_LABEL, Inventory, InventoryError, NAMESPACE, PART_OF_LABEL};
use super::live::{Assess, Live};
use super::view::{Book, Failure, Mode, Rules, Stored, View};
use crate::cluster::{ClusterApi, ClusterError, Delta, GroupKind, Identity, Key, Served, Watch};
use crate::ports::CommitId;

pub use outcome::{Did, Done, Report};

/// What an applier is told to do.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The fleet, as inventories name it.
    pub fleet: &'a str,
    /// The cluster's UID as the record knows it; `None`: not known yet.
    pub recorded_uid: Option<&'a str>,
    /// The commit of `live`.
    pub live_commit: &'a CommitId,
    /// The term of the decider.
    pub term: u64,
    /// When the repository was fetched last, in seconds since 1970.
    pub fetched_secs: i64,
    /// What should be there.
    pub desired: &'a Desired,
    /// What people want at all.
    pub intents: &'a Intents,
    /// What must stay ready.
    pub floors: &'a Floors,
    /// Approvals.
    pub approvals: &'a Approvals,
    /// How the cluster is treated.
    pub rules: &'a Rules,
    /// Whether a commit is `live_commit` or one of its ancestors.
    pub is_ancestor: &'a dyn Fn(&CommitId) -> bool,
    /// Judges health.
    pub assess: Assess<'a>,
}

impl std::fmt::Debug for Order<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order").field("live_commit", self.live_commit).field("term", &self.term).finish_non_exhaustive()
    }
}

/// Why a pass did nothing at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// The probe was not answered, or refused.
    #[error(transparent)]
    Probe(ClusterError),
    /// It answered the probe, and not what it was asked then.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// It is not the cluster of that name.
    #[error(
        "this is another cluster (kube-system has UID {found}, the record says {recorded}); accept it in the record first"
    )]
    OtherCluster {
        /// Its UID.
        found: SmolStr,
        /// The recorded one.
        recorded: SmolStr,
    },
    /// Nobody knows whether the order is still the newest.
    #[error("the repository was fetched {0} s ago; nothing is written until it can be fetched again")]
    NotFetched(i64),
    /// Another decider took over.
    #[error("the cluster was written for term {found}, this is term {ours}: another decider took over")]
    Superseded {
        /// The term in the cluster.
        found: u64,
        /// Ours.
        ours: u64,
    },
    /// Going there would be going back.
    #[error(
        "the cluster has {found} of the live branch, of which {ours} is no descendant: the repository is not the one it was applied from, or its live branch was moved back"
    )]
    NotForward {
        /// What the cluster has.
        found: SmolStr,
        /// What is to be applied.
        ours: SmolStr,
    },
    /// An app of that name belongs to another fleet.
    #[error("{}/{} is applied here by fleet `{found}`; two fleets in one cluster need different names", .app.0, .app.1)]
    OtherFleet {
        /// The app.
        app: AppName,
        /// The fleet.
        found: SmolStr,
    },
    /// An inventory cannot be read.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
}

/// The applier of one cluster.
#[derive(Debug, Default)]
pub struct Applier {
    live: Live,
    served: Option<Arc<Served>>,
    /// `None`: to be read.
    book: Option<Book>,
    failures: BTreeMap<Key, Failure>,
    /// Inventories whose last state is not stored yet.
    unsaved: BTreeSet<AppName>,
    /// Of a cluster that is observed only: what was asked for each object, and said. Empty text: that it would be deleted.
    previewed: BTreeMap<Key, SmolStr>,
    /// What is watched, for the commit of the last pass.
    watches: Vec<Watch>,
    /// What was ordered when the last pass left nothing to do: as long as it is ordered and nothing changes, nothing is
    /// looked through.
    idle: Option<(CommitId, Option<Digest>, u64, Rules)>,
}

/// An order counts so long after the fetch it came from.
const FETCHED_WITHIN_SECS: i64 = 300;

/// Rounds of one pass: five rounds of kinds, replaced Jobs and handed-over replicas; more would be a loop.
const MAX_ROUNDS: usize = 12;

impl Applier {
    /// What is known of the cluster's objects.
    #[must_use]
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// What was applied; `None` before it was read.
    #[must_use]
    pub fn book(&self) -> Option<&Book> {
        self.book.as_ref()
    }

    /// Whether every kind of what was applied is seen.
    #[must_use]
    pub fn sees_all(&self) -> bool {
        let applied = |stored: &Stored| stored.inventory.objects.keys().all(|key| self.live.knows(&key.kind));
        self.book.as_ref().is_some_and(|book| book.values().all(applied))
    }

    /// Brings the cluster as near to what is ordered as it can be now.
    ///
    /// # Errors
    /// When the cluster does not answer, or must not be written at all. What was begun is safe.
    pub fn pass(&mut self, api: &mut dyn ClusterApi, order: &Order<'_>, now_secs: i64) -> Result<Report, PassError> {
        let mut report = Report::new(identify(api, order)?);
        self.read_book(api, order)?;
        let is_idle = self.idle.as_ref().is_some_and(|(commit, desired, term, rules)| {
            (commit, *desired, *term, rules) == (order.live_commit, order.desired.digest(), order.term, order.rules)
        });
        let changed = self.observe(api, order, is_idle)?;
        if changed {
            self.idle = None;
        }
        let age_secs = now_secs.saturating_sub(order.fetched_secs);
        if age_secs > FETCHED_WITHIN_SECS {
            return Err(PassError::NotFetched(age_secs));
        }
        if order.rules.mode == Mode::Suspended || is_idle && !changed {
            return Ok(report);
        }
        self.idle = None;
        if order.rules.mode != Mode::Observe {
            self.previewed.clear();
        }
        let mut begun = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            let pass = self.decide(order, &report.identity, now_secs);
            report.held.clone_from(&pass.held);
            report.unfinished = pass.steps.len();
            if pass.steps.is_empty() {
                break;
            }
            if order.rules.mode == Mode::Observe {
                self.preview(api, order, &pass, &mut report);
                break;
            }
            let allowed = self.begin(api, order, &pass, &mut begun, &mut report);
            let steps: Vec<_> = pass.steps.into_iter().filter(|step| allowed.contains(step.app())).collect();
            if steps.is_empty() {
                break;
            }
            self.execute(api, order, &steps, now_secs, &mut report);
        }
        self.save(api, order, &mut report);
        if report.is_settled() && self.unsaved.is_empty() && self.book.is_some() {
            self.idle = Some((order.live_commit.clone(), order.desired.digest(), order.term, order.rules.clone()));
        }
        Ok(report)
    }

    /// Says what a pass would find, and writes nothing.
    ///
    /// # Errors
    /// When the cluster does not answer, or a pass would not write to it at all.
    pub fn inspect(&mut self, api: &mut dyn ClusterApi, order: &Order<'_>, now_secs: i64) -> Result<Report, PassError> {
        let mut report = Report::new(identify(api, order)?);
        self.read_book(api, order)?;
        self.observe(api, order, false)?;
        let pass = self.decide(order, &report.identity, now_secs);
        report.unfinished = pass.steps.len();
        report.held = pass.held;
        Ok(report)
    }

    /// The objects that would be deleted here without a budget: for the budget over all clusters.
    #[must_use]
    pub fn doomed(&self, order: &Order<'_>, cluster_uid: &str, now_secs: i64) -> Vec<Key> {
        let (Some(book), Some(served)) = (&self.book, &self.served) else { return Vec::new() };
        super::prune::doomed(&self.view(order, book, served, cluster_uid, now_secs))
    }

    fn decide(&self, order: &Order<'_>, identity: &Identity, now_secs: i64) -> Pass {
        let (Some(book), Some(served)) = (&self.book, &self.served) else { return Pass::default() };
        let mut pass = decide(&self.view(order, book, served, &identity.uid, now_secs));
        if order.rules.mode == Mode::Observe {
            pass.steps.retain(|step| {
                let asked = order.desired.object(step.key()).map(|object| object.digest.clone()).unwrap_or_default();
                self.previewed.get(step.key()) != Some(&asked)
            });
        }
        pass
    }

    fn view<'a>(
        &'a self,
        order: &Order<'a>,
        book: &'a Book,
        served: &'a Served,
        cluster_uid: &'a str,
        now_secs: i64,
    ) -> View<'a> {
        View {
            now_secs,
            cluster_uid,
            live_commit: order.live_commit,
            desired: order.desired,
            intents: order.intents,
            book,
            live: &self.live,
            served,
            floors: order.floors,
            approvals: order.approvals,
            failures: &self.failures,
            rules: order.rules,
        }
    }

    /// Reads the inventories, once, and again after a lost race. Then minds that this order is not an old one.
    fn read_book(&mut self, api: &mut dyn ClusterApi, order: &Order<'_>) -> Result<(), PassError> {
        if self.book.is_none() {
            let watch =
                Watch { kind: GroupKind::new("", "ConfigMap"), selector: Some(ID_LABEL.into()), metadata_only: false };
            let mut book = Book::new();
            for object in api.list(&watch, Some(NAMESPACE))? {
                let inventory = Inventory::read(&object)?;
                let app = inventory.app_name();
                if inventory.fleet != order.fleet {
                    if order.desired.apps().contains_key(&app) {
                        return Err(PassError::OtherFleet { app, found: inventory.fleet });
                    }
                    continue;
                }
                book.insert(app, Stored { inventory, resource_version: None, uid: None }.stored_as(&object));
            }
            self.book = Some(book);
            self.unsaved.clear();
        }
        let book = self.book.iter().flat_map(BTreeMap::values);
        let mut seen: BTreeSet<&SmolStr> = BTreeSet::new();
        for inventory in book.map(|stored| &stored.inventory) {
            if inventory.term > order.term {
                return Err(PassError::Superseded { found: inventory.term, ours: order.term });
            }
            let live = &inventory.live;
            if !live.is_empty() && seen.insert(live) && !(order.is_ancestor)(&CommitId(live.clone())) {
                return Err(PassError::NotForward { found: live.clone(), ours: order.live_commit.0.clone() });
            }
        }
        Ok(())
    }

    /// Learns what is new of every kind that matters. Returns whether anything is.
    fn observe(&mut self, api: &mut dyn ClusterApi, order: &Order<'_>, is_idle: bool) -> Result<bool, PassError> {
        if !is_idle || self.served.is_none() {
            let kinds = self.kinds(order);
            let served = match &self.served {
                Some(served) if kinds.iter().all(|kind| served.has(kind)) => Arc::clone(served),
                Some(_) | None => api.served()?,
            };
            let listable = kinds.iter().filter(|kind| served.kind(kind, None).is_some_and(|kind| kind.listable));
            self.watches = listable.map(watch_of).collect();
            self.served = Some(served);
        }
        let mut changed = false;
        for (watch, seen) in self.watches.iter().zip(api.observe(&self.watches)) {
            changed |= !matches!(&seen, Ok(Delta::Changes(changes)) if changes.is_empty());
            match seen {
                Ok(delta) => self.live.take(&watch.kind, &delta, order.assess),
                Err(error) => {
                    if matches!(error, ClusterError::NotServed(_)) {
                        self.served = None;
                    }
                    self.live.forget(&watch.kind, error.to_string());
                }
            }
        }
        if self.served.is_none() {
            self.served = Some(api.served()?);
        }
        Ok(changed)
    }

    /// The kinds that matter: of what should be there, of what was applied, and HorizontalPodAutoscalers of everybody.
    fn kinds(&self, order: &Order<'_>) -> BTreeSet<GroupKind> {
        let desired = order.desired.apps().values().flat_map(|app| app.objects.keys());
        let applied = self.book.iter().flat_map(BTreeMap::values).flat_map(|stored| stored.inventory.objects.keys());
        let mut kinds: BTreeSet<GroupKind> = desired.chain(applied).map(|key| key.kind.clone()).collect();
        kinds.insert(autoscaler());
        kinds
    }
}

/// Who answers, if it is the cluster that is meant.
fn identify(api: &mut dyn ClusterApi, order: &Order<'_>) -> Result<Identity, PassError> {
    let identity = api.identity().map_err(PassError::Probe)?;
    match order.recorded_uid {
        Some(recorded) if recorded != identity.uid => {
            Err(PassError::OtherCluster { found: identity.uid, recorded: recorded.into() })
        }
        Some(_) | None => Ok(identity),
    }
}

fn autoscaler() -> GroupKind {
    GroupKind::new("autoscaling", "HorizontalPodAutoscaler")
}

/// How a kind is watched: by the label that is added when applying; without `spec` and `status` where health does not need
/// them.
fn watch_of(kind: &GroupKind) -> Watch {
    let plain = matches!(kind.group.as_str(), "rbac.authorization.k8s.io" | "scheduling.k8s.io" | "storage.k8s.io")
        || (kind.group.is_empty() && matches!(kind.kind.as_str(), "ConfigMap" | "Secret" | "ServiceAccount"));
    let everybodys = *kind == autoscaler();
    Watch { kind: kind.clone(), selector: (!everybodys).then(|| PART_OF_LABEL.into()), metadata_only: plain }
}
