//! `env`: environment variables of containers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Subject;
use super::containers::{Containers, WhenUnnamed, select};
use super::error::OpError;
use super::list_edit::list_mut;
use super::substitute::{self, Variables};
use crate::base::SmolStr;
use crate::base::name::nearest;

/// Sets and removes variables in the containers. A variable that exists keeps its place in the list, since later ones
/// may refer to it; a new one goes to the end.
pub(super) fn edit(
    object: &mut Value,
    subject: &Subject,
    containers: &Containers,
    set: &BTreeMap<SmolStr, String>,
    remove: &BTreeSet<SmolStr>,
    vars: &Variables,
) -> Result<(), OpError> {
    let mut values = Vec::with_capacity(set.len());
    for (name, value) in set {
        let at = || crate::base::Path::of_keys([name.as_str()]);
        let value = substitute::in_text(value, vars).map_err(|error| OpError::Template { at: at(), error })?;
        values.push((name, value));
    }
    let mut not_found = remove.clone();
    let mut known = BTreeSet::new();
    for path in select(object, subject, containers, WhenUnnamed::All)? {
        if !values.is_empty() || has_env(object, &path) {
            let env = list_mut(object, &path, "env")?;
            known.extend(env.iter().filter_map(name_of).map(SmolStr::from));
            env.retain(|item| name_of(item).is_none_or(|name| !remove.contains(name)));
            for (name, value) in &values {
                set_one(env, name, value);
            }
        }
    }
    not_found.retain(|name| !known.contains(name));
    match not_found.into_iter().next() {
        None => Ok(()),
        Some(name) => {
            let nearest = nearest(&name, known.iter().map(SmolStr::as_str)).map(SmolStr::from);
            Err(OpError::NoEnv { name, nearest })
        }
    }
}

fn has_env(object: &Value, container: &crate::base::Path) -> bool {
    super::containers::lookup(object, container).and_then(|map| map.get("env")).is_some_and(|env| !env.is_null())
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}

/// The last variable of a name is the one that counts.
fn set_one(env: &mut Vec<Value>, name: &str, value: &str) {
    let item = json!({"name": name, "value": value});
    match env.iter_mut().rev().find(|item| name_of(item) == Some(name)) {
        Some(old) => *old = item,
        None => env.push(item),
    }
}
