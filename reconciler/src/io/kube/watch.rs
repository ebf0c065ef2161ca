//! Keeping kinds in view: one list, then a watch that costs nothing while nothing happens.
//!
//! A watcher is a task that writes into a mailbox; whoever asks empties it. Invariants: what was missed is never passed
//! over: an expired or broken watch lists again; while it cannot, the mailbox says so, and nobody takes its silence for an
//! empty answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::request::{Call, collection, said};
use super::silence::Line;
use super::{KubeRuntime, TIMEOUT};
use crate::cluster::{Change, ClusterError, Delta, Key, Served, Watch};

/// Objects of one page of a list.
const PAGE: &str = "500";
/// The server ends a watch after so long; it sends a bookmark about every minute.
const WATCH_SECS: &str = "290";
/// Silence for so long is a broken connection.
const SILENCE: Duration = Duration::from_secs(150);
/// A page that would be larger than any object is no answer: an object is at most 1.5 MiB in etcd.
const LINE_BYTES: usize = 16 << 20;

/// So many changes are kept for whoever empties the mailbox.
const MAIL_MAX: usize = 50_000;

/// What happened since the mailbox was emptied.
#[derive(Debug)]
enum Mail {
    Changes(Vec<Change>),
    All(Vec<Arc<Value>>),
    Failed(ClusterError),
}

/// A watch that runs.
#[derive(Debug)]
pub(super) struct Watcher {
    mailbox: Arc<Mutex<Mail>>,
    task: tokio::task::AbortHandle,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watcher {
    /// Watches from a resourceVersion on.
    pub(super) fn start(
        runtime: &KubeRuntime,
        client: kube::Client,
        served: &Arc<Served>,
        watch: &Watch,
        version: String,
    ) -> Self {
        let mailbox = Arc::new(Mutex::new(Mail::Changes(Vec::new())));
        let (served, watch, mail) = (Arc::clone(served), watch.clone(), Arc::clone(&mailbox));
        let task = runtime.spawn(async move { run(&client, &served, &watch, version, &mail).await });
        Self { mailbox, task }
    }

    /// Empties the mailbox.
    pub(super) fn take(&self) -> Result<Delta, ClusterError> {
        let mut mail = open(&self.mailbox);
        if let Mail::Failed(error) = &*mail {
            return Err(error.clone());
        }
        match std::mem::replace(&mut *mail, Mail::Changes(Vec::new())) {
            Mail::Changes(changes) => Ok(Delta::Changes(changes)),
            Mail::All(objects) => Ok(Delta::All(objects)),
            Mail::Failed(error) => Err(error),
        }
    }
}

fn open(mailbox: &Mutex<Mail>) -> MutexGuard<'_, Mail> {
    mailbox.lock().unwrap_or_else(PoisonError::into_inner)
}

fn call(served: &Served, watch: &Watch, namespace: Option<&str>) -> Result<Call, ClusterError> {
    let kind = served.kind(&watch.kind, None).ok_or_else(|| ClusterError::NotServed(watch.kind.clone()))?;
    let call = Call::new(Method::GET, collection(&watch.kind.group, kind, namespace));
    Ok(match &watch.selector {
        Some(selector) => call.query("labelSelector", selector.as_str()),
        None => call,
    })
}

/// All objects there are, and the resourceVersion to watch from.
pub(super) async fn list(
    line: Line<'_>,
    served: &Served,
    watch: &Watch,
    namespace: Option<&str>,
) -> Result<(Vec<Arc<Value>>, String), ClusterError> {
    let mut objects = Vec::new();
    let mut next = String::new();
    loop {
        let mut call = call(served, watch, namespace)?.query("limit", PAGE);
        if watch.metadata_only {
            call = call.metadata_list();
        }
        if !next.is_empty() {
            call = call.query("continue", next);
        }
        let answer = line.ask(call).await.map_err(ClusterError::Transient)?;
        let mut page = answer.read(&watch.kind)?;
        let version = page.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        next = page.pointer("/metadata/continue").and_then(Value::as_str).unwrap_or_default().to_owned();
        let items = match page.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items,
            // A list of metadata without items.
            Some(Value::Null) => Vec::new(),
            Some(_) | None => return Err(ClusterError::Transient(format!("{}: the answer is no list", watch.kind))),
        };
        objects.extend(items.into_iter().map(|item| named(served, watch, item)));
        if next.is_empty() {
            return Ok((objects, version));
        }
    }
}

/// An object under its own kind: items of lists name none, and metadata comes as `PartialObjectMetadata`.
fn named(served: &Served, watch: &Watch, mut object: Value) -> Arc<Value> {
    let version = served.kind(&watch.kind, None).map_or("v1", |kind| kind.version.as_str());
    let group = &watch.kind.group;
    if let Some(object) = object.as_object_mut() {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        object.insert("apiVersion".to_owned(), api_version.into());
        object.insert("kind".to_owned(), watch.kind.kind.as_str().into());
    }
    Arc::new(object)
}

/// Why a watch ended.
enum End {
    /// The server closed it, as it does every few minutes: go on from here.
    Closed,
    /// What happened since is no longer known: list again.
    Expired,
    /// It broke.
    Broken(ClusterError),
}

async fn run(client: &kube::Client, served: &Served, watch: &Watch, mut version: String, mailbox: &Mutex<Mail>) {
    let mut failures: u32 = 0;
    loop {
        let before = version.clone();
        let end = follow(client, served, watch, &mut version, mailbox).await;
        if version != before {
            failures = 0;
        }
        let mut relist = false;
        match end {
            End::Closed => failures = 0,
            End::Expired => relist = true,
            End::Broken(error) => {
                failures = failures.saturating_add(1);
                // One broken connection is made good by going on from where it was; more is news.
                if failures > 1 {
                    *open(mailbox) = Mail::Failed(error);
                }
            }
        }
        if failures > 0 {
            let millis = 500_u64.saturating_mul(1 << failures.min(6));
            tokio::time::sleep(Duration::from_millis(millis.min(30_000))).await;
        }
        if relist || matches!(&*open(mailbox), Mail::Failed(_)) {
            match list(Line { client, silence: None }, served, watch, None).await {
                Ok((objects, from)) => {
                    version = from;
                    *open(mailbox) = Mail::All(objects);
                }
                Err(error) => {
                    failures = failures.saturating_add(1);
                    *open(mailbox) = Mail::Failed(error);
                }
            }
        }
    }
}

/// Follows one connection of a watch until it ends.
async fn follow(
    client: &kube::Client,
    served: &Served,
    watch: &Watch,
    version: &mut String,
    mailbox: &Mutex<Mail>,
) -> End {
    let call = match call(served, watch, None) {
        Ok(call) => call.query("watch", "true").query("resourceVersion", version.clone()),
        Err(error) => return End::Broken(error),
    };
    let mut call = call.query("allowWatchBookmarks", "true").query("timeoutSeconds", WATCH_SECS);
    if watch.metadata_only {
        call = call.metadata_only();
    }
    let request = match call.request() {
        Ok(request) => request,
        Err(error) => return End::Broken(ClusterError::Transient(error)),
    };
    let what = format!("watch of {}", watch.kind);
    let response = match tokio::time::timeout(TIMEOUT, client.send(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return End::Broken(ClusterError::Transient(said(&what, &error))),
        Err(_) => return End::Broken(ClusterError::Transient(format!("{what}: no answer"))),
    };
    match response.status().as_u16() {
        200 => {}
        410 => return End::Expired,
        404 => return End::Broken(ClusterError::NotServed(watch.kind.clone())),
        code @ (401 | 403) => {
            return End::Broken(ClusterError::Denied(format!("{what}: the API server answers {code}")));
        }
        code => return End::Broken(ClusterError::Transient(format!("{what}: the API server answers {code}"))),
    }
    let mut body = response.into_body().into_data_stream();
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let piece = match tokio::time::timeout(SILENCE, body.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => return End::Broken(ClusterError::Transient(said(&what, &error))),
            Ok(None) => return End::Closed,
            Err(_) => return End::Broken(ClusterError::Transient(format!("{what}: silence"))),
        };
        buffer.extend_from_slice(&piece);
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).collect();
            if let Some(end) = take_event(&line, served, watch, version, mailbox) {
                return end;
            }
        }
        if buffer.len() > LINE_BYTES {
            return End::Broken(ClusterError::Transient(format!("{what}: an event of more than {LINE_BYTES} bytes")));
        }
    }
}

/// Takes in one event; what ends the watch is returned.
fn take_event(line: &[u8], served: &Served, watch: &Watch, version: &mut String, mailbox: &Mutex<Mail>) -> Option<End> {
    let broken = |why: &str| Some(End::Broken(ClusterError::Transient(format!("watch of {}: {why}", watch.kind))));
    let Ok(mut event) = serde_json::from_slice::<Value>(line) else { return broken("an event that is no JSON") };
    let object = event.get_mut("object").map(Value::take).unwrap_or_default();
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "ERROR" {
        return if object["code"] == 410 {
            Some(End::Expired)
        } else {
            broken(object["reason"].as_str().unwrap_or("an error"))
        };
    }
    if let Some(seen) = object.pointer("/metadata/resourceVersion").and_then(Value::as_str) {
        seen.clone_into(version);
    }
    let object = named(served, watch, object);
    let change = match kind {
        "ADDED" | "MODIFIED" => Change::Put(object),
        "DELETED" => Change::Gone(Key::of(&object)?),
        _ => return None,
    };
    match &mut *open(mailbox) {
        // Nobody empties it: a list is smaller than its history.
        Mail::Changes(changes) if changes.len() >= MAIL_MAX => {
            changes.clear();
            return Some(End::Expired);
        }
        Mail::Changes(changes) => changes.push(change),
        // Not emptied yet: the list is brought up to date, as whoever empties it would do.
        Mail::All(objects) => {
            let key = match &change {
                Change::Put(object) => Key::of(object)?,
                Change::Gone(key) => key.clone(),
            };
            objects.retain(|other| Key::of(other).as_ref() != Some(&key));
            if let Change::Put(object) = change {
                objects.push(object);
            }
        }
        Mail::Failed(_) => {}
    }
    None
}
