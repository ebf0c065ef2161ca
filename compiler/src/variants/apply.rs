//! Building the variants of an app: which rules and values each cluster shares, then the objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::{AppVariants, Variant, WorkloadVariant, pods};
use crate::base::{ClusterId, SmolStr};
use crate::diag::{Code, Diagnostic, Diagnostics, Place, codes};
use crate::kinds::native::{self, FieldProblem};
use crate::model::{App, Fleet, Object, OverrideRule, RuleLayer, WorkloadKind};
use crate::overrides::{self, OpError, OpWarning, Operation, Subject, Variables, substitute};
use crate::parse::Template;

/// What distinguishes the objects of one cluster from those of another: the rules that match it, and the values of the
/// variables these use.
type VariantKey = (Vec<usize>, Vec<Option<SmolStr>>);

/// Builds the variants of an app, and reports what its overrides get wrong.
pub(super) fn app(fleet: &Fleet, app: &App, diagnostics: &mut Diagnostics) -> AppVariants {
    let substituted = app.objects.iter().any(|o| o.facts.substitute);
    let mut by_key: BTreeMap<VariantKey, u16> = BTreeMap::new();
    let mut built = AppVariants::default();
    let base = Base::new(fleet, app);
    let plain = Build { fleet, app, base: &base, rules: &[], vars: Variables::new(), cluster: None };
    if !substituted && app.overrides.is_empty() {
        built.variants.push(plain.variant(diagnostics));
        return built;
    }
    built.of_cluster = vec![0; fleet.clusters.len()];
    for cluster in app.placement.candidates.iter() {
        let rules: Vec<usize> =
            (0..app.overrides.len()).filter(|i| app.overrides[*i].clusters.contains(cluster)).collect();
        let vars = variables(fleet, cluster);
        let used = used_variables(app, &rules);
        let key: VariantKey = (rules, used.iter().map(|name| vars.get(name).cloned()).collect());
        let index = match by_key.get(&key) {
            Some(index) => *index,
            None => {
                let rules: Vec<&Arc<OverrideRule>> = key.0.iter().map(|i| &app.overrides[*i]).collect();
                let build = Build { fleet, app, base: &base, rules: &rules, vars, cluster: Some(cluster) };
                built.variants.push(build.variant(diagnostics));
                // no more variants than clusters, which are u16
                let index = u16::try_from(built.variants.len() - 1).unwrap_or(u16::MAX);
                by_key.insert(key, index);
                index
            }
        };
        built.of_cluster[cluster.index()] = index;
    }
    if built.variants.is_empty() {
        // no candidate: nothing is rendered, and the pods are still read once for messages
        built.variants.push(plain.variant(diagnostics));
    }
    built
}

/// The variables of a cluster.
fn variables(fleet: &Fleet, id: ClusterId) -> Variables {
    let cluster = fleet.cluster(id);
    let mut vars = Variables::new();
    let mut put = |name: String, value: &SmolStr| {
        vars.insert(name.into(), value.clone());
    };
    put("cluster.name".to_owned(), &cluster.name);
    for (name, value) in [("cluster.region", &cluster.region), ("cluster.provider", &cluster.provider)] {
        if let Some(value) = value {
            put(name.to_owned(), value);
        }
    }
    cluster.labels.iter().for_each(|(k, v)| put(format!("cluster.labels.{k}"), v));
    cluster.values.iter().for_each(|(k, v)| put(format!("cluster.values.{k}"), v));
    fleet.settings.values.iter().for_each(|(k, v)| put(format!("fleet.values.{k}"), v));
    vars
}

/// The variables that these rules, and objects that ask for substitution, use. Malformed ones were reported by lowering,
/// or are when the text is used.
fn used_variables(app: &App, rules: &[usize]) -> BTreeSet<SmolStr> {
    let operations = rules.iter().flat_map(|i| &app.overrides[*i].operations);
    let mut used: BTreeSet<SmolStr> =
        operations.filter_map(|(operation, _)| operation.variables().ok()).flatten().collect();
    for object in app.objects.iter().filter(|o| o.facts.substitute) {
        let _malformed_is_reported_when_used = substitute::variables_in(&object.template.value(), &mut used);
    }
    used
}

/// The objects of an app without overrides: variants share those that none of their rules touches.
struct Base {
    objects: Vec<Arc<Template>>,
}

impl Base {
    fn new(fleet: &Fleet, app: &App) -> Self {
        let identified = |object: &Object| {
            let mut value = object.template.value();
            identify(fleet, app, object, &mut value);
            Template::of(&value)
        };
        Self { objects: app.objects.iter().map(identified).collect() }
    }
}

struct Build<'a> {
    fleet: &'a Fleet,
    app: &'a App,
    base: &'a Base,
    rules: &'a [&'a Arc<OverrideRule>],
    vars: Variables,
    /// A cluster of this variant, for messages.
    cluster: Option<ClusterId>,
}

impl Build<'_> {
    fn variant(&self, diagnostics: &mut Diagnostics) -> Variant {
        let mut objects = Vec::with_capacity(self.app.objects.len());
        let mut replicas: BTreeMap<usize, u32> = BTreeMap::new();
        let mut unmatched: Option<BTreeSet<SmolStr>> = None;
        for (index, object) in self.app.objects.iter().enumerate() {
            if !object.facts.substitute && !self.rules.iter().any(|r| r.target.matches(object)) {
                objects.push(Arc::clone(&self.base.objects[index]));
                continue;
            }
            let (value, images) = self.object(object, None, diagnostics);
            if let Some(images) = images {
                unmatched = Some(match unmatched {
                    None => images,
                    Some(before) => before.intersection(&images).cloned().collect(),
                });
            }
            if let Some(kind) = object.facts.workload
                && let Some(written) = self.overridden_replicas(object, kind, &value)
            {
                replicas.insert(index, written);
            }
            objects.push(Template::of(&value));
        }
        self.report_unmatched_images(unmatched.unwrap_or_default(), diagnostics);
        let workloads = self
            .app
            .workloads
            .iter()
            .map(|workload| {
                let object = &self.app.objects[workload.object];
                let value = objects[workload.object].value();
                WorkloadVariant {
                    pod: pods::read(workload.kind, object, &value, self.cluster_text().as_deref(), diagnostics),
                    replicas: replicas.get(&workload.object).copied(),
                }
            })
            .collect();
        Variant { objects, workloads }
    }

    /// The object after all rules that match it, with namespace and our labels. `replicas` stands in for the manifest's
    /// count. Also the images of rules that met no image, where the object met an image rule.
    fn object(
        &self,
        object: &Object,
        replicas: Option<u32>,
        diagnostics: &mut Diagnostics,
    ) -> (Value, Option<BTreeSet<SmolStr>>) {
        let mut value = object.template.value();
        if let (Some(count), Some(kind)) = (replicas, object.facts.workload) {
            kind.set_counts(&mut value, count, None);
        }
        let kind = native::lookup(&object.key.group, &object.key.version, &object.key.kind);
        if object.facts.substitute {
            match substitute::in_value(&value, &self.vars) {
                Ok(filled) => value = filled,
                Err(error) => {
                    let place = Place::Span(object.file, object.facts.name_span);
                    let message = format!("{}: {error}{}", object.key, self.in_cluster());
                    diagnostics.push(Diagnostic::new(codes::overrides::UNKNOWN_VARIABLE, place, message));
                }
            }
        }
        let rules: Vec<_> = self.rules.iter().filter(|r| r.target.matches(object)).collect();
        let mut unmatched = None;
        if !rules.is_empty() {
            let subject = kind.map_or_else(|| Subject::custom(Vec::new()), Subject::native);
            let known = kind.map(|k| native::check_fields(k, &value)).unwrap_or_default();
            for rule in rules {
                for (operation, span) in &rule.operations {
                    if !fits(operation, rule, &subject) {
                        continue;
                    }
                    let place = Place::Span(rule.file, *span);
                    let mut after = value.clone();
                    let result = overrides::apply(operation, &mut after, &subject, &self.vars);
                    let result = result.and_then(|report| self.check_after(&after, kind, &known).map(|()| report));
                    match result {
                        Ok(report) => {
                            value = after;
                            if matches!(operation, Operation::Images { .. }) && rule.layer == RuleLayer::Images {
                                unmatched = Some(report.unmatched_images.into_iter().collect());
                            }
                            for warning in report.warnings {
                                let code = match &warning {
                                    OpWarning::NamedListReplaced { .. } => codes::overrides::LIST_REPLACED,
                                    OpWarning::DeletesNothing { .. }
                                    | OpWarning::KeptMembers { .. }
                                    | OpWarning::SameName { .. } => codes::overrides::PATCH_REMARK,
                                };
                                let message = format!("{}: {warning}", object.key);
                                diagnostics.push(Diagnostic::new(code, place.clone(), message));
                            }
                        }
                        Err(error) => {
                            let message = format!("{}: {error}{}", object.key, self.in_cluster());
                            diagnostics.push(Diagnostic::new(code_of(&error), place, message).related(
                                Place::Span(object.file, object.facts.name_span),
                                "the object it is applied to",
                            ));
                        }
                    }
                }
            }
        }
        identify(self.fleet, self.app, object, &mut value);
        (value, unmatched)
    }

    fn check_after(
        &self,
        value: &Value,
        kind: Option<&native::NativeKind>,
        known: &[FieldProblem],
    ) -> Result<(), OpError> {
        kind.map_or(Ok(()), |kind| overrides::check_after(value, kind, known))
    }

    /// The count that an override wrote: one that does not follow the manifest's own when that is another.
    fn overridden_replicas(&self, object: &Object, kind: WorkloadKind, value: &Value) -> Option<u32> {
        kind.replicas_field()?;
        let writes = |rule: &OverrideRule| rule.operations.iter().any(|(operation, _)| may_write_counts(operation));
        if !self.rules.iter().any(|r| r.target.matches(object) && writes(r)) {
            return None;
        }
        let counts = |value: &Value| kind.counts(value).ok().map(|c| c.replicas.unwrap_or(1));
        let own = object.facts.counts.replicas.unwrap_or(1);
        let other = if own == 0 { 1 } else { own - 1 };
        let (with_other, _) = self.object(object, Some(other), &mut Diagnostics::default());
        let (first, second) = (counts(value)?, counts(&with_other)?);
        (first == second).then_some(first)
    }

    fn report_unmatched_images(&self, unmatched: BTreeSet<SmolStr>, diagnostics: &mut Diagnostics) {
        let Some(rule) = self.rules.iter().find(|r| r.layer == RuleLayer::Images) else { return };
        for name in unmatched {
            diagnostics.push(Diagnostic::new(
                codes::overrides::IMAGE_MATCHES_NOTHING,
                Place::Span(rule.file, rule.span),
                format!("`images`: no container of the app has image `{name}`"),
            ));
        }
    }

    fn cluster_text(&self) -> Option<String> {
        self.cluster.map(|id| self.fleet.cluster(id).name.to_string())
    }

    fn in_cluster(&self) -> String {
        self.cluster_text().map(|name| format!(" (in cluster `{name}`)")).unwrap_or_default()
    }
}

/// Namespace, and our two labels on top-level metadata only: never on selectors or pod templates, so that adopting a
/// running workload does not restart its pods.
fn identify(fleet: &Fleet, app: &App, object: &Object, value: &mut Value) {
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    match &object.key.namespace {
        Some(namespace) => {
            metadata.insert("namespace".to_owned(), namespace.as_str().into());
        }
        None => {
            metadata.remove("namespace");
        }
    }
    let labels = metadata.entry("labels").or_insert_with(|| Value::Object(serde_json::Map::new()));
    if labels.is_null() {
        *labels = Value::Object(serde_json::Map::new());
    }
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("fleetwright.io/app".to_owned(), app.name.as_str().into());
        labels.insert("fleetwright.io/team".to_owned(), fleet.team(app.team).name.as_str().into());
    }
}

/// Whether an operation has anything to do with an object. Images, and environment variables of every container, are for
/// those objects of a broad target that run pods; a rule that names a kind or an object means it.
fn fits(operation: &Operation, rule: &OverrideRule, subject: &Subject) -> bool {
    let named = rule.target.kind.is_some() || rule.target.name.is_some();
    match operation {
        Operation::Images { .. } => !subject.pod_specs.is_empty(),
        Operation::Env { .. } | Operation::Args { .. } | Operation::Command { .. } => {
            named || !subject.pod_specs.is_empty()
        }
        Operation::Patch(_)
        | Operation::Set { .. }
        | Operation::Remove(_)
        | Operation::JsonPatch(_)
        | Operation::Labels(_)
        | Operation::Annotations(_) => true,
    }
}

/// Whether an operation can reach `spec`.
fn may_write_counts(operation: &Operation) -> bool {
    match operation {
        Operation::Patch(_) | Operation::Set { .. } | Operation::Remove(_) | Operation::JsonPatch(_) => true,
        Operation::Images { .. }
        | Operation::Env { .. }
        | Operation::Args { .. }
        | Operation::Command { .. }
        | Operation::Labels(_)
        | Operation::Annotations(_) => false,
    }
}

fn code_of(error: &OpError) -> Code {
    match error {
        OpError::NoSuchPath(_) => codes::overrides::NO_SUCH_PATH,
        OpError::Identity { .. } => codes::overrides::IDENTITY_CHANGED,
        OpError::Shape { .. } => codes::overrides::OVERRIDE_TYPE,
        OpError::Template { .. } => codes::overrides::UNKNOWN_VARIABLE,
        _ => codes::overrides::OVERRIDE_FAILED,
    }
}
