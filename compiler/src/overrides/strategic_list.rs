//! The lists of a strategic merge.

use serde_json::{Map, Value};

use super::error::{OpError, OpWarning};
use super::strategic::{Directive, Fate, Members, Merge, directive};
use crate::base::{Seg, SmolStr};
use crate::kinds::native::{JsonType, ListKind, Shape, TypeId};

impl Merge {
    /// Merges the items of a patch into a list. `exclusive`: the members of an item exclude each other.
    pub(super) fn list(
        &mut self,
        target: &mut Vec<Value>,
        patch: &[Value],
        items: &'static Shape,
        kind: &'static ListKind,
        exclusive: bool,
    ) -> Result<(), OpError> {
        let replaced = patch.iter().any(replaces_list);
        let keeps = match kind {
            ListKind::Map(_) => true,
            ListKind::Set { merged } => *merged,
            ListKind::Atomic => false,
        };
        if replaced || !keeps {
            target.clear();
        }
        for (index, item) in patch.iter().enumerate() {
            // `{$patch: replace}` alone is no item: it says that the others replace the list.
            if replaces_list(item) {
                continue;
            }
            self.within(Seg::Index(index), |merge| match (kind, items) {
                (ListKind::Map(keys), Shape::Struct(ty)) => {
                    merge.check_item(item, items)?;
                    let Value::Object(patch) = item else { return Ok(()) };
                    match find(target, patch, keys) {
                        Found::One(index) => merge.existing_item(target, index, patch, *ty, exclusive.then_some(keys)),
                        found => merge.other_item(target, patch, found, items, keys),
                    }
                }
                (ListKind::Set { .. }, _) => {
                    merge.check_item(item, items)?;
                    if !target.contains(item) {
                        target.push(item.clone());
                    }
                    Ok(())
                }
                (ListKind::Atomic | ListKind::Map(_), _) => {
                    merge.check_item(item, items)?;
                    target.extend(merge.fresh(item, items)?);
                    Ok(())
                }
            })?;
        }
        Ok(())
    }

    fn check_item(&self, item: &Value, items: &'static Shape) -> Result<(), OpError> {
        if items.accepts(item) {
            return Ok(());
        }
        Err(OpError::WrongType { path: self.path(), expected: items, found: JsonType::of(item) })
    }

    fn other_item(
        &mut self,
        target: &mut Vec<Value>,
        patch: &Map<String, Value>,
        found: Found,
        items: &'static Shape,
        keys: &[SmolStr],
    ) -> Result<(), OpError> {
        match found {
            Found::NoKeys => return Err(OpError::NoMergeKey { path: self.path(), keys: keys.to_vec() }),
            Found::Several => return Err(OpError::AmbiguousItem { path: self.path(), keys: keys.to_vec() }),
            Found::One(_) | Found::Nothing => {}
        }
        if directive(patch) == Directive::Delete {
            self.warnings.push(OpWarning::DeletesNothing { path: self.path() });
            return Ok(());
        }
        self.warn_of_same_name(target, patch, keys);
        target.extend(self.fresh_map(patch, items)?);
        Ok(())
    }

    /// `exclusive_beside`: the merge keys, when all other members of the item exclude each other.
    fn existing_item(
        &mut self,
        target: &mut Vec<Value>,
        index: usize,
        patch: &Map<String, Value>,
        ty: TypeId,
        exclusive_beside: Option<&[SmolStr]>,
    ) -> Result<(), OpError> {
        let Some(Value::Object(old)) = target.get_mut(index) else { return Ok(()) };
        let before = exclusive_beside.map(|keys| (old.clone(), keys));
        match (self.map(old, patch, Members::Typed(ty))?, before) {
            (Fate::Delete, _) => {
                target.remove(index);
            }
            (Fate::Keep, Some((before, keys))) => self.warn_of_kept_members(&before, old, patch, keys),
            (Fate::Keep, None) => {}
        }
        Ok(())
    }

    fn warn_of_same_name(&mut self, target: &[Value], patch: &Map<String, Value>, keys: &[SmolStr]) {
        let Some(name) = patch.get("name").and_then(Value::as_str) else { return };
        let named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(name);
        if !keys.iter().any(|key| key == "name") && target.iter().any(named) {
            self.warnings.push(OpWarning::SameName { path: self.path(), name: name.into(), keys: keys.to_vec() });
        }
    }
}

fn replaces_list(item: &Value) -> bool {
    item.as_object().is_some_and(|map| directive(map) == Directive::Replace && map.len() == 1)
}

/// What the key fields of an item in a patch lead to.
enum Found {
    One(usize),
    Nothing,
    Several,
    NoKeys,
}

/// The item that a patch means. Where the patch leaves out one of several keys, the others must fit only one item.
fn find(target: &[Value], patch: &Map<String, Value>, keys: &[SmolStr]) -> Found {
    if !keys.iter().any(|key| patch.get(key.as_str()).is_some_and(|value| !value.is_null())) {
        return Found::NoKeys;
    }
    let wanted: Vec<(&SmolStr, Option<Value>)> = keys.iter().map(|key| (key, key_value(patch, key))).collect();
    let fits = |item: &Value| {
        let Value::Object(item) = item else { return false };
        wanted.iter().all(|(key, value)| value.is_none() || key_value(item, key) == *value)
    };
    let mut found = target.iter().enumerate().filter(|(_, item)| fits(item)).map(|(index, _)| index);
    let complete = wanted.iter().all(|(_, value)| value.is_some());
    match (found.next(), found.next()) {
        (None, _) => Found::Nothing,
        (Some(_), Some(_)) if !complete => Found::Several,
        (Some(index), _) => Found::One(index),
    }
}

/// The value of a merge key; `protocol` of a port defaults to `TCP`, as in the API.
fn key_value(item: &Map<String, Value>, key: &str) -> Option<Value> {
    match item.get(key) {
        None | Some(Value::Null) if key == "protocol" => Some(Value::from("TCP")),
        None | Some(Value::Null) => None,
        Some(value) => Some(value.clone()),
    }
}
