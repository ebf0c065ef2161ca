//! Problem cases of other tools, each under the name it goes by, as far as they show in what is compiled: what is removed,
//! what is an object of its own, what is written into objects.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fixture::Files;
use crate::Compiled;
use crate::diag::codes;
use crate::diff::{ObjectChange, diff};

/// All objects of a cluster, each as `Kind namespace/name`.
fn rendered(compiled: &Compiled, cluster: &str) -> BTreeMap<String, Value> {
    let id = compiled.fleet.cluster_id(cluster).unwrap();
    let files = compiled.rendered.files(id).iter();
    let objects = files.flat_map(|file| file.objects.iter().map(|o| o.value(file.key(&compiled.fleet, o))));
    let name = |object: &Value| {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().map(|n| format!("{n}/")).unwrap_or_default();
        format!("{} {namespace}{}", object["kind"].as_str().unwrap(), metadata["name"].as_str().unwrap())
    };
    objects.map(|object| (name(&object), object)).collect()
}

fn removed(base: &Files, head: &Files) -> Vec<String> {
    let diff = diff(&base.compiled(), &head.compiled());
    let gone = diff.objects.iter().filter(|object| matches!(object.change, ObjectChange::Removed { .. }));
    gone.map(|object| object.object.to_string()).collect()
}

#[test]
fn prune_08_an_app_and_its_policy_go_in_one_commit() {
    let policy = "apiVersion: fleetwright.io/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: extra}\nspec: {apps: {names: \
                  [extra]}, placement: {clusters: {names: [eu-a]}}}\n";
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: b}\n";
    let base = Files::shop()
        .app("extra", "{namespace: shop}")
        .with("teams/shop/extra/c.yaml", config)
        .with("policies/extra.yaml", policy);
    assert_eq!(removed(&base, &Files::shop()), ["ConfigMap shop/extra"]);
}

/// What the applier would stop at, review says beforehand.
#[test]
fn deletions_beyond_the_budget_are_said_in_review() {
    let many = |count: usize| {
        let one = |n: usize| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n:03}}}\n");
        let text: Vec<String> = (0..count).map(one).collect();
        Files::shop().with("teams/shop/web/many.yaml", &text.join("---\n"))
    };
    let limited = |count: usize, limits: &str| {
        many(count).edit("fleet.yaml", "spec:\n", &format!("spec:\n  limits: {{deletions: {{{limits}}}}}\n"))
    };
    // each of three clusters holds four objects more: a Namespace, and web's own three
    for (before, after, expected) in [
        (many(116), many(111), &[][..]),
        (
            many(116),
            many(1),
            &["345 of 360 objects in all clusters, where 72 may go", "115 of 120 objects in eu-a, where 24 may go"],
        ),
        (
            many(116),
            limited(106, "share: 5%"),
            &["30 of 360 objects in all clusters, where 18 may go", "10 of 120 objects in eu-a, where 6 may go"],
        ),
        (many(116), limited(106, "count: 29"), &["30 of 360 objects in all clusters, where 29 may go"]),
        (many(116), limited(1, "share: 100%"), &[]),
    ] {
        let diff = diff(&before.compiled(), &after.compiled());
        let said: Vec<String> = diff.over_budget.iter().map(ToString::to_string).collect();
        assert_eq!(said.iter().take(2).collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
        assert!(said.len() == expected.len() || said.len() == 4, "all together, and three clusters: {said:?}");
        let text = crate::report::diff_text(&diff);
        assert_eq!(text.contains("Waits for an approval"), !expected.is_empty());
    }
}

/// A file that is renamed, or moved out of the fleet, is a removal like any other, and shown as one.
#[test]
fn prune_14_a_renamed_file_is_a_removal() {
    let path = "teams/shop/web/config.yaml";
    let base = Files::shop();
    let text = base.text(path).unwrap().to_owned();
    let all = ["ConfigMap shop/config"];
    let rows: [(&str, &[&str], usize); 5] = [
        ("teams/shop/web/config.yaml.off", &all, 1),
        ("teams/shop/web/config.txt", &all, 1),
        ("other/config.yaml", &all, 0),
        ("teams/shop/web/config.yml", &[], 0),
        ("teams/shop/web/config.json", &[], 0),
    ];
    for (to, expected, ignored) in rows {
        let text = if to.ends_with(".json") {
            r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config"}, "data": {"app.conf": "a = 1\nb = 2\n"}}"#
        } else {
            &text
        };
        let head = base.clone().without(path).with(to, text);
        assert_eq!(removed(&base, &head), expected, "{to}");
        let said = head.compiled();
        let said = said.diagnostics.iter().filter(|d| d.code == codes::layout::IGNORED_FILE);
        assert_eq!(said.count(), ignored, "{to}");
    }
}

#[test]
fn ordering_04_what_has_no_namespace_gets_none_and_what_needs_one_has_it() {
    let text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\nrules: []\n---\n\
                apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nowhere}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: \
                {name: here, namespace: default}\n";
    let team = |files: Files| {
        files.edit(
            "teams/shop.yaml",
            "spec: {",
            "spec: {kinds: {allow: [{group: rbac.authorization.k8s.io, kind: ClusterRole}]}, ",
        )
    };
    let files = team(Files::shop()).edit("teams/shop.yaml", "{name: shop}]", "{prefix: \"\"}]");
    let compiled = files.with("teams/shop/web/more.yaml", text).compiled();
    let objects = rendered(&compiled, "eu-a");
    for name in ["ClusterRole reader", "ConfigMap shop/nowhere", "ConfigMap default/here"] {
        assert!(objects.contains_key(name), "{name} is not among {:?}", objects.keys());
    }
}

#[test]
fn ordering_06_one_name_in_two_namespaces_is_two_objects() {
    let text = ["alpha", "beta"].map(|namespace| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: reader, namespace: {namespace}}}\ndata: {{in: {namespace}}}\n")
    });
    let files = Files::shop().edit("teams/shop.yaml", "{name: shop}]", "{prefix: \"\"}]");
    let objects = rendered(&files.with("teams/shop/web/two.yaml", &text.join("---\n")).compiled(), "eu-a");
    for namespace in ["alpha", "beta"] {
        assert_eq!(objects[&format!("ConfigMap {namespace}/reader")]["data"]["in"], namespace);
    }
}

/// Labels, ours and those of an override, are written on the object itself and nowhere else.
#[test]
fn ordering_07_labels_never_reach_selectors_or_pods() {
    let selector = "selector: {matchLabels: {a: x}}, ";
    let workload = |version: &str, kind: &str, spec: String, restart: &str| {
        format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{spec}template: {{metadata: {{labels: {{a: \
             x}}}}, spec: {{{restart}containers: [{{name: x, image: \"x:1\"}}]}}}}}}\n"
        )
    };
    let claims = "serviceName: x, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: \
                  {requests: {storage: 1Gi}}}}], ";
    let texts = [
        workload("apps/v1", "Deployment", selector.to_owned(), ""),
        workload("apps/v1", "StatefulSet", format!("{selector}{claims}"), ""),
        workload("apps/v1", "DaemonSet", selector.to_owned(), ""),
        workload("batch/v1", "Job", String::new(), "restartPolicy: Never, "),
        "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {selector: {a: x}, ports: [{port: 80}]}\n"
            .to_owned(),
    ];
    let app = |overrides: &str| {
        let spec = format!("{{namespace: shop, placement: {{clusters: {{names: [eu-a]}}}}{overrides}}}");
        rendered(&Files::shop().app("x", &spec).with("teams/shop/x/all.yaml", &texts.join("---\n")).compiled(), "eu-a")
    };
    let kinds = ["Deployment", "StatefulSet", "DaemonSet", "Job", "Service"];
    let overrides = kinds.map(|kind| format!("{{target: {{kind: {kind}}}, labels: {{version: v2}}}}"));
    let (plain, labelled) = (app(""), app(&format!(", overrides: [{}]", overrides.join(", "))));
    for kind in kinds {
        let name = format!("{kind} shop/x");
        assert_eq!(plain[&name]["spec"], labelled[&name]["spec"], "{kind}");
        let spec = serde_json::to_string(&labelled[&name]["spec"]).unwrap();
        assert!(!spec.contains("v2") && !spec.contains("fleetwright.io"), "{kind}: {spec}");
        assert_eq!(labelled[&name]["metadata"]["labels"]["version"], "v2", "{kind}");
        assert_eq!(labelled[&name]["metadata"]["labels"]["fleetwright.io/app"], "x", "{kind}");
    }
}
