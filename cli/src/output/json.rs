//! JSON and YAML of whatever serialises.

use fleetwright_compiler::yaml;
use serde::Serialize;

use crate::exit::Failure;

/// JSON, indented, with a line break at the end.
///
/// # Errors
/// Our bug: a report that cannot be serialised.
pub fn text(data: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(data).map_err(bug)?;
    text.push('\n');
    Ok(text)
}

/// YAML that every reader takes for the same value.
///
/// # Errors
/// Our bug: a report that cannot be serialised.
pub fn yaml(data: &impl Serialize) -> Result<String, Failure> {
    let mut text = String::new();
    yaml::emit(&serde_json::to_value(data).map_err(bug)?, &mut text);
    Ok(text)
}

fn bug(error: serde_json::Error) -> Failure {
    Failure::Bug(format!("a report cannot be written as JSON: {error}"))
}
