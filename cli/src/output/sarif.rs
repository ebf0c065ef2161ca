//! SARIF 2.1.0 (OASIS), as code scanning takes it. No source lines are in it.

use fleetwright_compiler::diag::codes::{Code, Entry, Severity};
use fleetwright_compiler::report::{Located, Position};
use serde_json::{Value, json};

use super::{Paths, json};
use crate::exit::Failure;

/// One log with one run.
///
/// # Errors
/// Our bug: data that cannot be serialised.
pub fn text(located: &[Located], paths: &Paths) -> Result<String, Failure> {
    json::text(&log(located, paths))
}

fn log(located: &[Located], paths: &Paths) -> Value {
    let entry_of = |one: &Located| Code::parse(&one.code).and_then(Code::entry);
    let mut entries: Vec<&'static Entry> = located.iter().filter_map(entry_of).collect();
    entries.sort_by_key(|entry| entry.code);
    entries.dedup_by_key(|entry| entry.code);
    let results: Vec<Value> = located
        .iter()
        .map(|one| {
            let mut result = json!({
                "ruleId": one.code,
                "ruleIndex": entries.iter().position(|entry| entry.code.to_string() == one.code),
                "level": one.severity,
                "message": {"text": match &one.help {
                    Some(help) => format!("{}\nhelp: {help}", one.message),
                    None => one.message.clone(),
                }},
                "locations": [location(one.path.as_deref(), one.position, paths)],
            });
            if !one.related.is_empty() {
                let related: Vec<Value> = one
                    .related
                    .iter()
                    .map(|r| {
                        let mut at = location(r.path.as_deref(), r.position, paths);
                        at["message"] = json!({"text": r.message});
                        at
                    })
                    .collect();
                result["relatedLocations"] = related.into();
            }
            result
        })
        .collect();
    let rules: Vec<Value> = entries.iter().map(|entry| rule(entry)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "fleetwright",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(entry: &Entry) -> Value {
    let text: Vec<&str> = entry.text.lines().map(str::trim).collect();
    json!({
        "id": entry.code.to_string(),
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": text.join(" ").trim()},
        "defaultConfiguration": {"level": match entry.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }},
    })
}

fn location(path: Option<&str>, position: Option<Position>, paths: &Paths) -> Value {
    // A result without a location is refused by code scanning; what is in no file is about the fleet.
    let path = path.unwrap_or("fleet.yaml");
    let uri = encoded(&format!("{}{path}", paths.in_repository));
    let mut physical = json!({"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}});
    if let Some(Position { line, column, end_line, end_column, .. }) = position {
        physical["region"] =
            json!({"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column});
    }
    json!({"physicalLocation": physical})
}

/// A path as a relative reference (RFC 3986).
fn encoded(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn a_log() {
        let paths = Paths { on_screen: "x/".into(), record: "live:".into(), in_repository: "fleet/".into() };
        let log = log(&fixture::located(), &paths);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules: Vec<&Value> = run["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|r| &r["id"]).collect();
        assert_eq!(rules, ["FW1041", "FW1060", "FW1184"]);
        assert_eq!(
            run["results"],
            json!([
                {
                    "ruleId": "FW1060",
                    "ruleIndex": 1,
                    "level": "error",
                    "message": {"text": "there is no cluster `eu-x`\nhelp: did you mean `eu-a`?"},
                    "locations": [{"physicalLocation": {
                        "artifactLocation": {"uri": "fleet/teams/shop/web.yaml", "uriBaseId": "%SRCROOT%"},
                        "region": {"startLine": 3, "startColumn": 9, "endLine": 3, "endColumn": 13},
                    }}],
                    "relatedLocations": [{
                        "physicalLocation": {
                            "artifactLocation": {"uri": "fleet/clusters/eu-a.yaml", "uriBaseId": "%SRCROOT%"},
                            "region": {"startLine": 4, "startColumn": 9, "endLine": 4, "endColumn": 13},
                        },
                        "message": {"text": "the nearest name"},
                    }],
                },
                {
                    "ruleId": "FW1184",
                    "ruleIndex": 2,
                    "level": "warning",
                    "message": {"text": "two\nlines, 100%"},
                    "locations": [{"physicalLocation": {
                        "artifactLocation": {"uri": "fleet/placements/shop.yaml", "uriBaseId": "%SRCROOT%"},
                    }}],
                },
                {
                    "ruleId": "FW1041",
                    "ruleIndex": 0,
                    "level": "error",
                    "message": {"text": "nowhere"},
                    "locations": [{"physicalLocation": {
                        "artifactLocation": {"uri": "fleet/fleet.yaml", "uriBaseId": "%SRCROOT%"},
                    }}],
                },
            ])
        );
    }

    #[test]
    fn paths_as_references() {
        assert_eq!(encoded("teams/a b/ü%.yaml"), "teams/a%20b/%C3%BC%25.yaml");
    }
}
