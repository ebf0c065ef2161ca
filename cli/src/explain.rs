//! `fleetwright explain`: what a code or a field means.

mod field;

use fleetwright_compiler::base::name::nearest;
use fleetwright_compiler::diag::codes::{self, Code, Entry, Severity};
use serde_json::{Value, json};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{output, streams};

/// Explain a diagnostic or a field
///
/// `fleetwright explain FW1042` says what a code means, why it is refused and how to fix it. `fleetwright explain
/// app.spec.placement.replicas` says what may be written there. Without TOPIC, all codes are listed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A code (`FW1042`), or a kind and a field in it (`app.spec.placement`)
    topic: Option<String>,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let as_json = context.format() == Format::Json;
    let text = match args.topic.as_deref() {
        None if as_json => output::json::text(&codes::table().map(entry_json).collect::<Vec<Value>>())?,
        None => codes::table().map(|e| format!("{} {:7} {}\n", e.code, severity(e.severity), e.title)).collect(),
        Some(topic) if looks_like_code(topic) => {
            let entry = code_named(topic)?;
            if as_json { output::json::text(&entry_json(entry))? } else { entry_text(entry) }
        }
        Some(topic) => {
            let doc = field::find(topic)?;
            if as_json { output::json::text(&doc)? } else { doc.to_text() }
        }
    };
    streams::data(&text)?;
    Ok(Outcome::Done)
}

fn looks_like_code(topic: &str) -> bool {
    topic.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("fw"))
        && topic.get(2..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn code_named(topic: &str) -> Result<&'static Entry, Failure> {
    Code::parse(topic).and_then(Code::entry).ok_or_else(|| {
        let known: Vec<String> = codes::table().map(|e| e.code.to_string()).collect();
        let hint = match nearest(topic, known.iter().map(String::as_str)) {
            Some(code) => format!("did you mean {code}? "),
            None => String::new(),
        };
        Failure::Usage(format!("there is no code `{topic}`; {hint}`fleetwright explain` lists all"))
    })
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// The text as written in the source: one space after `///` on each line.
fn prose(entry: &Entry) -> String {
    let lines: Vec<&str> = entry.text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

fn entry_text(entry: &Entry) -> String {
    format!("{}: {} ({})\n\n{}\n", entry.code, entry.title, severity(entry.severity), prose(entry))
}

fn entry_json(entry: &Entry) -> Value {
    json!({
        "code": entry.code.to_string(),
        "severity": severity(entry.severity),
        "title": entry.title,
        "text": prose(entry).replace('\n', " "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code() {
        let entry = code_named("fw1041").unwrap();
        assert_eq!(
            entry_text(entry),
            "FW1041: no fleet.yaml (error)\n\n\
             There is no `fleet.yaml` at the root of the repository, or it holds no Fleet. It marks the folder as a fleet and\nholds its settings; `fleetwright init` writes one.\n"
        );
        assert_eq!(
            entry_json(entry),
            json!({
                "code": "FW1041",
                "severity": "error",
                "title": "no fleet.yaml",
                "text": "There is no `fleet.yaml` at the root of the repository, or it holds no Fleet. It marks the folder as a fleet and holds its settings; `fleetwright init` writes one.",
            })
        );
    }

    #[test]
    fn a_code_that_is_not_there() {
        let Err(Failure::Usage(text)) = code_named("FW9999") else { panic!("there is no FW9999") };
        assert!(text.starts_with("there is no code `FW9999`; did you mean FW"), "{text}");
        for (topic, is_code) in [("FW1042", true), ("fw1", true), ("fwd", false), ("app.spec", false), ("f", false)] {
            assert_eq!(looks_like_code(topic), is_code, "{topic}");
        }
    }
}
