//! Every mistake of a document that did not decode, by its JSON Schema.
//!
//! Invariant: called only after decoding failed; it never decides validity.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::api::{KINDS, schema};
use crate::base::name::nearest;
use crate::base::{Path, Seg};
use crate::diag::{Finding, codes};
use crate::yaml::Node;

static VALIDATORS: LazyLock<Vec<(&'static str, Value, Validator)>> = LazyLock::new(|| {
    KINDS
        .iter()
        .filter_map(|kind| {
            let schema = schema::of_kind(kind)?.to_value();
            let validator = jsonschema::validator_for(&schema).ok()?;
            Some((*kind, schema, validator))
        })
        .collect()
});

/// The mistakes that the schema finds, in the order of the document.
pub(super) fn list(node: &Node<'_>, kind: &str) -> Vec<Finding> {
    let Some((_, schema, validator)) = VALIDATORS.iter().find(|(k, _, _)| *k == kind) else { return Vec::new() };
    let value = node.to_json();
    let mut findings: Vec<Finding> = Vec::new();
    for error in validator.iter_errors(&value) {
        push(node, schema, &error, &mut findings);
    }
    findings.sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
    findings.dedup();
    findings
}

fn push(node: &Node<'_>, schema: &Value, error: &ValidationError<'_>, findings: &mut Vec<Finding>) {
    let path = Path::parse(error.instance_path().as_str()).unwrap_or_default();
    let here = node.span_of(&path);
    let instance = error.instance();
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = known_fields(schema, error);
            for field in unexpected {
                let span = node.key_span_of(&path.join(Seg::Key(field.as_str().into())));
                let message = format!("unknown field `{field}` in {}", at(&path));
                let mut finding = Finding::new(codes::fields::UNKNOWN_FIELD, span, message);
                finding.help = match nearest(field, known.iter().copied()) {
                    Some(near) => Some(format!("did you mean `{near}`?")),
                    None if known.is_empty() => None,
                    None => Some(format!("known fields here: {}", known.join(", "))),
                };
                findings.push(finding);
            }
        }
        ValidationErrorKind::Required { property } => {
            let field = property.as_str().unwrap_or_default();
            findings.push(
                Finding::new(
                    codes::fields::MISSING_FIELD,
                    node.key_span_of(&path),
                    format!("{} has no `{field}`", at(&path)),
                )
                .help(format!("add `{field}:`")),
            );
        }
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(one) => named(one.as_str()).to_owned(),
                TypeKind::Multiple(many) => {
                    many.iter().map(|t| named(t.as_str())).filter(|t| *t != "null").collect::<Vec<_>>().join(" or ")
                }
            };
            let message = format!("{} takes {expected}, not {}", at(&path), type_name(instance));
            findings.push(Finding::new(codes::fields::WRONG_TYPE, here, message));
        }
        // an optional field is "the type, or null"; a documented enum is "one of these constants"
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let only_null = |branch: &&Vec<ValidationError<'static>>| {
                branch.iter().any(|e| {
                    e.instance_path() == error.instance_path()
                        && matches!(e.kind(), ValidationErrorKind::Type { kind: TypeKind::Single(t) } if t.as_str() == "null")
                })
            };
            let branches: Vec<_> = context.iter().filter(|b| !only_null(b)).collect();
            let here_itself = |e: &&ValidationError<'static>| e.instance_path() == error.instance_path();
            let of_this_value = branches.iter().flat_map(|b| b.iter()).filter(here_itself);
            let constants: Vec<&str> = of_this_value.filter_map(constant).flatten().collect();
            if !constants.is_empty() {
                let message = format!("{} takes one of {}", at(&path), constants.join(", "));
                let code = if instance.is_string() { codes::fields::INVALID_VALUE } else { codes::fields::WRONG_TYPE };
                let mut finding = Finding::new(code, here, message);
                finding.help =
                    instance.as_str().and_then(|v| nearest(v, constants)).map(|near| format!("did you mean `{near}`?"));
                findings.push(finding);
            } else {
                // of several forms, the one that takes a value of this type is the one that was meant
                let other_type = |e: &ValidationError<'static>| {
                    here_itself(&e) && matches!(e.kind(), ValidationErrorKind::Type { .. })
                };
                let only = branches.len() == 1;
                let meant: Vec<_> = branches.iter().filter(|b| only || !b.iter().any(other_type)).collect();
                if let [one] = meant.as_slice() {
                    one.iter().for_each(|e| push(node, schema, e, findings));
                } else {
                    let takes = described(schema, error).unwrap_or_else(|| "another value".to_owned());
                    let message = format!("{} takes {takes}, not {}", at(&path), type_name(instance));
                    findings.push(Finding::new(codes::fields::WRONG_TYPE, here, message));
                }
            }
        }
        ValidationErrorKind::Pattern { .. } => {
            let takes = described(schema, error).unwrap_or_else(|| "text of another form".to_owned());
            let mut finding = Finding::new(codes::fields::INVALID_VALUE, here, format!("{} takes {takes}", at(&path)));
            finding.help = instance.as_str().filter(|_| takes.contains("a share")).and_then(share_help);
            findings.push(finding);
        }
        ValidationErrorKind::Constant { expected_value } => {
            let message = format!("{} must be {expected_value}", at(&path));
            findings.push(Finding::new(codes::fields::INVALID_VALUE, here, message));
        }
        ValidationErrorKind::Minimum { limit } => {
            let message = format!("{} must be at least {limit}", at(&path));
            findings.push(Finding::new(codes::fields::INVALID_VALUE, here, message));
        }
        ValidationErrorKind::Maximum { limit } => {
            let message = format!("{} must be at most {limit}", at(&path));
            findings.push(Finding::new(codes::fields::INVALID_VALUE, here, message));
        }
        _ => {
            let message = format!("{}: {}", at(&path), error.masked());
            findings.push(Finding::new(codes::fields::INVALID_VALUE, here, message));
        }
    }
}

/// How to write a share or a count that was written in another way.
fn share_help(text: &str) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let help = match text.strip_suffix('%') {
        None if digits(text) => "add `%` for a share, or take the quotes off for a count",
        Some(share) if digits(share) => "all of it is 100%",
        Some(share) if digits(share.trim()) => "write it without a space",
        Some(_) | None => return None,
    };
    Some(help.to_owned())
}

/// The words of an enum that a failed branch stands for.
fn constant<'e>(error: &'e ValidationError<'static>) -> Option<Vec<&'e str>> {
    match error.kind() {
        // an empty word is only let through, never proposed
        ValidationErrorKind::Constant { expected_value } => {
            Some(expected_value.as_str().into_iter().filter(|word| !word.is_empty()).collect())
        }
        ValidationErrorKind::Enum { options } => {
            Some(options.as_array().map(|o| o.iter().filter_map(Value::as_str).collect()).unwrap_or_default())
        }
        ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::AnyOf { context } => {
            Some(context.iter().flatten().filter_map(constant).flatten().collect())
        }
        _ => None,
    }
}

fn at(path: &Path) -> String {
    if path.is_root() { "the document".to_owned() } else { format!("`{}`", path.dotted()) }
}

/// The fields of the map an error is about. The schema path ends in `/additionalProperties`; beside it stand `properties`.
fn known_fields<'s>(schema: &'s Value, error: &ValidationError<'_>) -> Vec<&'s str> {
    let path = error.schema_path().as_str();
    let parent = path.strip_suffix("/additionalProperties").unwrap_or(path);
    let properties = schema.pointer(parent).and_then(|s| s.get("properties")).and_then(Value::as_object);
    properties.map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// What the value is for, in the words of its type: the description beside the failed keyword, or beside the `anyOf` whose
/// branch it is in.
fn described(schema: &Value, error: &ValidationError<'_>) -> Option<String> {
    let (mut parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    loop {
        let text = schema.pointer(parent).and_then(|s| s.get("description")).and_then(Value::as_str);
        if let Some(text) = text {
            let mut chars = text.trim_end_matches('.').chars();
            let first = chars.next()?.to_lowercase();
            return Some(first.chain(chars).collect());
        }
        let (any_of, branch) = parent.rsplit_once('/')?;
        parent = any_of.strip_suffix("/anyOf").filter(|_| branch.bytes().all(|b| b.is_ascii_digit()))?;
    }
}

fn named(json_type: &str) -> &'static str {
    match json_type {
        "array" => "a list",
        "boolean" => "a boolean",
        "integer" => "a whole number",
        "number" => "a number",
        "object" => "a map",
        "string" => "a string",
        _ => "null",
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
