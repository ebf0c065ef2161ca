//! Doing the steps of a round, and taking in what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use serde_json::{Value, json};

use super::begin::send;
use super::{Applier, Did, Done, Order, Report};
use crate::apply::adopt::{adopted, duplicated_list, list_adopted};
use crate::apply::decide::{Pass, Step};
use crate::apply::fields::held_paths;
use crate::apply::inventory;
use crate::apply::inventory::{AppName, applyset_id};
use crate::apply::standing::Why;
use crate::apply::view::{Drift, Failure, Mode};
use crate::cluster::{
    Apply, CREATE_MANAGER, ClusterApi, FieldConflict, Key, MANAGER, ServiceAccount, Write, WriteError, Written,
};

/// An apply of this round.
#[derive(Clone)]
struct Sent {
    app: AppName,
    key: Key,
    why: Why,
    apply: Apply,
}

impl Applier {
    /// Does the steps of a round.
    pub(super) fn execute(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        steps: &[Step],
        now_secs: i64,
        report: &mut Report,
    ) {
        self.forget(steps);
        let unready = self.hand_over_replicas(api, order, steps, now_secs, report);
        let mut sent = applies(order, steps, false);
        sent.retain(|sent| !unready.contains(&sent.key));
        let writes: Vec<Write> = sent.iter().map(|sent| Write::Apply(sent.apply.clone())).collect();
        let results = send(api, &writes, report);
        let again = self.take_applied(api, order, sent, results, now_secs, report);
        if !again.is_empty() {
            let writes: Vec<Write> = again.iter().map(|sent| Write::Apply(sent.apply.clone())).collect();
            let results = send(api, &writes, report);
            for (sent, result) in again.into_iter().zip(results) {
                self.take(order, &sent, result, now_secs, report);
            }
        }
        self.replace(api, order, steps, now_secs, report);
        self.prune(api, order, steps, now_secs, report);
    }

    /// Asks what applies would do, once for each content; deletions are only named.
    pub(super) fn preview(&mut self, api: &mut dyn ClusterApi, order: &Order<'_>, pass: &Pass, report: &mut Report) {
        let sent = applies(order, &pass.steps, true);
        let writes: Vec<Write> = sent.iter().map(|sent| Write::Apply(sent.apply.clone())).collect();
        // A dry run stores nothing, so it does not count as a write.
        for (sent, result) in sent.into_iter().zip(api.write(&writes)) {
            let did = match result {
                Ok(_) => Did::WouldApply(sent.why),
                // It cannot be asked about before its namespace is there, which would be applied first.
                Err(WriteError::NotFound) if is_namespace_wanted(order, &sent.key) => Did::WouldApply(sent.why),
                Err(error) => Did::WouldFail(error.to_string()),
            };
            if let Some(object) = order.desired.object(&sent.key) {
                self.previewed.insert(sent.key.clone(), object.digest.clone());
            }
            report.done.push(Done { app: sent.app, key: sent.key, did });
        }
        let deletions = pass.steps.iter().filter(|step| matches!(step, Step::Prune { .. } | Step::Replace { .. }));
        for step in deletions {
            let asked = order.desired.object(step.key()).map(|object| object.digest.clone()).unwrap_or_default();
            self.previewed.insert(step.key().clone(), asked);
            report.done.push(Done { app: step.app().clone(), key: step.key().clone(), did: Did::WouldPrune });
        }
    }

    fn forget(&mut self, steps: &[Step]) {
        for step in steps {
            if let Step::Forget { app, key } = step {
                self.strike(app, key);
            }
        }
    }

    /// Takes an object off an inventory.
    pub(super) fn strike(&mut self, app: &AppName, key: &Key) {
        if let Some(stored) = self.book.as_mut().and_then(|book| book.get_mut(app)) {
            stored.inventory.objects.remove(key);
            self.unsaved.insert(app.clone());
        }
        self.failures.remove(key);
    }

    /// Gives `spec.replicas` to the create-only manager with the value that is stored, so that giving it up does not set
    /// it to 1 (kubernetes/kubernetes#67135). Returns the objects for which that failed: they must not be applied now.
    fn hand_over_replicas(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        steps: &[Step],
        now_secs: i64,
        report: &mut Report,
    ) -> BTreeSet<Key> {
        let (mut keys, mut writes) = (Vec::new(), Vec::new());
        for step in steps {
            let Step::Apply { app, key, hand_over_replicas: Some(replicas), .. } = step else { continue };
            let Some(desired) = order.desired.object(key) else { continue };
            let mut metadata = json!({"name": key.name.as_str()});
            if !key.namespace.is_empty() {
                metadata["namespace"] = key.namespace.as_str().into();
            }
            let object = json!({
                "apiVersion": api_version(key, &desired.version), "kind": key.kind.kind.as_str(), "metadata": metadata,
                "spec": {"replicas": replicas},
            });
            keys.push((key, &desired.digest));
            writes.push(Write::Apply(Apply {
                object: Arc::new(object),
                manager: CREATE_MANAGER,
                force: false,
                dry_run: false,
                service_account: account(order, app),
            }));
        }
        let mut failed = BTreeSet::new();
        for ((key, digest), result) in keys.into_iter().zip(send(api, &writes, report)) {
            if let Err(error) = result {
                self.failed(key, Some(digest.clone()), &error, now_secs);
                failed.insert(key.clone());
            }
        }
        failed
    }

    /// Takes in what came of applies; returns those to send once more: adopted, or hand edits that are undone.
    fn take_applied(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        sent: Vec<Sent>,
        results: Vec<Written>,
        now_secs: i64,
        report: &mut Report,
    ) -> Vec<Sent> {
        let mut again = Vec::new();
        let mut adopt: Vec<(Sent, Written)> = Vec::new();
        let mut agreed: Vec<(Sent, Vec<FieldConflict>)> = Vec::new();
        for (mut sent, result) in sent.into_iter().zip(results) {
            let adopts = sent.why == Why::New && !order.rules.adopt.is_empty();
            match result {
                Err(WriteError::Conflict(conflicts))
                    if undoes(order, sent.why, self.lost_fields(&sent), &conflicts) =>
                {
                    sent.apply.force = true;
                    again.push(sent);
                }
                Err(WriteError::Conflict(conflicts)) if may_be_agreed(order, sent.why, &conflicts) => {
                    agreed.push((sent, conflicts));
                }
                Ok(Some(ref object)) if adopts && adopted(object, &order.rules.adopt).is_some() => {
                    adopt.push((sent, result))
                }
                Err(WriteError::Conflict(_)) if adopts => adopt.push((sent, result)),
                Err(WriteError::Invalid { ref message, .. }) if duplicated_list(message).is_some() => {
                    adopt.push((sent, result));
                }
                Ok(_) | Err(_) => self.take(order, &sent, result, now_secs, report),
            }
        }
        again.extend(self.take_agreed(api, order, agreed, now_secs, report));
        again.extend(self.adopt(api, order, adopt, now_secs, report));
        again
    }

    /// Of conflicts with hands that once wrote the same as we did, so that both hold the field: the field is ours to change.
    /// Returns what is to be applied again.
    fn take_agreed(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        agreed: Vec<(Sent, Vec<FieldConflict>)>,
        now_secs: i64,
        report: &mut Report,
    ) -> Vec<Sent> {
        let keys: Vec<Key> = agreed.iter().map(|(sent, _)| sent.key.clone()).collect();
        let objects = if keys.is_empty() { Vec::new() } else { api.get(&keys) };
        let mut again = Vec::new();
        for ((mut sent, conflicts), object) in agreed.into_iter().zip(objects) {
            let ours = object.ok().flatten().map(|object| held_paths(&object)).unwrap_or_default();
            if conflicts.iter().all(|conflict| ours.contains(&conflict.field.replace('"', ""))) {
                sent.apply.force = true;
                again.push(sent);
            } else {
                self.take(order, &sent, Err(WriteError::Conflict(conflicts)), now_secs, report);
            }
        }
        again
    }

    /// Whether somebody changed fields of ours since the last apply. Of one whose outcome nobody knows, because the answer was
    /// lost with the process, it is enough that we hold something.
    fn lost_fields(&self, sent: &Sent) -> bool {
        let stored = self.book.as_ref().and_then(|book| book.get(&sent.app));
        let entry = stored.and_then(|stored| stored.inventory.objects.get(&sent.key));
        match (entry, self.live.get(&sent.key)) {
            (Some(entry), Some(live)) if entry.digest.is_some() => entry.held != live.held,
            (Some(_), Some(live)) => live.held.is_some(),
            (_, _) => false,
        }
    }

    /// Hands fields of named managers over to us. Returns what is to be applied again.
    fn adopt(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        candidates: Vec<(Sent, Written)>,
        now_secs: i64,
        report: &mut Report,
    ) -> Vec<Sent> {
        if candidates.is_empty() {
            return Vec::new();
        }
        let keys: Vec<Key> = candidates.iter().map(|(sent, _)| sent.key.clone()).collect();
        let mut writes = Vec::new();
        let mut handed = Vec::new();
        for ((sent, result), object) in candidates.into_iter().zip(api.get(&keys)) {
            let edit = object.ok().flatten().and_then(|object| {
                let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(SmolStr::from)?;
                let entries = match &result {
                    Err(WriteError::Invalid { message, .. }) => list_adopted(&object, &duplicated_list(message)?)?,
                    Ok(_) | Err(_) => adopted(&object, &order.rules.adopt)?,
                };
                Some((version, entries))
            });
            match edit {
                Some((resource_version, managed_fields)) => {
                    writes.push(Write::ManagedFields { key: sent.key.clone(), resource_version, managed_fields });
                    handed.push((sent, result));
                }
                None => self.take(order, &sent, result, now_secs, report),
            }
        }
        let mut again = Vec::new();
        for ((sent, _), edited) in handed.into_iter().zip(send(api, &writes, report)) {
            match edited {
                Ok(_) => {
                    report.done.push(Done { app: sent.app.clone(), key: sent.key.clone(), did: Did::Adopted });
                    again.push(sent);
                }
                Err(error) => self.take(order, &sent, Err(error), now_secs, report),
            }
        }
        again
    }

    /// Takes in what came of one apply.
    fn take(&mut self, order: &Order<'_>, sent: &Sent, result: Written, now_secs: i64, report: &mut Report) {
        let digest = order.desired.object(&sent.key).map(|object| object.digest.clone());
        let object = match result {
            Ok(object) => object,
            Err(error) => {
                if matches!(error, WriteError::NotServed(_)) {
                    self.served = None;
                }
                self.failed(&sent.key, digest, &error, now_secs);
                return;
            }
        };
        self.failures.remove(&sent.key);
        let Some(object) = object else { return };
        self.live.put(&sent.key, &object, order.assess);
        if let (Some(live), Some(desired)) = (self.live.get(&sent.key), order.desired.object(&sent.key))
            && let Some(stored) = self.book.as_mut().and_then(|book| book.get_mut(&sent.app))
        {
            let entry = inventory::Entry {
                uid: Some(live.uid.clone()),
                digest: Some(desired.digest.clone()),
                content: Some(desired.content.clone()),
                held: live.held.clone(),
                replicas: desired.replicas(),
                going: false,
            };
            if stored.inventory.objects.insert(sent.key.clone(), entry.clone()) != Some(entry) {
                self.unsaved.insert(sent.app.clone());
            }
        }
        report.done.push(Done { app: sent.app.clone(), key: sent.key.clone(), did: Did::Applied(sent.why) });
    }

    pub(super) fn failed(&mut self, key: &Key, digest: Option<SmolStr>, error: &WriteError, now_secs: i64) {
        let before = self.failures.get(key).filter(|failure| failure.digest == digest).map_or(0, |f| f.attempts);
        let attempts = before.saturating_add(1);
        let wait_secs = match error {
            WriteError::Transient { retry_after_secs: Some(secs), .. } => i64::from(*secs),
            WriteError::Transient { .. } | WriteError::Stale(_) | WriteError::NotFound | WriteError::Exists => {
                backoff_secs(attempts)
            }
            // Somebody else has to act; they may, so it is looked at again now and then.
            WriteError::Conflict(_) | WriteError::NotServed(_) | WriteError::Denied(_) | WriteError::Invalid { .. } => {
                backoff_secs(attempts.saturating_add(3))
            }
        };
        let failure = Failure {
            digest,
            error: error.to_string(),
            attempts,
            retry_secs: Some(now_secs.saturating_add(wait_secs)),
        };
        self.failures.insert(key.clone(), failure);
    }
}

/// Whether a conflict is a hand edit to be undone: content that was applied before, changed since by managers that update
/// and do not apply. A controller that applies has intents of its own, and is reported.
///
/// New content may meet such an edit before anybody looked in between: `lost_fields` says that fields were ours.
fn undoes(order: &Order<'_>, why: Why, lost_fields: bool, conflicts: &[FieldConflict]) -> bool {
    let by_hand = conflicts.iter().all(|conflict| !conflict.applies);
    match why {
        Why::Drifted | Why::Missing => by_hand && order.rules.drift == Drift::Correct,
        // The HPA that held the field is gone.
        Why::Replicas => by_hand && conflicts.iter().all(|conflict| conflict.field == ".spec.replicas"),
        Why::Changed | Why::New => by_hand && lost_fields && order.rules.drift == Drift::Correct,
    }
}

/// Whether new content may meet hands that wrote the same as we did before: who holds what must be looked at.
fn may_be_agreed(order: &Order<'_>, why: Why, conflicts: &[FieldConflict]) -> bool {
    why == Why::Changed && order.rules.drift == Drift::Correct && conflicts.iter().all(|conflict| !conflict.applies)
}

fn is_namespace_wanted(order: &Order<'_>, key: &Key) -> bool {
    let namespace = Key::new("", "Namespace", "", &key.namespace);
    !key.namespace.is_empty() && order.desired.object(&namespace).is_some()
}

/// 5 s, doubled with each attempt, at most 5 minutes.
fn backoff_secs(attempts: u32) -> i64 {
    5_i64.saturating_mul(1 << attempts.saturating_sub(1).min(6)).min(300)
}

fn api_version(key: &Key, version: &str) -> String {
    if key.kind.group.is_empty() { version.to_owned() } else { format!("{}/{version}", key.kind.group) }
}

pub(super) fn account(order: &Order<'_>, app: &AppName) -> Option<ServiceAccount> {
    order.desired.apps().get(app).and_then(|desired| desired.service_account.clone())
}

fn applies(order: &Order<'_>, steps: &[Step], dry_run: bool) -> Vec<Sent> {
    debug_assert!(!dry_run || order.rules.mode == Mode::Observe);
    let mut ids: BTreeMap<&AppName, String> = BTreeMap::new();
    let sent = steps.iter().filter_map(|step| {
        let Step::Apply { app, key, why, without_replicas, force, .. } = step else { return None };
        let desired = order.desired.object(key)?;
        let id = ids.entry(app).or_insert_with(|| applyset_id(app));
        let apply = Apply {
            object: Arc::new(desired.body(key, id, *without_replicas)),
            manager: MANAGER,
            force: *force,
            dry_run,
            service_account: account(order, app),
        };
        Some(Sent { app: app.clone(), key: key.clone(), why: *why, apply })
    });
    sent.collect()
}
