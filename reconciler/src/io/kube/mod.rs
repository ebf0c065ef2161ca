//! The port to a cluster, answered by a real API server.
//!
//! Plain JSON over kube's client (kubeconfig, client certificates, exec plugins, TLS): no generated types, so that every
//! kind is the same to it. Requests of one batch are sent at the same time, over as many connections as that takes.
//! Invariants: no retries of its own (the applier knows when trying again makes sense); every request ends within its
//! time-out, and of a cluster that is not heard of for as long, and does not answer one more probe, nothing more is asked until
//! the next turn, so that what was begun when it went dark ends; nothing is decided here.

mod answer;
mod connect;
mod discovery;
mod lazy;
mod request;
mod silence;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::Value;

use self::answer::Answer;
use self::request::Call;
use self::silence::{Line, Silence};
use self::watch::Watcher;
use crate::cluster::{
    ClusterApi, ClusterError, Dark, Delta, GroupKind, Identity, Key, Served, Watch, Write, WriteError, Written,
};

pub use connect::{ConnectError, Connection, KubeRuntime, contexts, current_context};
pub use lazy::{Find, LazyApi};

/// Requests in flight at once, for each cluster: an API server's own limits (API Priority and Fairness) begin above.
const IN_FLIGHT: usize = 16;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long the probe's answer may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// One cluster's API server.
pub struct KubeApi {
    runtime: KubeRuntime,
    client: kube::Client,
    served: Arc<Served>,
    watchers: BTreeMap<Watch, Watcher>,
    silence: Silence,
}

impl std::fmt::Debug for KubeApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubeApi").field("watches", &self.watchers.len()).finish_non_exhaustive()
    }
}

impl KubeApi {
    /// A client of the cluster behind a connection. Sends nothing yet.
    ///
    /// # Errors
    /// When the connection cannot be read.
    pub fn connect(runtime: &KubeRuntime, connection: &Connection) -> Result<Self, ConnectError> {
        let client = connect::client(runtime, connection)?;
        let (runtime, served) = (runtime.clone(), Arc::new(Served::default()));
        Ok(Self { runtime, client, served, watchers: BTreeMap::new(), silence: Silence::new() })
    }

    /// Sends calls at the same time; answers in their order. What could not be asked keeps its error.
    fn send_all<E: Send>(&self, calls: Vec<Result<Call, E>>) -> Vec<Result<Result<Answer, String>, E>> {
        let line = self.line();
        let send = |call: Result<Call, E>| async move { Ok(line.ask(call?).await) };
        self.runtime.block_on(stream::iter(calls.into_iter().map(send)).buffered(IN_FLIGHT).collect())
    }

    fn line(&self) -> Line<'_> {
        Line { client: &self.client, silence: Some(&self.silence) }
    }

    /// Discovery is asked once more where a kind is not known, and not before.
    fn known(&mut self, kind: &GroupKind) -> Result<(), ClusterError> {
        if self.served.has(kind) {
            return Ok(());
        }
        self.served()?;
        if self.served.has(kind) { Ok(()) } else { Err(ClusterError::NotServed(kind.clone())) }
    }
}

impl ClusterApi for KubeApi {
    fn identity(&mut self) -> Result<Identity, ClusterError> {
        self.silence.begin();
        let probe = Call::probe().send(&self.client, PROBE_TIMEOUT);
        let answer = self.runtime.block_on(probe).map_err(ClusterError::Transient)?;
        let server_secs = answer.date_secs;
        let object = answer.read(&GroupKind::new("", "Namespace"))?;
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        let uid = uid.ok_or_else(|| ClusterError::Denied("the namespace kube-system has no UID".to_owned()))?;
        Ok(Identity { uid: uid.into(), server_secs })
    }

    fn served(&mut self) -> Result<Arc<Served>, ClusterError> {
        let calls = discovery::calls().into_iter().map(Ok::<_, ClusterError>).collect();
        let answers = self.send_all(calls);
        self.served = Arc::new(discovery::read(answers)?);
        Ok(Arc::clone(&self.served))
    }

    fn observe(&mut self, watches: &[Watch]) -> Vec<Result<Delta, ClusterError>> {
        // Watches that nobody asks for any more end with their watcher.
        self.watchers.retain(|watch, _| watches.contains(watch));
        let mut first: BTreeMap<Watch, Result<Delta, ClusterError>> = BTreeMap::new();
        let mut fresh = Vec::new();
        for watch in watches {
            if self.watchers.contains_key(watch) {
                continue;
            }
            match self.known(&watch.kind) {
                Ok(()) => fresh.push(watch.clone()),
                Err(error) => {
                    first.insert(watch.clone(), Err(error));
                }
            }
        }
        let (line, served) = (self.line(), &self.served);
        let list = |watch| watch::list(line, served, watch, None);
        let lists: Vec<_> = self.runtime.block_on(stream::iter(&fresh).map(list).buffered(IN_FLIGHT).collect());
        for (watch, listed) in fresh.into_iter().zip(lists) {
            let delta = listed.map(|(objects, version)| {
                let watcher = Watcher::start(&self.runtime, self.client.clone(), &self.served, &watch, version);
                self.watchers.insert(watch.clone(), watcher);
                Delta::All(objects)
            });
            first.insert(watch, delta);
        }
        let mut answers = Vec::new();
        let mut broken = Vec::new();
        for watch in watches {
            let answer = match (first.remove(watch), self.watchers.get(watch)) {
                (Some(delta), _) => delta,
                (None, Some(watcher)) => watcher.take(),
                (None, None) => Err(ClusterError::Transient(format!("{} was asked for twice at once", watch.kind))),
            };
            // A kind that is gone, or that we may not see, is asked for anew when it is asked for again.
            if matches!(answer, Err(ClusterError::NotServed(_) | ClusterError::Denied(_))) {
                broken.push(watch);
            }
            answers.push(answer);
        }
        self.watchers.retain(|watch, _| !broken.contains(&watch));
        answers
    }

    fn list(&mut self, watch: &Watch, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, ClusterError> {
        self.known(&watch.kind)?;
        let list = watch::list(self.line(), &self.served, watch, namespace);
        self.runtime.block_on(list).map(|(objects, _)| objects)
    }

    fn get(&mut self, keys: &[Key]) -> Vec<Result<Option<Arc<Value>>, ClusterError>> {
        let calls = keys.iter().map(|key| {
            self.known(&key.kind)?;
            request::get(&self.served, key)
        });
        let calls: Vec<Result<Call, ClusterError>> = calls.collect();
        let read = |(key, answer): (&Key, Result<Result<Answer, String>, ClusterError>)| match answer? {
            Ok(answer) if answer.is_object_missing() => Ok(None),
            Ok(answer) => answer.read(&key.kind).map(|object| Some(Arc::new(object))),
            Err(error) => Err(ClusterError::Transient(error)),
        };
        keys.iter().zip(self.send_all(calls)).map(read).collect()
    }

    fn write(&mut self, writes: &[Write]) -> Vec<Written> {
        let mut asked = Vec::new();
        let mut calls = Vec::new();
        for write in writes {
            let kind = request::kind_of(write);
            let known = self.known(&kind).map_err(|error| match error {
                ClusterError::NotServed(kind) => WriteError::NotServed(kind),
                ClusterError::Denied(message) => WriteError::Denied(message),
                ClusterError::Transient(message) | ClusterError::NotConnected(message) => {
                    WriteError::Transient { message, retry_after_secs: None }
                }
            });
            calls.push(known.and_then(|()| request::write(&self.served, write)));
            asked.push((kind, matches!(write, Write::Delete { .. })));
        }
        let read = |((kind, deletes), answer): ((GroupKind, bool), _)| match answer? {
            Ok(answer) => Answer::written(answer, &kind, deletes),
            Err(message) => Err(WriteError::Transient { message, retry_after_secs: None }),
        };
        asked.into_iter().zip(self.send_all(calls)).map(read).collect()
    }

    fn went_dark(&self) -> Option<Dark> {
        self.silence.dark()
    }
}
