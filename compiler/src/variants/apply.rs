//! Building the variants of an app: which rules and values each cluster shares, then the objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::issues::{Found, ImageUse, Issue};
use super::{AppVariants, Variant, WorkloadVariant, pods};
use crate::api::Plaintext;
use crate::base::{ClusterId, SmolStr, Span};
use crate::diag::{Place, codes};
use crate::kinds::native::{self, FieldProblem};
use crate::model::{App, ClusterSet, Fleet, Object, OverrideRule, RuleLayer, WorkloadKind};
use crate::overrides::{self, OpError, OpWarning, Operation, Subject, Variables, substitute};
use crate::parse::{Template, holds_secret};
use crate::placements::Record;

/// What distinguishes the objects of one cluster from those of another: the rules that match it, and the values of the
/// variables these use.
type VariantKey = (Arc<[usize]>, Vec<Option<SmolStr>>);

/// The variables that a set of rules uses.
struct Used {
    all: BTreeSet<SmolStr>,
    /// Those of operations that can change what scheduling asks: requests, selectors, tolerations, counts.
    shaping: BTreeSet<SmolStr>,
}

/// Objects of a variant, and what was found wrong only then.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) objects: Vec<Arc<Template>>,
    pub(super) late: Vec<Issue>,
}

/// Builds the variants of an app, and finds what its overrides get wrong. Variants that can differ in nothing that
/// scheduling asks share its answers; only the first of them is built here. `vars` are the variables by cluster.
pub(super) fn app(fleet: &Fleet, record: &Record, app: &App, vars: &[Arc<Variables>]) -> (AppVariants, Found) {
    let mut built = AppVariants::new(Vec::new(), Vec::new(), base(fleet, app));
    let mut sheets: Vec<(Sheet, ClusterSet)> = Vec::new();
    let candidates = app.placement.candidates.or(&recorded(fleet, record, app));
    let plain = app.overrides.is_empty() && !app.objects.iter().any(|o| o.facts.substitute);
    if plain || candidates.is_empty() {
        // without a candidate nothing is rendered, and the pods are still read once for messages
        let mut sheet = Sheet::default();
        let build = Build { fleet, app, base: &built.base, rules: &[], vars: &Variables::new() };
        let variant = build.variant(Arc::new([]), Arc::new(Variables::new()), &mut sheet);
        built.variants.push(variant);
        sheets.push((sheet, candidates.clone()));
        return (built, found(sheets));
    }
    let mut by_key: BTreeMap<VariantKey, u16> = BTreeMap::new();
    let mut by_shape: BTreeMap<VariantKey, u16> = BTreeMap::new();
    let mut likenesses: Vec<(usize, usize)> = Vec::new();
    let mut used_by: BTreeMap<Arc<[usize]>, Used> = BTreeMap::new();
    built.of_cluster = vec![None; fleet.clusters.len()];
    for cluster in candidates.iter() {
        let rules: Arc<[usize]> =
            (0..app.overrides.len()).filter(|i| app.overrides[*i].clusters.contains(cluster)).collect();
        let vars = &vars[cluster.index()];
        let used = used_by.entry(Arc::clone(&rules)).or_insert_with(|| used_variables(app, &rules));
        let values = |names: &BTreeSet<SmolStr>| names.iter().map(|name| vars.get(name).cloned()).collect::<Vec<_>>();
        let key: VariantKey = (Arc::clone(&rules), values(&used.all));
        let index = match by_key.get(&key) {
            Some(index) => *index,
            None => {
                // no more variants than clusters, which are u16
                let index = u16::try_from(built.variants.len()).unwrap_or(u16::MAX);
                let shape: VariantKey = (Arc::clone(&rules), values(&used.shaping));
                // a variable that is missing is found by running the rules
                let alike = by_shape.get(&shape).filter(|_| key.1.iter().all(Option::is_some));
                let mut sheet = Sheet::default();
                let variant = match alike {
                    Some(alike) => {
                        let alike = usize::from(*alike);
                        likenesses.push((usize::from(index), alike));
                        let workloads = built.variants[alike].workloads.clone();
                        Variant { workloads, rules, vars: Arc::clone(vars), built: OnceLock::new() }
                    }
                    None => {
                        let applied: Vec<&Arc<OverrideRule>> = rules.iter().map(|i| &app.overrides[*i]).collect();
                        let build = Build { fleet, app, base: &built.base, rules: &applied, vars };
                        by_shape.insert(shape, index);
                        build.variant(rules, Arc::clone(vars), &mut sheet)
                    }
                };
                built.variants.push(variant);
                sheets.push((sheet, ClusterSet::empty()));
                by_key.insert(key, index);
                index
            }
        };
        built.of_cluster[cluster.index()] = Some(index);
        sheets[usize::from(index)].1.insert(cluster);
    }
    // what was found in the first of those that are alike is so in all of them
    for (index, alike) in likenesses {
        let clusters = sheets[index].1.clone();
        sheets[alike].1 = sheets[alike].1.or(&clusters);
    }
    (built, found(sheets))
}

/// The clusters where the record says that the app runs.
fn recorded(fleet: &Fleet, record: &Record, app: &App) -> ClusterSet {
    let placed = record.apps.get(&(fleet.team(app.team).name.clone(), app.name.clone()));
    let seats = placed.into_iter().flat_map(|p| p.workloads.values()).flat_map(|w| &w.seats).map(|seat| &seat.cluster);
    let selected = placed.into_iter().flat_map(|p| &p.clusters);
    selected.chain(seats).filter_map(|name| fleet.cluster_id(name)).collect()
}

/// The objects of an app without any rule.
fn base(fleet: &Fleet, app: &App) -> Arc<[Arc<Template>]> {
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
    images: Vec<ImageUse>,
}

/// Each issue with the clusters of its variant.
fn found(sheets: Vec<(Sheet, ClusterSet)>) -> Found {
    let mut found = Found::default();
    for (sheet, clusters) in sheets {
        found.issues.extend(sheet.issues.into_iter().map(|issue| (issue, clusters.clone())));
        found.images.extend(sheet.images);
    }
    found
}

/// The variables of a cluster.
pub(super) fn variables(fleet: &Fleet, id: ClusterId) -> Variables {
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
fn used_variables(app: &App, rules: &[usize]) -> Used {
    let mut used = Used { all: BTreeSet::new(), shaping: BTreeSet::new() };
    for (operation, _) in rules.iter().flat_map(|i| &app.overrides[*i].operations) {
        let variables = operation.variables().unwrap_or_default();
        if may_shape(operation) {
            used.shaping.extend(variables.iter().cloned());
        }
        used.all.extend(variables);
    }
    for object in app.objects.iter().filter(|o| o.facts.substitute) {
        let _malformed_is_reported_when_used = substitute::variables_in(&object.template.value(), &mut used.shaping);
    }
    used.all.extend(used.shaping.iter().cloned());
    used
}

/// Whether an operation can change what scheduling asks of a workload.
fn may_shape(operation: &Operation) -> bool {
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

struct Build<'a> {
    fleet: &'a Fleet,
    app: &'a App,
    base: &'a [Arc<Template>],
    rules: &'a [&'a Arc<OverrideRule>],
    vars: &'a Variables,
}

impl Build<'_> {
    /// A variant whose objects are there from the start.
    fn variant(&self, rules: Arc<[usize]>, vars: Arc<Variables>, sheet: &mut Sheet) -> Variant {
        // an App's own images are wrong as well where no object runs pods at all
        for rule in self.rules.iter().filter(|r| r.layer == RuleLayer::Images) {
            sheet.images.extend(image_uses(rule, |_| false));
        }
        let objects = self.objects(sheet);
        let mut workloads = Vec::with_capacity(self.app.workloads.len());
        for workload in &self.app.workloads {
            let object = &self.app.objects[workload.object];
            let value = objects[workload.object].value();
            let written = self.overridden(workload.object, workload.kind, &value);
            let pod = pods::read(workload.kind, object, workload.object, &value, &mut sheet.issues);
            workloads.push(WorkloadVariant { pod, replicas: written.replicas, completions: written.completions });
        }
        let built = Built { objects, late: Vec::new() };
        Variant { workloads, rules, vars, built: OnceLock::from(built) }
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
        if let (Some((replicas, completions)), Some(kind)) = (counts, object.facts.workload) {
            kind.set_counts(&mut value, Some(replicas), completions);
        }
        let kind = native::lookup(&object.key.group, &object.key.version, &object.key.kind);
        if object.facts.substitute {
            match substitute::in_value(&value, self.vars) {
                Ok(filled) => value = filled,
                Err(error) => {
                    let place = Place::Span(object.file, object.facts.name_span);
                    sheet.issues.extend(Issue::of_error(self.fleet, place, &error, index));
                }
            }
        }
        let rules: Vec<_> = self.rules.iter().filter(|r| r.target.matches(object)).collect();
        if !rules.is_empty() {
            let subject = kind.map_or_else(|| Subject::custom(Vec::new()), Subject::native);
            let known = kind.map(|k| native::check_fields(k, &value)).unwrap_or_default();
            for rule in rules {
                for (operation, span) in &rule.operations {
                    if fits(operation, rule, &subject) {
                        self.operation(operation, (rule, *span), index, (kind, &subject, &known), &mut value, sheet);
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
        (kind, subject, known): (Option<&'static native::NativeKind>, &Subject, &[FieldProblem]),
        value: &mut Value,
        sheet: &mut Sheet,
    ) {
        let place = Place::Span(rule.file, span);
        let mut after = value.clone();
        let result = overrides::apply(operation, &mut after, subject, self.vars);
        let result = result.and_then(|report| self.check_after(&after, kind, known).map(|()| report));
        let report = match result {
            Ok(report) => report,
            Err(error) => {
                sheet.issues.extend(Issue::of_error(self.fleet, place, &error, index));
                return;
            }
        };
        let (group, kind_name) = (&self.app.objects[index].key.group, &self.app.objects[index].key.kind);
        let is_secret = group.is_empty() && kind_name == "Secret";
        if is_secret && self.fleet.settings.plaintext == Plaintext::Deny && holds_secret(&after) && !holds_secret(value)
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

    fn check_after(
        &self,
        value: &Value,
        kind: Option<&native::NativeKind>,
        known: &[FieldProblem],
    ) -> Result<(), OpError> {
        kind.map_or(Ok(()), |kind| overrides::check_after(value, kind, known))
    }

    /// The counts that an override wrote or removed: those that do not follow the manifest's own when these are others.
    fn overridden(&self, index: usize, kind: WorkloadKind, value: &Value) -> Overridden {
        let object = &self.app.objects[index];
        let writes = |rule: &OverrideRule| rule.operations.iter().any(|(operation, _)| may_shape(operation));
        let none = Overridden { replicas: None, completions: false };
        if kind.replicas_field().is_none() || !self.rules.iter().any(|r| r.target.matches(object) && writes(r)) {
            return none;
        }
        let another = |own: u32| if own == 0 { 1 } else { own - 1 };
        let own = object.facts.counts;
        let others = (another(own.replicas.unwrap_or(1)), own.completions.map(another));
        let with_others = self.object(index, Some(others), &mut Sheet::default());
        let (Ok(first), Ok(second)) = (kind.counts(value), kind.counts(&with_others)) else { return none };
        Overridden {
            replicas: (first.replicas == second.replicas).then(|| first.replicas.unwrap_or(1)),
            completions: own.completions.is_some() && first.completions == second.completions,
        }
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
