//! Which clusters may take new replicas of an app, and which must give up those they have.
//!
//! A filter never looks at room, at other apps or at what the app runs elsewhere. Vetoes keep only *new* replicas away;
//! a release makes placed ones leave. The next filter is a file of its own here and a line of [`FILTERS`]; its verdict
//! is a variant of [`Verdict`].

mod affinity;
mod api;
mod evicted;
mod health;
mod lifecycle;
mod lost;
mod taint;

use crate::base::ClusterId;
use crate::base::taint::Toleration;
use crate::model::{App, ClusterSet, Fleet};

use super::Verdict;
use super::conditions::Conditions;

pub(super) use api::{Need, Served};

/// What a filter is asked about.
#[derive(Clone, Copy)]
pub(super) struct Question<'c> {
    pub fleet: &'c Fleet,
    pub app: &'c App,
    /// The kinds of the app that not every cluster serves.
    pub needs: &'c [Need],
    pub cluster: ClusterId,
    pub conditions: &'c Conditions,
    /// Whether the app is evicted from the cluster.
    pub evicted: bool,
}

/// How placed replicas leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Release {
    /// The state of the cluster makes them leave, once they have a place elsewhere: finding none never clears a
    /// placement. Replicas bound to their data stay.
    Evicted,
    /// Intent no longer wants them there. They leave once they have a place elsewhere.
    Moves,
    /// At once: there is nothing left to keep, or no right to it.
    Gone,
}

/// A filter.
pub(super) struct Filter {
    /// Why no new replica may come.
    pub veto: fn(&Question<'_>) -> Option<Verdict>,
    /// Whether placed replicas leave.
    pub release: fn(&Question<'_>) -> Option<Release>,
}

/// All filters; of several verdicts the first is given.
const FILTERS: [Filter; 7] =
    [affinity::FILTER, lost::FILTER, evicted::FILTER, lifecycle::FILTER, taint::FILTER, api::FILTER, health::FILTER];

/// What filters may look at of an app, but for the first, which answers from its placement: apps that are equal in it get
/// equal answers, and share them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Traits<'f> {
    /// Added up over all layers.
    pub tolerations: &'f [Toleration],
    /// The kinds that not every cluster serves.
    pub needs: Vec<Need>,
    /// Clusters that the app is evicted from.
    pub evicted: ClusterSet,
}

/// Whether every filter but the first lets new replicas come.
pub(super) fn passes_all_but_affinity(question: &Question<'_>) -> bool {
    FILTERS.iter().skip(1).all(|filter| (filter.veto)(question).is_none())
}

/// Whether no filter but the first makes placed replicas leave.
pub(super) fn releases_none_but_affinity(question: &Question<'_>) -> bool {
    FILTERS.iter().skip(1).all(|filter| (filter.release)(question).is_none())
}

/// Why no new replica may come; `None` where it may.
pub(super) fn veto(question: &Question<'_>) -> Option<Verdict> {
    FILTERS.iter().find_map(|filter| (filter.veto)(question))
}

/// Everything that keeps new replicas away.
pub(super) fn vetoes(question: &Question<'_>) -> Vec<Verdict> {
    FILTERS.iter().filter_map(|filter| (filter.veto)(question)).collect()
}

/// Whether placed replicas leave; the hardest release counts.
pub(super) fn release(question: &Question<'_>) -> Option<Release> {
    FILTERS.iter().filter_map(|filter| (filter.release)(question)).max()
}

/// For filters that veto only new replicas.
fn never(_: &Question<'_>) -> Option<Release> {
    None
}
