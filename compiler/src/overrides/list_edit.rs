//! `args` and `command`: lists of strings of containers.

use serde_json::Value;

use super::Subject;
use super::containers::{Containers, WhenUnnamed, select};
use super::error::OpError;
use super::pointer::find_mut;
use super::substitute::{self, Variables};
use crate::base::{Path, Seg};
use crate::kinds::native::JsonType;

/// A change to a list of strings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListEdit {
    /// The list becomes this one.
    Set(Vec<String>),
    /// These go to its end.
    Append(Vec<String>),
    /// All items equal to one of these go away; nothing happens when there is none.
    Remove(Vec<String>),
}

impl ListEdit {
    /// The strings in it.
    #[must_use]
    pub fn items(&self) -> &[String] {
        match self {
            Self::Set(items) | Self::Append(items) | Self::Remove(items) => items,
        }
    }
}

/// Changes the list `field` of the containers.
pub(super) fn edit(
    object: &mut Value,
    subject: &Subject,
    containers: &Containers,
    field: &'static str,
    edit: &ListEdit,
    vars: &Variables,
) -> Result<(), OpError> {
    let mut items = Vec::with_capacity(edit.items().len());
    for (index, item) in edit.items().iter().enumerate() {
        let at = || Path(vec![Seg::Index(index)]);
        let text = substitute::in_text(item, vars).map_err(|error| OpError::Template { at: at(), error })?;
        items.push(Value::String(text));
    }
    for path in select(object, subject, containers, WhenUnnamed::TheOnlyOne)? {
        let list = list_mut(object, &path, field)?;
        match edit {
            ListEdit::Set(_) => list.clone_from(&items),
            ListEdit::Append(_) => list.extend_from_slice(&items),
            ListEdit::Remove(_) => list.retain(|item| !items.contains(item)),
        }
        if list.is_empty() {
            remove_key(object, &path, field)?;
        }
    }
    Ok(())
}

/// The list `field` of the map at `path`, an empty one when it has none.
pub(super) fn list_mut<'v>(
    object: &'v mut Value,
    path: &Path,
    field: &'static str,
) -> Result<&'v mut Vec<Value>, OpError> {
    let container = find_mut(object, &path.0, path)?;
    let found = JsonType::of(container);
    let Value::Object(map) = container else {
        return Err(OpError::NotA { path: path.clone(), found, needed: "a map" });
    };
    let value = map.entry(field).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Array(Vec::new());
    }
    let found = JsonType::of(value);
    match value {
        Value::Array(list) => Ok(list),
        _ => Err(OpError::NotA { path: path.join(field.into()), found, needed: "a list" }),
    }
}

fn remove_key(object: &mut Value, path: &Path, field: &str) -> Result<(), OpError> {
    if let Value::Object(map) = find_mut(object, &path.0, path)? {
        map.shift_remove(field);
    }
    Ok(())
}
