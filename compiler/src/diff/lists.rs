//! Lists: by merge key, as sets, or item by item.
//!
//! | list | items are matched | another order |
//! |---|---|---|
//! | `listType: map` | by the merge keys | no change, but for containers and `env`, where it counts |
//! | `listType: set` | by value | no change |
//! | metrics of an HPA, which the API server sorts | by type and name | no change |
//! | of a custom resource, where every item has a `name` of its own | by name | a change |
//! | any other | longest common subsequence | a change |

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::absent::is_absent;
use super::fields::{Edit, Walk, field_shape, quantity};
use crate::base::SmolStr;
use crate::base::quantity::Quantity;
use crate::kinds::native::{ListKind, Shape, type_def};

/// Lists with more items than this, once the equal ends are taken off, are compared position by position: the search
/// for a common subsequence takes time that grows with the product of both lengths.
const MOST_ITEMS: usize = 2_000;

/// Types whose order in a `listType: map` counts: containers start in order, a variable may use those before it.
const ORDERED_ITEMS: [&str; 3] = ["core.v1.Container", "core.v1.EnvVar", "core.v1.EphemeralContainer"];

/// An item by the text that names it in a path.
type Named<'v> = Vec<(String, &'v Value)>;

impl Walk {
    /// Two lists of one shape.
    pub(super) fn lists(&mut self, shape: &Shape, before: &[Value], after: &[Value]) {
        let (item, kind) = match shape {
            Shape::List(item, kind) => (item.as_ref(), Some(kind)),
            _ => (&Shape::Any, None),
        };
        let keyed: Option<(Named<'_>, Named<'_>, bool)> = match kind {
            Some(ListKind::Set { .. }) => return self.sets(item, before, after),
            Some(ListKind::Map(keys)) => {
                both(before, after, |items| by_keys(items, keys)).map(|(b, a)| (b, a, is_ordered(item)))
            }
            Some(ListKind::Atomic) if type_name(item) == Some("autoscaling.v2.MetricSpec") => {
                both(before, after, |items| named(items, metric_name)).map(|(b, a)| (b, a, false))
            }
            Some(ListKind::Atomic) => None,
            None => both(before, after, |items| named(items, |item| text(item, "name").map(|n| format!("name={n}"))))
                .map(|(b, a)| (b, a, true)),
        };
        match keyed {
            Some((before, after, ordered)) => self.keyed(item, &before, &after, ordered),
            None => self.sequences(item, before, after),
        }
    }

    /// Items that have names: as a map, then their order.
    fn keyed(&mut self, item: &Shape, before: &Named<'_>, after: &Named<'_>, ordered: bool) {
        let was: BTreeMap<&str, &Value> = before.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let is: BTreeMap<&str, &Value> = after.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let names = before.iter().chain(after.iter().filter(|(name, _)| !was.contains_key(name.as_str())));
        for (name, _) in names {
            let (before, after) = (was.get(name.as_str()).copied(), is.get(name.as_str()).copied());
            self.at_item(name, |walk| walk.values(item, before, after));
        }
        if ordered {
            let stay = |items: &Named<'_>, other: &BTreeMap<&str, &Value>| -> Vec<String> {
                items.iter().map(|(name, _)| name).filter(|name| other.contains_key(name.as_str())).cloned().collect()
            };
            let (before, after) = (stay(before, &is), stay(after, &was));
            if before != after {
                self.push(Edit::Reordered { before, after });
            }
        }
    }

    /// Lists without equal items and without order.
    fn sets(&mut self, item: &Shape, before: &[Value], after: &[Value]) {
        let by_meaning = |items: &'_ [Value]| -> BTreeSet<String> { items.iter().map(|v| meaning(item, v)).collect() };
        let (was, is) = (by_meaning(before), by_meaning(after));
        for value in before.iter().filter(|v| !is.contains(&meaning(item, v))) {
            self.at_item(&plain(value), |walk| walk.push(Edit::Removed { before: value.clone() }));
        }
        for value in after.iter().filter(|v| !was.contains(&meaning(item, v))) {
            self.at_item(&plain(value), |walk| walk.push(Edit::Added { after: value.clone() }));
        }
    }

    /// Lists whose items have nothing but their place.
    fn sequences(&mut self, item: &Shape, before: &[Value], after: &[Value]) {
        let was: Vec<String> = before.iter().map(|v| meaning(item, v)).collect();
        let is: Vec<String> = after.iter().map(|v| meaning(item, v)).collect();
        for op in operations(&was, &is).into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            let (old, new) = (op.old_range(), op.new_range());
            let (old_items, new_items) = (before.get(old.clone()), after.get(new.clone()));
            self.block(item, old_items.unwrap_or_default(), old.start, new_items.unwrap_or_default(), new.start);
        }
    }

    /// Items that take the place of others: pairwise, the rest goes or comes.
    fn block(&mut self, item: &Shape, old: &[Value], old_start: usize, new: &[Value], new_start: usize) {
        for at in 0..old.len().max(new.len()) {
            let (before, after) = (old.get(at), new.get(at));
            let index = if after.is_some() { new_start + at } else { old_start + at };
            self.at_item(&index.to_string(), |walk| match (before, after) {
                (Some(before), Some(after)) => walk.values(item, Some(before), Some(after)),
                (Some(before), None) => walk.push(Edit::Removed { before: before.clone() }),
                (None, Some(after)) => walk.push(Edit::Added { after: after.clone() }),
                (None, None) => {}
            });
        }
    }
}

/// How one list becomes the other.
fn operations(was: &[String], is: &[String]) -> Vec<DiffOp> {
    let start = was.iter().zip(is).take_while(|(a, b)| a == b).count();
    let rest = was.len().min(is.len()) - start;
    let end = was.iter().rev().zip(is.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (was.len() - start - end, is.len() - start - end);
    if old_len.max(new_len) > MOST_ITEMS {
        return vec![DiffOp::Replace { old_index: start, old_len, new_index: start, new_len }];
    }
    capture_diff_slices(Algorithm::Myers, was, is)
}

/// The same for both lists, if it can be done for both.
fn both<'v>(
    before: &'v [Value],
    after: &'v [Value],
    read: impl Fn(&'v [Value]) -> Option<Named<'v>>,
) -> Option<(Named<'v>, Named<'v>)> {
    Some((read(before)?, read(after)?))
}

/// Items by their merge keys; `None` where two have the same or one has none.
fn by_keys<'v>(items: &'v [Value], keys: &[SmolStr]) -> Option<Named<'v>> {
    named(items, |item| {
        let parts = keys.iter().filter_map(|key| match item.get(key.as_str()) {
            Some(Value::Null) | None => (key == "protocol").then(|| "protocol=TCP".to_owned()),
            Some(value) => Some(format!("{key}={}", plain(value))),
        });
        let parts: Vec<String> = parts.collect();
        (parts.len() == keys.len()).then(|| parts.join(","))
    })
}

/// Items by a name; `None` where two have the same or one has none.
fn named<'v>(items: &'v [Value], name: impl Fn(&Map<String, Value>) -> Option<String>) -> Option<Named<'v>> {
    let named: Named<'v> = items.iter().map(|item| Some((name(item.as_object()?)?, item))).collect::<Option<_>>()?;
    let names: BTreeSet<&String> = named.iter().map(|(name, _)| name).collect();
    (names.len() == named.len()).then_some(named)
}

/// What a metric of an HPA is about.
fn metric_name(metric: &Map<String, Value>) -> Option<String> {
    let kind = text(metric, "type")?;
    let source = |field: &str| metric.get(field).and_then(Value::as_object);
    let name = match kind {
        "Resource" => text(source("resource")?, "name")?.to_owned(),
        "ContainerResource" => {
            let source = source("containerResource")?;
            format!("{}/{}", text(source, "container")?, text(source, "name")?)
        }
        "Pods" => text(source("pods")?.get("metric")?.as_object()?, "name")?.to_owned(),
        "Object" => text(source("object")?.get("metric")?.as_object()?, "name")?.to_owned(),
        "External" => text(source("external")?.get("metric")?.as_object()?, "name")?.to_owned(),
        _ => return None,
    };
    Some(format!("type={kind},name={name}"))
}

fn text<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    map.get(key).and_then(Value::as_str)
}

fn type_name(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Struct(id) => Some(type_def(*id).name.as_str()),
        _ => None,
    }
}

fn is_ordered(item: &Shape) -> bool {
    type_name(item).is_some_and(|name| ORDERED_ITEMS.contains(&name))
}

/// A value in a path: text without quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text that is equal for values that mean the same.
fn meaning(shape: &Shape, value: &Value) -> String {
    normal(shape, value).to_string()
}

/// The value without what means nothing, in one order of keys, with amounts in one form.
fn normal(shape: &Shape, value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().map(|(key, value)| (key, value, field_shape(shape, key)));
            let sorted: BTreeMap<&String, Value> = kept
                .filter(|(_, value, shape)| !is_absent(shape, value))
                .map(|(key, value, shape)| (key, normal(shape, value)))
                .collect();
            Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Array(items) => {
            let item = match shape {
                Shape::List(item, _) => item.as_ref(),
                _ => &Shape::Any,
            };
            Value::Array(items.iter().map(|value| normal(item, value)).collect())
        }
        Value::String(_) | Value::Number(_) if *shape == Shape::Quantity => {
            quantity(value).and_then(|amount| one_form(&amount)).map_or_else(|| value.clone(), Value::String)
        }
        Value::String(_) | Value::Number(_) | Value::Null | Value::Bool(_) => value.clone(),
    }
}

/// A text that is equal for equal amounts, whatever they were written in: a sum is written in the suffixes of its first
/// part, so that `1n` more than each is a decimal of one form.
fn one_form(amount: &Quantity) -> Option<String> {
    let nano: Quantity = "1n".parse().ok()?;
    nano.checked_add(amount).map(|sum| sum.canonical())
}
