//! The whole controller on simulated clusters and a real bare repository, under faults drawn from a seed: clusters that stop
//! answering, writes whose connection or answer is lost, a process that is killed, pushes that are refused, hand edits,
//! reverts, leaps of time; where replicas move in steps, changed weights, drained clusters, moves that are undone and
//! files of moves that are removed; and where there is an autoscaler, what it does.
//!
//! Held at every step: what is not ours is never touched; ready replicas fall below what must be available only by faults.
//! Held at the end, when faults stop: everything that is wanted is there as it is wanted, nothing else of ours is, every
//! person's commit is in the history, what autoscalers run is recorded, and it goes quiet. `SIMULATOR_SEEDS=FROM..TO` runs others than the usual seeds.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::schedule::booked_as_observed;
use serde_json::{Value, json};

use super::world::{Files, World, app, fleet};
use crate::apply::floor::DEFAULT_MIN_AVAILABLE;
use crate::apply::inventory::{NAMESPACE, PART_OF_LABEL};
use crate::cluster::Key;
use crate::controller::threads::step;
use crate::controller::{Board, ClusterTurn, Controller, Role};
use crate::decide::Identity;
use crate::decide::orders;
use crate::simulated::{Faults, SimulatedApi, SimulatedCluster};

/// A turn and a tick are so far apart.
const STEP_SECS: i64 = 10;
/// Events of one run.
const EVENTS: usize = 30;
/// Steps until all must be as it is wanted, when faults stopped: a failover and its return fit in.
const SETTLE_STEPS: usize = 150;
/// Steps without anything after which nothing comes any more, and where observed replicas are recorded, at most every ten
/// minutes.
const QUIET_STEPS: usize = 12;
const QUIET_STEPS_OBSERVING: usize = 65;
/// Without a fault for so long, what was observed is what is.
const CALM_SECS: i64 = 120;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(end).unwrap()).unwrap()
    }
}

struct Machine {
    cluster: SimulatedCluster,
    api: SimulatedApi,
    memory: ClusterTurn,
}

struct Simulation {
    world: World,
    /// Whether `web` moves in steps, and there are events that move it.
    moves: bool,
    /// Whether there is `scaled`, whose autoscaler acts.
    scales: bool,
    files: Files,
    machines: BTreeMap<SmolStr, Machine>,
    controller: Controller,
    role: Role,
    random: Random,
    /// When the last fault ended or began.
    fault_secs: i64,
    /// Commits of people, which must stay in history.
    theirs: Vec<(&'static str, git2::Oid)>,
    log: Vec<String>,
    /// What the decider said last.
    reports: Vec<String>,
}

impl Simulation {
    fn new(seed: u64, moves: bool, scales: bool) -> Self {
        let mut files = fleet();
        let text = files["fleet.yaml"].replace("spec: {}", "spec: {failover: {after: 60s}}");
        files.insert("fleet.yaml".into(), text);
        app(&mut files, "api", 4, "");
        if moves {
            app(&mut files, "web", 6, MOVES);
        }
        if scales {
            add_scaled(&mut files);
        }
        let world = World::live(&files);
        let machines = ["a", "b", "c"].map(|name| {
            let cluster = SimulatedCluster::new(&format!("uid-{name}"));
            for number in 0..3 {
                let node = format!("n{number}");
                let object = json!({
                    "apiVersion": "v1", "kind": "Node", "metadata": {"name": node},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}],
                               "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}},
                });
                cluster.store().put(&Key::new("", "Node", "", &node), object);
            }
            cluster.store().put(&foreign_key(), foreign());
            let api = cluster.api();
            (SmolStr::from(name), Machine { cluster, api, memory: ClusterTurn::default() })
        });
        let fault_secs = world.clock.0.get();
        Self {
            world,
            moves,
            scales,
            files,
            machines: machines.into(),
            controller: Controller::new(Board::default()),
            role: Role::Whole(Identity { holder: "hub".into(), term: None }),
            random: Random(seed),
            fault_secs,
            theirs: Vec::new(),
            log: Vec::new(),
            reports: Vec::new(),
        }
    }

    fn step(&mut self) -> (u32, usize) {
        self.world.later(STEP_SECS);
        let now = self.world.clock.0.get();
        let is_calm = now - self.fault_secs > CALM_SECS;
        let before = self.ready();
        for machine in self.machines.values() {
            machine.cluster.store().now_secs = now;
            machine.cluster.tick();
        }
        if is_calm {
            self.check_available(&before);
        }
        let board = self.controller.board().clone();
        let mut writes = 0;
        for (name, machine) in &mut self.machines {
            machine.cluster.take_counters();
            step(&board, name, &mut machine.memory, &mut machine.api, &self.world.clock);
            writes += machine.cluster.take_counters().changes;
            assert_eq!(
                machine.cluster.get(&foreign_key()).map(|object| object["data"].clone()),
                Some(json!({"v": "theirs"}))
            );
        }
        let mut repo = self.world.repo("mirror.git");
        let tick = self.controller.tick(&mut repo, &self.world.clock, &self.world.branches, &self.role);
        let commits = match tick.decided {
            Some(Ok(advanced)) => {
                self.reports = advanced.reports.iter().map(|report| report.text.clone()).collect();
                self.log.extend(advanced.pushed.iter().map(|commit| format!("{now} {}", commit.subject())));
                advanced.pushed.len()
            }
            Some(Err(error)) => {
                self.log.push(format!("{now} {error}"));
                0
            }
            None => 0,
        };
        (writes, commits)
    }

    /// Ready replicas of each app, in all clusters.
    fn ready(&self) -> BTreeMap<SmolStr, u32> {
        let mut ready = BTreeMap::new();
        for machine in self.machines.values() {
            for name in ["web", "api", "extra"] {
                let object = machine.cluster.get(&Key::new("apps", "Deployment", "t", name));
                let here = object.and_then(|object| object.pointer("/status/readyReplicas")?.as_u64()).unwrap_or(0);
                *ready.entry(SmolStr::from(name)).or_insert(0) += u32::try_from(here).unwrap();
            }
        }
        ready
    }

    /// Nothing fell below what must be available because of us.
    fn check_available(&self, before: &BTreeMap<SmolStr, u32>) {
        let Some(wanted) = self.controller.wanted() else { return };
        for (name, after) in self.ready() {
            let total = total(&self.files, &name);
            let (Some(total), true) = (total, wanted.compiled().fleet.app_id("t", &name).is_some()) else { continue };
            let needed = DEFAULT_MIN_AVAILABLE.needed(total);
            assert!(
                after >= needed.min(before[&name]),
                "{name}: {} ready became {after}, {needed} are needed\n{}",
                before[&name],
                self.log.join("\n")
            );
        }
    }

    fn push(&mut self, what: &str) {
        self.log.push(format!("{} push: {what}", self.world.clock.0.get()));
        let id = self.world.commit_main(&self.files);
        self.theirs.push(("main", git2::Oid::from_str(&id.0).unwrap()));
    }

    fn event(&mut self) {
        let now = self.world.clock.0.get();
        let names: Vec<SmolStr> = self.machines.keys().cloned().collect();
        let cluster = names[self.random.below(names.len())].clone();
        let machine = &self.machines[&cluster];
        if self.scales && self.random.below(2) == 0 {
            let replicas = self.random.below(12);
            let key = Key::new("apps", "Deployment", "t", "scaled");
            if machine.cluster.get(&key).is_some() {
                machine
                    .cluster
                    .edit(&key, "kube-controller-manager", |object| object["spec"]["replicas"] = json!(replicas));
                self.log.push(format!("{now} the autoscaler in {cluster} wants {replicas}"));
            }
            return;
        }
        let name = ["web", "api"][self.random.below(2)];
        let mut fault = None;
        match self.random.below(if self.moves { 17 } else { 12 }) {
            0 | 1 => {
                let path = format!("teams/t/{name}/web.yaml");
                let version = self.random.below(100);
                let text = self.files[&path].clone();
                let at = text.find("\"web:").unwrap();
                let end = at + text[at..].find("\",").unwrap();
                self.files.insert(path, format!("{}\"web:{version}{}", &text[..at], &text[end..]));
                self.push(&format!("{name} web:{version}"));
            }
            2 => {
                let replicas = u32::try_from(3 + self.random.below(6)).unwrap();
                let placement = if self.moves && name == "web" { MOVES } else { "" };
                app(&mut self.files, name, replicas, placement);
                self.push(&format!("{name} of {replicas}"));
            }
            3 => {
                if self.files.contains_key("teams/t/extra/app.yaml") {
                    self.files.retain(|path, _| !path.starts_with("teams/t/extra/"));
                    self.push("without extra");
                } else {
                    app(&mut self.files, "extra", 3, "");
                    self.push("with extra");
                }
            }
            4 | 5 => {
                let down = !machine.cluster.store().faults.down;
                machine.cluster.store().faults.down = down;
                fault = Some(format!("{cluster} is {}", if down { "down" } else { "up" }));
            }
            6 => {
                let left = u32::try_from(self.random.below(6)).unwrap();
                let lose_answer = self.random.below(2) == 0;
                let mut store = machine.cluster.store();
                store.faults.writes_left = Some(left);
                store.faults.lose_answer = lose_answer;
                fault =
                    Some(format!("{cluster} loses its connection after {left} writes (answer only: {lose_answer})"));
            }
            7 => {
                self.controller = Controller::new(Board::default());
                for machine in self.machines.values_mut() {
                    (machine.api, machine.memory) = (machine.cluster.api(), ClusterTurn::default());
                }
                fault = Some("the process is killed".to_owned());
            }
            8 => {
                let key = Key::new("apps", "Deployment", "t", name);
                if machine.cluster.get(&key).is_some() {
                    if self.random.below(2) == 0 {
                        machine.cluster.delete(&key);
                    } else {
                        machine.cluster.edit(&key, "kubectl-edit", |object| object["spec"]["replicas"] = json!(1));
                    }
                    fault = Some(format!("a hand in {cluster} at {name}"));
                }
            }
            9 => {
                let hook = self.world.path().join("hooks/update");
                if hook.exists() {
                    std::fs::remove_file(hook).unwrap();
                    fault = Some("pushes are allowed".to_owned());
                } else {
                    self.world.refuse("live");
                    fault = Some("pushes are refused".to_owned());
                }
            }
            10 => {
                let tip = self.world.live_tip();
                if tip.summary().unwrap().is_some_and(|subject| subject.starts_with("Fail over")) {
                    drop(tip);
                    self.world.revert_live();
                    self.theirs.push(("live", self.world.tip("live").unwrap()));
                    fault = Some("the failover is reverted".to_owned());
                }
            }
            12 | 13 => {
                let weights = ["a: 8, b: 1, c: 1", "a: 1, b: 8, c: 1", "a: 1, b: 0, c: 1", "a: 0, b: 0, c: 1"]
                    [self.random.below(4)];
                let path = "teams/t/web/app.yaml";
                let text = &self.files[path];
                let at = text.find("{strategy: StaticWeight").unwrap();
                let end = at + text[at..].find("}, move:").unwrap();
                let rules = format!("{{strategy: StaticWeight, weights: {{{weights}}}");
                let text = format!("{}{rules}{}", &text[..at], &text[end..]);
                self.files.insert(path.to_owned(), text);
                self.push(&format!("web by {weights}"));
            }
            14 => {
                let drains = self.random.below(2) == 0;
                let ordered = self.world.order(|desk| {
                    if drains { orders::drain(desk, &cluster) } else { orders::uncordon(desk, &cluster) }
                });
                if ordered.is_ok() {
                    fault = Some(format!("{} {cluster}", if drains { "drain" } else { "uncordon" }));
                }
            }
            15 => {
                let began = |summary: &str| summary.starts_with("Drain") || summary.starts_with("Uncordon");
                let (tip, summary) = {
                    let tip = self.world.live_tip();
                    let commits = std::iter::successors(Some(tip), |commit| commit.parent(0).ok()).take(6);
                    let mut commits = commits.map(|commit| {
                        (commit.id().to_string(), commit.summary().unwrap().unwrap_or_default().to_owned())
                    });
                    commits.find(|(_, summary)| began(summary)).unwrap_or_default()
                };
                if !tip.is_empty() && super::undo::undo_commit(&self.world, &tip, None).is_ok() {
                    fault = Some(format!("undo of `{summary}`"));
                }
            }
            16 => {
                let is_move = |path: &String| path.starts_with("state/moves/");
                if self.world.files("live").keys().any(is_move) {
                    self.world.edit_live(|files| files.retain(|path, _| !is_move(path)));
                    self.theirs.push(("live", self.world.tip("live").unwrap()));
                    fault = Some("the file of a move is removed".to_owned());
                }
            }
            _ => {
                self.world.later(600);
                fault = Some("ten minutes pass".to_owned());
            }
        }
        if let Some(fault) = fault {
            self.log.push(format!("{now} {fault}"));
            self.fault_secs = now;
        }
    }

    fn mend(&mut self) {
        for machine in self.machines.values() {
            machine.cluster.store().faults = Faults::default();
        }
        let hook = self.world.path().join("hooks/update");
        if hook.exists() {
            std::fs::remove_file(hook).unwrap();
        }
        self.fault_secs = self.world.clock.0.get();
        self.log.push(format!("{} faults stop", self.fault_secs));
    }

    /// Runs until nothing happens any more.
    fn settle(&mut self) {
        let mut quiet = 0;
        let enough = if self.scales { QUIET_STEPS_OBSERVING } else { QUIET_STEPS };
        for _ in 0..SETTLE_STEPS + enough {
            quiet = if self.step() == (0, 0) { quiet + 1 } else { 0 };
            if quiet > enough {
                return;
            }
        }
        panic!("it does not go quiet:\n{}", self.shown());
    }

    /// What happened, and what clusters say at the end.
    fn shown(&self) -> String {
        let turns = self.controller.board().turns();
        let held = turns.iter().flat_map(|(cluster, turn)| {
            let held = turn.outcome.as_ref().map(|report| report.held.as_slice()).unwrap_or_default();
            held.iter().map(move |held| format!("in {cluster}: {} {}", held.key, held.why))
        });
        self.log.iter().cloned().chain(held).chain(self.reports.iter().cloned()).collect::<Vec<_>>().join("\n")
    }

    /// What is booked of `scaled` is what runs, but for less than a fifth.
    fn check_recorded(&self, compiled: &fleetwright_compiler::Compiled) {
        let id = compiled.fleet.app_id("t", "scaled").expect("nobody removes it");
        let of = booked_as_observed(&compiled.fleet, &compiled.record, &compiled.target, id, 0);
        assert!(!of.is_empty(), "it runs nowhere\n{}", self.shown());
        for booked in of {
            let cluster = &compiled.fleet.cluster(booked.cluster).name;
            let found = self.machines[cluster].cluster.get(&Key::new("apps", "Deployment", "t", "scaled"));
            let runs = found.and_then(|object| object["spec"]["replicas"].as_u64()).expect("it is there");
            let seat = compiled.target.apps[id.index()].seats.iter().find(|seat| seat.cluster == booked.cluster);
            let (min, max) = seat.and_then(|seat| seat.bounds).expect("it has bounds there");
            let (runs, booked) = (runs.clamp(min.into(), max.into()), u64::from(booked.replicas));
            let change = runs.abs_diff(booked);
            assert!(
                change == 0 || change * 100 < booked * 20,
                "{cluster}: {booked} booked, {runs} run\n{}",
                self.shown()
            );
        }
    }

    /// Everything is as it is wanted.
    fn check_end(&self) {
        let log = || self.shown();
        let wanted = self.controller.wanted().expect("something is live");
        for (branch, commit) in &self.theirs {
            let tip = self.world.tip(branch).unwrap();
            let kept = tip == *commit || self.world.remote.graph_descendant_of(tip, *commit).unwrap();
            assert!(kept, "{commit} is lost from {branch}\n{}", log());
        }
        let mut total_wanted: BTreeMap<SmolStr, u32> = BTreeMap::new();
        for (name, machine) in &self.machines {
            let order = wanted.order(name, &self.controller.board().observation(), 0, None, &BTreeSet::new()).unwrap();
            for (key, object) in order.desired.apps().values().flat_map(|app| &app.objects) {
                let found = machine.cluster.get(key).unwrap_or_else(|| panic!("{name} has no {key}\n{}", log()));
                let body = object.body(key, "", false);
                assert_eq!(found["spec"]["template"], body["spec"]["template"], "{name} {key}\n{}", log());
                if key.name == "scaled" {
                    // its autoscaler says how many
                    continue;
                }
                assert_eq!(found["spec"]["replicas"], body["spec"]["replicas"], "{name} {key}\n{}", log());
                if key.kind.is("apps", "Deployment") {
                    let replicas = found["spec"]["replicas"].as_u64().unwrap();
                    *total_wanted.entry(key.name.clone()).or_insert(0) += u32::try_from(replicas).unwrap();
                }
            }
            let store = machine.cluster.store();
            let ours = store.objects().filter(|(key, object)| {
                let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
                labels.is_some_and(|labels| labels.contains_key(PART_OF_LABEL))
                    && key.namespace != NAMESPACE
                    && !key.kind.is("", "Namespace")
            });
            for (key, _) in ours {
                assert!(order.desired.owner(key).is_some(), "{name} still has {key}\n{}", log());
            }
        }
        if self.scales {
            self.check_recorded(wanted.compiled());
        }
        let moves = self.world.files("live").into_keys().filter(|path| path.starts_with("state/moves/"));
        assert_eq!(moves.collect::<Vec<_>>(), Vec::<String>::new(), "{}", log());
        for (name, replicas) in total_wanted {
            assert_eq!(Some(replicas), total(&self.files, &name), "{name}\n{}", log());
        }
    }
}

/// An App of one Deployment, of which its autoscaler runs 3 to 18 in three clusters, booked as it is observed.
fn add_scaled(files: &mut Files) {
    app(files, "scaled", 3, "");
    let path = "teams/t/scaled/app.yaml";
    let text = files[path].replace("strategy: StaticWeight", "strategy: StaticWeight, autoscaled: {room: Observed}");
    files.insert(path.into(), text);
    files.insert(
        "teams/t/scaled/hpa.yaml".into(),
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: scaled}\nspec: {scaleTargetRef: \
         {apiVersion: apps/v1, kind: Deployment, name: scaled}, minReplicas: 3, maxReplicas: 18}\n"
            .into(),
    );
}

/// The replicas that an app is written with.
fn total(files: &Files, name: &str) -> Option<u32> {
    let text = files.get(&format!("teams/t/{name}/web.yaml"))?;
    text.lines().find_map(|line| line.trim().strip_prefix("replicas: "))?.parse().ok()
}

fn foreign_key() -> Key {
    Key::new("", "ConfigMap", "default", "theirs")
}

fn foreign() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "default"}, "data": {"v": "theirs"}})
}

/// How `web` moves where it does so in steps.
const MOVES: &str = ", move: {max: 25%, every: 20s}";

/// One of an ordinary life, and those that found something.
const SEEDS: [u64; 2] = [1, 6];

fn seeds() -> Vec<u64> {
    let Ok(stated) = std::env::var("SIMULATOR_SEEDS") else { return SEEDS.to_vec() };
    let (from, to) = stated.split_once("..").expect("SIMULATOR_SEEDS=FROM..TO");
    (from.parse().expect("a number")..to.parse().expect("a number")).collect()
}

#[test]
fn it_converges_and_goes_quiet_whatever_went_wrong() {
    seeds().into_iter().for_each(|seed| run(seed, false, false));
}

#[test]
fn and_so_it_does_when_replicas_move_in_steps() {
    seeds().into_iter().for_each(|seed| run(seed, true, false));
}

#[test]
fn and_where_an_autoscaler_does_what_it_likes() {
    seeds().into_iter().for_each(|seed| run(seed, false, true));
}

fn run(seed: u64, moves: bool, scales: bool) {
    let mut simulation = Simulation::new(seed, moves, scales);
    simulation.log.push(format!("seed {seed}, in steps: {moves}, with an autoscaler: {scales}"));
    for _ in 0..4 {
        simulation.step();
    }
    for _ in 0..EVENTS {
        simulation.event();
        for _ in 0..simulation.random.below(8) {
            simulation.step();
        }
    }
    simulation.mend();
    simulation.settle();
    simulation.check_end();
}
