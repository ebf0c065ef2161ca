//! `kind: WorkloadKind`: what custom kinds mean, the shipped ones and those that a fleet teaches.

mod teach;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{Docs, Lowering};
use crate::api::Intent;
use crate::base::name::{NameRule, check};
use crate::base::{FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::kinds::custom::CustomKind;
use crate::kinds::{native, shipped};
use crate::parse::{self, DocBody, FileForm};
use crate::source::FileClass;
use crate::yaml::Limits;
use teach::teach;

/// The custom kinds that the fleet teaches, and the shipped ones that it does not teach itself; ascending by (group, kind).
pub(super) fn kinds(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> Vec<Arc<CustomKind>> {
    let unique = super::unique(cx, &docs.workload_kinds, "WorkloadKind", |o| &o.metadata.name);
    let mut taught: BTreeMap<(SmolStr, SmolStr), (FileId, Span, Arc<CustomKind>)> = BTreeMap::new();
    for (file, object) in unique {
        cx.check_name(file, &object.metadata.name, NameRule::Dns1123Subdomain, "name of a WorkloadKind");
        let (group, kind) = (&object.spec.group, &object.spec.kind);
        names(cx, file, group, kind);
        let mut findings = Vec::new();
        let custom = Arc::new(teach(&object.spec, &mut findings));
        findings.iter().for_each(|finding| cx.report(finding.place_in(file)));
        let name = (group.value.clone(), kind.value.clone());
        if let Some((first, span, _)) = taught.get(&name) {
            let message = format!("{} of {} is taught twice", kind.value, group.value);
            let first = Place::Span(*first, *span);
            cx.report(
                Diagnostic::new(codes::kinds::NOT_TO_TEACH, Place::Span(file, kind.span), message)
                    .related(first, "here first")
                    .help("merge the two into one"),
            );
        } else {
            taught.insert(name, (file, kind.span, custom));
        }
    }
    let mut kinds: BTreeMap<(SmolStr, SmolStr), Arc<CustomKind>> =
        SHIPPED.iter().map(|kind| ((kind.group.clone(), kind.kind.clone()), Arc::clone(kind))).collect();
    kinds.extend(taught.into_iter().map(|(name, (_, _, kind))| (name, kind)));
    kinds.into_values().collect()
}

/// The kinds that are taught already, ascending by (group, kind): a fleet's own WorkloadKind for one of them stands in its
/// place.
#[must_use]
pub fn shipped_kinds() -> &'static [Arc<CustomKind>] {
    &SHIPPED
}

static SHIPPED: LazyLock<Vec<Arc<CustomKind>>> = LazyLock::new(|| {
    let mut kinds: Vec<Arc<CustomKind>> = Vec::new();
    for (name, text) in shipped::FILES {
        let ir = parse::parse(text.as_bytes(), FileForm::of(FileClass::Policy, name), &Limits::default());
        for doc in &ir.docs {
            let DocBody::Intent(intent) = &doc.body else { continue };
            if let Intent::WorkloadKind(object) = &**intent {
                // a test proves that nothing is found
                kinds.push(Arc::new(teach(&object.spec, &mut Vec::new())));
            }
        }
    }
    kinds.sort_by(|a, b| (&a.group, &a.kind).cmp(&(&b.group, &b.kind)));
    kinds
});

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
