//! What objects refer to by name: what of it a rule keeps away from where they run, and what an App does not have itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{AppId, ClusterId, SmolStr};
use crate::diag::{Diagnostic, Place, codes};
use crate::kinds::dependencies::{self, Reference};
use crate::kinds::native::split_api_version;
use crate::model::{App, ClusterSet, Fleet, Object};
use crate::plan::Plan;
use crate::report::names::cluster_names;
use crate::variants::Variants;

/// Objects that an App's own rules keep out of clusters where something runs that needs them. Everything else of an App goes
/// where its workloads go.
#[must_use]
pub fn references(fleet: &Fleet, variants: &Variants, plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (id, planned) in fleet.app_ids().zip(&plan.apps) {
        let app = fleet.app(id);
        // what no rule narrows is wherever the App is
        if app.objects.iter().all(|object| object.only.is_none()) {
            continue;
        }
        let here: BTreeSet<(ClusterId, usize)> =
            planned.objects.iter().map(|p| (p.cluster, p.object as usize)).collect();
        let mut lacking: BTreeMap<(usize, usize), ClusterSet> = BTreeMap::new();
        for (cluster, index) in &here {
            let Some(object) = app.objects.get(*index) else { continue };
            let Some(template) = variants.objects(fleet, id, *cluster).get(*index) else { continue };
            for (reference, optional) in of(object, &template.value()) {
                let named = app.objects.iter().position(|other| is_named(other, object, &reference));
                if let Some(named) = named.filter(|named| !optional && !here.contains(&(*cluster, *named))) {
                    lacking.entry((*index, named)).or_default().insert(*cluster);
                }
            }
        }
        found.extend(lacking.iter().filter_map(|((index, named), clusters)| {
            let (object, named) = (app.objects.get(*index)?, app.objects.get(*named)?);
            Some(diagnostic(fleet, object, named, clusters))
        }));
    }
    found
}

fn of(object: &Object, value: &serde_json::Value) -> BTreeMap<Reference, bool> {
    dependencies::of_object(&object.key.group, &object.key.kind, value, object.custom.as_deref())
}

/// Whether an object is the one that another refers to, in the namespace of the other.
fn is_named(object: &Object, refers: &Object, reference: &Reference) -> bool {
    let (group, _) = split_api_version(&reference.api_version);
    let key = &object.key;
    key.name == reference.name
        && key.kind == reference.kind
        && key.group == group
        && key.namespace == refers.key.namespace
}

fn diagnostic(fleet: &Fleet, object: &Object, named: &Object, clusters: &ClusterSet) -> Diagnostic {
    let message = format!(
        "{} needs {}, which a rule of `objects` keeps out of {}",
        object.key,
        named.key,
        cluster_names(fleet, clusters)
    );
    Diagnostic::new(codes::references::LEFT_BEHIND, Place::Span(object.file, object.facts.name_span), message)
        .related(Place::Span(named.file, named.facts.name_span), "what it refers to")
        .help("let the rule's `clusters` select them, or refer to something else there by an override")
}

/// What objects of an App need beside it and the App does not have: object, what it refers to, and the App that has it.
/// What no App has must be in the cluster by other means.
pub(super) fn needs(fleet: &Fleet, id: AppId) -> Vec<(String, String, Option<String>)> {
    let app: &App = fleet.app(id);
    let mut needs = Vec::new();
    for object in &app.objects {
        for (reference, optional) in of(object, &object.template.value()) {
            if optional || app.objects.iter().any(|other| is_named(other, object, &reference)) {
                continue;
            }
            let owner = fleet
                .app_ids()
                .find(|other| fleet.app(*other).objects.iter().any(|other| is_named(other, object, &reference)));
            let namespace = object.key.namespace.as_ref().map(SmolStr::as_str).unwrap_or_default();
            let named = format!("{} {namespace}/{}", reference.kind, reference.name);
            needs.push((object.key.to_string(), named, owner.map(|owner| fleet.app_name(owner))));
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use crate::diag::codes;
    use crate::diff::tests::fixture::Files;

    #[test]
    fn what_a_rule_keeps_away_from_what_needs_it_is_said() {
        let files = Files::shop().edit(
            "teams/shop/web/web.yaml",
            "      - name: web\n",
            "      - name: web\n        envFrom: [{configMapRef: {name: config}}, {secretRef: {name: db, optional: true}}, \
             {secretRef: {name: tls}}]\n",
        );
        let said = |files: &Files| -> Vec<String> {
            let compiled = files.compiled();
            let ours = compiled.diagnostics.iter().filter(|d| d.code == codes::references::LEFT_BEHIND);
            ours.map(|d| d.message.clone()).collect()
        };
        assert_eq!(said(&files), Vec::<String>::new(), "all of an App goes where its workloads go");
        let rule = |kind: &str| {
            let spec =
                format!("{{namespace: shop, objects: [{{match: {{kind: {kind}}}, clusters: {{names: [eu-a]}}}}]}}");
            files.clone().app("web", &spec)
        };
        assert_eq!(
            said(&rule("ConfigMap")),
            ["Deployment shop/web needs ConfigMap shop/config, which a rule of `objects` keeps out of eu-b, us-a"]
        );
        assert_eq!(said(&rule("Secret")), Vec::<String>::new(), "it can do without");
        assert_eq!(said(&rule("Deployment")), Vec::<String>::new(), "nothing needs it elsewhere");

        let compiled = files.compiled();
        let needs = super::needs(&compiled.fleet, compiled.fleet.app_id("shop", "web").unwrap());
        assert_eq!(needs, [("Deployment shop/web".to_owned(), "Secret shop/tls".to_owned(), None)]);
    }
}
