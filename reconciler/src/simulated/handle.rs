//! One client of a simulated cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::SimulatedCluster;
use super::store::Store;
use crate::cluster::{
    Change, ClusterApi, ClusterError, Delta, GroupKind, Identity, Key, Served, Watch, Write, Written,
};

/// One client, with its own place in each watch.
#[derive(Debug)]
pub struct SimulatedApi {
    cluster: SimulatedCluster,
    /// The length of the log that each watch has seen.
    seen: BTreeMap<Watch, usize>,
}

impl SimulatedApi {
    pub(super) fn new(cluster: SimulatedCluster) -> Self {
        Self { cluster, seen: BTreeMap::new() }
    }
}

fn down() -> ClusterError {
    ClusterError::Transient("connection refused".to_owned())
}

fn selected(watch: &Watch, object: &Value) -> bool {
    let Some(label) = &watch.selector else { return true };
    object
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .is_some_and(|labels| labels.contains_key(label.as_str()))
}

/// What a server sends when only metadata is asked for.
fn shown(watch: &Watch, object: &Arc<Value>) -> Arc<Value> {
    if !watch.metadata_only {
        return Arc::clone(object);
    }
    let part = |field: &str| (field.to_owned(), object[field].clone());
    Arc::new(Value::Object([part("apiVersion"), part("kind"), part("metadata")].into_iter().collect()))
}

fn can_list(store: &mut Store, kind: &GroupKind) -> Result<(), ClusterError> {
    if store.faults.down || store.faults.unlisted.contains(kind) {
        return Err(down());
    }
    if store.served().has(kind) { Ok(()) } else { Err(ClusterError::NotServed(kind.clone())) }
}

fn listed(store: &Store, watch: &Watch, namespace: Option<&str>) -> Vec<Arc<Value>> {
    let of_kind = store.objects.iter().filter(|(key, _)| key.kind == watch.kind);
    let here = of_kind.filter(|(key, _)| namespace.is_none_or(|namespace| key.namespace == namespace));
    here.filter(|(_, object)| selected(watch, object)).map(|(_, object)| shown(watch, object)).collect()
}

impl ClusterApi for SimulatedApi {
    fn identity(&mut self) -> Result<Identity, ClusterError> {
        let mut store = self.cluster.store();
        store.counters.reads += 1;
        if store.faults.down {
            return Err(down());
        }
        Ok(Identity { uid: store.uid.clone(), server_secs: Some(store.now_secs) })
    }

    fn served(&mut self) -> Result<Arc<Served>, ClusterError> {
        let mut store = self.cluster.store();
        store.counters.reads += 1;
        if store.faults.down { Err(down()) } else { Ok(store.served()) }
    }

    fn observe(&mut self, watches: &[Watch]) -> Vec<Result<Delta, ClusterError>> {
        let mut store = self.cluster.store();
        let mut out = Vec::new();
        for watch in watches {
            if let Err(error) = can_list(&mut store, &watch.kind) {
                self.seen.remove(watch);
                out.push(Err(error));
                continue;
            }
            let end = store.log.len();
            let delta = match self.seen.insert(watch.clone(), end) {
                None => {
                    store.counters.reads += 1;
                    Delta::All(listed(&store, watch, None))
                }
                Some(from) => {
                    let new = store.log.get(from..).into_iter().flatten();
                    let changes = new.filter_map(|(_, change)| match change {
                        Change::Put(object) => {
                            let key = Key::of(object).filter(|key| key.kind == watch.kind)?;
                            // An object that no longer matches is gone for whoever watches by label.
                            Some(if selected(watch, object) {
                                Change::Put(shown(watch, object))
                            } else {
                                Change::Gone(key)
                            })
                        }
                        Change::Gone(key) => (key.kind == watch.kind).then(|| change.clone()),
                    });
                    Delta::Changes(changes.collect())
                }
            };
            out.push(Ok(delta));
        }
        out
    }

    fn list(&mut self, watch: &Watch, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, ClusterError> {
        let mut store = self.cluster.store();
        store.counters.reads += 1;
        can_list(&mut store, &watch.kind)?;
        Ok(listed(&store, watch, namespace))
    }

    fn get(&mut self, keys: &[Key]) -> Vec<Result<Option<Arc<Value>>, ClusterError>> {
        let mut store = self.cluster.store();
        let mut out = Vec::new();
        for key in keys {
            store.counters.reads += 1;
            out.push(if store.faults.down {
                Err(down())
            } else if store.served().has(&key.kind) {
                Ok(store.objects.get(key).cloned())
            } else {
                Err(ClusterError::NotServed(key.kind.clone()))
            });
        }
        out
    }

    fn write(&mut self, writes: &[Write]) -> Vec<Written> {
        let mut store = self.cluster.store();
        writes.iter().map(|write| store.write(write)).collect()
    }
}
