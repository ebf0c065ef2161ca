//! Writing the record.

use serde::Serialize;
use serde_json::{Value, json};

use super::{GaveWay, OpenMove, PlacedApp, PlacedSeat};
use crate::api::API_VERSION;
use crate::base::SmolStr;
use crate::yaml;

/// The path of a team's file.
#[must_use]
pub fn file_path(team: &str) -> String {
    format!("placements/{team}.yaml")
}

/// The text of `placements/<team>.yaml`: apps ascending by name, one block each.
#[must_use]
pub fn placements_text<'a>(apps: impl IntoIterator<Item = (&'a SmolStr, &'a PlacedApp)>) -> String {
    let apps: Vec<Value> = apps.into_iter().map(|(name, placed)| block(name, placed)).collect();
    let mut text = String::new();
    yaml::emit(&json!({"apiVersion": API_VERSION, "kind": "Placements", "apps": apps}), &mut text);
    text
}

fn block(name: &SmolStr, placed: &PlacedApp) -> Value {
    let mut block = json!({"app": name.as_str()});
    if let Some(tier) = &placed.tier {
        block["tier"] = tier.as_str().into();
    }
    block["clusters"] = json!(placed.clusters);
    if !placed.workloads.is_empty() {
        let workloads: Vec<Value> = placed
            .workloads
            .iter()
            .map(|(key, w)| {
                let seats: Vec<Value> = w.seats.iter().map(seat).collect();
                let mut row = json!({"workload": key.as_str(), "weights": w.weights.as_str(), "seats": seats});
                if !w.gave_way.is_empty() {
                    row["gaveWay"] = w.gave_way.iter().map(gave_way).collect();
                }
                row
            })
            .collect();
        block["workloads"] = workloads.into();
    }
    block
}

/// The path of the file of an app's move.
#[must_use]
pub fn move_path(team: &str, app: &str) -> String {
    format!("state/moves/{team}/{app}.yaml")
}

/// The path of the file of what was observed of an app.
#[must_use]
pub fn app_path(team: &str, app: &str) -> String {
    format!("state/apps/{team}/{app}.yaml")
}

/// The text of `state/moves/<team>/<app>.yaml`.
#[must_use]
pub fn move_text(app: &SmolStr, of: &OpenMove) -> String {
    let OpenMove { cause, key, begun, intent, target, step, since, deadline } = of;
    let mut now = json!({"number": step, "since": since.as_str()});
    if let Some(deadline) = deadline {
        now["deadline"] = deadline.as_str().into();
    }
    let mut text = String::new();
    let mut cause = json!({"kind": cause.as_str(), "key": key.as_str()});
    if let Some(begun) = begun {
        cause["at"] = begun.as_str().into();
    }
    yaml::emit(
        &json!({"cause": cause, "intent": intent.as_str(), "step": now, "target": block(app, target)}),
        &mut text,
    );
    text
}

/// The text of a file of `state/`; keys in the order of its struct, or sorted where it is a map.
#[must_use]
pub fn state_text<T: Serialize>(doc: &T) -> String {
    let mut text = String::new();
    // the documents of `state/` are plain structs and maps with text keys: those always have a value
    yaml::emit(&serde_json::to_value(doc).unwrap_or(Value::Null), &mut text);
    text
}

fn gave_way(of: &GaveWay) -> Value {
    let (team, app) = &of.to;
    json!({"to": format!("{team}/{app}"), "cluster": of.cluster.as_str(), "replicas": of.replicas})
}

fn seat(seat: &PlacedSeat) -> Value {
    let mut row = json!({"cluster": seat.cluster.as_str()});
    if let Some(pool) = &seat.pool {
        row["pool"] = pool.as_str().into();
    }
    row["replicas"] = seat.replicas.into();
    if let Some(completions) = seat.completions {
        row["completions"] = completions.into();
    }
    if let Some((min, max)) = seat.bounds {
        row["min"] = min.into();
        row["max"] = max.into();
    }
    row
}
