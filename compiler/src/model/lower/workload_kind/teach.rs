//! One WorkloadKind: its paths read, its expressions compiled, what contradicts itself reported.

use crate::api::{ComponentSpec, DependencySpec, DerivedComponents, HealthSpec, WorkloadKindSpec};
use crate::base::{Path, SmolStr, Span, Spanned};
use crate::diag::{Finding, codes};
use crate::kinds::cel::Expression;
use crate::kinds::custom::{ComponentRule, Components, CustomKind, DependencyRule, Derivation, HealthRules, KindOf};

/// What a WorkloadKind says. What is wrong with it goes to `findings`, and is left out.
pub(super) fn teach(spec: &WorkloadKindSpec, findings: &mut Vec<Finding>) -> CustomKind {
    let WorkloadKindSpec {
        group,
        kind,
        replicas,
        templates,
        components,
        components_as,
        dividable,
        per_node,
        health,
        dependencies,
        state_paths: _, // not yet
    } = spec;
    let custom = CustomKind {
        group: group.value.clone(),
        kind: kind.value.clone(),
        health: health.as_ref().and_then(|health| rules(findings, &health.value)),
        replicas: paths(findings, replicas.as_ref()),
        templates: paths(findings, templates.as_ref()),
        components: match (components, components_as) {
            (Some(stated), _) => {
                Components::Stated(stated.value.iter().filter_map(|part| component(findings, &part.value)).collect())
            }
            (None, Some(derived)) => Components::Derived(match derived.value {
                DerivedComponents::FlinkDeployment => Derivation::Flink,
                DerivedComponents::SparkApplication => Derivation::Spark,
            }),
            (None, None) => Components::None,
        },
        dividable: dividable.as_ref().is_some_and(|d| d.value),
        per_node: per_node.as_ref().is_some_and(|p| p.value),
        dependencies: dependencies
            .iter()
            .flat_map(|all| &all.value)
            .filter_map(|one| dependency(findings, one))
            .collect(),
    };
    contradictions(findings, spec);
    custom
}

fn contradictions(findings: &mut Vec<Finding>, spec: &WorkloadKindSpec) {
    let mut wrong = |span: Span, message: &str, help: &str| {
        findings.push(Finding::new(codes::kinds::BAD_TEACHING, span, message.to_owned()).help(help.to_owned()));
    };
    let asked = |flag: &Option<Spanned<bool>>| flag.as_ref().filter(|flag| flag.value).map(|flag| flag.span);
    let set = spec.components.as_ref().map(|c| c.span).or(spec.components_as.as_ref().map(|c| c.span));
    if let (Some(_), Some(derived)) = (&spec.components, &spec.components_as) {
        wrong(derived.span, "`componentsAs` and `components` both say what its parts are", "keep one of them");
    }
    if set.is_some() {
        let whole = "a set of parts runs as a whole in one cluster, with the counts of its parts";
        for span in [
            spec.replicas.as_ref().map(|r| r.span),
            spec.templates.as_ref().map(|t| t.span),
            asked(&spec.dividable),
            asked(&spec.per_node),
        ] {
            span.into_iter().for_each(|span| wrong(span, whole, "remove it, or `components`"));
        }
        return;
    }
    match (asked(&spec.dividable), asked(&spec.per_node)) {
        (Some(span), Some(_)) => wrong(span, "a pod on each node is no count that could be divided", "remove it"),
        (Some(span), None) if spec.replicas.as_ref().is_none_or(|replicas| replicas.value.is_empty()) => {
            wrong(span, "nothing says where the replicas stand that are to be divided", "state `replicas`");
        }
        _ => {}
    }
}

fn paths(findings: &mut Vec<Finding>, written: Option<&Spanned<Vec<Spanned<SmolStr>>>>) -> Vec<Path> {
    written.into_iter().flat_map(|all| &all.value).filter_map(|text| path(findings, text)).collect()
}

fn path(findings: &mut Vec<Finding>, text: &Spanned<SmolStr>) -> Option<Path> {
    Path::parse(&text.value)
        .map_err(|error| {
            let message = format!("`{}` is no path into an object: {error}", text.value);
            findings.push(Finding::new(codes::kinds::BAD_POINTER, text.span, message));
        })
        .ok()
}

/// A path that may be left out; the error of a path that cannot be read is said, and `Err`.
fn optional(findings: &mut Vec<Finding>, text: Option<&Spanned<SmolStr>>) -> Result<Option<Path>, ()> {
    text.map(|text| path(findings, text).ok_or(())).transpose()
}

fn component(findings: &mut Vec<Finding>, spec: &ComponentSpec) -> Option<ComponentRule> {
    let ComponentSpec { name, at, name_from, replicas, default_replicas, template, requests } = spec;
    let at = optional(findings, at.as_ref());
    let name_from = optional(findings, name_from.as_ref());
    let template = optional(findings, template.as_ref());
    let requests = optional(findings, requests.as_ref());
    Some(ComponentRule {
        name: name.value.clone(),
        at: at.ok()?.unwrap_or_default(),
        name_from: name_from.ok()?,
        replicas: paths(findings, replicas.as_ref()),
        absent: default_replicas.as_ref().map_or(1, |n| n.value),
        template: template.ok()?,
        requests: requests.ok()?,
    })
}

fn dependency(findings: &mut Vec<Finding>, spec: &Spanned<DependencySpec>) -> Option<DependencyRule> {
    let DependencySpec { pod_spec, api_version, kind, at, kind_from, name } = &spec.value;
    let named = [api_version, kind, at, kind_from, name].into_iter().flatten().count();
    match (pod_spec, kind, kind_from, name) {
        (Some(pod_spec), None, None, None) if named == 0 => path(findings, pod_spec).map(DependencyRule::PodSpec),
        (None, Some(_), None, Some(name)) | (None, None, Some(_), Some(name)) => {
            let at = optional(findings, at.as_ref());
            let kind_from = optional(findings, kind_from.as_ref());
            let name = path(findings, name);
            let kind = match (kind, kind_from.ok()?) {
                (Some(kind), _) => KindOf::Fixed(kind.value.clone()),
                (None, Some(path)) => KindOf::Named(path),
                (None, None) => return None,
            };
            Some(DependencyRule::Names {
                api_version: api_version.as_ref().map_or_else(|| SmolStr::new_static("v1"), |v| v.value.clone()),
                kind,
                at: at.ok()?.unwrap_or_default(),
                name: name?,
            })
        }
        _ => {
            findings.push(
                Finding::new(codes::kinds::BAD_TEACHING, spec.span, "this does not say what is referred to")
                    .help("write `podSpec` alone, or `name` with `kind` or `kindFrom`"),
            );
            None
        }
    }
}

fn rules(findings: &mut Vec<Finding>, written: &HealthSpec) -> Option<HealthRules> {
    let HealthSpec { current, in_progress, failed } = written;
    let current = expression(findings, current);
    let in_progress = in_progress.as_ref().map(|text| expression(findings, text));
    let failed = failed.as_ref().map(|text| expression(findings, text));
    // whatever is wrong was said; rules that lack a part of what was written must not judge anything
    let whole = |part: Option<Option<Expression>>| match part {
        None => Some(None),
        Some(compiled) => compiled.map(Some),
    };
    Some(HealthRules { current: current?, in_progress: whole(in_progress)?, failed: whole(failed)? })
}

fn expression(findings: &mut Vec<Finding>, text: &Spanned<SmolStr>) -> Option<Expression> {
    match Expression::compile(&text.value) {
        Ok(expression) => Some(expression),
        Err(error) => {
            let span = error.at.map_or(text.span, |at| within(text, at));
            findings.push(Finding::new(codes::kinds::BAD_EXPRESSION, span, error.message));
            None
        }
    }
}

/// The place of a name, or of one byte, of a scalar, where the scalar is written as it reads: on one line, plain or in quotes without
/// escapes. Elsewhere the whole.
fn within(text: &Spanned<SmolStr>, at: usize) -> Span {
    let written = text.span.end.saturating_sub(text.span.start) as usize;
    let quote = match written.checked_sub(text.value.len()) {
        Some(0) => 0,
        Some(2) if !text.value.contains('\n') => 1,
        _ => return text.span,
    };
    // what is missing at the end is missing after the last character
    let at = at.min(text.value.len().saturating_sub(1));
    let rest = text.value.get(at..).unwrap_or_default();
    let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count().max(1);
    let (Ok(within), Ok(name)) = (u32::try_from(at + quote), u32::try_from(name)) else { return text.span };
    let start = text.span.start.saturating_add(within);
    Span::new(start, start.saturating_add(name).min(text.span.end))
}
