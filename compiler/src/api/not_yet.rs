//! The one table of fields and values of the API whose behaviour is not there yet. Each is refused where it is written
//! (FW1024), so that nobody relies on something that does nothing.
//!
//! Invariant: a field is destructured and used by lowering, or it stands here; a test writes each row and expects its
//! refusal. When a behaviour arrives, its row goes.
//! One refusal is not of one field or word and is made where the rest is read: resources that a quota cannot count
//! (`model/lower/team.rs`).
//! Kinds that are not there yet are `KINDS_NOT_YET`; of whole folders and of `state/` see `parse` and `placements`.

use crate::base::Span;
use crate::diag::{Finding, codes};
use crate::yaml::{Node, Yaml};

/// One refused field or value.
#[derive(Clone, Copy, Debug)]
pub struct NotYet {
    /// The kind it is a field of; `*` for `placement` wherever it stands.
    pub kind: &'static str,
    /// Its path; `[]` stands for any item of a list.
    pub path: &'static [&'static str],
    /// The value that is refused; `None` refuses the field whatever it says.
    pub value: Option<&'static str>,
    /// What it will do.
    pub will: &'static str,
}

const fn field(kind: &'static str, path: &'static [&'static str], will: &'static str) -> NotYet {
    NotYet { kind, path, value: None, will }
}

/// Every field and value that is refused.
pub const NOT_YET: &[NotYet] = &[
    field("Fleet", &["spec", "limits", "moves"], "moves are not counted yet"),
    field("Fleet", &["spec", "failover", "purgeMode"], "moves happen at once"),
    field("Fleet", &["spec", "secrets", "decryption"], "encrypted documents are not rendered yet"),
    field("App", &["spec", "sources"], "Helm and Kustomize inputs are not vendored yet"),
    field("App", &["spec", "failover", "purgeMode"], "moves happen at once"),
    field("App", &["spec", "failover", "preserve"], "state is not carried over yet"),
    field("App", &["spec", "failover", "failBack"], "apps go back by `fleetwright failback` alone"),
    field("App", &["spec", "traffic"], "traffic does not follow replicas yet"),
    field("App", &["spec", "rollout"], "rollout over clusters needs the reconciler"),
    field("WorkloadKind", &["spec", "statePaths"], "failover needs the reconciler"),
];

/// Where `placement` stands in each kind.
pub(crate) const PLACEMENTS: &[(&str, &[&str])] = &[
    ("App", &["spec", "placement"]),
    ("PlacementPolicy", &["spec", "placement"]),
    ("Team", &["spec", "placement"]),
    ("Fleet", &["spec", "defaults", "placement"]),
];

/// What a decoded document of this kind says that is not there yet.
#[must_use]
pub fn findings(kind: &str, doc: &Node<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for row in NOT_YET {
        if row.kind == kind {
            visit(doc, row.path, row, None, &mut found);
        } else if row.kind == "*" {
            for (_, prefix) in PLACEMENTS.iter().filter(|(k, _)| *k == kind) {
                let path: Vec<&str> = prefix.iter().chain(row.path).copied().collect();
                visit(doc, &path, row, None, &mut found);
            }
        }
    }
    found
}

fn visit(node: &Node<'_>, path: &[&str], row: &NotYet, key: Option<Span>, found: &mut Vec<Finding>) {
    let Some((first, rest)) = path.split_first() else {
        let hit = match (row.value, &node.value) {
            (None, Yaml::Null) => false,
            (None, _) => true,
            (Some(value), Yaml::Str(text)) => text == value,
            (Some(_), _) => false,
        };
        if hit {
            let name = row.path.last().copied().unwrap_or_default();
            let what = row.value.map_or_else(|| format!("`{name}`"), |v| format!("`{name}: {v}`"));
            let span = if row.value.is_some() { node.span } else { key.unwrap_or(node.span) };
            found.push(
                Finding::new(codes::fields::NOT_YET, span, format!("{what} is not supported yet: {}", row.will))
                    .help("remove it; refused rather than ignored, so that nobody relies on it"),
            );
        }
        return;
    };
    match &node.value {
        Yaml::Seq(items) if *first == "[]" => items.iter().for_each(|item| visit(item, rest, row, None, found)),
        Yaml::Map(entries) => entries
            .iter()
            .filter(|(k, _)| k.text == *first)
            .for_each(|(k, value)| visit(value, rest, row, Some(k.span), found)),
        _ => {}
    }
}
