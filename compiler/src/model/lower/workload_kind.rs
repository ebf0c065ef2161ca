//! `kind: WorkloadKind`: what custom kinds mean, with their expressions compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Docs, Lowering};
use crate::api::{HealthSpec, WorkloadKindSpec};
use crate::base::name::{NameRule, check};
use crate::base::{FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::kinds::cel::Expression;
use crate::kinds::native;
use crate::model::{CustomKind, HealthRules};

/// The custom kinds that are taught, ascending by (group, kind).
pub(super) fn kinds(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> Vec<Arc<CustomKind>> {
    let unique = super::unique(cx, &docs.workload_kinds, "WorkloadKind", |o| &o.metadata.name);
    let mut found: BTreeMap<(SmolStr, SmolStr), (FileId, Span, Arc<CustomKind>)> = BTreeMap::new();
    for (file, object) in unique {
        let WorkloadKindSpec {
            group,
            kind,
            replicas: _,   // not yet
            templates: _,  // not yet
            components: _, // not yet
            dividable: _,  // not yet
            health,
            dependencies: _, // not yet
            state_paths: _,  // not yet
        } = &object.spec;
        cx.check_name(file, &object.metadata.name, NameRule::Dns1123Subdomain, "name of a WorkloadKind");
        names(cx, file, group, kind);
        let health = health.as_ref().and_then(|health| rules(cx, file, &health.value));
        let custom = Arc::new(CustomKind { group: group.value.clone(), kind: kind.value.clone(), health });
        let name = (group.value.clone(), kind.value.clone());
        if let Some((first, span, _)) = found.get(&name) {
            let message = format!("{} of {} is taught twice", kind.value, group.value);
            let first = Place::Span(*first, *span);
            cx.report(
                Diagnostic::new(codes::kinds::NOT_TO_TEACH, Place::Span(file, kind.span), message)
                    .related(first, "here first")
                    .help("merge the two into one"),
            );
        } else {
            found.insert(name, (file, kind.span, custom));
        }
    }
    found.into_values().map(|(_, _, kind)| kind).collect()
}

/// Reports names that no custom kind can have.
fn names(cx: &mut Lowering<'_>, file: FileId, group: &Spanned<SmolStr>, kind: &Spanned<SmolStr>) {
    if native::known_group(&group.value) {
        let group_name = if group.value.is_empty() { "the core group" } else { group.value.as_str() };
        let message = format!("{group_name} is a group of Kubernetes' own kinds, which are known already");
        cx.report(
            Diagnostic::new(codes::kinds::NOT_TO_TEACH, Place::Span(file, group.span), message)
                .help("a WorkloadKind is for custom resources, such as those of an operator"),
        );
    } else {
        cx.check_name(file, group, NameRule::Dns1123Subdomain, "API group");
    }
    let upper = kind.value.starts_with(|c: char| c.is_ascii_uppercase());
    if !upper || check(NameRule::Dns1035Label, &kind.value.to_ascii_lowercase()).is_err() {
        let message = format!("`{}` is not a valid kind: expected a word such as FlinkDeployment", kind.value);
        cx.error(codes::fields::INVALID_NAME, Place::Span(file, kind.span), message);
    }
}

fn rules(cx: &mut Lowering<'_>, file: FileId, written: &HealthSpec) -> Option<HealthRules> {
    let HealthSpec { current, in_progress, failed } = written;
    let current = expression(cx, file, current);
    let in_progress = in_progress.as_ref().map(|text| expression(cx, file, text));
    let failed = failed.as_ref().map(|text| expression(cx, file, text));
    // whatever is wrong was said; rules that lack a part of what was written must not judge anything
    let whole = |part: Option<Option<Expression>>| match part {
        None => Some(None),
        Some(compiled) => compiled.map(Some),
    };
    Some(HealthRules { current: current?, in_progress: whole(in_progress)?, failed: whole(failed)? })
}

fn expression(cx: &mut Lowering<'_>, file: FileId, text: &Spanned<SmolStr>) -> Option<Expression> {
    match Expression::compile(&text.value) {
        Ok(expression) => Some(expression),
        Err(error) => {
            let span = error.at.map_or(text.span, |at| within(text, at));
            cx.error(codes::kinds::BAD_EXPRESSION, Place::Span(file, span), error.message);
            None
        }
    }
}

/// The place of one byte of a scalar, where the scalar is written as it reads: on one line, plain or in quotes without
/// escapes. Elsewhere the whole.
fn within(text: &Spanned<SmolStr>, at: usize) -> Span {
    let written = text.span.end.saturating_sub(text.span.start) as usize;
    let quote = match written.checked_sub(text.value.len()) {
        Some(0) => 0,
        Some(2) if !text.value.contains('\n') => 1,
        _ => return text.span,
    };
    // what is missing at the end is missing after the last character
    let Ok(within) = u32::try_from(at.min(text.value.len().saturating_sub(1)) + quote) else { return text.span };
    let start = text.span.start.saturating_add(within);
    Span::new(start, start.saturating_add(1).min(text.span.end))
}
