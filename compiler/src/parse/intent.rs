//! Documents of the fleet's own API.

use serde::de::DeserializeOwned;

use super::{DocBody, DocIr, FileIr};
use crate::api::{self, Intent, KINDS, not_yet};
use crate::base::Span;
use crate::base::name::nearest;
use crate::diag::{Code, Finding, codes};
use crate::source::FileClass;
use crate::yaml::{self, DecodeError, DecodeErrorKind, Node};

/// Whether a document claims to be of the fleet's API.
pub(super) fn is_intent(node: &Node<'_>) -> bool {
    let group = |v: &str| v.split('/').next().is_some_and(|g| g == api::API_GROUP);
    node.get("apiVersion").and_then(Node::as_str).is_some_and(group)
}

/// Reads an intent: its body, or findings.
pub(super) fn read(node: &Node<'_>, class: FileClass, doc: u16, ir: &mut FileIr) {
    match decode(node, class) {
        Ok(intent) => {
            ir.findings.extend(not_yet::findings(intent.kind(), node));
            ir.docs.push(DocIr { doc, item: None, body: DocBody::Intent(Box::new(intent)) });
        }
        Err(findings) => {
            (ir.broken, ir.lost_intent) = (true, true);
            ir.findings.extend(findings);
        }
    }
}

fn decode(node: &Node<'_>, class: FileClass) -> Result<Intent, Vec<Finding>> {
    let header = |field: &str| -> Result<(Span, &str), Vec<Finding>> {
        let (span, message) = match node.get(field) {
            None => (node.head(), format!("this document has no `{field}`")),
            Some(value) => match value.as_str() {
                Some(text) => return Ok((value.span, text)),
                None => (value.span, format!("`{field}` must be a string")),
            },
        };
        Err(vec![Finding::new(codes::fields::UNKNOWN_KIND, span, message).help(format!(
            "begin it with `apiVersion: {}` and a `kind`: {}",
            api::API_VERSION,
            expected(class)
        ))])
    };
    let (version_span, version_text) = header("apiVersion")?;
    let (kind_span, kind) = header("kind")?;
    if kind == "PriorityClass" && version_text == "scheduling.k8s.io/v1" {
        return typed(node, kind).map(Intent::PriorityClass);
    }
    if version_text != api::API_VERSION {
        let wanted = if kind == "PriorityClass" { "scheduling.k8s.io/v1" } else { api::API_VERSION };
        return Err(vec![
            Finding::new(
                codes::fields::UNKNOWN_KIND,
                version_span,
                format!("`{version_text}` is not an API version of this folder; expected `{wanted}`"),
            )
            .help(format!("write `apiVersion: {wanted}`")),
        ]);
    }
    Ok(match kind {
        "Fleet" => Intent::Fleet(typed(node, kind)?),
        "Cluster" => Intent::Cluster(typed(node, kind)?),
        "Team" => Intent::Team(typed(node, kind)?),
        "App" => Intent::App(typed(node, kind)?),
        "PlacementPolicy" => Intent::PlacementPolicy(typed(node, kind)?),
        "OverridePolicy" => Intent::OverridePolicy(typed(node, kind)?),
        "Tide" => Intent::Tide(typed(node, kind)?),
        "Calendar" => Intent::Calendar(typed(node, kind)?),
        "WorkloadKind" => Intent::WorkloadKind(typed(node, kind)?),
        other => {
            let mut finding = Finding::new(
                codes::fields::UNKNOWN_KIND,
                kind_span,
                format!("`{other}` is not a kind of {}; expected {}", api::API_VERSION, expected(class)),
            );
            if other == "PriorityClass" {
                finding = finding.help("it is a kind of Kubernetes: `apiVersion: scheduling.k8s.io/v1`");
            } else if let Some(near) = nearest(other, KINDS.iter().copied()) {
                finding = finding.help(format!("did you mean `{near}`?"));
            }
            return Err(vec![finding]);
        }
    })
}

fn expected(class: FileClass) -> &'static str {
    match class {
        FileClass::FleetFile => "Fleet",
        FileClass::Cluster => "Cluster",
        FileClass::Policy => "PlacementPolicy, OverridePolicy, Tide, Calendar, WorkloadKind or PriorityClass",
        FileClass::Team => "Team",
        FileClass::TeamFolder => "App, PlacementPolicy, OverridePolicy or Tide",
        FileClass::Vendor | FileClass::Approval | FileClass::Placements | FileClass::State => "Fleet",
    }
}

/// Decodes; when that fails, the schema lists every mistake. Decoding alone decides validity: where the schema finds
/// nothing, the decoder's one error stands.
fn typed<T: DeserializeOwned>(node: &Node<'_>, kind: &str) -> Result<T, Vec<Finding>> {
    yaml::decode(node).map_err(|error| {
        let mut all = super::mistakes::list(node, kind);
        let decoding = decode_finding(&error);
        let said = |f: &Finding| f.span.start < decoding.span.end && decoding.span.start < f.span.end;
        // a schema cannot say all that decoding checks, and the decoder stops at its first mistake
        if !all.iter().any(said) && (all.is_empty() || decoding.code == codes::fields::INVALID_VALUE) {
            all.push(decoding);
        }
        all
    })
}

fn decode_finding(error: &DecodeError) -> Finding {
    let code: Code = match &error.kind {
        DecodeErrorKind::UnknownField { .. } => codes::fields::UNKNOWN_FIELD,
        DecodeErrorKind::MissingField { .. } => codes::fields::MISSING_FIELD,
        DecodeErrorKind::WrongType { .. } => codes::fields::WRONG_TYPE,
        DecodeErrorKind::UnknownVariant { .. }
        | DecodeErrorKind::OutOfRange { .. }
        | DecodeErrorKind::Length { .. }
        | DecodeErrorKind::Custom(_) => codes::fields::INVALID_VALUE,
    };
    let mut finding = Finding::new(code, error.span, error.to_string());
    finding.help = error.hint();
    finding
}
