//! A cluster in memory that answers the port as an API server does: field ownership, UIDs, resourceVersions, watches, and
//! controllers that act when told that time passes.
//!
//! For tests, the simulator of faults and `fleetwright demo`. Invariants: deterministic, no clock and no threads of its own;
//! a handle is one client, with its own place in the watch; all handles of a cluster see one store.
//! The next fault is a field of [`Faults`], the next controller a function in `controllers`.

mod controllers;
mod flat;
mod handle;
mod ownership;
mod store;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::cluster::Key;

pub use handle::SimulatedApi;
pub use store::{Counters, Faults, Store};

/// A cluster in memory.
#[derive(Clone, Debug)]
pub struct SimulatedCluster(Arc<Mutex<Store>>);

impl SimulatedCluster {
    /// An empty cluster with this UID.
    #[must_use]
    pub fn new(uid: &str) -> Self {
        Self(Arc::new(Mutex::new(Store::new(uid))))
    }

    /// A client of it.
    #[must_use]
    pub fn api(&self) -> SimulatedApi {
        SimulatedApi::new(self.clone())
    }

    /// Its store.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time passes: controllers act once.
    pub fn tick(&self) {
        controllers::tick(&mut self.store());
    }

    /// An object as it is stored.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Value> {
        self.store().object(key).cloned()
    }

    /// Somebody edits an object by hand.
    pub fn edit(&self, key: &Key, manager: &str, change: impl FnOnce(&mut Value)) {
        self.store().edit(key, manager, "", change);
    }

    /// Somebody deletes an object by hand.
    pub fn delete(&self, key: &Key) {
        self.store().remove(key);
    }

    /// What happened since the counters were taken last.
    pub fn take_counters(&self) -> Counters {
        std::mem::take(&mut self.store().counters)
    }
}
