//! Whole fleets side by side.

use crate::Compiled;
use crate::api::Lifecycle;
use crate::base::SmolStr;
use crate::diff::tests::fixture::Files;
use crate::diff::{AppChange, ClusterEdit, FleetDiff, ObjectChange, Shortfall, Why, diff};
use crate::schedule::Deficit;

const WEB: &str = "teams/shop/web/web.yaml";
const DEPLOYMENT: &str = "apps/Deployment/web";

fn between(base: &Files, head: &Files) -> FleetDiff {
    diff(&base.compiled(), &head.compiled())
}

/// Each object as `action Kind ns/name: clusters: paths`.
fn objects(diff: &FleetDiff) -> Vec<String> {
    let text = |object: &crate::diff::ObjectDiff| {
        let (action, fields): (&str, &[_]) = match &object.change {
            ObjectChange::Added => ("added", &[]),
            ObjectChange::Removed { .. } => ("removed", &[]),
            ObjectChange::Released => ("released", &[]),
            ObjectChange::Changed { fields, .. } => ("changed", fields),
            ObjectChange::Replaced { fields, .. } => ("replaced", fields),
        };
        let paths: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
        format!("{action} {}: {}: {}", object.object, object.clusters.join(","), paths.join(","))
    };
    diff.objects.iter().map(text).collect()
}

/// Each count as `workload cluster before -> after`.
fn counts(diff: &FleetDiff) -> Vec<String> {
    let rows = diff.placements.iter().flat_map(|app| &app.workloads).flat_map(|workload| {
        workload
            .clusters
            .iter()
            .map(|row| format!("{} {} {:?} -> {:?}", workload.workload, row.cluster, row.before, row.after))
    });
    rows.collect()
}

#[test]
fn the_same_fleet_is_no_difference() {
    let files = Files::shop();
    let diff = between(&files, &files);
    assert!(diff.is_empty(), "{diff:?}");
    // three objects and the Namespace in three clusters
    assert_eq!((diff.unchanged_objects, diff.rewritten_objects, diff.impact.len()), (12, 0, 0));
    // written in another way
    let other = files.edit(WEB, "cpu: 500m", "cpu: 0.5").edit(
        "teams/shop/web/secret.yaml",
        "stringData: {pw: swordfish-one}",
        "data: {pw: c3dvcmRmaXNoLW9uZQ==}",
    );
    let diff = between(&Files::shop(), &other);
    assert!(diff.is_empty(), "{diff:?}");
    assert_eq!((diff.unchanged_objects, diff.rewritten_objects), (6, 6));
}

#[test]
fn one_change_on_many_clusters_is_said_once() {
    let base = Files::shop();
    let image = "spec.template.spec.containers[name=web].image";
    let diff = between(&base, &base.clone().edit(WEB, "web:1", "web:2"));
    assert_eq!(objects(&diff), [format!("changed Deployment shop/web: eu-a,eu-b,us-a: {image}")]);
    assert!(matches!(&diff.objects[0].change, ObjectChange::Changed { restarts: true, from_app: None, .. }));
    assert_eq!(
        diff.impact.iter().map(|i| (i.cluster.as_str(), i.changed, i.removed)).collect::<Vec<_>>(),
        [("eu-a", 1, 0), ("eu-b", 1, 0), ("us-a", 1, 0)]
    );
    assert_eq!(diff.unchanged_objects, 9);

    // contents that differ by cluster, and the same change in them
    let by_region =
        "{namespace: shop, overrides: [{target: {kind: Deployment}, env: {REGION: \"${cluster.region}\"}}]}";
    let base = base.app("web", by_region);
    let diff = between(&base, &base.clone().edit(WEB, "web:1", "web:2"));
    assert_eq!(objects(&diff), [format!("changed Deployment shop/web: eu-a,eu-b,us-a: {image}")]);

    // a change in one region alone
    let head = base.clone().cluster("us-a", "{region: us-east}");
    let diff = between(&base, &head);
    let value = "spec.template.spec.containers[name=web].env[name=REGION].value";
    assert_eq!(objects(&diff), [format!("changed Deployment shop/web: us-a: {value}")]);
    assert_eq!(diff.clusters[0].edits, [ClusterEdit::Labels]);
}

#[test]
fn replicas_are_told_as_placements_alone() {
    let base = Files::shop();
    let diff = between(&base, &base.clone().edit(WEB, "replicas: 2", "replicas: 3"));
    assert_eq!(
        counts(&diff),
        ["eu-a", "eu-b", "us-a"].map(|cluster| format!("{DEPLOYMENT} {cluster} Some(2) -> Some(3)"))
    );
    let workload = &diff.placements[0].workloads[0];
    assert_eq!((workload.before, workload.after, workload.counted), (6, 9, true));
    assert_eq!(workload.why, [Why::Total { before: 2, after: 3 }]);
    assert_eq!(objects(&diff), [""; 0]);
    assert_eq!(diff.impact[0].scaled, 1);
    assert_eq!((diff.impact[0].replicas_added, diff.impact[0].replicas_removed), (1, 0));
}

#[test]
fn leaving_a_cluster_deletes_there_and_stays_elsewhere() {
    let base = Files::shop();
    let head = base.clone().app("web", "{namespace: shop, placement: {clusters: {regions: [eu]}}}");
    let diff = between(&base, &head);
    assert_eq!(counts(&diff), [format!("{DEPLOYMENT} us-a Some(2) -> None")]);
    let app = &diff.placements[0];
    assert_eq!((app.change, app.clusters_removed.as_slice()), (AppChange::Changed, [SmolStr::new("us-a")].as_slice()));
    assert_eq!(app.workloads[0].why, [Why::Clusters { added: vec![], removed: vec!["us-a".into()] }]);
    assert_eq!(
        objects(&diff),
        [
            "released Namespace shop: us-a: ",
            "removed ConfigMap shop/config: us-a: ",
            "removed Deployment shop/web: us-a: ",
            "removed Secret shop/db: us-a: ",
        ]
    );
    assert_eq!(diff.objects[2].change, ObjectChange::Removed { remaining: 2 });
    let impact = &diff.impact[0];
    assert_eq!((impact.objects_before, impact.removed, impact.released, impact.replicas_removed), (4, 3, 1, 2));
}

#[test]
fn apps_come_and_go() {
    let base = Files::shop();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: b}\n";
    let head = base.clone().app("extra", "{namespace: shop}").with("teams/shop/extra/config.yaml", config);
    let diff = between(&base, &head);
    assert_eq!(objects(&diff), ["added ConfigMap shop/extra: eu-a,eu-b,us-a: "]);
    let app = &diff.placements[0];
    assert_eq!(
        (app.app.as_str(), app.change, app.clusters_added.len(), app.workloads.len()),
        ("shop/extra", AppChange::Added, 3, 0)
    );

    let back = between(&head, &base);
    assert_eq!(objects(&back), ["removed ConfigMap shop/extra: eu-a,eu-b,us-a: "]);
    assert_eq!(back.objects[0].change, ObjectChange::Removed { remaining: 0 });
    assert_eq!(back.placements[0].change, AppChange::Removed);

    // an object that goes over to another app is no deletion
    let moved = head.clone().without("teams/shop/web/config.yaml").with(
        "teams/shop/extra/more.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata:\n  app.conf: |\n    a = 1\n    b = 2\n",
    );
    let diff = between(&head, &moved);
    assert_eq!(
        objects(&diff),
        ["changed ConfigMap shop/config: eu-a,eu-b,us-a: metadata.labels[\"fleetwright.io/app\"]"]
    );
    assert!(matches!(&diff.objects[0].change, ObjectChange::Changed { from_app: Some(app), .. } if app == "shop/web"));
}

#[test]
fn clusters_are_joined_by_name() {
    let base = Files::shop();
    let head = base.clone().cluster("aa-0", "{region: ap}").cluster("eu-b", "{region: eu, lifecycle: Cordoned}");
    let diff = between(&base, &head);
    assert_eq!(
        diff.clusters.iter().map(|c| (c.cluster.as_str(), c.edits.clone())).collect::<Vec<_>>(),
        [
            ("aa-0", vec![ClusterEdit::Added]),
            ("eu-b", vec![ClusterEdit::Lifecycle { before: Lifecycle::Active, after: Lifecycle::Cordoned }]),
        ]
    );
    let row = &diff.placements[0].workloads[0].clusters;
    let new = row.iter().find(|row| row.cluster == "aa-0").unwrap();
    assert_eq!(
        (new.before, new.after, new.why.as_slice()),
        (None, Some(2), [Why::Cluster { edit: ClusterEdit::Added }].as_slice())
    );
    assert!(diff.objects.iter().all(|object| !object.clusters.contains(&"eu-a".into())));

    let back = between(&head, &base);
    assert_eq!(back.clusters[0].edits, [ClusterEdit::Removed]);
    assert_eq!(counts(&back)[0], format!("{DEPLOYMENT} aa-0 Some(2) -> None"));
}

#[test]
fn secrets_that_differ_are_told_by_key() {
    let base = Files::shop();
    let diff = between(&base, &base.clone().edit("teams/shop/web/secret.yaml", "swordfish-one", "swordfish-two"));
    assert_eq!(objects(&diff), ["changed Secret shop/db: eu-a,eu-b,us-a: data.pw"]);
    let json = serde_json::to_string(&diff).unwrap();
    assert!(json.contains("SecretChanged") && !json.contains("swordfish"), "{json}");
}

#[test]
fn generated_names_are_one_change() {
    let map = |name: &str, data: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{{data}}}\n")
    };
    let path = "teams/shop/web/generated.yaml";
    let base = Files::shop().with(path, &map("cfg-5hg4k7d9tm", "a: b"));
    let head = Files::shop().with(path, &map("cfg-22bb7mdh4c", "a: b, c: d"));
    let diff = between(&base, &head);
    assert_eq!(objects(&diff), ["replaced ConfigMap shop/cfg-22bb7mdh4c: eu-a,eu-b,us-a: data.c"]);
    assert!(diff.objects[0].change.deletes());
    assert_eq!((diff.impact[0].added, diff.impact[0].removed), (1, 1));
    // a name that only looks alike
    let head = Files::shop().with(path, &map("cfg-production", "a: b"));
    assert_eq!(between(&base, &head).objects.len(), 2);
}

#[test]
fn what_is_not_pruned_is_released() {
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {fleetwright.io/prune: disabled}}\n";
    let base = Files::shop().with("teams/shop/web/kept.yaml", text);
    assert_eq!(objects(&between(&base, &Files::shop())), ["released ConfigMap shop/kept: eu-a,eu-b,us-a: "]);
}

#[test]
fn a_quota_that_refuses_now_is_an_error() {
    let quota = Deficit::Quota {
        resource: "requests.cpu".into(),
        cluster: None,
        used: 3000,
        more: 1500,
        hard: 4000,
        others: Vec::new(),
    };
    let unplaced = Deficit::Unplaced { workload: 0, replicas: 1, wanted: 6, displaced: 0 };
    let with = |deficits: &[Deficit]| -> Compiled {
        let mut compiled = Files::shop().compiled();
        compiled.target.apps[0].deficits = deficits.to_vec();
        compiled
    };
    let (none, refused, short) = (with(&[]), with(&[quota]), with(&[unplaced]));
    let found = diff(&none, &refused);
    assert_eq!(
        found.errors.iter().map(|e| format!("{}: {}", e.app, e.shortfall)).collect::<Vec<_>>(),
        ["shop/web: the team's quota allows 4 requests.cpu: 3 are used, 1.5 more are asked for"]
    );
    assert_eq!(found.new_shortfalls, found.errors);
    assert!(!found.is_empty());
    assert_eq!(diff(&refused, &refused).errors, []);
    assert!(diff(&refused, &refused).is_empty());
    let solved = diff(&refused, &short);
    assert_eq!((solved.errors.len(), solved.solved_shortfalls.len()), (0, 1));
    assert!(
        matches!(&solved.new_shortfalls[0].shortfall, Shortfall::Unplaced { workload, replicas: 1, .. } if workload == DEPLOYMENT)
    );
}
