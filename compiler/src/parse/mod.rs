//! One file to its intermediate form, which owns everything and knows nothing of other files.
//!
//! Invariants: the result depends on the bytes and the class of the file alone, so it can be kept under its content id;
//! spanned nodes die here; an intent that does not decode, or a manifest without an identity, yields findings and no body,
//! never a half body.
//! The next kind of file gets a function here and a variant of [`DocBody`].

mod facts;
mod intent;
mod manifest;
mod mistakes;
mod secrets;
mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::api::Intent;
use crate::base::{SmolStr, Span};
use crate::diag::{Finding, codes};
use crate::placements::{RecordDoc, StateForm};
use crate::source::FileClass;
use crate::yaml::{self, Limits, WarningKind, YamlError, YamlErrorKind, YamlWarning};

pub use facts::{Autoscaler, Defined, Facts};
pub use secrets::{holds_secret, is_secret};
pub use template::{Template, canonical};

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct FileIr {
    /// Its documents, in order, empty ones left out.
    pub docs: Vec<DocIr>,
    /// Its mistakes.
    pub findings: Vec<Finding>,
    /// Whether some of it could not be read: then nothing is concluded from what is missing.
    pub broken: bool,
    /// Whether what could not be read may have been an intent.
    pub lost_intent: bool,
}

/// One document, or one item of a `List`.
#[derive(Clone, Debug)]
pub struct DocIr {
    /// The document, counted from 0, empty ones included.
    pub doc: u16,
    /// The item, inside a `List`.
    pub item: Option<u32>,
    /// What it is.
    pub body: DocBody,
}

/// What a document is.
#[derive(Clone, Debug)]
pub enum DocBody {
    /// An intent of the fleet's API.
    Intent(Box<Intent>),
    /// An ordinary manifest.
    Manifest(Manifest),
    /// A part of the record.
    Record(RecordDoc),
}

/// An ordinary manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its identity, the namespace as written.
    pub key: ObjKey,
    /// What later stages ask of it.
    pub facts: Facts,
    /// Its text.
    pub template: Arc<Template>,
}

/// The identity of an object. Orders by kind first, so that plans read by kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjKey {
    /// The kind.
    pub kind: SmolStr,
    /// The namespace; `None` where none is stated, or the kind is cluster-scoped.
    pub namespace: Option<SmolStr>,
    /// The name.
    pub name: SmolStr,
    /// The API group; `""` is the core group.
    pub group: SmolStr,
    /// The version. Not part of what makes two objects the same: see [`ObjKey::same_object`].
    pub version: SmolStr,
}

impl ObjKey {
    /// Whether the API server would see one object: versions are views of it.
    #[must_use]
    pub fn same_object(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Everything but the version.
    #[must_use]
    pub fn identity(&self) -> (&str, &str, &str, &str) {
        (&self.kind, &self.group, self.namespace.as_deref().unwrap_or_default(), &self.name)
    }

    /// `apiVersion` as written in YAML.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }
}

impl std::fmt::Display for ObjKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// How a file is read: all that its path says about its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileForm {
    /// Its folder.
    pub class: FileClass,
    /// Its form, inside `state/`.
    pub state: Option<StateForm>,
}

impl FileForm {
    /// The form of a file.
    #[must_use]
    pub fn of(class: FileClass, path: &str) -> Self {
        Self { class, state: (class == FileClass::State).then(|| StateForm::of(path)) }
    }

    /// Whether it is a file of the record that a compile depends on.
    fn is_record(self) -> bool {
        match self.class {
            FileClass::Placements => true,
            FileClass::State => self.state.is_some_and(StateForm::is_for_compile),
            FileClass::FleetFile
            | FileClass::Cluster
            | FileClass::Policy
            | FileClass::Team
            | FileClass::TeamFolder
            | FileClass::Vendor
            | FileClass::Approval => false,
        }
    }
}

/// Reads a file of a form.
#[must_use]
pub fn parse(bytes: &[u8], form: FileForm, limits: &Limits) -> FileIr {
    let mut ir = FileIr::default();
    let text = match yaml::decode_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            (ir.broken, ir.lost_intent) = (true, true);
            ir.findings.push(reading_finding(&error));
            return ir;
        }
    };
    let (documents, errors) = yaml::compose(text, limits);
    ir.broken = !errors.is_empty();
    ir.lost_intent = ir.broken;
    ir.findings.extend(errors.iter().map(reading_finding));
    for document in &documents {
        let secret = document.root.as_ref().is_none_or(may_hold_secrets);
        ir.findings.extend(document.warnings.iter().map(|warning| reading_warning(warning, text, secret)));
        let Ok(doc) = u16::try_from(document.index) else {
            (ir.broken, ir.lost_intent) = (true, true);
            let start = Span::new(document.span.start, document.span.start);
            ir.findings.push(
                Finding::new(codes::reading::YAML_LIMIT, start, "more than 65,535 documents in one file")
                    .help("split the file"),
            );
            break;
        };
        let Some(node) = &document.root else { continue };
        let class = form.class;
        match class {
            FileClass::FleetFile | FileClass::Cluster | FileClass::Policy | FileClass::Team => {
                intent::read(node, class, doc, &mut ir);
            }
            FileClass::TeamFolder => {
                if intent::is_intent(node) {
                    intent::read(node, class, doc, &mut ir);
                } else {
                    manifest::read(node, doc, &mut ir);
                }
            }
            FileClass::Placements | FileClass::State => record(node, form, doc, &mut ir),
            FileClass::Vendor | FileClass::Approval => {
                ir.findings.push(
                    Finding::new(
                        codes::fields::NOT_YET,
                        node.head(),
                        "this folder is not read yet: vendored sources and approvals are not supported",
                    )
                    .help("remove the file"),
                );
            }
        }
    }
    if form.is_record() && documents.is_empty() && errors.is_empty() {
        let finding = Finding::new(codes::record::UNKNOWN_RECORD, Span::new(0, 0), "this file of the record is empty");
        ir.broken = true;
        ir.findings.push(finding.help("restore what it said, or remove the file: an empty one says nothing"));
    }
    ir
}

/// One document of the record: the only one of its file, so that none wins over another in silence.
fn record(node: &yaml::Node<'_>, form: FileForm, doc: u16, ir: &mut FileIr) {
    match crate::placements::read(node, form.state) {
        Ok(Some(_)) if !ir.docs.is_empty() => ir.findings.push(
            Finding::new(codes::record::DUPLICATE_RECORD, node.head(), "a second document in a file of the record")
                .help("a file of the record holds one document; keep the one that is true"),
        ),
        Ok(Some(record)) => ir.docs.push(DocIr { doc, item: None, body: DocBody::Record(record) }),
        Ok(None) => {}
        Err(finding) => {
            ir.broken = true;
            ir.findings.push(finding);
        }
    }
}

/// Whether a document is a Secret, a list with one, encrypted, or may change a Secret: its values are shown in no message.
fn may_hold_secrets(node: &yaml::Node<'_>) -> bool {
    let is_secret = |kind: &str| kind.eq_ignore_ascii_case("Secret");
    let secret = |node: &yaml::Node<'_>| {
        node.get("kind").and_then(yaml::Node::as_str).is_some_and(is_secret) || node.get("sops").is_some()
    };
    let rules = node.get("spec").and_then(|spec| spec.get("overrides")).map(|rules| &rules.value);
    let changes_secret = |rule: &yaml::Node<'_>| {
        let kind = rule.get("target").and_then(|target| target.get("kind"));
        kind.and_then(yaml::Node::as_str).is_none_or(is_secret)
    };
    secret(node)
        || manifest::list_items(node).is_some_and(|items| items.iter().any(|item| secret(item)))
        || (intent::is_intent(node)
            && matches!(rules, Some(yaml::Yaml::Seq(rules)) if rules.iter().any(changes_secret)))
}

fn reading_finding(error: &YamlError) -> Finding {
    use codes::reading as code;
    let code = match &error.kind {
        YamlErrorKind::TooLarge { .. }
        | YamlErrorKind::Depth { .. }
        | YamlErrorKind::AliasBudget
        | YamlErrorKind::TooMany { .. } => code::YAML_LIMIT,
        YamlErrorKind::NotUtf8 | YamlErrorKind::Utf16 | YamlErrorKind::Nul => code::NOT_TEXT,
        YamlErrorKind::LfsPointer => code::LFS_POINTER,
        YamlErrorKind::DuplicateKey { .. } => code::DUPLICATE_KEY,
        YamlErrorKind::ControlCharacter(_)
        | YamlErrorKind::ByteOrderMark
        | YamlErrorKind::Separator
        | YamlErrorKind::AfterEnd
        | YamlErrorKind::Tab
        | YamlErrorKind::Template
        | YamlErrorKind::Syntax(_)
        | YamlErrorKind::JsonEscape
        | YamlErrorKind::AnchorName
        | YamlErrorKind::Brackets
        | YamlErrorKind::BlockAtMargin
        | YamlErrorKind::UnknownAnchor
        | YamlErrorKind::RecursiveAnchor => code::YAML_SYNTAX,
        YamlErrorKind::OldLineBreak(_)
        | YamlErrorKind::Directive
        | YamlErrorKind::KeyNotScalar
        | YamlErrorKind::KeyNull
        | YamlErrorKind::KeyTooLarge
        | YamlErrorKind::Merge
        | YamlErrorKind::NotFinite
        | YamlErrorKind::TagMismatch { .. }
        | YamlErrorKind::InvalidBase64
        | YamlErrorKind::BinaryNotText
        | YamlErrorKind::Surrogates
        | YamlErrorKind::BlankLastLine => code::YAML_FEATURE,
    };
    let mut finding = Finding::new(code, error.span, error.to_string()).help(error.hint());
    if let YamlErrorKind::DuplicateKey { first, .. } = &error.kind {
        finding.related.push((*first, "first written here".to_owned()));
    }
    finding
}

/// Of what may be a secret no value is shown; the place shows it to those who can read the file.
fn reading_warning(warning: &YamlWarning, text: &str, secret: bool) -> Finding {
    let code = match &warning.kind {
        WarningKind::Ambiguous { .. } => codes::reading::AMBIGUOUS_SCALAR,
        WarningKind::MergeOverrides { .. } => codes::reading::MERGE_OVERRIDES,
        WarningKind::IgnoredTag => codes::reading::IGNORED_TAG,
    };
    let (message, help) = match secret {
        true => (warning.masked(), warning.masked_hint()),
        false => (warning.message(text), warning.hint()),
    };
    let mut finding = Finding::new(code, warning.span, message).help(help);
    if let WarningKind::MergeOverrides { written, .. } = &warning.kind {
        finding.related.push((*written, "this one loses".to_owned()));
    }
    finding
}
