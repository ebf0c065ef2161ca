//! Problem cases that others had in division, spread, affinity, taints, quota, priority and precedence: the small input of
//! each, and what is right. A function is named after its case.

use fleetwright_compiler::rebalance::Budget;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Compiled, Session, compile, diff, report};
use fleetwright_reconciler::decide::orders::rebalance_of;
use fleetwright_tests::fleet::{FleetBuilder, config_map, deployment, pool};
use serde_json::{Value, json};

fn result(fleet: &FleetBuilder) -> Result<Compiled, Vec<String>> {
    let files = fleet.files().expect("the paths are inside");
    match compile(&Session::new(), &Overlay::same(&files), &Scenario::default()) {
        Ok(compiled) => Ok(compiled),
        Err(CompileError::Refused(refusal)) => Err(refusal
            .diagnostics
            .iter()
            .map(|d| format!("{}: {} {}", d.code, d.message, d.help.clone().unwrap_or_default()))
            .collect()),
        Err(error) => panic!("{error}"),
    }
}

fn compiled(fleet: &FleetBuilder) -> Compiled {
    result(fleet).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// `a 8, b 2`, completions after a slash, of the first workload.
fn seats(compiled: &Compiled, name: &str) -> String {
    let id = compiled.fleet.app_ids().find(|id| compiled.fleet.app_name(*id) == name).expect("the app is there");
    let seats = compiled.target.apps[id.index()].seats.iter().filter(|seat| seat.workload == 0).map(|seat| {
        let completions = seat.completions.map(|of| format!("/{of}")).unwrap_or_default();
        format!("{} {}{completions}", compiled.fleet.cluster(seat.cluster).name, seat.replicas)
    });
    seats.collect::<Vec<_>>().join(", ")
}

/// What the plan says could not be done.
fn short(compiled: &Compiled) -> Vec<String> {
    report::plan(compiled).shortfalls.iter().map(|short| format!("{}: {}", short.app, short.shortfall)).collect()
}

/// Clusters of one node each with so many CPUs.
fn clusters(cpus: &[(&str, u32)]) -> FleetBuilder {
    let add = |fleet: FleetBuilder, (name, cpu): &(&str, u32)| {
        fleet.cluster(*name, json!({ "nodePools": [pool("general", 1, &cpu.to_string(), "512Gi")] }))
    };
    cpus.iter().fold(FleetBuilder::new(), add).open_team("t")
}

fn app(fleet: FleetBuilder, name: &str, placement: Value, replicas: u32) -> FleetBuilder {
    fleet.app("t", name, json!({ "placement": placement }), &[deployment(name, replicas, "1", "1Gi")])
}

fn weights(of: Value) -> Value {
    json!({ "replicas": { "strategy": "StaticWeight", "weights": of } })
}

fn strategy(name: &str) -> Value {
    json!({ "replicas": { "strategy": name } })
}

#[test]
fn division_01_growth_takes_from_nobody() {
    let fleet =
        |n| app(clusters(&[("x", 99), ("y", 99), ("z", 99)]), "a", weights(json!({ "x": 17, "y": 11, "z": 6 })), n);
    for (replicas, expected) in [(5, "x 2, y 2, z 1"), (6, "x 3, y 2, z 1")] {
        assert_eq!(seats(&compiled(&fleet(replicas)), "t/a"), expected, "{replicas}");
    }
    let mut before: Vec<u32> = vec![0; 3];
    for replicas in 1..40 {
        let compiled = compiled(&fleet(replicas));
        let mut now = vec![0; 3];
        compiled.target.apps[0].seats.iter().for_each(|seat| now[seat.cluster.index()] = seat.replicas);
        assert_eq!(now.iter().sum::<u32>(), replicas);
        assert!(before.iter().zip(&now).all(|(before, now)| before <= now), "{replicas}: {before:?} {now:?}");
        before = now;
    }
}

#[test]
fn division_04_who_gets_nothing_by_rounding_is_told_so() {
    let fleet = app(clusters(&[("p", 99), ("q", 99), ("r", 99)]), "a", weights(json!({ "p": 3, "q": 1, "r": 1 })), 2);
    let compiled = compiled(&fleet);
    assert_eq!(seats(&compiled, "t/a"), "p 1, q 1");
    assert!(!rendered(&compiled, "r").contains("kind: Deployment"));
    let without = report::plan(&compiled).apps[0].without.clone();
    assert_eq!(without.as_deref(), Some("2/3 clusters: 1 share rounds to zero (r)"));
}

#[test]
fn division_05_ties_do_not_fill_one_cluster_and_a_new_app_moves_none() {
    let fleet = |count: usize| {
        let base = clusters(&[("m1", 99), ("m2", 99)]);
        (0..count).fold(base, |fleet, n| app(fleet, &format!("app-{n:03}"), weights(json!({ "m1": 1, "m2": 1 })), 1))
    };
    let hundred = compiled(&fleet(100));
    let in_m1 = (0..100).filter(|n| seats(&hundred, &format!("t/app-{n:03}")) == "m1 1").count();
    assert_eq!(in_m1, 50);
    let more = compiled(&fleet(101).placed(&hundred));
    for n in 0..100 {
        let name = format!("t/app-{n:03}");
        assert_eq!(seats(&more, &name), seats(&hundred, &name));
    }
}

/// All that is rendered for a cluster.
fn rendered(compiled: &Compiled, cluster: &str) -> String {
    let id = compiled.fleet.cluster_id(cluster).expect("it is there");
    let mut text = String::new();
    compiled.rendered.files(id).iter().for_each(|file| file.write(&compiled.fleet, &mut text));
    text
}

#[test]
fn division_07_zero_replicas_are_written_as_zero() {
    let compiled = compiled(&app(clusters(&[("m1", 9), ("m2", 9)]), "a", weights(json!({ "m1": 2, "m2": 1 })), 0));
    for cluster in ["m1", "m2"] {
        assert!(rendered(&compiled, cluster).contains("replicas: 0"), "{cluster}");
    }
    assert_eq!(short(&compiled), Vec::<String>::new());
}

#[test]
fn division_10_a_maximum_hides_nothing() {
    let placement = json!({ "replicas": { "strategy": "StaticWeight", "weights": [
        { "clusters": { "names": ["c1"] }, "weight": 1, "min": 1, "max": 1 },
        { "clusters": { "names": ["c2"] }, "weight": 10, "min": 1, "max": 7 },
    ] } });
    let fleet = |cpu| app(clusters(&[("c1", 99), ("c2", cpu)]), "a", placement.clone(), 8);
    assert_eq!(seats(&compiled(&fleet(99)), "t/a"), "c1 1, c2 7");
    let tight = compiled(&fleet(5));
    assert_eq!(seats(&tight, "t/a"), "c1 1, c2 5");
    let said = short(&tight);
    assert!(said.len() == 1 && said[0].contains("2 of 8"), "{said:?}");
}

/// Placements of app `a`, divided by rules that the record does not know any more.
fn runs(fleet: FleetBuilder, seats: &[(&str, u32)]) -> FleetBuilder {
    let clusters: Vec<&str> = seats.iter().map(|(cluster, _)| *cluster).collect();
    let seats: Vec<Value> = seats.iter().map(|(c, n)| json!({ "cluster": c, "replicas": n })).collect();
    let workload = json!({ "workload": "apps/Deployment/a", "weights": "unknown", "seats": seats });
    let record = json!({
        "apiVersion": "fleetwright.io/v1alpha1",
        "kind": "Placements",
        "apps": [{ "app": "a", "clusters": clusters, "workloads": [workload] }],
    });
    fleet.file("placements/t.yaml", record.to_string())
}

#[test]
fn division_11_what_shrinks_goes_towards_its_weights() {
    let fleet = app(clusters(&[("a", 99), ("b", 99)]), "a", weights(json!({ "a": 1, "b": 1 })), 16);
    assert_eq!(seats(&compiled(&runs(fleet, &[("a", 8), ("b", 40)])), "t/a"), "a 8, b 8");
}

#[test]
fn division_13_no_growth_where_a_cluster_is_down() {
    let fleet = |replicas| {
        let tolerates = json!({
            "replicas": { "strategy": "DynamicWeight" },
            "tolerations": [{ "key": "fleetwright.io/unreachable", "operator": "Exists" }],
        });
        app(clusters(&[("a", 23), ("b", 23)]), "a", tolerates, replicas)
    };
    let six = compiled(&fleet(6));
    assert_eq!(seats(&six, "t/a"), "a 3, b 3");
    let down = fleet(10).placed(&six).file("state/outages/a.yaml", "state: Lost\nepoch: 1\n");
    assert_eq!(seats(&compiled(&down), "t/a"), "a 3, b 7");
}

#[test]
fn division_15_no_prefix_is_large_enough() {
    let fleet = |replicas| app(clusters(&[("a", 5), ("b", 3), ("c", 1)]), "a", strategy("Aggregated"), replicas);
    let ten = compiled(&fleet(10));
    assert_eq!(seats(&ten, "t/a"), "");
    assert_eq!(short(&ten).len(), 1, "{:?}", short(&ten));
    let seven = seats(&compiled(&fleet(7)), "t/a");
    assert!(["a 5, b 2", "a 4, b 3"].contains(&seven.as_str()), "{seven}");
    // what runs stays, although more does not fit
    assert_eq!(seats(&compiled(&fleet(10).placed(&compiled(&fleet(7)))), "t/a"), seven);
}

fn job(spec: Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": "main" },
        "spec": { "template": { "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "main", "image": "job", "resources": { "requests": { "cpu": "1", "memory": "1Gi" } } }],
        } } },
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        job["spec"][key] = value.clone();
    }
    job
}

#[test]
fn division_16_a_job_is_divided_in_both_numbers() {
    let placement = json!({ "placement": weights(json!({ "a": 3, "b": 2, "c": 1 })) });
    let fleet = clusters(&[("a", 99), ("b", 99), ("c", 99)]).app(
        "t",
        "a",
        placement,
        &[job(json!({ "completions": 60, "parallelism": 12 }))],
    );
    assert_eq!(seats(&compiled(&fleet), "t/a"), "a 6/30, b 4/20, c 2/10");
}

#[test]
fn division_19_a_job_without_completions_is_not_divided() {
    let fleet = |objects: Value| {
        let spec = json!({ "placement": strategy("StaticWeight"), "objects": objects });
        clusters(&[("a", 99), ("b", 99)]).app("t", "a", spec, &[job(json!({ "parallelism": 4 }))])
    };
    // by itself it is kept whole, and nothing is invented
    let whole = compiled(&fleet(json!([])));
    assert_eq!(seats(&whole, "t/a"), "a 4");
    assert!(!rendered(&whole, "a").contains("completions"));
    let refused = result(&fleet(json!([{ "match": { "kind": "Job" }, "divide": true }]))).expect_err("it is refused");
    assert!(refused.iter().any(|said| said.contains("FW1138") && said.contains("main")), "{refused:?}");
}

#[test]
fn division_21_only_what_has_replicas_is_divided() {
    let daemon = json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": { "name": "agent" },
        "spec": { "selector": { "matchLabels": { "app": "agent" } }, "template": {
            "metadata": { "labels": { "app": "agent" } },
            "spec": { "containers": [{ "name": "agent", "image": "agent" }] },
        } },
    });
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" }, "spec": { "ports": [{ "port": 80 }] } });
    let placed = |strategy_name: &str| {
        let placement = || json!({ "placement": strategy(strategy_name) });
        let fleet = clusters(&[("m1", 9), ("m2", 9)])
            .app("t", "all", placement(), &[daemon.clone(), config_map("settings", json!({})), service.clone()])
            .app("t", "job", placement(), &[job(json!({}))]);
        let compiled = compiled(&fleet);
        let clusters = ["m1", "m2"].map(|cluster| rendered(&compiled, cluster));
        let jobs = clusters.iter().filter(|text| text.contains("kind: Job")).count();
        for text in &clusters {
            for kind in ["DaemonSet", "ConfigMap", "Service"] {
                assert!(text.contains(&format!("kind: {kind}\n")), "{strategy_name}: {kind} in {text}");
            }
            assert!(!text.contains("replicas:"), "{text}");
        }
        jobs
    };
    assert_eq!([placed("StaticWeight"), placed("Duplicated")], [1, 2]);
}

#[test]
fn division_24_a_rebalance_spreads_again() {
    let fleet = |lifecycle: &str| {
        let spec =
            |lifecycle: &str| json!({ "nodePools": [pool("general", 1, "99", "512Gi")], "lifecycle": lifecycle });
        let fleet = ["a", "c"].iter().fold(FleetBuilder::new(), |fleet, name| fleet.cluster(*name, spec("Active")));
        app(fleet.cluster("b", spec(lifecycle)).open_team("t"), "a", weights(json!({ "a": 1, "b": 1, "c": 1 })), 12)
    };
    let cordoned = compiled(&fleet("Cordoned"));
    assert_eq!(seats(&cordoned, "t/a"), "a 6, c 6");
    let open = fleet("Active").placed(&cordoned);
    let settled = compiled(&open);
    assert_eq!(seats(&settled, "t/a"), "a 6, c 6");
    let found = rebalance_of(&settled, &settled.fleet.app_ids().collect(), Budget::Unlimited);
    assert_eq!(seats(&compiled(&open.recorded(&found.placed)), "t/a"), "a 4, b 4, c 4");
}

fn regions(of: &[(&str, &str)]) -> FleetBuilder {
    let add = |fleet: FleetBuilder, (name, region): &(&str, &str)| {
        fleet.cluster(*name, json!({ "region": region, "nodePools": [pool("general", 1, "99", "512Gi")] }))
    };
    of.iter().fold(FleetBuilder::new(), add).open_team("t")
}

#[test]
fn spread_01_an_absent_maximum_is_none() {
    let placement = json!({ "spread": [{ "topologyKey": "cluster" }], "replicas": { "strategy": "StaticWeight" } });
    assert_eq!(seats(&compiled(&app(clusters(&[("m1", 9), ("m2", 9)]), "a", placement, 4)), "t/a"), "m1 2, m2 2");
}

#[test]
fn spread_04_a_group_without_a_usable_cluster_is_said() {
    let placement =
        json!({ "spread": [{ "topologyKey": "region", "min": 2 }], "replicas": { "strategy": "StaticWeight" } });
    let fleet = regions(&[("w1", "west"), ("w2", "west")]).cluster(
        "e1",
        json!({
            "region": "east",
            "nodePools": [pool("general", 1, "99", "512Gi")],
            "taints": [{ "key": "maint", "effect": "NoSchedule" }],
        }),
    );
    let fleet = app(app(fleet, "a", placement, 4), "other", strategy("StaticWeight"), 2);
    let compiled = compiled(&fleet);
    assert_eq!(seats(&compiled, "t/a"), "");
    assert_eq!(seats(&compiled, "t/other"), "w1 1, w2 1");
    let said = short(&compiled);
    assert!(
        said.iter().any(|said| said.starts_with("t/a: ")
            && said.contains("region")
            && said.contains('1')
            && said.contains('2')),
        "{said:?}"
    );
}

#[test]
fn spread_06_a_constraint_that_cannot_hold_takes_nothing_away() {
    let placement =
        json!({ "spread": [{ "topologyKey": "region", "min": 3 }], "replicas": { "strategy": "StaticWeight" } });
    let fleet = app(regions(&[("r1", "r1"), ("r2", "r2"), ("r3", "r3")]), "a", placement, 9);
    let three = compiled(&fleet);
    assert_eq!(seats(&three, "t/a"), "r1 3, r2 3, r3 3");
    // r3 is lost for good: its replicas leave it
    let lost = fleet.placed(&three).file("state/taints/r3.yaml", "- {key: gone, effect: NoExecute}\n");
    let compiled = compiled(&lost);
    let now = seats(&compiled, "t/a");
    assert!(now.starts_with("r1 3, r2 3"), "{now}");
    assert!(short(&compiled).iter().any(|said| said.contains("region")), "{:?}", short(&compiled));
}

#[test]
fn affinity_01_every_tier_is_tried_again() {
    let placement = json!({
        "clusters": { "tiers": { "mode": "FirstFit", "groups": [
            { "name": "primary", "clusters": { "names": ["c0"] } },
            { "name": "backup", "clusters": { "names": ["c1"] } },
        ] } },
        "replicas": { "strategy": "StaticWeight" },
    });
    let fleet = app(clusters(&[("c0", 9), ("c1", 9)]), "a", placement, 3);
    let down = |fleet: FleetBuilder, cluster: &str| {
        fleet.file(&format!("state/taints/{cluster}.yaml"), "- {key: down, effect: NoExecute}\n")
    };
    let first = compiled(&fleet);
    assert_eq!(seats(&first, "t/a"), "c0 3");
    let second = compiled(&down(fleet.clone().placed(&first), "c0"));
    assert_eq!(seats(&second, "t/a"), "c1 3");
    let third = compiled(&fleet.clone().placed(&second));
    assert_eq!(seats(&third, "t/a"), "c1 3", "nothing goes back by itself");
    assert_eq!(seats(&compiled(&down(fleet.placed(&third), "c1")), "t/a"), "c0 3");
}

#[test]
fn affinity_03_all_conditions_hold_and_exclude_wins() {
    let fleet = FleetBuilder::new()
        .cluster(("m1", json!({ "env": "prod" })), json!({}))
        .cluster(("m2", json!({ "env": "dev" })), json!({}))
        .cluster(("m3", json!({ "env": "prod" })), json!({}))
        .open_team("t");
    let clusters = json!({ "names": ["m1", "m2"], "matchLabels": { "env": "prod" }, "exclude": ["m1"] });
    let refused =
        result(&app(fleet, "a", json!({ "clusters": clusters, "replicas": { "strategy": "Duplicated" } }), 1));
    let refused = refused.expect_err("no cluster matches").join("\n");
    assert!(refused.contains("FW1131"), "{refused}");
    for (cluster, why) in [("m1", "1 excluded (m1)"), ("m2", "1 label mismatch (m2)"), ("m3", "1 not in names (m3)")] {
        assert!(refused.contains(cluster) && refused.contains(why), "{cluster}: {refused}");
    }
}

#[test]
fn affinity_06_what_a_cluster_holds_is_the_least_of_its_resources_and_never_negative() {
    let fleet = |pods: u32| {
        let others = json!([{ "owner": "apps/Deployment/kube-system/other", "requests": { "cpu": "7900m", "memory": "17Gi", "pods": pods.to_string() } }]);
        let allocatable = json!({ "cpu": "10", "memory": "20Gi", "pods": "110" });
        let seen = json!({ "pools": [{ "name": "general", "nodes": 1, "allocatable": allocatable.clone(), "others": others }] });
        let stated = json!({ "nodePools": [{ "name": "general", "nodes": 1, "allocatable": allocatable }] });
        FleetBuilder::new()
            .cluster("m", stated)
            .open_team("t")
            .app("t", "a", json!({ "placement": strategy("StaticWeight") }), &[deployment("a", 99, "250m", "512Mi")])
            .file("state/capacity/m.yaml", seen.to_string())
    };
    // cpu would hold 8, memory 6, pods 3
    for (pods, expected) in [(107, "m 3"), (110, ""), (112, "")] {
        assert_eq!(seats(&compiled(&fleet(pods)), "t/a"), expected, "{pods}");
    }
}

#[test]
fn affinity_08_apps_of_one_compile_see_each_other() {
    let base = clusters(&[("m1", 3), ("m2", 3)]);
    let fleet = (0..15).fold(base, |fleet, n| app(fleet, &format!("app-{n:02}"), strategy("DynamicWeight"), 1));
    let compiled = compiled(&fleet);
    let placed: Vec<usize> = (0..15).filter(|n| !seats(&compiled, &format!("t/app-{n:02}")).is_empty()).collect();
    assert_eq!(placed, [0, 1, 2, 3, 4, 5], "by name, for want of a priority");
    assert_eq!(short(&compiled).len(), 9);
    for cluster in compiled.fleet.cluster_ids() {
        let here = compiled.target.apps.iter().flat_map(|app| &app.seats).filter(|seat| seat.cluster == cluster);
        assert_eq!(here.map(|seat| seat.replicas).sum::<u32>(), 3);
    }
}

#[test]
fn taint_01_an_effect_is_tolerated_by_itself_or_by_one_that_names_none() {
    let fleet = |toleration: Value| {
        let tainted = json!({ "taints": [{ "key": "maint", "effect": "NoExecute" }] });
        let placement = json!({ "tolerations": [toleration], "replicas": { "strategy": "Duplicated" } });
        app(FleetBuilder::new().cluster("m", tainted).open_team("t"), "a", placement, 1)
    };
    let exists = json!({ "key": "maint", "operator": "Exists" });
    let with = |field: &str, value: Value| {
        let mut toleration = exists.clone();
        toleration[field] = value;
        toleration
    };
    for (toleration, expected) in [
        (with("effect", json!("NoSchedule")), ""),
        (with("effect", json!("NoExecute")), "m 1"),
        (exists.clone(), "m 1"),
        (json!({ "operator": "Exists" }), "m 1"),
    ] {
        assert_eq!(seats(&compiled(&fleet(toleration.clone())), "t/a"), expected, "{toleration}");
    }
    let mut seconds = with("effect", json!("NoSchedule"));
    seconds["tolerationSeconds"] = json!(0);
    for (refused, word) in [(seconds, "tolerationSeconds"), (with("value", json!("x")), "value")] {
        let said = result(&fleet(refused.clone())).expect_err("it is refused").join("\n");
        assert!(said.contains(word), "{refused}: {said}");
    }
}

#[test]
fn taint_03_what_leaves_is_not_there_twice() {
    let fleet = app(clusters(&[("g", 99), ("z", 99)]), "a", weights(json!({ "g": 7, "z": 2 })), 9);
    let before = compiled(&fleet);
    assert_eq!(seats(&before, "t/a"), "g 7, z 2");
    let after = compiled(&fleet.placed(&before).file("state/taints/z.yaml", "- {key: maint, effect: NoExecute}\n"));
    assert_eq!(seats(&after, "t/a"), "g 9");
    assert!(!rendered(&after, "z").contains("kind: Deployment"));
}

fn with_quota(fleet: FleetBuilder, hard: Value) -> FleetBuilder {
    fleet.team("t", json!({ "namespaces": [{ "prefix": "" }], "quota": [{ "hard": hard }] }))
}

#[test]
fn quota_01_copies_count() {
    let fleet = |replicas| {
        let fleet = with_quota(clusters(&[("a", 99), ("b", 99), ("c", 99)]), json!({ "requests.cpu": "10" }));
        app(fleet, "a", strategy("Duplicated"), replicas)
    };
    let two = compiled(&fleet(2));
    assert_eq!(seats(&two, "t/a"), "a 2, b 2, c 2");
    let four = compiled(&fleet(4).placed(&two));
    assert_eq!(seats(&four, "t/a"), "a 2, b 2, c 2");
    let said = short(&four);
    assert!(said.len() == 1 && said[0].contains("requests.cpu"), "{said:?}");
    for figure in ["10", "6"] {
        assert!(said[0].contains(figure), "{said:?}");
    }
}

#[test]
fn quota_04_a_failover_is_no_increase() {
    let fleet = |second: u32| {
        let fleet = with_quota(clusters(&[("a", 72), ("b", 72)]), json!({ "requests.cpu": "48" }));
        let only =
            |name: &str| json!({ "clusters": { "names": [name, "b"] }, "replicas": { "strategy": "Aggregated" } });
        app(
            app(fleet, "one", only("a"), 24),
            "two",
            json!({ "clusters": { "names": ["b"] }, "replicas": { "strategy": "Aggregated" } }),
            second,
        )
    };
    let before = compiled(&fleet(24));
    let before = fleet(24).placed(&before);
    let lost = |fleet: FleetBuilder| fleet.file("state/taints/a.yaml", "- {key: gone, effect: NoExecute}\n");
    let moved = compiled(&lost(before.clone()));
    assert_eq!((seats(&moved, "t/one"), seats(&moved, "t/two")), ("b 24".into(), "b 24".into()));
    assert_eq!(short(&moved), Vec::<String>::new());
    // one CPU more is refused all the same
    let record: Vec<_> = before.texts().iter().filter(|(path, _)| path.starts_with("placements/")).collect();
    let grown = record.into_iter().fold(fleet(25), |fleet, (path, text)| fleet.file(path, text.clone()));
    let grown = compiled(&lost(grown));
    assert_eq!((seats(&grown, "t/one"), seats(&grown, "t/two")), ("b 24".into(), "b 24".into()));
    let review = diff::diff(&moved, &grown);
    assert!(review.errors.iter().any(|error| error.app == "t/two"), "{:?}", review.errors);
}

#[test]
fn quota_07_what_a_pod_does_not_state_is_not_taken_for_nothing() {
    let mut bare = deployment("a", 5, "1", "1Gi");
    bare["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({});
    let hard = json!({ "requests.cpu": "4", "limits.memory": "8Gi", "pods": "20" });
    let without = with_quota(clusters(&[("m", 99)]), hard);
    let fleet = without.clone().app("t", "a", json!({ "placement": strategy("StaticWeight") }), &[bare]);
    let now = compiled(&fleet);
    let said: Vec<String> = now.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    let text = "apps/Deployment/a does not state what the team's quota counts: limits.memory (container `main`), \
                requests.cpu (container `main`)";
    assert!(said.iter().any(|said| said.starts_with("FW1116 ")), "{said:?}");
    // whoever brings it is refused; whoever had it is told
    let before = compiled(&without);
    let errors = |base: &Compiled| -> Vec<String> {
        diff::diff(base, &now).errors.iter().map(|error| error.shortfall.to_string()).collect()
    };
    assert_eq!(errors(&before), [text]);
    assert_eq!(errors(&now), Vec::<String>::new());
}

fn class(fleet: FleetBuilder, name: &str, value: i32) -> FleetBuilder {
    let text =
        format!("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n");
    fleet.file(&format!("policies/{name}.yaml"), text)
}

#[test]
fn priority_04_the_record_decides_and_not_the_order_of_commits() {
    let base = || {
        let fleet = class(class(clusters(&[("a", 4)]), "high", 100), "low", 1);
        fleet.team("t", json!({ "namespaces": [{ "prefix": "" }], "priorityClassNames": ["high", "low"] }))
    };
    let with = |fleet: FleetBuilder, name: &str| {
        let spec = json!({ "priorityClassName": name, "placement": strategy("StaticWeight") });
        fleet.app("t", name, spec, &[deployment(name, 4, "1", "1Gi")])
    };
    // nothing runs: whoever was committed first, the higher is placed
    for order in [["low", "high"], ["high", "low"]] {
        let both = compiled(&order.iter().fold(base(), |fleet, name| with(fleet, name)));
        assert_eq!((seats(&both, "t/high"), seats(&both, "t/low")), ("a 4".into(), String::new()));
        assert_eq!(short(&both).len(), 1);
    }
    // what is recorded as running stays: nothing is preempted that nobody accepted
    let low = compiled(&with(base(), "low"));
    let both = compiled(&with(with(base(), "low"), "high").placed(&low));
    assert_eq!((seats(&both, "t/high"), seats(&both, "t/low")), (String::new(), "a 4".into()));
}

/// Which cluster the app goes to, by policies `(file, name, precedence, selector)`, each for a cluster of its own name.
fn won_by(policies: &[(&str, i32, Value)]) -> String {
    let base = policies.iter().fold(FleetBuilder::new(), |fleet, (name, ..)| fleet.cluster(*name, json!({})));
    let base = base.open_team("t").app(
        "t",
        ("web", json!({ "app": "web" })),
        json!({ "placement": { "replicas": { "strategy": "Duplicated" } } }),
        &[deployment("web", 1, "1", "1Gi")],
    );
    let fleet = policies.iter().fold(base, |fleet, (name, precedence, apps)| {
        let placement = json!({ "clusters": { "names": [name] } });
        fleet.placement_policy(name, json!({ "apps": apps, "precedence": precedence, "placement": placement }))
    });
    seats(&compiled(&fleet), "t/web")
}

#[test]
fn priority_01_a_stated_precedence_comes_first() {
    let by_name = json!({ "names": ["web"] });
    assert_eq!(won_by(&[("p1", 0, by_name.clone()), ("p2", 1, json!({}))]), "p2 1");
    assert_eq!(won_by(&[("p2", 1, json!({})), ("p1", 0, by_name)]), "p2 1");
}

#[test]
fn sel_01_the_more_exact_selector_wins() {
    let all = [
        ("a-all", 0, json!({})),
        ("b-label", 0, json!({ "matchLabels": { "app": "web" } })),
        ("c-name", 0, json!({ "names": ["web"] })),
    ];
    for (of, expected) in [(3, "c-name 1"), (2, "b-label 1"), (1, "a-all 1")] {
        assert_eq!(won_by(&all[..of]), expected);
    }
}

#[test]
fn sel_04_all_overrides_that_match_apply_in_order() {
    let overrides = json!([
        { "clusters": { "regions": ["eu"] }, "labels": { "by": "prod-eu", "eu": "yes" } },
        { "clusters": { "matchLabels": { "env": "prod" } }, "labels": { "by": "prod" } },
    ]);
    let fleet =
        FleetBuilder::new().cluster(("k1", json!({ "env": "prod" })), json!({ "region": "eu" })).open_team("t").app(
            "t",
            "a",
            json!({ "placement": strategy("Duplicated"), "overrides": overrides }),
            &[config_map("settings", json!({}))],
        );
    let first = rendered(&compiled(&fleet), "k1");
    assert!(first.contains("by: prod\n") && first.contains("eu: \"yes\"\n"), "{first}");
    for _ in 0..20 {
        assert_eq!(rendered(&compiled(&fleet), "k1"), first);
    }
}

#[test]
fn sel_06_one_object_has_one_owner() {
    let of = |fleet: FleetBuilder, name: &str, value: &str| {
        let spec = json!({ "placement": strategy("Duplicated") });
        fleet.app("t", name, spec, &[config_map("app", json!({ "from": value }))])
    };
    let refused = result(&of(of(clusters(&[("c", 9)]), "high", "h"), "low", "l")).expect_err("two owners").join("\n");
    assert!(refused.contains("FW1090") && refused.contains("t/low") && refused.contains("t/high"), "{refused}");
}
