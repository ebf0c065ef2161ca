//! The comment of a pull request.

use crate::diff::tests::fixture::Files;
use crate::diff::{AppShortfall, Edit, FieldChange, FleetDiff, ObjectChange, ObjectDiff, ObjectName, Shortfall, diff};
use crate::report::{diff_markdown, diff_text};

fn object(kind: &str, name: &str, change: ObjectChange) -> ObjectDiff {
    let object = ObjectName {
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: name.into(),
        group: "".into(),
        version: "v1".into(),
    };
    ObjectDiff { app: Some("shop/web".into()), object, change, clusters: vec!["eu-a".into()] }
}

fn changed(value: &str) -> ObjectChange {
    let edit = Edit::Changed { before: "x".into(), after: value.into() };
    ObjectChange::Changed { fields: vec![FieldChange { path: "data.a".into(), edit }], restarts: false, from_app: None }
}

#[test]
fn it_is_bounded_and_says_what_it_leaves_out() {
    let mut diff = FleetDiff::default();
    let quota = Shortfall::Quota {
        resource: "cpu".into(),
        cluster: None,
        used: "1".into(),
        more: "1".into(),
        hard: "1".into(),
        others: Vec::new(),
    };
    diff.errors = vec![AppShortfall { app: "shop/refused".into(), shortfall: quota }];
    diff.objects = (0..3_000)
        .map(|i| object("ConfigMap", &format!("old-{i:04}"), ObjectChange::Removed { remaining: 0 }))
        .collect();
    diff.objects.extend((0..3_000).map(|i| object("ConfigMap", &format!("map-{i:04}"), changed(&"y".repeat(400)))));
    diff.objects.push(object("ConfigMap", "long", changed(&"line\n".repeat(500))));
    let text = diff_markdown(&diff);
    assert!((50_000..60_000).contains(&text.len()), "{}", text.len());
    assert!(text.contains("**fleetwright:** refused; ") && text.contains("`shop/refused`"));
    // deletions fill what they may; the rest is counted
    let deleted = text.matches("old-").count();
    let objects = text.matches("`~ ConfigMap").count();
    assert!(deleted > 500 && objects > 2, "{deleted} {objects}");
    assert!(text.contains(&format!("\n… and {} more\n", 3_000 - deleted)), "{deleted}");
    assert!(text.contains(&format!("… and {} more changes of objects", 3_001 - objects)), "{objects}");
    // no block is cut
    assert_eq!(text.matches("```").count() % 2, 0);
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
}

#[test]
fn values_cannot_leave_their_block() {
    let hostile = "a ```` b\n```\n</details> @everyone <script> \u{1b}[31m \u{202e}";
    let mut diff = FleetDiff { objects: vec![object("Thing|`x`", "a", changed(hostile))], ..FleetDiff::default() };
    diff.objects.push(object("<b>@team", "b", ObjectChange::Removed { remaining: 0 }));
    let text = diff_markdown(&diff);
    assert!(text.contains("`````diff\n"), "{text}");
    assert!(text.contains("\\u{1b}[31m") && text.contains("\\u{202e}"), "{text}");
    assert!(text.contains("``~ Thing|`x` shop/a (shop/web) on eu-a``"), "{text}");
    assert!(!diff_text(&diff).contains('\u{1b}'));
}

#[test]
fn no_difference_is_one_line() {
    let compiled = Files::shop().compiled();
    let none = diff(&compiled, &compiled);
    assert_eq!(diff_markdown(&none), "<!-- fleetwright-diff -->\n**fleetwright:** no changes; 12 objects unchanged\n");
    assert_eq!(diff_text(&none), "no changes; 12 objects unchanged\n");
}

#[test]
fn what_holds_data_is_told_aloud() {
    let removed = ObjectChange::Removed { remaining: 2 };
    let diff = FleetDiff { objects: vec![object("PersistentVolumeClaim", "disk", removed)], ..FleetDiff::default() };
    let line = "PersistentVolumeClaim shop/disk (shop/web) on eu-a; stays on 2 clusters; WHAT IT HOLDS IS LOST";
    assert!(diff_text(&diff).contains(line) && diff_markdown(&diff).contains(line));
}
