//! Ordinary Kubernetes manifests.

use std::borrow::Cow;

use serde_json::Value;

use super::facts::{Autoscaler, Defined};
use super::secrets::{holds_secret, is_secret};
use super::{DocBody, DocIr, Facts, FileIr, Manifest, ObjKey, Template};
use crate::base::labels::Labels;
use crate::base::name::{NameRule, check};
use crate::base::{Path, SmolStr, Span};
use crate::diag::{Finding, codes};
use crate::kinds::native::{self, FieldProblem, JsonType, Problem, Shape};
use crate::kinds::replicas::WorkloadKind;
use crate::yaml::{Key, Node, Yaml};

/// Reads a document: an object, or the objects of a list.
pub(super) fn read(node: &Node<'_>, doc: u16, ir: &mut FileIr) {
    match list_items(node) {
        Some(items) => {
            for (i, item) in (0_u32..).zip(items) {
                object(&item, doc, Some(i), ir);
            }
        }
        None => object(node, doc, None, ir),
    }
}

/// The items of a `List`, or of a list of one kind. As `kubectl` has it, an item of a ConfigMapList that states no kind or
/// no version is a ConfigMap of the list's version (apimachinery, `UnstructuredJSONScheme.decodeToList`).
pub(super) fn list_items<'n, 's>(node: &'n Node<'s>) -> Option<Vec<Cow<'n, Node<'s>>>> {
    let (_, kind) = node.entry("kind")?;
    let kind_of_list = kind.as_str()?;
    let (rest, ending) = kind_of_list.split_at_checked(kind_of_list.len().checked_sub("List".len())?)?;
    let Yaml::Seq(items) = &node.get("items")?.value else { return None };
    if !ending.eq_ignore_ascii_case("List") {
        return None;
    }
    let stated =
        |item: &Node<'s>, field: &str| item.get(field).is_some_and(|n| n.value != Yaml::Null && n.as_str() != Some(""));
    let typed = |item: &Node<'s>| {
        let whole = stated(item, "kind") && stated(item, "apiVersion");
        let (Yaml::Map(entries), false) = (&item.value, whole || rest.is_empty()) else { return None };
        let own = entries.iter().filter(|(key, _)| !matches!(&*key.text, "kind" | "apiVersion")).cloned();
        let version = node.entry("apiVersion").map(|(key, version)| (key.clone(), version.clone()));
        let kind = Node { span: kind.span, value: Yaml::Str(Cow::Owned(rest.to_owned())) };
        let key = Key { span: kind.span, text: Cow::Borrowed("kind") };
        let entries = own.chain(version).chain([(key, kind)]).collect();
        Some(Node { span: item.span, value: Yaml::Map(entries) })
    };
    Some(items.iter().map(|item| typed(item).map_or(Cow::Borrowed(item), Cow::Owned)).collect())
}

fn object(node: &Node<'_>, doc: u16, item: Option<u32>, ir: &mut FileIr) {
    let before = ir.findings.len();
    let Some((key, mut facts)) = identity(node, ir) else {
        ir.broken = true;
        return;
    };
    if let Some((sops, _)) = node.entry("sops") {
        ir.broken = true;
        ir.findings.push(
            Finding::new(codes::manifests::SOPS, sops.span, "documents encrypted with SOPS are not rendered yet")
                .help("keep it out of the fleet repository until then"),
        );
        return;
    }
    let value = node.to_json();
    fields(node, &key, &value, ir);
    workload(node, &key, &value, &mut facts, (before, ir));
    facts.defines = defines(&key, &value);
    facts.autoscaler = autoscaler(&key, &value);
    annotations(node, &mut facts, ir);
    secret(&key, &value, &mut facts);
    for label in ["fleetwright.io/team", "fleetwright.io/app"] {
        if facts.labels.contains_key(label) {
            let path = Path::of_keys(["metadata", "labels", label]);
            ir.findings.push(Finding::new(
                codes::manifests::RESERVED_LABEL,
                node.key_span_of(&path),
                format!("label `{label}` is set by fleetwright; what the manifest says is replaced"),
            ));
        }
    }
    ir.broken |= ir.findings[before..].iter().any(|f| f.code.severity() == crate::diag::Severity::Error);
    let template = Template::of(&value);
    ir.docs.push(DocIr { doc, item, body: DocBody::Manifest(Manifest { key, facts, template }) });
}

/// Group, version, kind, namespace and name; `None` where it is no object, which was then said.
fn identity(node: &Node<'_>, ir: &mut FileIr) -> Option<(ObjKey, Facts)> {
    let before = ir.findings.len();
    let not_object = |span: Span, message: String, help: &str| {
        Finding::new(codes::manifests::NOT_AN_OBJECT, span, message).help(help.to_owned())
    };
    if !matches!(node.value, Yaml::Map(_)) {
        ir.findings.push(not_object(
            node.head(),
            "this document is not an object: expected a map with `apiVersion`, `kind` and `metadata`".to_owned(),
            "write a Kubernetes manifest, or move the file out of the team's folder",
        ));
        return None;
    }
    let mut text = |parent: &Node<'_>, field: &str, required: bool| -> Option<(SmolStr, Span)> {
        match parent.get(field) {
            Some(n) if matches!(n.value, Yaml::Null) && !required => None,
            Some(n) => match n.as_str() {
                Some(t) if !t.is_empty() || !required => Some((SmolStr::new(t), n.span)),
                _ => {
                    ir.findings.push(not_object(
                        n.span,
                        format!("`{field}` must be a string that is not empty"),
                        "quote it if it is meant as text",
                    ));
                    None
                }
            },
            None => None,
        }
    };
    let api_version = text(node, "apiVersion", true);
    let kind = text(node, "kind", true);
    let metadata = node.get("metadata").filter(|m| matches!(m.value, Yaml::Map(_)));
    let name = metadata.and_then(|m| text(m, "name", true));
    let namespace = metadata.and_then(|m| text(m, "namespace", false)).filter(|(ns, _)| !ns.is_empty());
    let absent: Vec<&str> = ["apiVersion", "kind"].into_iter().filter(|field| node.get(field).is_none()).collect();
    if !absent.is_empty() {
        ir.findings.push(not_object(
            node.head(),
            format!("this object has no `{}`", absent.join("` and no `")),
            "every manifest needs `apiVersion`, `kind` and `metadata.name`",
        ));
    }
    if let (None, Some(_)) = (&name, &kind) {
        let generate = metadata.and_then(|m| m.get("generateName"));
        match generate {
            Some(generate) => ir.findings.push(
                Finding::new(
                    codes::manifests::GENERATE_NAME,
                    generate.span,
                    "`generateName` asks the API server for a new name at every deploy; a fleet needs a fixed one",
                )
                .help("give the object a `metadata.name`"),
            ),
            None if metadata.is_none_or(|m| m.get("name").is_none()) => ir.findings.push(not_object(
                kind.as_ref().map_or(node.head(), |(_, span)| *span),
                "this object has no `metadata.name`".to_owned(),
                "every manifest needs `apiVersion`, `kind` and `metadata.name`",
            )),
            None => {}
        }
    }
    let ((api_version, version_span), (kind, kind_span), (name, name_span)) = (api_version?, kind?, name?);
    let (group, version) = match api_version.split_once('/') {
        Some((group, version)) => (SmolStr::new(group), SmolStr::new(version)),
        None => (SmolStr::default(), api_version.clone()),
    };
    names(&group, &version, version_span, &kind, (&name, name_span), namespace.as_ref(), ir);
    let named = ir.findings.len() == before;
    let labels = labels(metadata, ir);
    if !named {
        return None;
    }
    let namespace_span = namespace.as_ref().map(|(_, span)| *span);
    let facts = Facts { labels, name_span, kind_span, namespace_span, ..Facts::default() };
    Some((ObjKey { kind, namespace: namespace.map(|(ns, _)| ns), name, group, version }, facts))
}

/// `metadata.labels`; what the API server would refuse is reported.
fn labels(metadata: Option<&Node<'_>>, ir: &mut FileIr) -> Labels {
    let mut labels = Labels::new();
    let Some(Yaml::Map(entries)) = metadata.and_then(|m| m.get("labels")).map(|l| &l.value) else { return labels };
    let substitute = metadata.and_then(|m| m.get("annotations")).and_then(|a| a.get("fleetwright.io/substitute"));
    let substitute = substitute.and_then(Node::as_str) == Some("enabled");
    for (key, value) in entries {
        // a value that is no text is a wrong type, which is said elsewhere
        let Some(text) = value.as_str() else { continue };
        let parts = [
            (key.span, &*key.text, NameRule::QualifiedName, "label key"),
            (value.span, text, NameRule::LabelValue, "label value"),
        ];
        for (span, text, rule, what) in parts {
            // with variables, it is judged once these are filled in
            let later = substitute && rule == NameRule::LabelValue && text.contains("${");
            if !later && let Err(expected) = check(rule, text) {
                ir.findings.push(Finding::new(
                    codes::manifests::INVALID_OBJECT_NAME,
                    span,
                    format!("`{text}` is not a valid {what}: {expected}"),
                ));
            }
        }
        labels.insert(SmolStr::new(&key.text), SmolStr::new(text));
    }
    labels
}

fn names(
    group: &str,
    version: &str,
    version_span: Span,
    kind: &str,
    name: (&SmolStr, Span),
    namespace: Option<&(SmolStr, Span)>,
    ir: &mut FileIr,
) {
    let mut bad = |span, what: &str, text: &str, expected: String| {
        ir.findings.push(Finding::new(
            codes::manifests::INVALID_OBJECT_NAME,
            span,
            format!("`{text}` is not a valid {what}: {expected}"),
        ));
    };
    if !group.is_empty()
        && let Err(expected) = check(NameRule::Dns1123Subdomain, group)
    {
        bad(version_span, "API group", group, expected);
    }
    if let Err(expected) = check(NameRule::Dns1035Label, version) {
        bad(version_span, "API version", version, expected);
    }
    if let Some((namespace, span)) = namespace
        && let Err(expected) = check(NameRule::Dns1123Label, namespace)
    {
        bad(*span, "namespace", namespace, expected);
    }
    // RBAC names and custom resources may hold more than a DNS name; what no object may hold is what breaks a path
    let (name, span) = name;
    let rule = native::lookup(group, version, kind).map_or(NameRule::PathSegment, |_| match (group, kind) {
        ("rbac.authorization.k8s.io", _) => NameRule::PathSegment,
        ("", "Namespace") => NameRule::Dns1123Label,
        ("", "Service") => NameRule::Dns1035Label,
        _ => NameRule::Dns1123Subdomain,
    });
    if let Err(expected) = check(rule, name) {
        bad(span, "name", name, expected);
    }
}

/// What Kubernetes would drop or refuse, field by field.
fn fields(node: &Node<'_>, key: &ObjKey, value: &Value, ir: &mut FileIr) {
    let native = native::lookup(&key.group, &key.version, &key.kind);
    for problem in native::check_sizes(native, value) {
        let span = node.key_span_of(&problem.path);
        ir.findings.push(Finding::new(codes::manifests::TOO_LARGE, span, problem.to_string()));
    }
    let Some(kind) = native else {
        if let Some(advice) = native::version_advice(&key.group, &key.version, &key.kind) {
            let span = node.get("apiVersion").map_or(node.head(), |n| n.span);
            ir.findings.push(Finding::new(codes::manifests::REMOVED_VERSION, span, advice.to_string()));
        }
        return;
    };
    for FieldProblem { path, problem } in native::check_fields(kind, value) {
        let finding = match problem {
            Problem::UnknownField { nearest } => Finding {
                help: nearest.map(|near| format!("did you mean `{near}`?")),
                ..Finding::new(
                    codes::manifests::UNKNOWN_NATIVE_FIELD,
                    node.key_span_of(&path),
                    format!("{} has no field `{}`; the API server drops it", key.kind, path.dotted()),
                )
            },
            Problem::WrongType { expected, found } => {
                let scalar = matches!(found, JsonType::Boolean | JsonType::Integer | JsonType::Number);
                let help = match expected {
                    Shape::String if scalar => Some("quote it"),
                    Shape::Integer | Shape::Number | Shape::Boolean if found == JsonType::String => {
                        Some("write it without quotes")
                    }
                    _ => None,
                };
                Finding {
                    help: help.map(str::to_owned),
                    ..Finding::new(
                        codes::manifests::WRONG_NATIVE_TYPE,
                        node.span_of(&path),
                        format!("`{}` must be {expected}, not {found}", path.dotted()),
                    )
                }
            }
            Problem::NotBase64 => Finding::new(
                codes::manifests::NOT_BASE64,
                node.key_span_of(&path),
                format!("`{}` is not base64", path.dotted()),
            )
            .help(match (key.group.as_str(), key.kind.as_str()) {
                ("", "Secret") => "use `stringData` for plain text; a placeholder belongs into no manifest",
                ("", "ConfigMap") => "use `data` for plain text, and here the output of `base64 -w0`",
                _ => "write the output of `base64 -w0`; a placeholder belongs into no manifest",
            }),
            Problem::MissingRequired { field } => Finding::new(
                codes::manifests::MISSING_NATIVE_FIELD,
                node.key_span_of(&path),
                format!("`{}` has no `{field}`, which Kubernetes requires", path.dotted()),
            ),
        };
        ir.findings.push(finding);
    }
}

/// Counts of a workload. `before` is how many findings there were before those of this object: a count of a wrong type was
/// said as that.
fn workload(node: &Node<'_>, key: &ObjKey, value: &Value, facts: &mut Facts, (before, ir): (usize, &mut FileIr)) {
    let Some(kind) = WorkloadKind::of(&key.group, &key.kind) else { return };
    facts.workload = Some(kind);
    match kind.counts(value) {
        Ok(counts) => facts.counts = counts,
        Err(bad) => {
            let span = node.span_of(&bad.path);
            let mut said = ir.findings.iter().skip(before);
            if !said.any(|f| f.code == codes::manifests::WRONG_NATIVE_TYPE && f.span == span) {
                ir.findings.push(Finding::new(
                    codes::manifests::INVALID_REPLICAS,
                    span,
                    format!("`{}` must be a whole number from 0 to 2147483647", bad.path.dotted()),
                ));
            }
        }
    }
}

/// The kind that a CustomResourceDefinition defines.
fn defines(key: &ObjKey, value: &Value) -> Option<Defined> {
    let definition = key.group == "apiextensions.k8s.io" && key.kind == "CustomResourceDefinition";
    let spec = value.get("spec").filter(|_| definition)?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(SmolStr::new);
    let names = spec.get("names");
    let kind = text(names.and_then(|n| n.get("kind")))?;
    Some(Defined {
        group: text(spec.get("group"))?,
        plural: text(names.and_then(|n| n.get("plural"))).unwrap_or_else(|| native::guessed_plural(&kind)),
        kind,
        namespaced: spec.get("scope").and_then(Value::as_str) != Some("Cluster"),
    })
}

/// What a HorizontalPodAutoscaler scales. One that Kubernetes would refuse scales nothing.
fn autoscaler(key: &ObjKey, value: &Value) -> Option<Autoscaler> {
    if (key.group.as_str(), key.kind.as_str()) != ("autoscaling", "HorizontalPodAutoscaler") {
        return None;
    }
    let spec = value.get("spec")?;
    let target = spec.get("scaleTargetRef")?;
    let text = |field: &str| target.get(field).and_then(Value::as_str);
    let count = |field: &str| spec.get(field).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let (group, _) = native::split_api_version(text("apiVersion").unwrap_or_default());
    let max = count("maxReplicas")?;
    let min = count("minReplicas").unwrap_or(1);
    Some(Autoscaler { group: group.into(), kind: text("kind")?.into(), name: text("name")?.into(), min, max })
}

fn annotations(node: &Node<'_>, facts: &mut Facts, ir: &mut FileIr) {
    let Some(Yaml::Map(entries)) = node.get("metadata").and_then(|m| m.get("annotations")).map(|n| &n.value) else {
        return;
    };
    for (key, value) in entries {
        let Some(name) = key.text.strip_prefix("fleetwright.io/") else { continue };
        match (name, value.as_str()) {
            ("substitute", Some("enabled")) => facts.substitute = true,
            ("prune", Some("disabled"))
            | ("apply", Some("Once" | "Recreate" | "Update"))
            | ("conflicts", Some("Force")) => {}
            _ => {
                let known = "prune: disabled, apply: Once|Recreate|Update, conflicts: Force, substitute: enabled";
                ir.findings.push(
                    Finding::new(
                        codes::manifests::UNKNOWN_ANNOTATION,
                        key.span,
                        format!("`{}` with this value is not an annotation that fleetwright knows", key.text),
                    )
                    .help(format!("known below fleetwright.io/: {known}")),
                );
            }
        }
    }
}

/// A Secret in the clear. No value is ever shown.
fn secret(key: &ObjKey, value: &Value, facts: &mut Facts) {
    facts.plaintext_secret = is_secret(key) && holds_secret(value);
}
