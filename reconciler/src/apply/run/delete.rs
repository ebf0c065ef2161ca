//! Deleting: what is to be applied anew, and what nobody wants any more.

use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::kinds::replicas::WorkloadKind;
use serde_json::Value;

use super::begin::send;
use super::execute::account;
use super::{Applier, Did, Done, Order, Report};
use crate::apply::decide::Step;
use crate::apply::hold::Hold;
use crate::apply::instances;
use crate::apply::inventory::{AppName, PART_OF_LABEL, applyset_id};
use crate::apply::live::is_protected;
use crate::cluster::{ClusterApi, Key, Propagation, ServiceAccount, Write, WriteError};

impl Applier {
    /// Deletes what is to be applied anew. The next round applies it, once it is seen gone.
    pub(super) fn replace(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        steps: &[Step],
        now_secs: i64,
        report: &mut Report,
    ) {
        let (mut doing, mut writes) = (Vec::new(), Vec::new());
        for step in steps {
            if let Step::Replace { app, key, uid } = step {
                writes.push(delete(key, uid, account(order, app)));
                doing.push((app, key));
            }
        }
        for ((app, key), result) in doing.into_iter().zip(send(api, &writes, report)) {
            let digest = order.desired.object(key).map(|object| object.digest.clone());
            match result {
                Ok(left) => {
                    self.deleted(order, key, left);
                    report.done.push(Done { app: app.clone(), key: key.clone(), did: Did::Replaced });
                }
                Err(WriteError::NotFound) => self.live.gone(key),
                Err(error) => self.failed(key, digest, &error, now_secs),
            }
        }
    }

    /// A deletion was accepted: the object is gone, or goes when its finalizers let it.
    fn deleted(&mut self, order: &Order<'_>, key: &Key, left: Option<Arc<Value>>) {
        match left {
            Some(object) => self.live.put(key, &object, order.assess),
            None => self.live.gone(key),
        }
    }

    /// Deletes what nobody wants, after a look at what is there now.
    pub(super) fn prune(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        steps: &[Step],
        now_secs: i64,
        report: &mut Report,
    ) {
        let prunes: Vec<(&AppName, &Key, bool)> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Prune { app, key, only_empty } => Some((app, key, *only_empty)),
                Step::Apply { .. } | Step::Replace { .. } | Step::Forget { .. } => None,
            })
            .collect();
        if prunes.is_empty() {
            return;
        }
        let keys: Vec<Key> = prunes.iter().map(|(_, key, _)| (*key).clone()).collect();
        let (mut doing, mut writes) = (Vec::new(), Vec::new());
        for ((app, key, only_empty), found) in prunes.into_iter().zip(api.get(&keys)) {
            let done = |did| Done { app: app.clone(), key: key.clone(), did };
            match found {
                Ok(None) => {
                    self.live.gone(key);
                    self.strike(app, key);
                    report.done.push(done(Did::WasGone));
                }
                Ok(Some(object)) => {
                    self.live.put(key, &object, order.assess);
                    match self.look(api, app, key, &object, only_empty) {
                        Look::Delete(uid) => {
                            writes.push(delete(key, &uid, account(order, app)));
                            doing.push((app, key));
                        }
                        // It says otherwise than when the pass was decided: the next round decides again.
                        Look::Leave => {}
                        Look::NotOurs => {
                            self.live.gone(key);
                            self.strike(app, key);
                            report.done.push(done(Did::WasGone));
                        }
                        Look::Keep(why) => self.failed(key, None, &WriteError::Denied(why), now_secs),
                    }
                }
                Err(error) => {
                    let error = WriteError::Transient { message: error.to_string(), retry_after_secs: None };
                    self.failed(key, None, &error, now_secs);
                }
            }
        }
        for ((app, key), result) in doing.into_iter().zip(send(api, &writes, report)) {
            match result {
                Ok(left) => {
                    let is_gone = left.is_none();
                    self.deleted(order, key, left);
                    if is_gone {
                        self.strike(app, key);
                    }
                    report.done.push(Done { app: app.clone(), key: key.clone(), did: Did::Pruned });
                }
                Err(WriteError::NotFound) => {
                    self.live.gone(key);
                    self.strike(app, key);
                }
                Err(error) => self.failed(key, None, &error, now_secs),
            }
        }
    }

    /// What a last look at an object says.
    fn look(&self, api: &mut dyn ClusterApi, app: &AppName, key: &Key, object: &Value, only_empty: bool) -> Look {
        let metadata = |field: &str| object.get("metadata").and_then(|m| m.get(field)).and_then(Value::as_str);
        let (Some(book), Some(uid)) = (&self.book, metadata("uid")) else { return Look::Leave };
        let Some(entry) = book.get(app).and_then(|stored| stored.inventory.objects.get(key)) else {
            return Look::Leave;
        };
        let is_ours = match &entry.uid {
            Some(listed) => listed == uid,
            // Listed, and nobody knows whether it was ever applied: it was, if it carries our label.
            None => {
                let label = object.pointer("/metadata/labels").and_then(|labels| labels.get(PART_OF_LABEL)?.as_str());
                label == Some(applyset_id(app).as_str())
            }
        };
        if !is_ours {
            return Look::NotOurs;
        }
        if is_protected(object) {
            return Look::Keep(Hold::Protected.to_string());
        }
        if metadata("deletionTimestamp").is_some() {
            return Look::Leave;
        }
        if only_empty && let Some(served) = &self.served {
            let going = |key: &Key| {
                book.values().any(|stored| stored.inventory.objects.get(key).is_some_and(|entry| entry.going))
            };
            if let Err(why) = instances::nothing_else_lives_in(api, served, key, object, &going) {
                return Look::Keep(why);
            }
        }
        Look::Delete(uid.into())
    }
}

/// What a last look at an object says.
enum Look {
    /// It may go.
    Delete(SmolStr),
    /// What was applied is gone, or never came to be; this is somebody else's.
    NotOurs,
    /// It must stay for now, and why.
    Keep(String),
    /// Nothing is left to do.
    Leave,
}

fn delete(key: &Key, uid: &str, service_account: Option<ServiceAccount>) -> Write {
    Write::Delete {
        key: key.clone(),
        uid: uid.into(),
        resource_version: None,
        // A workload that is gone has no pods left: whoever waits for that can rely on it.
        propagation: if WorkloadKind::of(&key.kind.group, &key.kind.kind).is_some() {
            Propagation::Foreground
        } else {
            Propagation::Background
        },
        service_account,
    }
}
