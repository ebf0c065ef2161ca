//! What threads share: an order for each cluster, and what came of its turns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleetwright_compiler::base::SmolStr;

use super::order::ClusterOrder;
use super::turn::Turn;
use crate::observation::Observation;

/// The board.
#[derive(Clone, Debug, Default)]
pub struct Board(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Something was ordered, or the end.
    news: Condvar,
    /// A turn was taken.
    turned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By cluster; the number rises with each order.
    orders: BTreeMap<SmolStr, (u64, Arc<ClusterOrder>)>,
    turns: BTreeMap<SmolStr, Turn>,
    /// The number of the order that the last turn of each cluster was taken with.
    done: BTreeMap<SmolStr, u64>,
    /// Whether whoever waits has something to look at.
    has_news: bool,
    /// Clusters that left the fleet, whose threads may not have ended yet.
    dismissed: BTreeSet<SmolStr>,
    stopping: bool,
}

/// What a thread is to do next.
#[derive(Clone, Debug)]
pub enum Next {
    /// A turn with this order, whose number it is.
    Turn(u64, Arc<ClusterOrder>),
    /// To end.
    Stop,
}

impl Board {
    /// Orders something of a cluster. Its thread takes a turn at once where it is something else than before.
    pub fn order(&self, cluster: &SmolStr, order: ClusterOrder) {
        let mut state = self.state();
        state.dismissed.remove(cluster);
        let before = state.orders.get(cluster);
        let number = match before {
            Some((number, before)) if before.asks_the_same(&order) => *number,
            Some((number, _)) => number + 1,
            None => 1,
        };
        state.orders.insert(cluster.clone(), (number, Arc::new(order)));
        self.0.news.notify_all();
    }

    /// Wants nothing more of a cluster: its thread ends after its turn, and what was seen there is forgotten.
    pub fn dismiss(&self, cluster: &SmolStr) {
        let mut state = self.state();
        state.orders.remove(cluster);
        state.turns.remove(cluster);
        state.done.remove(cluster);
        state.dismissed.insert(cluster.clone());
        self.0.news.notify_all();
    }

    /// The order of a cluster, and its number.
    #[must_use]
    pub fn ordered(&self, cluster: &str) -> Option<(u64, Arc<ClusterOrder>)> {
        self.state().orders.get(cluster).cloned()
    }

    /// Ends all threads after their turn.
    pub fn stop(&self) {
        self.state().stopping = true;
        self.0.news.notify_all();
        self.0.turned.notify_all();
    }

    /// The clusters something is ordered of, ascending.
    #[must_use]
    pub fn clusters(&self) -> Vec<SmolStr> {
        self.state().orders.keys().cloned().collect()
    }

    /// What was seen of all clusters.
    #[must_use]
    pub fn observation(&self) -> Observation {
        let state = self.state();
        Observation { clusters: state.turns.iter().map(|(name, turn)| (name.clone(), turn.seen.clone())).collect() }
    }

    /// The last turn of each cluster.
    #[must_use]
    pub fn turns(&self) -> BTreeMap<SmolStr, Turn> {
        self.state().turns.clone()
    }

    /// Takes in a turn.
    pub(super) fn took(&self, cluster: &SmolStr, number: u64, turn: Turn) {
        let mut state = self.state();
        if !state.dismissed.contains(cluster) {
            state.turns.insert(cluster.clone(), turn);
            state.done.insert(cluster.clone(), number);
            state.has_news = true;
            self.0.turned.notify_all();
        }
    }

    /// Waits until a turn is taken, or somebody wakes whoever waits, at most so long. What happened before the call since
    /// the last one counts.
    pub fn wait(&self, within: Duration) {
        let waited = self.0.turned.wait_timeout_while(self.state(), within, |state| !state.stopping && !state.has_news);
        waited.unwrap_or_else(PoisonError::into_inner).0.has_news = false;
    }

    /// Ends a wait.
    pub fn wake(&self) {
        self.state().has_news = true;
        self.0.turned.notify_all();
    }

    /// Waits until every cluster took a turn with its order, at most so long.
    pub fn wait_for_all(&self, within: Duration) {
        let waits = |state: &mut State| {
            !state.stopping && state.orders.iter().any(|(cluster, (number, _))| state.done.get(cluster) != Some(number))
        };
        drop(self.0.turned.wait_timeout_while(self.state(), within, waits));
    }

    /// Orders the same of every cluster once more, at once.
    pub fn again(&self) {
        for (number, _) in self.state().orders.values_mut() {
            *number += 1;
        }
        self.0.news.notify_all();
    }

    /// Waits for an order that is newer than `done`, at most so long; then the one there is counts again.
    pub(super) fn next(&self, cluster: &SmolStr, done: u64, within: Duration) -> Next {
        let is_news = |state: &mut State| {
            let number = state.orders.get(cluster).map_or(0, |(number, _)| *number);
            state.stopping || state.dismissed.contains(cluster) || number > done
        };
        let mut state = self.state();
        loop {
            let waited = self.0.news.wait_timeout_while(state, within, |state| !is_news(state));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.stopping || state.dismissed.contains(cluster) {
                return Next::Stop;
            }
            if let Some((number, order)) = state.orders.get(cluster) {
                return Next::Turn(*number, Arc::clone(order));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
