//! From a compiled fleet to a cluster and back: applied, changed, pruned, quiet.

use fleetwright_compiler::model::MinAvailable;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::{Compiled, Session, compile, schedule};

use super::rig::{Rig, config_map, deployment, done, key, namespace};
use crate::apply::desired::Desired;
use crate::apply::floor::{Floor, floors};
use crate::apply::inventory::{ID_LABEL, PART_OF_LABEL};
use crate::apply::run::PassError;
use crate::health::Health;
use crate::observation::{Answers, AppSeen, ClusterSeen, Observation, WorkloadSeen};
use crate::simulated::Counters;

fn compiled(image: &str, with_extra: bool) -> Compiled {
    let web = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: 4\n  selector: {{matchLabels: \
         {{a: web}}}}\n  template:\n    metadata: {{labels: {{a: web}}}}\n    spec: {{containers: [{{name: web, image: \
         \"{image}\"}}]}}\n"
    );
    let head = |kind: &str, name: &str| {
        format!("apiVersion: fleetwright.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let app = |name: &str, namespace: &str| {
        format!(
            "{}spec: {{namespace: {namespace}, placement: {{replicas: {{strategy: StaticWeight, capacity: Ignore}}}}}}\n",
            head("App", name)
        )
    };
    let mut files = vec![
        ("fleet.yaml".to_owned(), format!("{}spec: {{}}\n", head("Fleet", "f"))),
        ("clusters/a.yaml".to_owned(), format!("{}spec: {{}}\n", head("Cluster", "a"))),
        ("clusters/b.yaml".to_owned(), format!("{}spec: {{}}\n", head("Cluster", "b"))),
        ("teams/shop.yaml".to_owned(), format!("{}spec: {{namespaces: [{{prefix: \"\"}}]}}\n", head("Team", "shop"))),
        ("teams/shop/web/app.yaml".to_owned(), app("web", "shop")),
        ("teams/shop/web/web.yaml".to_owned(), web),
        (
            "teams/shop/web/c.yaml".to_owned(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n".to_owned(),
        ),
    ];
    if with_extra {
        files.push(("teams/shop/extra/app.yaml".to_owned(), app("extra", "extra")));
        files.push((
            "teams/shop/extra/c.yaml".to_owned(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata: {a: b}\n".to_owned(),
        ));
    }
    let files = MemoryFiles::new(files).expect("paths");
    compile(&Session::new(), &Overlay::without_record(&files), &schedule::Scenario::default()).expect("compiles")
}

fn order_from(rig: &mut Rig, compiled: &Compiled) {
    let cluster = compiled.fleet.cluster_id("a").expect("cluster a");
    rig.apps = Desired::of(compiled, cluster).apps().clone();
}

const WEB: &str = "apps/Deployment/shop/web";

#[test]
fn a_fleet_is_applied_changed_pruned_and_then_quiet() {
    let mut rig = Rig::new();
    order_from(&mut rig, &compiled("web:1", true));
    rig.converge();
    let web = rig.get(WEB).expect("applied");
    assert_eq!(
        (&web["spec"]["replicas"], &web["metadata"]["labels"]["fleetwright.io/app"]),
        (&2.into(), &"web".into())
    );
    assert!(rig.has("/Namespace//shop") && rig.has("/ConfigMap/shop/c") && rig.has("/ConfigMap/extra/e"));
    let inventory = rig.get("/ConfigMap/fleetwright-system/inventory.shop.web").expect("kept");
    assert_eq!(inventory["metadata"]["labels"][ID_LABEL], web["metadata"]["labels"][PART_OF_LABEL]);

    rig.cluster.take_counters();
    let quiet = rig.pass();
    assert!(quiet.is_settled() && quiet.done.is_empty(), "{quiet:?}");
    assert_eq!(rig.cluster.take_counters(), Counters { reads: 1, changes: 0, writes: 0 });

    order_from(&mut rig, &compiled("web:2", true));
    rig.commit("c2");
    assert_eq!(done(&rig.pass()), ["Changed apps/Deployment/shop/web"]);
    rig.cluster.tick();

    order_from(&mut rig, &compiled("web:2", false));
    rig.commit("c3");
    assert_eq!(done(&rig.pass()), ["Pruned /ConfigMap/extra/e"]);
    // the generated namespace stays
    assert!(rig.has("/Namespace//extra") && !rig.has("/ConfigMap/fleetwright-system/inventory.shop.extra"));
    assert_eq!(rig.get(WEB).expect("there")["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
}

#[test]
fn after_a_restart_nothing_is_written_again() {
    let mut rig = Rig::new();
    order_from(&mut rig, &compiled("web:1", true));
    rig.converge();
    rig.restart();
    rig.cluster.take_counters();
    assert_eq!(done(&rig.pass()), [""; 0]);
    assert_eq!(rig.cluster.take_counters().writes, 0);
}

/// Kill it after any number of writes, with or without the effect of the last: it converges to the same.
#[test]
fn killed_at_any_write_it_converges() {
    let (first, second) = (compiled("web:1", true), compiled("web:2", false));
    for lose_answer in [false, true] {
        for writes in 0..16 {
            let mut rig = Rig::new();
            order_from(&mut rig, &first);
            rig.converge();
            order_from(&mut rig, &second);
            rig.commit("c2");
            {
                let mut store = rig.cluster.store();
                store.faults.writes_left = Some(writes);
                store.faults.lose_answer = lose_answer;
            }
            let _ = rig.try_pass();
            rig.cluster.store().faults = crate::simulated::Faults::default();
            rig.restart();
            rig.cluster.tick();
            rig.now_secs += 600;
            rig.converge();
            let image = rig.get(WEB).expect("there")["spec"]["template"]["spec"]["containers"][0]["image"].clone();
            assert_eq!((image, rig.has("/ConfigMap/extra/e")), ("web:2".into(), false), "after {writes} writes");
            rig.cluster.take_counters();
            rig.pass();
            assert_eq!(rig.cluster.take_counters().writes, 0, "after {writes} writes");
        }
    }
}

#[test]
fn only_forward_only_our_term_only_this_cluster() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[namespace("shop"), config_map("shop", "c", "1")]);
    rig.commit("c2");
    rig.converge();

    rig.commits = vec!["c1".to_owned()];
    let backwards = rig.try_pass();
    assert_eq!(backwards, Err(PassError::NotForward { found: "c2".into(), ours: "c1".into() }));
    rig.commits = vec!["c2".to_owned()];

    rig.term = 0;
    assert_eq!(rig.try_pass(), Err(PassError::Superseded { found: 1, ours: 0 }));
    rig.term = 1;

    rig.cluster.store().uid = "uid-b".into();
    assert_eq!(rig.try_pass(), Err(PassError::OtherCluster { found: "uid-b".into(), recorded: "uid-a".into() }));
}

/// A paused leader that resumes after another took over writes nothing.
#[test]
fn the_loser_of_a_race_for_the_inventory_writes_no_object() {
    let mut old = Rig::new();
    old.app("shop/web", &[namespace("shop"), deployment("shop", "web", "web:1", 2)]);
    old.converge();
    let mut new = Rig { cluster: old.cluster.clone(), api: old.cluster.api(), term: 2, ..Rig::new() };
    new.app("shop/web", &[namespace("shop"), deployment("shop", "web", "web:2", 2)]);
    new.commits = vec!["c1".to_owned(), "c2".to_owned()];
    new.converge();

    old.app("shop/web", &[namespace("shop"), deployment("shop", "web", "web:stale", 2)]);
    old.commit("c1b");
    let report = old.pass();
    assert_eq!((report.done.len(), report.lost.len()), (0, 1), "{report:?}");
    let image = |rig: &Rig| rig.get(WEB).expect("there")["spec"]["template"]["spec"]["containers"][0]["image"].clone();
    assert_eq!(image(&old), "web:2");
    assert_eq!(old.try_pass(), Err(PassError::Superseded { found: 2, ours: 1 }));
    let _ = key(WEB);
}

/// Before its first fetch, and when the last is too old, an applier writes nothing, drift included.
#[test]
fn an_old_order_is_not_carried_out() {
    let mut rig = Rig::new();
    rig.app("shop/web", &[config_map("default", "c", "1")]);
    rig.converge();
    rig.cluster.delete(&key("/ConfigMap/default/c"));
    rig.fetched_secs = Some(rig.now_secs - 300);
    assert_eq!(rig.try_pass(), Err(PassError::NotFetched(310)));
    assert!(!rig.has("/ConfigMap/default/c"));
    rig.fetched_secs = None;
    rig.pass();
    assert!(rig.has("/ConfigMap/default/c"));
}

/// bugs.json health-05: what runs is summed over clusters; one that does not report is unknown, which counts as nothing
/// ready and lowers nothing.
#[test]
fn ready_replicas_are_summed_over_the_clusters_that_answer() {
    let compiled = compiled("web:1", false);
    let cluster = compiled.fleet.cluster_id("a").expect("cluster a");
    let seen = |answers: Answers, ready: u32| {
        let workloads = [("apps/Deployment/web".into(), WorkloadSeen { replicas: 2, ready })].into();
        let (health, blocking, content) = (Health::Current, Vec::new(), "c".into());
        let app = AppSeen { health, blocking, workloads, content, since_secs: 0 };
        let apps = [(("shop".into(), "web".into()), app)].into();
        ClusterSeen {
            answers,
            uid: None,
            clock_ahead_secs: None,
            capacity: None,
            applied: None,
            is_complete: true,
            runs_only_copies: false,
            apps,
        }
    };
    let (yes, no) = (|| Answers::Yes { since_secs: 0 }, || Answers::No { since_secs: 0, error: "timeout".into() });
    for (here, there, ready_elsewhere) in [
        (yes(), seen(yes(), 2), 2),
        (yes(), seen(yes(), 1), 1),
        (yes(), seen(no(), 2), 0),
        (yes(), seen(Answers::NotYetKnown, 2), 0),
        (no(), seen(yes(), 2), 2),
    ] {
        let clusters = [("a".into(), seen(here, 2)), ("b".into(), there)].into();
        let observation = Observation { clusters };
        let found = floors(&compiled, cluster, &observation, &|_| MinAvailable::of_percent(100));
        assert_eq!(found.get(&key(WEB)), Some(&Floor { ready_elsewhere, needed: 4 }), "{observation:?}");
    }
}
