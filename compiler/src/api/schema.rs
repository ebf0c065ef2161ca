//! JSON Schemas of the kinds, generated from their types. `fleetwright schema` prints them; `schemas/` holds them, and a
//! test proves that the two are the same.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};

use super::{
    API_VERSION, AppSpec, CalendarSpec, ClusterSpec, FleetSpec, Object, OverridePolicySpec, PlacementPolicySpec,
    PriorityClass, TeamSpec, TideSpec, WorkloadKindSpec,
};

/// The schema of one kind (JSON Schema, draft 2020-12).
#[must_use]
pub fn of_kind(kind: &str) -> Option<Schema> {
    Some(match kind {
        "Fleet" => object::<Object<FleetSpec>>(kind, API_VERSION),
        "Cluster" => object::<Object<ClusterSpec>>(kind, API_VERSION),
        "Team" => object::<Object<TeamSpec>>(kind, API_VERSION),
        "App" => object::<Object<AppSpec>>(kind, API_VERSION),
        "PlacementPolicy" => object::<Object<PlacementPolicySpec>>(kind, API_VERSION),
        "OverridePolicy" => object::<Object<OverridePolicySpec>>(kind, API_VERSION),
        "Tide" => object::<Object<TideSpec>>(kind, API_VERSION),
        "Calendar" => object::<Object<CalendarSpec>>(kind, API_VERSION),
        "WorkloadKind" => object::<Object<WorkloadKindSpec>>(kind, API_VERSION),
        "PriorityClass" => object::<PriorityClass>(kind, "scheduling.k8s.io/v1"),
        _ => return None,
    })
}

fn object<T: JsonSchema>(kind: &str, api_version: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(bounds));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), kind.into());
    if let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut()) {
        for (field, value) in [("apiVersion", api_version), ("kind", kind)] {
            if let Some(property) = properties.get_mut(field).and_then(|p| p.as_object_mut()) {
                property.insert("const".into(), value.into());
            }
        }
    }
    schema
}

/// Integers as wide as the type that decodes them: `format` alone is a note, which nobody checks.
fn bounds(schema: &mut Schema) {
    let bounds: Option<(i64, i64)> = match schema.get("format").and_then(|f| f.as_str()) {
        Some("uint32") => Some((0, u32::MAX.into())),
        Some("int32") => Some((i32::MIN.into(), i32::MAX.into())),
        Some("int64") => Some((i64::MIN, i64::MAX)),
        _ => None,
    };
    if let Some((least, most)) = bounds {
        // a field may be narrower than its type
        for (bound, value) in [("minimum", least), ("maximum", most)] {
            if schema.get(bound).is_none() {
                schema.insert(bound.into(), value.into());
            }
        }
    }
}

/// The text of the file `schemas/<kind>.json`.
#[must_use]
pub fn file_text(kind: &str) -> Option<String> {
    let schema = of_kind(kind)?;
    let mut text = serde_json::to_string_pretty(&schema).ok()?;
    text.push('\n');
    Some(text)
}

/// The name of the file in `schemas/` that holds the schema of a kind.
#[must_use]
pub fn file_name(kind: &str) -> String {
    format!("{}.json", kind.to_ascii_lowercase())
}
