//! One-line reasons, diagnostics of deficits and of capacity, and the lines of diagnostics.

use std::cell::Cell;
use std::sync::Arc;

use crate::api::Lifecycle;
use crate::base::{ClusterId, FileId, Path, Span};
use crate::diag::{Diagnostic, Diagnostics, Origin, Place, codes};
use crate::diff::tests::fixture::Files;
use crate::model::{ClusterSet, Fleet, Mismatch};
use crate::placements::Record;
use crate::report::{capacity, deficits, located, verdicts_line};
use crate::schedule::{AppTarget, Deficit, Target, Verdict};
use crate::source::{FileClass, FileOrigin, RepoPath, SourceFile};
use crate::variants::Variants;

/// `eu-a eu-b us-a us-b us-c`.
fn five() -> Fleet {
    Files::shop().cluster("us-b", "{region: us}").cluster("us-c", "{region: us}").compiled().fleet
}

fn set(ids: &[u16]) -> ClusterSet {
    ids.iter().copied().map(ClusterId).collect()
}

fn no_room(free: i128) -> Verdict {
    Verdict::NoRoom { resource: "cpu".into(), needed: 4000, free }
}

#[test]
fn refusals_in_one_line() {
    let facts: Vec<(Vec<(Verdict, ClusterSet)>, &str)> = vec![
        (vec![], "5/5 clusters"),
        (
            vec![
                (Verdict::Mismatch(Mismatch::Labels), set(&[0])),
                (Verdict::Taint("gpu:NoSchedule".into()), set(&[1])),
                (no_room(500), set(&[2, 4])),
                (no_room(2500), set(&[3])),
            ],
            "0/5 clusters: 1 label mismatch (eu-a), 1 taint gpu:NoSchedule (eu-b), \
             3 no room: need 4 cpu, largest free 2.5 (us-*)",
        ),
        (
            vec![
                (Verdict::Mismatch(Mismatch::Excluded), set(&[0])),
                (Verdict::Lifecycle(Lifecycle::Cordoned), set(&[1])),
                (Verdict::Unhealthy, set(&[2])),
            ],
            "2/5 clusters: 1 excluded (eu-a), 1 cordoned (eu-b), 1 not ready (us-a)",
        ),
        // what is short differs, so each is told
        (
            vec![
                (no_room(0), set(&[0])),
                (Verdict::NoRoom { resource: "memory".into(), needed: 2 << 30, free: 1 << 29 }, set(&[1])),
                (Verdict::LargerThanNode { resource: "nvidia.com/gpu".into(), needed: 8, largest: 4 }, set(&[2])),
            ],
            "2/5 clusters: 1 no room: need 4 cpu, largest free 0 (eu-a), 1 no room: need 2Gi memory, largest free 512Mi \
             (eu-b), 1 larger than any node: need 8 nvidia.com/gpu, largest node 4 (us-a)",
        ),
        (vec![(Verdict::NotChosen, set(&[0, 1, 2, 3]))], "1/5 clusters: 4 not chosen (eu-a, eu-b, us-a and 1 more)"),
        (vec![(Verdict::NoWeight, set(&[0, 1, 2]))], "2/5 clusters: 3 no weight (eu-a, eu-b, us-a)"),
    ];
    let fleet = five();
    for (verdicts, expected) in facts {
        let target = AppTarget { verdicts, ..AppTarget::default() };
        assert_eq!(verdicts_line(&fleet, &target), expected);
    }
}

#[test]
fn deficits_are_warnings_at_the_name_of_the_app() {
    let fleet = five();
    let app = AppTarget {
        verdicts: vec![(Verdict::Team, set(&[0]))],
        deficits: vec![
            Deficit::Unplaced { workload: 0, replicas: 2, wanted: 12, displaced: 0 },
            Deficit::Spread { topology_key: "region".into(), have: 1, min: 2, greedy: false },
            Deficit::Quota {
                resource: "limits.memory".into(),
                cluster: None,
                used: 1 << 30,
                more: 1 << 30,
                hard: 3 << 29,
                others: Vec::new(),
            },
            Deficit::NoWeightMatches { workload: 0 },
        ],
        ..AppTarget::default()
    };
    let target = Target { apps: vec![app], settled: true, ..Target::default() };
    let found = deficits(&fleet, &Variants::default(), &Record::default(), &target);
    let clusters = "4/5 clusters: 1 not among the team's clusters (eu-a)";
    let expected = [
        (
            codes::placement::SPREAD_UNMET,
            format!("the spread over region wants 2 groups, and 1 can hold a replica; {clusters}"),
        ),
        (
            codes::rights::OVER_QUOTA,
            "the team's quota allows 1.5Gi limits.memory: 1Gi are used, 1Gi more are asked for".to_owned(),
        ),
        (
            codes::placement::NO_WEIGHT_MATCHES,
            format!("no weight matches a selected cluster, so nothing of apps/Deployment/web is placed; {clusters}"),
        ),
    ];
    let app = &fleet.apps[0];
    assert_eq!(found.iter().map(|d| (d.code, d.message.clone())).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|d| d.place == Place::Span(app.file, app.name_span) && d.help.is_some() && !d.is_error()));
}

#[test]
fn capacity_is_asked_for_where_room_decides() {
    let pool = "nodePools: [{name: a, nodes: 1, allocatable: {cpu: \"4\", memory: 8Gi}}]";
    let files =
        Files::shop().cluster("eu-a", &format!("{{region: eu, overcommit: {{cpu: \"2\", memory: \"1\"}}, {pool}}}"));
    let warnings = |spec: &str| -> Vec<String> {
        let compiled = files.clone().app("web", spec).compiled();
        capacity(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target)
            .iter()
            .map(|d| format!("{} {}", d.code, d.message))
            .collect()
    };
    let overcommit = "FW1143 eu-a overcommits cpu; kube-scheduler does not, and pods can stay Pending";
    let eu = "placement: {clusters: {regions: [eu]}, replicas";
    assert_eq!(warnings(&format!("{{namespace: shop, {eu}: {{strategy: StaticWeight}}}}}}")), [overcommit]);
    let unknown =
        "FW1140 the capacity of eu-b is not known, so it counts as large enough for everything that is placed by room";
    assert_eq!(warnings(&format!("{{namespace: shop, {eu}: {{strategy: DynamicWeight}}}}}}")), [overcommit, unknown]);
    assert_eq!(
        warnings(&format!("{{namespace: shop, {eu}: {{strategy: StaticWeight, capacity: Require}}}}}}")),
        [overcommit, unknown]
    );
}

#[test]
fn overcommit_is_no_warning_where_overrides_lower_what_is_requested() {
    let pool = "nodePools: [{name: a, nodes: 9, allocatable: {cpu: \"4\", memory: 8Gi}}]";
    let cluster = format!("{{region: eu, overcommit: {{cpu: \"2\", memory: \"2\"}}, {pool}}}");
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: \
                      {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: \
                      [{name: c, image: a:1, resources: {requests: {cpu: 1, memory: 1Gi}}}]}\n";
    let warnings = |requests: &str| -> Vec<String> {
        let patch = format!(
            "{{spec: {{template: {{spec: {{containers: [{{name: c, resources: {{requests: {requests}}}}}]}}}}}}}}"
        );
        let spec = format!(
            "{{namespace: shop, placement: {{clusters: {{names: [eu-a]}}, replicas: {{strategy: StaticWeight}}}}, overrides: \
             [{{target: {{kind: Deployment}}, patch: {patch}}}]}}"
        );
        let files =
            Files::shop().cluster("eu-a", &cluster).app("web", &spec).with("teams/shop/web/web.yaml", deployment);
        let compiled = files.compiled();
        let found = capacity(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target);
        found.iter().map(|d| d.message.clone()).collect()
    };
    let of =
        |resources: &str| format!("eu-a overcommits {resources}; kube-scheduler does not, and pods can stay Pending");
    let facts = [
        ("{cpu: 500m, memory: 512Mi}", vec![]),
        ("{cpu: 500m}", vec![of("memory")]),
        ("{memory: 2Gi}", vec![of("cpu, memory")]),
    ];
    for (requests, expected) in facts {
        assert_eq!(warnings(requests), expected, "{requests}");
    }
}

const TEXT: &str = "# é\napiVersion: v1\nkind: List\nitems:\n- metadata:\n    name: ä\n";

fn one_file(text: &[u8], places: &[(Place, &str)]) -> (Vec<String>, u32) {
    let file = SourceFile {
        path: RepoPath::new("teams/a/b.yaml").unwrap(),
        class: FileClass::TeamFolder,
        id: crate::base::ContentId([0; 32]),
        from: FileOrigin::Intents,
        link: None,
    };
    let reads = Cell::new(0);
    let read = |_: &SourceFile| -> Option<Arc<[u8]>> {
        reads.set(reads.get() + 1);
        Some(Arc::from(text))
    };
    let mut diagnostics = Diagnostics::default();
    for (place, message) in places {
        diagnostics.push(
            Diagnostic::new(codes::fields::WRONG_TYPE, place.clone(), *message)
                .help("write it")
                .related(place.clone(), "here too"),
        );
    }
    let found = located(&diagnostics, &[file], &read);
    let text = found.iter().map(|d| {
        assert_eq!((d.related[0].path.as_ref(), d.related[0].position), (d.path.as_ref(), d.position));
        assert_eq!((d.code.as_str(), d.severity, d.title), ("FW1021", "error", "wrong type"));
        let at = d.position.map(|p| format!("{}:{}-{}:{}", p.line, p.column, p.end_line, p.end_column));
        format!("{} {} {}", d.path.as_deref().unwrap_or("-"), at.unwrap_or_default(), d.message)
    });
    (text.collect(), reads.get())
}

#[test]
fn places_become_lines() {
    let facts = [
        (Place::Call, "call"),
        (Place::Path("clusters/x".into()), "path"),
        (Place::File(FileId(0)), "file"),
        (Place::Span(FileId(0), Span::new(0, 4)), "span"),
        (Place::Span(FileId(7), Span::new(0, 4)), "no such file"),
        (Place::Span(FileId(0), Span::new(60, 62)), "two bytes, one character"),
        (Place::Object(Origin { file: FileId(0), doc: 1, path: Path::root() }), "object"),
    ];
    let (found, reads) = one_file(TEXT.as_bytes(), &facts);
    assert_eq!(
        found,
        [
            "-  call",
            "clusters/x  path",
            "teams/a/b.yaml  file",
            "teams/a/b.yaml 1:1-1:4 span",
            "-  no such file",
            "teams/a/b.yaml 6:11-6:12 two bytes, one character",
            "teams/a/b.yaml  object",
        ]
    );
    assert_eq!(reads, 1);
}

#[test]
fn a_file_that_is_not_text_has_lines_up_to_there() {
    let at = Place::Span(FileId(0), Span::new(6, 7));
    assert_eq!(one_file(b"a: 1\nb\xff: 2", &[(at, "not text")]).0, ["teams/a/b.yaml 2:2-2:2 not text"]);
}
