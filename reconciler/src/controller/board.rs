//! What threads share: an order for each cluster, and what came of its turns.

use std::collections::BTreeMap;
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
    news: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By cluster; the number rises with each order.
    orders: BTreeMap<SmolStr, (u64, Arc<ClusterOrder>)>,
    turns: BTreeMap<SmolStr, Turn>,
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
    /// Orders something of a cluster. Its thread takes a turn at once.
    pub fn order(&self, cluster: &SmolStr, order: ClusterOrder) {
        let mut state = self.state();
        let number = state.orders.get(cluster).map_or(0, |(number, _)| *number) + 1;
        state.orders.insert(cluster.clone(), (number, Arc::new(order)));
        self.0.news.notify_all();
    }

    /// Ends all threads after their turn.
    pub fn stop(&self) {
        self.state().stopping = true;
        self.0.news.notify_all();
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
    pub(super) fn took(&self, cluster: &SmolStr, turn: Turn) {
        self.state().turns.insert(cluster.clone(), turn);
    }

    /// Waits for an order that is newer than `done`, at most so long; then the one there is counts again.
    pub(super) fn next(&self, cluster: &SmolStr, done: u64, within: Duration) -> Next {
        let is_news = |state: &mut State| {
            let number = state.orders.get(cluster).map_or(0, |(number, _)| *number);
            state.stopping || number > done
        };
        let mut state = self.state();
        loop {
            let waited = self.0.news.wait_timeout_while(state, within, |state| !is_news(state));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.stopping {
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
