//! Which clusters share a variant: those with the same rules and the same values of the variables that these use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::apply::{Build, Sheet, base, may_shape};
use super::issues::Found;
use super::{AppVariants, Variant, labels};
use crate::base::{ClusterId, SmolStr};
use crate::model::{App, ClusterSet, Fleet, OverrideRule};
use crate::overrides::{Variables, substitute};
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

/// Builds the variants of an app, and finds what its overrides get wrong. Variants that can differ in nothing that
/// scheduling asks share its answers; only the first of them is built here. `vars` are the variables by cluster.
pub(super) fn app(fleet: &Fleet, record: &Record, app: &App, vars: &[Arc<Variables>]) -> (AppVariants, Found) {
    let mut built = AppVariants::new(Vec::new(), Vec::new(), base(fleet, app));
    let mut sheets: Vec<(Sheet, ClusterSet)> = Vec::new();
    // by variant, what is found without building it
    let mut own: Vec<Sheet> = Vec::new();
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
                let applied: Vec<&Arc<OverrideRule>> = rules.iter().map(|i| &app.overrides[*i]).collect();
                own.push(Sheet { issues: labels::of_rules(app, &applied, vars), images: Vec::new() });
                let variant = match alike {
                    Some(alike) => {
                        let alike = usize::from(*alike);
                        likenesses.push((usize::from(index), alike));
                        built.like.push(built.like[alike]);
                        let Variant { workloads, counted, .. } = &built.variants[alike];
                        let (workloads, counted) = (workloads.clone(), counted.clone());
                        Variant { workloads, counted, rules, vars: Arc::clone(vars), built: OnceLock::new() }
                    }
                    None => {
                        let build = Build { fleet, app, base: &built.base, rules: &applied, vars };
                        by_shape.insert(shape, index);
                        built.like.push(index);
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
    let own: Vec<(Sheet, ClusterSet)> = own.into_iter().zip(sheets.iter().map(|(_, set)| set.clone())).collect();
    // what was found in the first of those that are alike is so in all of them
    for (index, alike) in likenesses {
        let clusters = sheets[index].1.clone();
        sheets[alike].1 = sheets[alike].1.or(&clusters);
    }
    sheets.extend(own);
    (built, found(sheets))
}

/// The clusters where the record says that the app runs.
fn recorded(fleet: &Fleet, record: &Record, app: &App) -> ClusterSet {
    let placed = record.apps.get(&(fleet.team(app.team).name.clone(), app.name.clone()));
    let seats = placed.into_iter().flat_map(|p| p.workloads.values()).flat_map(|w| &w.seats).map(|seat| &seat.cluster);
    let selected = placed.into_iter().flat_map(|p| &p.clusters);
    selected.chain(seats).filter_map(|name| fleet.cluster_id(name)).collect()
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
