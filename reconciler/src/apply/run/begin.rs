//! Writing inventories: before a batch, conditioned, and after it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Applier, Order, Report};
use crate::apply::decide::Pass;
use crate::apply::inventory::{AppName, Inventory, NAMESPACE, config_map_name};
use crate::apply::view::Stored;
use crate::cluster::{ClusterApi, Key, Propagation, Write, WriteError, Written};

impl Applier {
    /// Writes {term, live commit} and everything that is about to be written into the inventories of a pass, each
    /// conditioned on what was last read. Returns the apps that may go on.
    pub(super) fn begin(
        &mut self,
        api: &mut dyn ClusterApi,
        order: &Order<'_>,
        pass: &Pass,
        begun: &mut BTreeSet<AppName>,
        report: &mut Report,
    ) -> BTreeSet<AppName> {
        let Some(book) = &mut self.book else { return BTreeSet::new() };
        let mut apps: BTreeSet<AppName> = pass.steps.iter().map(|step| step.app().clone()).collect();
        let mut writes: Vec<AppName> = Vec::new();
        for app in &apps {
            let stored = book.entry(app.clone()).or_insert_with(|| Stored {
                inventory: Inventory::new(order.fleet, app),
                resource_version: None,
                uid: None,
            });
            let inventory = &mut stored.inventory;
            let before = (begun.contains(app)).then(|| inventory.clone());
            inventory.live = order.live_commit.0.clone();
            inventory.term = order.term;
            for key in order.desired.apps().get(app).into_iter().flat_map(|desired| desired.objects.keys()) {
                inventory.objects.entry(key.clone()).or_default().going = false;
            }
            for key in pass.going.get(app).into_iter().flatten() {
                if let Some(entry) = inventory.objects.get_mut(key) {
                    entry.going = true;
                }
            }
            if before.as_ref() != Some(inventory) {
                writes.push(app.clone());
            }
        }
        let results = self.write_inventories(api, &writes, report);
        for (app, result) in writes.into_iter().zip(results) {
            match result {
                Ok(()) => {
                    begun.insert(app);
                }
                Err(error) => {
                    // What is stored is not what was read: everything is read again before the next batch.
                    if matches!(error, WriteError::Stale(_) | WriteError::Exists) {
                        self.book = None;
                    }
                    apps.remove(&app);
                    report.lost.push((app, error.to_string()));
                }
            }
        }
        if self.book.is_none() { BTreeSet::new() } else { apps }
    }

    /// Stores what was done. What cannot be stored now is stored by the next pass.
    pub(super) fn save(&mut self, api: &mut dyn ClusterApi, order: &Order<'_>, report: &mut Report) {
        let Some(book) = &mut self.book else {
            self.unsaved.clear();
            return;
        };
        let empty = |app: &AppName| {
            let stored = book.get(app)?;
            let is_over = stored.inventory.objects.is_empty() && !order.desired.apps().contains_key(app);
            is_over.then(|| deletion(app, stored)).flatten().map(|write| (app.clone(), write))
        };
        let over: Vec<(AppName, Write)> = self.unsaved.iter().filter_map(empty).collect();
        let writes: Vec<Write> = over.iter().map(|(_, write)| write.clone()).collect();
        for ((app, _), result) in over.iter().zip(send(api, &writes, report)) {
            // Lost races and errors leave an empty inventory behind, which the next pass over it deletes.
            if result.is_ok() {
                book.remove(app);
            }
            self.unsaved.remove(app);
        }
        let apps: Vec<AppName> = std::mem::take(&mut self.unsaved).into_iter().collect();
        let results = self.write_inventories(api, &apps, report);
        for (app, result) in apps.into_iter().zip(results) {
            match result {
                Ok(()) => {}
                Err(WriteError::Stale(_) | WriteError::Exists) => self.book = None,
                Err(_) => {
                    self.unsaved.insert(app);
                }
            }
        }
    }

    fn write_inventories(
        &mut self,
        api: &mut dyn ClusterApi,
        apps: &[AppName],
        report: &mut Report,
    ) -> Vec<Result<(), WriteError>> {
        let Some(book) = &mut self.book else { return Vec::new() };
        let writes: Vec<Write> = apps.iter().filter_map(|app| book.get(app)).map(inventory_write).collect();
        let mut results = send(api, &writes, report);
        // The namespace is made when the first inventory finds it missing, so that a settled cluster costs no look at it.
        if results.iter().any(|result| matches!(result, Err(WriteError::NotFound))) {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
            send(api, &[Write::Create { object: Arc::new(namespace) }], report);
            let missing: Vec<usize> = (0..results.len()).filter(|i| results[*i] == Err(WriteError::NotFound)).collect();
            let again: Vec<Write> = missing.iter().map(|i| recreate(&writes[*i])).collect();
            for (index, result) in missing.into_iter().zip(send(api, &again, report)) {
                results[index] = result;
            }
        }
        let done = apps.iter().zip(results).map(|(app, result)| {
            result.map(|object| {
                if let (Some(object), Some(stored)) = (object, book.get_mut(app)) {
                    *stored = stored.clone().stored_as(&object);
                }
            })
        });
        done.collect()
    }
}

pub(super) fn send(api: &mut dyn ClusterApi, writes: &[Write], report: &mut Report) -> Vec<Written> {
    if writes.is_empty() {
        return Vec::new();
    }
    report.writes = report.writes.saturating_add(u32::try_from(writes.len()).unwrap_or(u32::MAX));
    api.write(writes)
}

/// How an inventory is stored: created, or replaced while it is still the one that was read.
fn inventory_write(stored: &Stored) -> Write {
    let object = Arc::new(stored.inventory.object(stored.resource_version.as_deref()));
    if stored.resource_version.is_some() { Write::Replace { object } } else { Write::Create { object } }
}

/// The inventory was deleted by hand: what was known of it is stored anew.
fn recreate(write: &Write) -> Write {
    match write {
        Write::Replace { object } | Write::Create { object } => {
            let mut object = Value::clone(object);
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.shift_remove("resourceVersion");
            }
            Write::Create { object: Arc::new(object) }
        }
        Write::Apply(_) | Write::ManagedFields { .. } | Write::Delete { .. } => write.clone(),
    }
}

/// The deletion of an inventory that lists nothing any more.
fn deletion(app: &AppName, stored: &Stored) -> Option<Write> {
    Some(Write::Delete {
        key: Key::new("", "ConfigMap", NAMESPACE, &config_map_name(app)),
        uid: stored.uid.clone()?,
        resource_version: stored.resource_version.clone(),
        propagation: Propagation::Background,
        service_account: None,
    })
}
