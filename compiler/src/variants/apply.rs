//! Building the objects of a variant: the App's own, with substitution and the rules that match them.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::issues::{ImageUse, Issue};
use super::{AppVariants, Variant, WorkloadVariant, labels, ordinals, pods, rights};
use crate::api::Plaintext;
use crate::base::{SmolStr, Span};
use crate::diag::{Place, codes};
use crate::kinds::counted;
use crate::kinds::native::{self, FieldProblem};
use crate::kinds::pod::{self, PodFacts};
use crate::model::{App, Fleet, Object, OverrideRule, RuleLayer, Workload, WorkloadKind};
use crate::overrides::{
    self, LabelProblem, OpError, OpWarning, Operation, Subject, Variables, label_problems, substitute,
};
use crate::parse::{Template, holds_secret, is_secret};

/// Objects of a variant, and what was found wrong only then.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) objects: Vec<Arc<Template>>,
    pub(super) late: Vec<Issue>,
}

/// The objects of an app without any rule.
pub(super) fn base(fleet: &Fleet, app: &App) -> Arc<[Arc<Template>]> {
    let identified = |object: &Object| {
        let mut value = object.template.value();
        identify(fleet, app, object, &mut value);
        Template::of(&value)
    };
    app.objects.iter().map(identified).collect()
}

/// Builds the objects of a variant.
pub(super) fn build(fleet: &Fleet, app: &App, variants: &AppVariants, variant: &Variant) -> Built {
    let rules: Vec<&Arc<OverrideRule>> = variant.rules.iter().filter_map(|i| app.overrides.get(*i)).collect();
    let mut sheet = Sheet::default();
    let objects = Build { fleet, app, base: &variants.base, rules: &rules, vars: &variant.vars }.objects(&mut sheet);
    Built { objects, late: sheet.issues }
}

/// What was found in one variant.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) issues: Vec<Issue>,
    pub(super) images: Vec<ImageUse>,
}

/// Whether an operation can change what scheduling asks of a workload.
pub(super) fn may_shape(operation: &Operation) -> bool {
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

/// What the objects of a variant are made of.
pub(super) struct Build<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) app: &'a App,
    /// The objects without any rule.
    pub(super) base: &'a [Arc<Template>],
    pub(super) rules: &'a [&'a Arc<OverrideRule>],
    pub(super) vars: &'a Variables,
}

impl Build<'_> {
    /// A variant whose objects are there from the start.
    pub(super) fn variant(&self, rules: Arc<[usize]>, vars: Arc<Variables>, sheet: &mut Sheet) -> Variant {
        // an App's own images are wrong as well where no object runs pods at all
        for rule in self.rules.iter().filter(|r| r.layer == RuleLayer::Images) {
            sheet.images.extend(image_uses(rule, |_| false));
        }
        let objects = self.objects(sheet);
        let mut workloads = Vec::with_capacity(self.app.workloads.len());
        for workload in &self.app.workloads {
            let object = &self.app.objects[workload.object];
            let value = objects[workload.object].value();
            let (written, pod) = match &workload.part {
                Some(name) => part(workload, object, name, &value),
                None => (
                    self.overridden(workload.object, workload.kind, &value),
                    pods::read(workload.kind, object, workload.object, &value, &mut sheet.issues),
                ),
            };
            let team = self.fleet.team(self.app.team);
            let named = pod
                .iter()
                .filter_map(|pod| rights::priority_class(team, (workload.object, object), workload.kind, pod));
            sheet.issues.extend(named);
            workloads.push(WorkloadVariant {
                pod,
                replicas: written.replicas,
                completions: written.completions,
                first_ordinal: ordinals::first(workload.kind, &value),
                bounds: workload.autoscaled.and_then(|autoscaled| {
                    let written = self.app.objects.get(autoscaled.object)?;
                    stated_bounds(&written.template.value(), &objects.get(autoscaled.object)?.value())
                }),
            });
        }
        self.added_parts(&objects, &mut sheet.issues);
        self.wrong_fields(&objects, &mut sheet.issues);
        let counted = self.counted(&objects);
        let built = Built { objects, late: Vec::new() };
        Variant { workloads, counted, rules, vars, built: OnceLock::from(built) }
    }

    /// The objects; those that no rule touches are the app's own.
    fn objects(&self, sheet: &mut Sheet) -> Vec<Arc<Template>> {
        let touched = |object: &Object| object.facts.substitute || self.rules.iter().any(|r| r.target.matches(object));
        let objects = self.app.objects.iter().enumerate();
        objects
            .map(|(index, object)| match touched(object) {
                true => Template::of(&self.object(index, None, sheet)),
                false => Arc::clone(&self.base[index]),
            })
            .collect()
    }

    /// The object after all rules that match it, with namespace and our labels. `counts`, replicas and completions,
    /// stand in for the manifest's.
    fn object(&self, index: usize, counts: Option<(u32, Option<u32>)>, sheet: &mut Sheet) -> Value {
        let object = &self.app.objects[index];
        let mut value = object.template.value();
        if let (Some((replicas, completions)), Some(kind)) = (counts, object.counter()) {
            kind.set_counts(&mut value, Some(replicas), completions);
        }
        let kind = native::lookup(&object.key.group, &object.key.version, &object.key.kind);
        let pod_specs = || object.custom.as_ref().map(|custom| custom.pod_spec_paths(&value)).unwrap_or_default();
        let subject = kind.map_or_else(|| Subject::custom(pod_specs()), Subject::native);
        if object.facts.substitute {
            match substitute::in_value(&value, self.vars) {
                Ok(filled) => {
                    sheet.issues.extend(labels::of_manifest((index, object), &subject, &value, &filled));
                    value = filled;
                }
                Err(error) => {
                    let place = Place::Span(object.file, object.facts.name_span);
                    let secret = is_secret(&object.key);
                    sheet.issues.extend(Issue::of_error(self.fleet, place, &error, (index, secret)));
                }
            }
        }
        let rules: Vec<_> = self.rules.iter().filter(|r| r.target.matches(object)).collect();
        if !rules.is_empty() {
            let known = Known {
                fields: kind.map(|k| native::check_fields(k, &value)).unwrap_or_default(),
                labels: label_problems(&value, &subject),
            };
            for rule in rules {
                for (operation, span) in &rule.operations {
                    if fits(operation, rule, &subject) {
                        self.operation(operation, (rule, *span), index, (&subject, &known), &mut value, sheet);
                    }
                }
            }
        }
        identify(self.fleet, self.app, object, &mut value);
        value
    }

    /// Runs one operation; the value stays as it was where it cannot be run.
    fn operation(
        &self,
        operation: &Operation,
        (rule, span): (&OverrideRule, Span),
        index: usize,
        (subject, known): (&Subject, &Known),
        value: &mut Value,
        sheet: &mut Sheet,
    ) {
        let place = Place::Span(rule.file, span);
        let mut after = value.clone();
        let result = overrides::apply(operation, &mut after, subject, self.vars);
        let result = result.and_then(|report| known.check_after(&after, subject).map(|()| report));
        let report = match result {
            Ok(report) => report,
            // said for every cluster already, see `labels::of_rules`
            Err(OpError::Label(_)) if matches!(operation, Operation::Labels(_)) => return,
            Err(error) => {
                if matches!(operation, Operation::Images { .. }) {
                    // that it cannot be run is one mistake; whether it matches is not known
                    sheet.images.extend(image_uses(rule, |_| true));
                }
                // what the operation holds may be meant for the Secret among its objects
                let no_pods = Subject::custom(Vec::new());
                let secret = fits(operation, rule, &no_pods)
                    && self.app.objects.iter().any(|o| is_secret(&o.key) && rule.target.matches(o));
                sheet.issues.extend(Issue::of_error(self.fleet, place, &error, (index, secret)));
                return;
            }
        };
        if is_secret(&self.app.objects[index].key)
            && self.fleet.settings.plaintext == Plaintext::Deny
            && holds_secret(&after)
            && !holds_secret(value)
        {
            sheet.issues.push(Issue {
                code: codes::manifests::PLAINTEXT_SECRET,
                place: place.clone(),
                text: "this puts data in the clear into a Secret".to_owned(),
                help: Some(
                    "encrypt it, use an external secret store, or set `secrets.plaintext: Allow` in fleet.yaml"
                        .to_owned(),
                ),
                object: index,
            });
        }
        *value = after;
        if matches!(operation, Operation::Images { .. }) {
            sheet.images.extend(image_uses(rule, |name| !report.unmatched_images.contains(name)));
        }
        for warning in report.warnings {
            let code = match &warning {
                OpWarning::NamedListReplaced { .. } => codes::overrides::LIST_REPLACED,
                OpWarning::DeletesNothing { .. } | OpWarning::KeptMembers { .. } | OpWarning::SameName { .. } => {
                    codes::overrides::PATCH_REMARK
                }
            };
            sheet.issues.push(Issue {
                code,
                place: place.clone(),
                text: warning.to_string(),
                help: None,
                object: index,
            });
        }
    }

    /// The counts that an override wrote or removed: those that do not follow the manifest's own when these are others.
    fn overridden(&self, index: usize, kind: WorkloadKind, value: &Value) -> Overridden {
        let object = &self.app.objects[index];
        let writes = |rule: &OverrideRule| rule.operations.iter().any(|(operation, _)| may_shape(operation));
        let none = Overridden { replicas: None, completions: false };
        if !kind.is_counted() || !self.rules.iter().any(|r| r.target.matches(object) && writes(r)) {
            return none;
        }
        let another = |own: u32| if own == 0 { 1 } else { own - 1 };
        let Some(counter) = object.counter() else { return none };
        let own = object.facts.counts;
        let others = (another(own.replicas.unwrap_or(1)), own.completions.map(another));
        let with_others = self.object(index, Some(others), &mut Sheet::default());
        let (Ok(first), Ok(second)) = (counter.counts(value), counter.counts(&with_others)) else { return none };
        Overridden {
            replicas: (first.replicas == second.replicas).then(|| first.replicas.unwrap_or(1)),
            completions: own.completions.is_some() && first.completions == second.completions,
        }
    }
}

/// The bounds of an autoscaler after overrides, if they are others than before. Numbers that are none the schema of the kind
/// has refused.
fn stated_bounds(before: &Value, after: &Value) -> Option<(u32, u32)> {
    let fields = |value: &Value| ["/spec/minReplicas", "/spec/maxReplicas"].map(|field| value.pointer(field).cloned());
    let (before, after) = (fields(before), fields(after));
    let number = |of: &Option<Value>| of.as_ref().and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let [least, most] = &after;
    let least = number(least).unwrap_or(1);
    (before != after).then(|| (least, number(most).unwrap_or(least)))
}

/// What overrides make of a part of a set: its count, where it is another than the manifest's, and its pods. A part that
/// they remove has no pods.
fn part(workload: &Workload, object: &Object, name: &str, value: &Value) -> (Overridden, Option<Arc<PodFacts>>) {
    let parts = object.custom.as_ref().map(|custom| custom.components(value)).unwrap_or_default();
    let part = parts.into_iter().find(|part| part.name == name);
    let replicas = part.as_ref().map_or(0, |part| part.replicas);
    let written = Some(replicas).filter(|replicas| *replicas != workload.replicas);
    let pod = part.and_then(|part| part.pod).map(|spec| {
        let claims = counted::of_pod(&Value::Null, &spec);
        Arc::new(PodFacts { claims, ..pod::read(&spec).facts })
    });
    (Overridden { replicas: written, completions: false }, pod)
}

/// What was wrong with an object before any rule: no operation is blamed for it.
struct Known {
    fields: Vec<FieldProblem>,
    labels: Vec<LabelProblem>,
}

impl Known {
    /// What an operation got wrong.
    fn check_after(&self, object: &Value, subject: &Subject) -> Result<(), OpError> {
        if let Some(kind) = subject.native {
            overrides::check_after(object, kind, &self.fields)?;
        }
        overrides::check_labels_after(object, subject, &self.labels)
    }
}

/// Which counts an override decides.
struct Overridden {
    /// The number that it wrote; 1 where it removed the field.
    replicas: Option<u32>,
    completions: bool,
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

fn image_uses(rule: &OverrideRule, matched: impl Fn(&SmolStr) -> bool) -> impl Iterator<Item = ImageUse> {
    rule.images.iter().map(move |image| ImageUse {
        file: rule.file,
        span: image.span,
        name: image.value.clone(),
        matched: matched(&image.value),
    })
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
