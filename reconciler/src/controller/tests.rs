//! Turns on a simulated cluster.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::plan::Fill;
use serde_json::{Value, json};

use super::board::Next;
use super::{Board, ClusterOrder, ClusterTurn, Threads};
use crate::apply::budget::Approvals;
use crate::apply::desired::{Desired, DesiredApp, Intents, desired_object};
use crate::apply::floor::Floors;
use crate::apply::hold::Hold;
use crate::apply::run::PassError;
use crate::apply::view::Rules;
use crate::cluster::{ClusterApi, ClusterError, Delta, Identity, Key, Served, Watch, Write, WriteError, Written};
use crate::health::Health;
use crate::observation::{Answers, WorkloadSeen};
use crate::ports::{Clock, CommitId};
use crate::simulated::{Faults, SimulatedCluster};

fn order(now_secs: i64) -> ClusterOrder {
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3}});
    let (key, object) = desired_object(&web, Fill::Share { replicas: Some(3), completions: None }).expect("an object");
    let app = DesiredApp { objects: [(key.clone(), object)].into(), ..DesiredApp::default() };
    ClusterOrder {
        fleet: "f".into(),
        recorded_uid: Some("uid-a".into()),
        live_commit: CommitId("c1".into()),
        ancestors: Arc::new(["c1".into()].into()),
        term: 1,
        fetched_secs: now_secs,
        desired: Arc::new(Desired::new([(("shop".into(), "web".into()), app)].into())),
        intents: Arc::new(Intents { objects: [key.clone()].into() }),
        floors: Floors::new(),
        approvals: Approvals::default(),
        rules: Rules::plain(),
        kinds: Arc::new([]),
        workload_keys: Arc::new([(key, "apps/Deployment/web".into())].into()),
        pools: Vec::new(),
    }
}

/// A cluster that answers the probe and nothing after it: what a real one says when it goes dark in the middle of a turn.
struct Dark(crate::simulated::SimulatedApi);

impl ClusterApi for Dark {
    fn identity(&mut self) -> Result<Identity, ClusterError> {
        self.0.identity()
    }
    fn served(&mut self) -> Result<Arc<Served>, ClusterError> {
        self.0.served()
    }
    fn observe(&mut self, watches: &[Watch]) -> Vec<Result<Delta, ClusterError>> {
        self.0.observe(watches)
    }
    fn list(&mut self, watch: &Watch, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, ClusterError> {
        self.0.list(watch, namespace)
    }
    fn get(&mut self, keys: &[Key]) -> Vec<Result<Option<Arc<Value>>, ClusterError>> {
        self.0.get(keys)
    }
    fn write(&mut self, writes: &[Write]) -> Vec<Written> {
        let dark = || WriteError::Transient { message: "no answer within 30 s".into(), retry_after_secs: None };
        writes.iter().map(|_| Err(dark())).collect()
    }
    fn went_dark(&self) -> Option<String> {
        Some("no answer within 30 s".into())
    }
}

#[test]
fn a_cluster_that_goes_dark_in_a_turn_does_not_answer() {
    let cluster = SimulatedCluster::new("uid-a");
    let mut memory = ClusterTurn::default();
    for (at, dark, expected) in [
        (100, false, "NotYetKnown"),
        (130, false, "Yes"),
        (140, true, "Yes"),
        (170, true, "No"),
        (180, false, "No"),
        (210, false, "Yes"),
    ] {
        let seen = if dark {
            memory.turn(&mut Dark(cluster.api()), &order(at), at).seen
        } else {
            memory.turn(&mut cluster.api(), &order(at), at).seen
        };
        let answers = format!("{:?}", seen.answers);
        assert!(answers.starts_with(expected), "{at}: {answers}");
        assert!(!dark || !seen.is_complete, "{at}: what is not seen is not gone");
    }
}

#[test]
fn a_turn_applies_and_says_what_is_seen() {
    let cluster = SimulatedCluster::new("uid-a");
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "4"}},
    });
    cluster.store().put(&Key::new("", "Node", "", "n1"), node);
    cluster.store().now_secs = 107;
    let mut api = cluster.api();
    let mut memory = ClusterTurn::default();
    let name = ("shop".into(), "web".into());

    let first = memory.turn(&mut api, &order(100), 100).seen;
    assert_eq!(
        (first.answers, first.uid.as_deref(), first.clock_ahead_secs),
        (Answers::NotYetKnown, Some("uid-a"), Some(7))
    );
    assert_eq!(first.applied, Some(CommitId("c1".into())));
    let app = &first.apps[&name];
    assert_eq!((app.health, app.blocking.len(), app.since_secs), (Health::InProgress, 1, 100));
    let pools = first.capacity.expect("nodes were read");
    assert_eq!((pools.len(), pools[0].nodes, pools[0].allocatable.get("cpu")), (1, 1, 4000));
    // nodes are counted anew as soon as the Cluster file names other pools
    let named = ClusterOrder { pools: vec![("general".into(), [].into())], ..order(101) };
    let pools = memory.turn(&mut api, &named, 101).seen.capacity.expect("nodes were read");
    assert_eq!(pools.iter().map(|pool| (pool.name.as_str(), pool.nodes)).collect::<Vec<_>>(), [("general", 1)]);

    cluster.tick();
    let second = memory.turn(&mut api, &order(130), 130).seen;
    assert_eq!(second.answers, Answers::Yes { since_secs: 100 });
    let app = &second.apps[&name];
    let workload = app.workloads["apps/Deployment/web"];
    assert_eq!((app.health, app.since_secs, workload), (Health::Current, 130, WorkloadSeen { replicas: 3, ready: 3 }));

    // lost: what was seen holds for 30 s, and then nothing does
    cluster.store().faults.down = true;
    let lost = memory.turn(&mut api, &order(140), 140);
    assert!(matches!(lost.outcome, Err(PassError::Cluster(_))));
    assert_eq!((lost.seen.answers, lost.seen.apps.len()), (Answers::Yes { since_secs: 100 }, 1));
    let lost = memory.turn(&mut api, &order(170), 170).seen;
    assert!(matches!(lost.answers, Answers::No { since_secs: 140, .. }));
    assert_eq!((lost.apps.len(), lost.uid.as_deref()), (0, Some("uid-a")));

    cluster.store().faults = Faults::default();
    memory.turn(&mut api, &order(180), 180);
    let back = memory.turn(&mut api, &order(210), 210).seen;
    assert_eq!((back.answers, back.apps.len()), (Answers::Yes { since_secs: 180 }, 1));
}

/// What was moved away may run until its deletion ends, so that only then the commit counts as applied in a cluster that
/// comes back.
#[test]
fn a_quarantined_cluster_is_clean_when_what_left_is_gone() {
    let cluster = SimulatedCluster::new("uid-a");
    let mut api = cluster.api();
    let mut memory = ClusterTurn::default();
    let web = Key::new("apps", "Deployment", "default", "web");
    memory.turn(&mut api, &order(100), 100);
    cluster.edit(&web, "somebody", |object| object["metadata"]["finalizers"] = json!(["example.com/wait"]));
    let left = |now_secs| ClusterOrder {
        live_commit: CommitId("c2".into()),
        ancestors: Arc::new(["c1".into(), "c2".into()].into()),
        desired: Arc::new(Desired::new([].into())),
        rules: Rules { quarantined: true, moved: [("shop".into(), "web".into())].into(), ..Rules::plain() },
        ..order(now_secs)
    };
    for now_secs in [110, 120] {
        let seen = memory.turn(&mut api, &left(now_secs), now_secs).seen;
        assert_eq!(seen.applied, Some(CommitId("c1".into())), "it is still being deleted");
    }
    assert!(cluster.get(&web).expect("web")["metadata"].get("deletionTimestamp").is_some());
    cluster.delete(&web);
    let seen = memory.turn(&mut api, &left(130), 130).seen;
    assert_eq!((cluster.get(&web), seen.applied), (None, Some(CommitId("c2".into()))));
}

/// What it keeps and may not change yet does not keep it from being clean: somebody took the eviction back while it was away.
#[test]
fn a_quarantined_cluster_that_keeps_something_is_clean() {
    let cluster = SimulatedCluster::new("uid-a");
    let mut api = cluster.api();
    let mut memory = ClusterTurn::default();
    let web = Key::new("apps", "Deployment", "default", "web");
    memory.turn(&mut api, &order(100), 100);
    cluster.edit(&web, "kubectl-edit", |object| object["spec"]["replicas"] = json!(1));
    let kept = |now_secs| ClusterOrder {
        live_commit: CommitId("c2".into()),
        ancestors: Arc::new(["c1".into(), "c2".into()].into()),
        rules: Rules { quarantined: true, ..Rules::plain() },
        ..order(now_secs)
    };
    let turn = memory.turn(&mut api, &kept(110), 110);
    let report = turn.outcome.expect("it answers");
    assert_eq!(report.held.iter().map(|held| &held.why).collect::<Vec<_>>(), [&Hold::Quarantined]);
    assert_eq!(cluster.get(&web).expect("web")["spec"]["replicas"], 1, "it takes nothing yet");
    assert_eq!(turn.seen.applied, Some(CommitId("c2".into())));
}

#[test]
fn a_board_hands_out_news_at_once_and_the_same_order_again_when_time_is_up() {
    let board = Board::default();
    let cluster = "a".into();
    board.order(&cluster, order(1));
    let Next::Turn(1, first) = board.next(&cluster, 0, Duration::from_secs(3600)) else { panic!("the first order") };
    assert_eq!(first.fetched_secs, 1);
    let Next::Turn(1, _) = board.next(&cluster, 1, Duration::ZERO) else { panic!("the same again") };
    // fetched anew, the same is no news, and counts from now on
    board.order(&cluster, order(2));
    let Next::Turn(1, again) = board.next(&cluster, 1, Duration::ZERO) else { panic!("the same, fetched later") };
    assert_eq!(again.fetched_secs, 2);
    board.order(&cluster, ClusterOrder { term: 2, ..order(3) });
    let Next::Turn(2, second) = board.next(&cluster, 1, Duration::from_secs(3600)) else { panic!("the second order") };
    assert_eq!((second.fetched_secs, second.term), (3, 2));
    board.dismiss(&cluster);
    assert!(matches!(board.next(&cluster, 2, Duration::from_secs(3600)), Next::Stop));
    board.order(&cluster, order(4));
    assert!(matches!(board.next(&cluster, 0, Duration::from_secs(3600)), Next::Turn(1, _)));
    board.stop();
    assert!(matches!(board.next(&cluster, 2, Duration::from_secs(3600)), Next::Stop));
    assert!(board.observation().clusters.is_empty());
}

/// A context that is not in the kubeconfig is our mistake: nothing fails over because of it.
#[cfg(feature = "kube")]
#[test]
fn a_cluster_that_nobody_can_reach_for_want_of_settings_is_not_lost() {
    use crate::io::kube::{Connection, KubeRuntime, LazyApi};
    let nowhere = Connection::Context { kubeconfig: Some("/no/such/kubeconfig".into()), context: None };
    let mut api = LazyApi::new(KubeRuntime::start().expect("threads"), Box::new(move || Ok(nowhere.clone())));
    let mut memory = ClusterTurn::default();
    for now in [100, 130, 500] {
        let turn = memory.turn(&mut api, &order(now), now);
        assert_eq!(turn.seen.answers, Answers::NotYetKnown, "at {now}");
        assert!(turn.outcome.unwrap_err().to_string().contains("kubeconfig cannot be read"));
    }
}

#[test]
fn a_cluster_that_is_reached_in_another_way_gets_another_thread() {
    struct Noon;
    impl Clock for Noon {
        fn now_secs(&self) -> i64 {
            100
        }
    }
    let (cluster, board, name) = (SimulatedCluster::new("uid-a"), Board::default(), SmolStr::new("a"));
    let connected = Cell::new(0);
    let connect = |_: &SmolStr| -> Box<dyn ClusterApi> {
        connected.set(connected.get() + 1);
        Box::new(cluster.api())
    };
    let mut threads = Threads::new(board.clone(), Arc::new(Noon));
    board.order(&name, order(100));
    for expected in [1, 1] {
        threads.follow(std::iter::once(&name), &connect).expect("a thread");
        board.wait_for_all(Duration::from_secs(60));
        assert_eq!(connected.get(), expected);
    }
    threads.renew(&name);
    threads.follow(std::iter::once(&name), &connect).expect("a thread");
    board.order(&name, ClusterOrder { term: 2, ..order(100) });
    board.wait_for_all(Duration::from_secs(60));
    assert_eq!((connected.get(), board.turns()[&name].outcome.is_ok()), (2, true));
    threads.stop();
}
