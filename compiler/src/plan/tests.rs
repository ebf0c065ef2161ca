//! Which object goes where with which number, which namespaces come with it, and what moves why.

use crate::api::{AutoscaledRoom, Lifecycle, Strategy};
use crate::base::labels::Labels;
use crate::model::{NamespaceRule, WorkloadKind};
use crate::placements::{PlacedApp, PlacedSeat, PlacedWorkload};
use crate::schedule::Target;
use crate::schedule::fixture::{FleetFixture, taint};

use super::{Fill, Plan, plan};

fn planned(fleet: &FleetFixture) -> (Target, Plan) {
    let target = fleet.schedule();
    let plan = plan(&fleet.fleet, &fleet.variants, &fleet.record, &target);
    (target, plan)
}

/// `cluster: Kind=replicas/completions Kind` for each cluster an app is in.
fn objects(fleet: &FleetFixture, plan: &Plan, app: usize) -> Vec<String> {
    let rows = plan.apps[app].objects.chunk_by(|a, b| a.cluster == b.cluster).map(|row| {
        let each = row.iter().map(|planned| {
            let kind = &fleet.fleet.apps[app].objects[planned.object as usize].key.kind;
            match planned.fill {
                Fill::AsIs => kind.to_string(),
                Fill::Share { replicas, completions } => {
                    let count = |n: Option<u32>| n.map_or_else(|| "as-is".to_owned(), |n| n.to_string());
                    let completions = completions.map(|n| format!("/{n}")).unwrap_or_default();
                    format!("{kind}={}{completions}", count(replicas))
                }
                Fill::Owned { replicas } => format!("{kind}~{replicas}"),
                Fill::Bounds { min, max } => format!("{kind}={min}..{max}"),
            }
        });
        format!("{}: {}", fleet.fleet.cluster(row[0].cluster).name, each.collect::<Vec<_>>().join(" "))
    });
    rows.collect()
}

/// `workload cluster before->after cause`.
fn moves(fleet: &FleetFixture, plan: &Plan, app: usize) -> Vec<String> {
    let name = |m: &super::Move| fleet.fleet.cluster(m.cluster).name.clone();
    let each = plan.apps[app].moves.iter();
    each.map(|m| format!("{} {} {}->{} {:?}", m.workload, name(m), m.before, m.after, m.cause)).collect()
}

#[test]
fn objects_follow_the_workloads() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    let app = fleet
        .app("web", Strategy::StaticWeight)
        .workload(WorkloadKind::CronJob, "tick", 1, "")
        .weights(&fleet, "b=1")
        .workload(WorkloadKind::Deployment, "main", 3, "")
        .weights(&fleet, "a=2 b=1")
        .workload(WorkloadKind::Deployment, "spare", 0, "")
        .object("", "v1", "ConfigMap", "all")
        .object("", "v1", "Secret", "some");
    let app = app.only(fleet.set(&["b"]));
    fleet.add(app);
    let (_, plan) = planned(&fleet);
    assert_eq!(
        objects(&fleet, &plan, 0),
        ["a: Deployment=2 Deployment=0 ConfigMap", "b: CronJob Deployment=1 Deployment=0 ConfigMap Secret",]
    );
}

#[test]
fn division_07_where_all_totals_are_zero_every_selected_cluster_gets_an_explicit_zero() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(0).object("", "v1", "Service", "s");
    fleet.add(app);
    let (_, plan) = planned(&fleet);
    assert_eq!(objects(&fleet, &plan, 0), ["a: Deployment=0 Service", "b: Deployment=0 Service"]);
}

#[test]
fn what_has_no_place_is_nowhere_and_an_app_without_workloads_is_everywhere() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 0, "cpu=1000");
    let none = fleet.app("none", Strategy::StaticWeight).deployment_of(1, "cpu=1").object("", "v1", "Service", "s");
    let objects_only = fleet.app("objects", Strategy::StaticWeight).object("", "v1", "ConfigMap", "c");
    fleet.add(none).add(objects_only);
    let (_, plan) = planned(&fleet);
    assert_eq!(objects(&fleet, &plan, 0), [""; 0]);
    assert_eq!(objects(&fleet, &plan, 1), ["a: ConfigMap"]);
}

#[test]
fn numbers_are_those_written() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(4).writes(fleet.id("a"), 7);
    fleet.add(app);
    let (_, plan) = planned(&fleet);
    assert_eq!(objects(&fleet, &plan, 0), ["a: Deployment", "b: Deployment=2"]);
    assert_eq!(moves(&fleet, &plan, 0), ["0 a 0->7 New", "0 b 0->2 New"]);
}

#[test]
fn jobs_are_written_with_their_part_of_the_completions() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let job = fleet.app("job", Strategy::StaticWeight).workload(WorkloadKind::Job, "main", 6, "");
    let job = job.weights(&fleet, "a=2 b=1").with_workload(|job| job.completions = Some(30));
    let copied = fleet.app("job-copied", Strategy::Duplicated).workload(WorkloadKind::Job, "main", 4, "");
    fleet.add(job).add(copied.with_workload(|job| job.completions = Some(4)));
    let (_, plan) = planned(&fleet);
    assert_eq!(objects(&fleet, &plan, 0), ["a: Job=4/20", "b: Job=2/10"]);
    assert_eq!(objects(&fleet, &plan, 1), ["a: Job", "b: Job"], "as its manifest has it");
}

#[test]
fn moves_say_why() {
    type Change = fn(&mut FleetFixture);
    // six replicas run in a and six in b; c is free
    let facts: [(&str, Change, &[&str]); 7] = [
        ("nothing", |_| (), &[]),
        ("taint", |f| f.cluster("b").taints = vec![taint("x:NoExecute")], &["0 a 6->12 Refill", "0 b 6->0 Taint"]),
        ("drain", |f| f.cluster("b").lifecycle = Lifecycle::Draining, &["0 a 6->12 Refill", "0 b 6->0 Lifecycle"]),
        (
            "selector",
            |f| {
                let app = f.app("web", Strategy::StaticWeight).deployment(12).clusters(f.set(&["a", "c"]));
                f.add(app);
            },
            &["0 a 6->12 Refill", "0 b 6->0 Intent"],
        ),
        (
            "weights",
            |f| {
                let app = f.app("web", Strategy::StaticWeight).deployment(12).weights(f, "a=1 c=1");
                f.add(app).divided_otherwise("web");
            },
            &["0 b 6->0 Weights", "0 c 0->6 Weights"],
        ),
        (
            "growth",
            |f| {
                let app = f.app("web", Strategy::StaticWeight).deployment(14);
                f.add(app);
            },
            &["0 a 6->7 Total", "0 b 6->7 Total"],
        ),
        (
            "shrinkage",
            |f| {
                let app = f.app("web", Strategy::StaticWeight).deployment(7);
                f.add(app);
            },
            &["0 a 6->4 Total", "0 b 6->3 Total"],
        ),
    ];
    for (what, change, expected) in facts {
        let mut fleet = FleetFixture::new(&["a", "b", "c"]);
        let app = fleet.app("web", Strategy::StaticWeight).deployment(12);
        fleet.add(app).runs("web", "a=6 b=6");
        change(&mut fleet);
        let (_, plan) = planned(&fleet);
        assert_eq!(moves(&fleet, &plan, 0), expected, "{what}");
    }
}

#[test]
fn namespaces_come_with_what_lies_in_them() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let label = |value: &str| Labels::from([("owner".into(), value.into())]);
    fleet.team_mut("team").namespaces = vec![
        NamespaceRule { text: "".into(), prefix: true, labels: label("prefix") },
        NamespaceRule { text: "ns".into(), prefix: false, labels: label("name") },
    ];
    let app = fleet.app("web", Strategy::StaticWeight).deployment(1).weights(&fleet, "b=1");
    let app = app.object("", "v1", "ConfigMap", "c").in_namespace("kube-system");
    let own = fleet.app("zz", Strategy::Duplicated).object("", "v1", "ConfigMap", "c").in_namespace("own");
    fleet.add(app).add(own.object("", "v1", "Namespace", "own").clustered());
    let (_, plan) = planned(&fleet);
    assert_eq!(plan.namespaces, [(fleet.id("b"), "ns".into(), label("name"))]);
}

#[test]
fn what_is_recorded_and_gone_ends() {
    let seat = |cluster: &str, pool: Option<&str>, replicas| PlacedSeat {
        cluster: cluster.into(),
        pool: pool.map(Into::into),
        replicas,
        completions: None,
        bounds: None,
    };
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(2);
    fleet.add(app);
    let target = fleet.schedule();
    fleet.record_target(&target);
    let old = PlacedWorkload {
        weights: "b3:0".into(),
        seats: vec![seat("a", None, 0), seat("b", Some("p"), 1), seat("b", Some("q"), 2)],
        gave_way: Vec::new(),
    };
    let web = fleet.record.apps.get_mut(&("team".into(), "web".into())).unwrap();
    web.workloads.insert("apps/Deployment/old".into(), old.clone());
    let workloads = [("apps/Deployment/main".into(), old)].into();
    let gone = PlacedApp { place: None, tier: None, clusters: vec!["b".into()], workloads };
    fleet.record.apps.insert(("team".into(), "gone".into()), gone);
    let (_, plan) = planned(&fleet);
    assert_eq!(moves(&fleet, &plan, 0), [""; 0]);
    let removals: Vec<String> = plan
        .removals
        .iter()
        .map(|r| format!("{}/{} {} {} {} {}", r.team, r.app, r.workload, r.cluster.0, r.before, r.with_app))
        .collect();
    assert_eq!(removals, ["team/gone apps/Deployment/main 1 3 true", "team/web apps/Deployment/old 1 3 false"]);
}

#[test]
fn a_quota_of_each_cluster_is_kept_in_its_namespaces() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota_per_cluster("team", "requests.cpu=1500 count/services=4 requests.memory=1073741824");
    fleet.quota("team", "pods=9");
    fleet.quota_per_cluster("team", "limits.cpu=2000");
    fleet.team("zoo");
    let one = fleet.app("one", Strategy::StaticWeight).deployment(1).weights(&fleet, "b=1");
    let two = fleet.app("two", Strategy::Duplicated).object("", "v1", "ConfigMap", "c").in_namespace("shared");
    let three = fleet.app("three", Strategy::Duplicated).object("", "v1", "ConfigMap", "d").in_namespace("shared");
    fleet.add(one).add(two).add(three.of_team(1));
    let (_, plan) = planned(&fleet);
    let quotas: Vec<String> = plan
        .quotas
        .iter()
        .map(|quota| {
            let hard: Vec<String> = quota.hard.iter().map(|(name, most)| format!("{name}={most}")).collect();
            let cluster = &fleet.fleet.cluster(quota.cluster).name;
            format!("{cluster} {}/{}: {}", quota.namespace, quota.name, hard.join(" "))
        })
        .collect();
    assert_eq!(
        quotas,
        [
            "b ns/fleetwright-team: count/services=4 requests.cpu=1500m requests.memory=1Gi",
            "b ns/fleetwright-team-2: limits.cpu=2",
        ]
    );
}

#[test]
fn an_autoscaler_is_where_its_workload_is() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(7).weights(&fleet, "a=1 c=1");
    fleet.add(app.autoscaled(4, 9, AutoscaledRoom::Min));
    let (_, plan) = planned(&fleet);
    assert_eq!(
        objects(&fleet, &plan, 0),
        ["a: Deployment~2 HorizontalPodAutoscaler=2..5", "c: Deployment~2 HorizontalPodAutoscaler=2..4"]
    );
}
