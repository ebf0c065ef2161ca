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
use crate::cluster::{
    ClusterApi, ClusterError, Dark, Delta, GroupKind, Identity, Key, Served, Watch, Write, WriteError, Written,
};
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

/// What is wrong with a cluster.
enum Sickness {
    /// Its probe comes to this.
    Unprobed(ClusterError),
    /// No write is answered.
    Hangs,
    /// Nor is another probe, after so many seconds.
    Dark(i64),
    /// Its discovery is out of order.
    Undiscovered,
}

struct Sick(crate::simulated::SimulatedApi, Sickness);

impl ClusterApi for Sick {
    fn identity(&mut self) -> Result<Identity, ClusterError> {
        match &self.1 {
            Sickness::Unprobed(error) => Err(error.clone()),
            Sickness::Hangs | Sickness::Dark(_) | Sickness::Undiscovered => self.0.identity(),
        }
    }
    fn served(&mut self) -> Result<Arc<Served>, ClusterError> {
        match self.1 {
            Sickness::Undiscovered => Err(ClusterError::Transient("the API server answers 503".into())),
            Sickness::Hangs | Sickness::Dark(_) | Sickness::Unprobed(_) => self.0.served(),
        }
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
        let hung = || WriteError::Transient { message: "no answer within 30 s".into(), retry_after_secs: None };
        match self.1 {
            Sickness::Undiscovered | Sickness::Unprobed(_) => self.0.write(writes),
            Sickness::Hangs | Sickness::Dark(_) => writes.iter().map(|_| Err(hung())).collect(),
        }
    }
    fn went_dark(&self) -> Option<Dark> {
        match self.1 {
            Sickness::Dark(after_secs) => Some(Dark { why: "no answer within 30 s".into(), after_secs }),
            Sickness::Hangs | Sickness::Undiscovered | Sickness::Unprobed(_) => None,
        }
    }
}

#[test]
fn a_cluster_that_goes_dark_in_a_turn_answers_until_then() {
    let cluster = SimulatedCluster::new("uid-a");
    let mut memory = ClusterTurn::default();
    let yes = Answers::Yes { since_secs: 100 };
    // when the turn begins; after how many seconds it goes dark, and whether it is down before; what counts
    for (at, dark_after, down, expected) in [
        (100, None, false, Answers::NotYetKnown),
        (130, None, false, yes.clone()),
        // each turn's probe is answered
        (140, Some(2), false, yes.clone()),
        (180, Some(2), false, yes.clone()),
        (1000, Some(600), false, yes.clone()),
        // nothing was heard since 1600
        (1629, None, true, yes.clone()),
        (1630, None, true, Answers::No { since_secs: 1600, error: "connection refused; it is tried again".into() }),
    ] {
        cluster.store().faults.down = down;
        let seen = if let Some(after_secs) = dark_after {
            memory.turn(&mut Sick(cluster.api(), Sickness::Dark(after_secs)), &order(at), at).seen
        } else {
            memory.turn(&mut cluster.api(), &order(at), at).seen
        };
        assert_eq!(seen.answers, expected, "{at}");
        assert!(dark_after.is_none() || !seen.is_complete, "{at}: what is not seen is not gone");
    }
}

/// An admission webhook that hangs, or an API server that is busy, loses no cluster: its probe is answered.
#[test]
fn what_is_late_with_something_else_answers() {
    let (hangs, busy) = (SimulatedCluster::new("uid-a"), SimulatedCluster::new("uid-a"));
    busy.store().faults.unlisted.insert(GroupKind::new("", "ConfigMap"));
    let (mut of_hangs, mut of_busy) = (ClusterTurn::default(), ClusterTurn::default());
    for at in [100, 140, 180, 220] {
        let hung = of_hangs.turn(&mut Sick(hangs.api(), Sickness::Hangs), &order(at), at);
        assert!(hung.outcome.is_ok_and(|report| !report.is_applied()), "{at}");
        // what was applied there cannot be read
        let late = of_busy.turn(&mut busy.api(), &order(at), at);
        assert!(matches!(late.outcome, Err(PassError::Cluster(_))), "{at}");
        let answers = if at == 100 { Answers::NotYetKnown } else { Answers::Yes { since_secs: 100 } };
        assert_eq!(
            (hung.seen.answers, late.seen.answers, late.seen.is_complete),
            (answers.clone(), answers, false),
            "{at}"
        );
    }
}

/// What was seen of a cluster does not count for as long as it answers nothing but probes.
#[test]
fn what_is_not_seen_any_more_is_unknown() {
    let cluster = SimulatedCluster::new("uid-a");
    let mut memory = ClusterTurn::default();
    let name = ("shop".into(), "web".into());
    let seen = memory.turn(&mut cluster.api(), &order(100), 100).seen;
    assert_eq!(seen.apps[&name].workloads.len(), 1);
    // discovery is asked again for a kind that is new, and fails
    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}});
    let (key, object) = desired_object(&widget, Fill::AsIs).expect("an object");
    let mut apps = order(110).desired.apps().clone();
    apps.entry(name.clone()).or_default().objects.insert(key, object);
    let asked = ClusterOrder { desired: Arc::new(Desired::new(apps)), ..order(110) };
    let mut undiscovered = Sick(cluster.api(), Sickness::Undiscovered);
    for at in [110, 170] {
        let turn = memory.turn(&mut undiscovered, &ClusterOrder { fetched_secs: at, ..asked.clone() }, at);
        let app = &turn.seen.apps[&name];
        assert_eq!((app.health, app.workloads.len(), app.since_secs), (Health::Unknown, 0, 110));
        assert_eq!((turn.is_moving, matches!(turn.outcome, Err(PassError::Cluster(_)))), (at == 110, true));
    }
    assert_eq!(memory.turn(&mut cluster.api(), &order(180), 180).seen.apps[&name].workloads.len(), 1);
}

/// What was seen counts for no longer than the cluster is looked at, whatever it is that keeps a turn from looking.
#[test]
fn what_a_turn_does_not_look_at_does_not_count() {
    enum Cause {
        Probe(ClusterError),
        /// It is changed.
        Cluster(fn(&SimulatedCluster)),
        /// Its inventory is changed, and is read again after a write that came too late for it.
        Inventory(fn(&str) -> String),
        /// Inventories cannot be listed when they are read again.
        Unlisted,
        Order(fn(&mut ClusterOrder)),
    }
    let web = Key::new("apps", "Deployment", "default", "web");
    let stored = Key::new("", "ConfigMap", "fleetwright-system", "inventory.shop.web");
    let (held, unknown) = ((Health::Current, Some(3)), (Health::Unknown, None));
    for (what, cause, expected) in [
        ("Probe(Transient", Cause::Probe(ClusterError::Transient("no answer".into())), held),
        ("Probe(NotConnected", Cause::Probe(ClusterError::NotConnected("no kubeconfig".into())), held),
        ("Probe(Denied", Cause::Probe(ClusterError::Denied("401".into())), unknown),
        ("Probe(NotServed", Cause::Probe(ClusterError::NotServed(GroupKind::new("", "Namespace"))), unknown),
        ("Cluster(", Cause::Unlisted, unknown),
        ("OtherCluster", Cause::Cluster(|cluster| cluster.store().uid = "uid-b".into()), unknown),
        ("Superseded", Cause::Order(|order| order.term = 0), unknown),
        (
            "NotForward",
            Cause::Order(|order| {
                order.live_commit = CommitId("c0".into());
                order.ancestors = Arc::new(["c0".into()].into());
            }),
            unknown,
        ),
        ("OtherFleet", Cause::Inventory(|text| text.replace("\"fleet\":\"f\"", "\"fleet\":\"g\"")), unknown),
        ("Inventory(", Cause::Inventory(|_| "{".to_owned()), unknown),
        // it is looked at all the same: what is gone since is seen to be gone
        ("NotFetched", Cause::Order(|order| order.fetched_secs -= 301), (Health::NotFound, None)),
    ] {
        let cluster = SimulatedCluster::new("uid-a");
        let mut memory = ClusterTurn::default();
        let mut api = cluster.api();
        memory.turn(&mut api, &order(100), 100);
        cluster.tick();
        let count = |turn: &super::turn::Turn| {
            let app = &turn.seen.apps[&("shop".into(), "web".into())];
            (app.health, app.workloads.get("apps/Deployment/web").map(|workload| workload.ready))
        };
        assert_eq!(count(&memory.turn(&mut api, &order(130), 130)), held, "{what}");
        cluster.delete(&web);
        let mut ordered: fn(&mut ClusterOrder) = |_| {};
        let mut sick = None;
        match cause {
            Cause::Probe(error) => sick = Some(Sick(cluster.api(), Sickness::Unprobed(error))),
            Cause::Cluster(change) => change(&cluster),
            Cause::Order(change) => ordered = change,
            Cause::Inventory(change) => {
                cluster.edit(&stored, "somebody", |object| {
                    let text = change(object["data"]["inventory"].as_str().expect("an inventory"));
                    object["data"]["inventory"] = text.into();
                });
                memory.turn(&mut api, &order(135), 135);
            }
            Cause::Unlisted => {
                cluster.edit(&stored, "somebody", |object| object["metadata"]["labels"]["x"] = "y".into());
                memory.turn(&mut api, &order(135), 135);
                cluster.store().faults.unlisted.insert(stored.kind.clone());
            }
        }
        for at in [140, 150] {
            let mut order = order(at);
            ordered(&mut order);
            let api: &mut dyn ClusterApi = if let Some(sick) = &mut sick { sick } else { &mut api };
            let turn = memory.turn(api, &order, at);
            let error = format!("{:?}", turn.outcome);
            assert!(error.starts_with(&format!("Err({what}")), "{what}: {error}");
            assert_eq!((count(&turn), turn.is_moving), (expected, at == 140 && expected != held), "{what} at {at}");
        }
    }
}

/// What nodes another cluster has under a name is not the capacity of the one that is recorded.
#[test]
fn the_nodes_of_another_cluster_are_nobodys_capacity() {
    let cluster = SimulatedCluster::new("uid-a");
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "4"}},
    });
    cluster.store().put(&Key::new("", "Node", "", "n1"), node);
    let (mut memory, mut api) = (ClusterTurn::default(), cluster.api());
    assert!(memory.turn(&mut api, &order(100), 100).seen.capacity.is_some());
    cluster.store().uid = "uid-b".into();
    for at in [110, 5000] {
        let turn = memory.turn(&mut api, &order(at), at);
        assert!(matches!(turn.outcome, Err(PassError::OtherCluster { .. })), "{:?}", turn.outcome);
        assert_eq!(turn.seen.capacity, None);
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
    assert!(matches!(lost.outcome, Err(PassError::Probe(_))));
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
