//! Priority classes, and what all kinds share: labels of metadata, names of classes.

use std::collections::BTreeMap;

use super::{Docs, Lowering};
use crate::api::{Metadata, PreemptionPolicy, PriorityClass};
use crate::base::labels::Labels;
use crate::base::name::{NameRule, check, nearest};
use crate::base::{FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};

/// What a priority class says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Priority {
    pub value: i32,
    /// Whether a preemption is proposed.
    pub preempts: bool,
}

/// Reads `kind: PriorityClass` into the table of priorities.
pub(super) fn priority_classes(cx: &mut Lowering<'_>, docs: &Docs<'_>) {
    let mut default: Option<(FileId, &Spanned<bool>)> = None;
    for (file, class) in super::unique(cx, &docs.priority_classes, "PriorityClass", |c| &c.metadata.name) {
        let PriorityClass {
            api_version: _,
            kind: _,
            metadata,
            value,
            global_default,
            description: _,
            preemption_policy,
        } = class;
        cx.check_name(file, &metadata.name, NameRule::Dns1123Subdomain, "priority class name");
        labels(cx, file, metadata);
        let preempts = match preemption_policy.as_ref().map(|policy| policy.value) {
            None | Some(PreemptionPolicy::Never) => false,
            Some(PreemptionPolicy::PreemptLowerPriority) => true,
        };
        let priority = Priority { value: value.value, preempts };
        cx.classes.insert(metadata.name.value.clone(), priority);
        if let Some(flag) = global_default.as_ref().filter(|g| g.value) {
            match default {
                None => {
                    default = Some((file, flag));
                    cx.default_priority = priority;
                }
                Some((first_file, first)) => cx.report(
                    Diagnostic::new(
                        codes::references::TWO_DEFAULT_CLASSES,
                        Place::Span(file, flag.span),
                        "another class is the default already",
                    )
                    .related(Place::Span(first_file, first.span), "this one"),
                ),
            }
        }
    }
}

/// Reports a priority class that is not there.
pub(super) fn known_class(cx: &mut Lowering<'_>, file: FileId, name: &Spanned<SmolStr>) {
    if cx.classes.contains_key(&name.value) || cx.unread.policies {
        return;
    }
    let near = nearest(&name.value, cx.classes.keys().map(SmolStr::as_str)).map(str::to_owned);
    let mut diagnostic = Diagnostic::new(
        codes::references::UNKNOWN_PRIORITY_CLASS,
        Place::Span(file, name.span),
        format!("there is no priority class `{}` in policies/", name.value),
    );
    diagnostic.help = near.map(|near| format!("did you mean `{near}`?"));
    cx.report(diagnostic);
}

/// The labels of an object; malformed ones are reported.
pub(super) fn labels(cx: &mut Lowering<'_>, file: FileId, metadata: &Metadata) -> Labels {
    let Metadata { name: _, labels, annotations: _ } = metadata;
    for (key, value) in labels {
        label(cx, file, (&key.value, key.span), (&value.value, value.span));
    }
    labels.iter().map(|(k, v)| (k.value.clone(), v.value.clone())).collect()
}

/// The labels of nodes or Namespaces, which have no places of their own: what is malformed is reported where they stand.
pub(super) fn plain_labels(
    cx: &mut Lowering<'_>,
    file: FileId,
    labels: &BTreeMap<SmolStr, SmolStr>,
    span: Span,
) -> Labels {
    for (key, value) in labels {
        label(cx, file, (key, span), (value, span));
    }
    labels.clone()
}

fn label(cx: &mut Lowering<'_>, file: FileId, key: (&str, Span), value: (&str, Span)) {
    for ((part, span), rule, what) in
        [(key, NameRule::QualifiedName, "label key"), (value, NameRule::LabelValue, "label value")]
    {
        if let Err(expected) = check(rule, part) {
            cx.error(
                codes::fields::INVALID_LABEL,
                Place::Span(file, span),
                format!("`{part}` is not a valid {what}: {expected}"),
            );
        }
    }
}
