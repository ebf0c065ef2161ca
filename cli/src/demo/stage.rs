//! The controller and its clusters, one step after another, so that the story can say what each step did.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use fleetwright_compiler::Session;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::source::RepoPath;
use fleetwright_reconciler::advance::Branches;
use fleetwright_reconciler::apply::inventory::{ID_LABEL, Inventory, NAMESPACE};
use fleetwright_reconciler::apply::run::Did;
use fleetwright_reconciler::cluster::{ClusterApi, GroupKind, Key, Propagation, Watch, Write};
use fleetwright_reconciler::controller::status::{Message, Status, status};
use fleetwright_reconciler::controller::threads::step;
use fleetwright_reconciler::controller::{Board, ClusterTurn, Controller, Role};
use fleetwright_reconciler::decide::Identity;
use fleetwright_reconciler::decide::orders::{self, Desk};
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::io::git::{GitRepo, Remote};
use fleetwright_reconciler::order::order;
use fleetwright_reconciler::ports::{Author, Clock, FleetRepo};
use fleetwright_reconciler::simulated::SimulatedCluster;
use serde_json::json;

use super::{Shown, fleet, say};
use crate::exit::Failure;
use crate::repository::port_failure;

/// A step of made-up time: as long as a controller waits between two looks at a cluster.
const STEP_SECS: i64 = 10;

/// Steps until something that must happen has happened; a real step takes [`REAL_STEP`].
const MOST_STEPS: usize = 120;

/// A step of real time.
const REAL_STEP: std::time::Duration = std::time::Duration::from_millis(500);

/// The clusters of the story.
pub struct Clusters {
    machines: Vec<Machine>,
    is_simulated: bool,
}

struct Machine {
    name: SmolStr,
    simulated: Option<SimulatedCluster>,
    api: Box<dyn ClusterApi>,
    memory: ClusterTurn,
}

impl Clusters {
    /// Simulated ones, with the nodes that their Cluster files state.
    pub fn simulated(names: &[&str]) -> Self {
        let machine = |name: &&str| {
            let cluster = SimulatedCluster::new(&format!("uid-{name}"));
            for number in 1..=6 {
                let node = format!("{name}-{number}");
                let object = json!({
                    "apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": {"pool": "general"}},
                    "status": {
                        "conditions": [{"type": "Ready", "status": "True"}],
                        "allocatable": {"cpu": "7500m", "memory": "29Gi", "pods": "110"},
                    },
                });
                cluster.store().put(&Key::new("", "Node", "", &node), object);
            }
            let api = Box::new(cluster.api());
            Machine { name: (*name).into(), simulated: Some(cluster), api, memory: ClusterTurn::default() }
        };
        Self { machines: names.iter().map(machine).collect(), is_simulated: true }
    }

    /// The contexts of a kubeconfig.
    pub fn of_kubeconfig(file: &Path) -> Result<Self, Failure> {
        let connections = crate::connect::Connections::of_kubeconfig(file)?;
        let names = connections.contexts()?;
        let machine = |name: SmolStr| Machine {
            api: connections.api(&name, None),
            simulated: None,
            memory: ClusterTurn::default(),
            name,
        };
        Ok(Self { machines: names.into_iter().map(machine).collect(), is_simulated: false })
    }

    /// Their names.
    pub fn names(&self) -> Vec<SmolStr> {
        self.machines.iter().map(|machine| machine.name.clone()).collect()
    }

    /// Takes away what an earlier demo wrote down in real clusters: its repository is gone, and this is another history.
    /// Objects stay, and the new one takes them over.
    pub fn forget(&mut self) -> Result<(), Failure> {
        let failure = |name: &SmolStr, e: &dyn std::fmt::Display| Failure::Environment(format!("{name}: {e}"));
        for machine in self.machines.iter_mut().filter(|machine| machine.simulated.is_none()) {
            let kind = GroupKind::new("", "ConfigMap");
            let watch = Watch { kind, selector: Some(ID_LABEL.into()), metadata_only: false };
            let found = machine.api.list(&watch, Some(NAMESPACE)).map_err(|e| failure(&machine.name, &e))?;
            for object in found {
                let inventory = Inventory::read(&object).map_err(|e| failure(&machine.name, &e))?;
                let uid = object.pointer("/metadata/uid").and_then(serde_json::Value::as_str);
                if let (Some(key), Some(uid), true) = (Key::of(&object), uid, inventory.fleet == fleet::NAME) {
                    let delete = Write::Delete {
                        key,
                        uid: uid.into(),
                        resource_version: None,
                        propagation: Propagation::Background,
                        service_account: None,
                    };
                    for written in machine.api.write(&[delete]) {
                        written.map_err(|e| failure(&machine.name, &e))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A simulated cluster stops answering, or answers again.
    pub fn down(&self, name: &str, is_down: bool) {
        for machine in self.machines.iter().filter(|machine| machine.name == name) {
            if let Some(cluster) = &machine.simulated {
                cluster.store().faults.down = is_down;
            }
        }
    }
}

/// The time of the story: made up where the clusters are.
#[derive(Debug)]
struct StoryClock(Option<Cell<i64>>);

impl Clock for StoryClock {
    fn now_secs(&self) -> i64 {
        self.0.as_ref().map_or_else(|| SystemClock.now_secs(), Cell::get)
    }
}

/// What happened in a step: commits, and how many objects were applied and deleted in each cluster.
type Happened = (Vec<Shown>, Vec<(SmolStr, usize, usize)>);

/// The controller and its clusters.
pub struct Stage {
    clock: StoryClock,
    clusters: Clusters,
    controller: Controller,
    git: GitRepo,
    branches: Branches,
    role: Role,
    reports: Vec<Message>,
}

impl Stage {
    /// A controller of the repository `fleet.git` in a folder.
    pub fn open(below: &Path, clusters: Clusters) -> Result<Self, Failure> {
        let remote = Remote::new(&below.join("fleet.git").display().to_string())
            .map_err(|e| Failure::Environment(format!("the temporary folder cannot be used: {e}")))?;
        let git = GitRepo::open(&below.join("mirror.git"), remote, RepoPath::root()).map_err(port_failure)?;
        Ok(Self {
            clock: StoryClock(clusters.is_simulated.then(|| Cell::new(fleet::BEGIN_SECS))),
            clusters,
            controller: Controller::new(Board::default()),
            git,
            branches: Branches::default(),
            role: Role::Whole(Identity { holder: "demo".into(), term: None }),
            reports: Vec::new(),
        })
    }

    /// The clusters.
    pub fn clusters(&mut self) -> &mut Clusters {
        &mut self.clusters
    }

    /// Ann drains a cluster. Returns the commit.
    pub fn drain(&mut self, cluster: &str) -> Result<SmolStr, Failure> {
        say(&format!("  $ fleetwright drain {cluster}\n"))?;
        let ann = Author { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let mut make = |desk: &Desk<'_>, _: &dyn FleetRepo| Ok(orders::drain(desk, cluster)?);
        let pushed = order(&mut self.git, &self.clock, &Session::new(), &self.branches, &ann, &mut make)
            .map_err(crate::order::failure)?;
        let pushed = pushed.ok_or_else(|| Failure::Bug(format!("draining {cluster} changed nothing")))?;
        say(&format!("  live {} {:<9} {}\n", pushed.id.short(), pushed.cause.as_str(), pushed.subject()))?;
        Ok(pushed.id.0)
    }

    /// The time.
    pub fn now_secs(&self) -> i64 {
        self.clock.now_secs()
    }

    /// Made-up time passes in one leap.
    pub fn sleep_until(&mut self, secs: i64) -> Result<(), Failure> {
        if let Some(now) = &self.clock.0 {
            now.set(secs - STEP_SECS);
        }
        // Everybody looks once at the new time: what was seen before it is old.
        self.step().map(drop)
    }

    /// Steps until the status is as it must become; shows what happened meanwhile, and returns the commits of it.
    pub fn until(&mut self, what: &str, done: impl Fn(&Status) -> bool) -> Result<Vec<Shown>, Failure> {
        let mut commits = Vec::new();
        let mut did: BTreeMap<SmolStr, (usize, usize)> = BTreeMap::new();
        for _ in 0..MOST_STEPS {
            let (shown, done_here) = self.step()?;
            commits.extend(shown);
            for (cluster, applied, pruned) in done_here {
                let of = did.entry(cluster).or_default();
                *of = (of.0 + applied, of.1 + pruned);
            }
            if done(&self.status()) {
                let words = did.iter().filter(|(_, (applied, pruned))| applied + pruned > 0).map(words);
                return say(&format!("  {}\n", words.collect::<Vec<_>>().join("; "))).map(|()| commits);
            }
        }
        let said: Vec<&str> = self.reports.iter().map(|report| report.text.as_str()).collect();
        let status = serde_json::to_string(&self.status()).unwrap_or_default();
        Err(Failure::Guard(format!("this did not happen: {what}. {}\n{status}", said.join("; "))))
    }

    /// Every cluster takes a turn, then the controller a tick.
    fn step(&mut self) -> Result<Happened, Failure> {
        match &self.clock.0 {
            Some(now) => now.set(now.get() + STEP_SECS),
            None => std::thread::sleep(REAL_STEP),
        }
        let now_secs = self.clock.now_secs();
        let board = self.controller.board().clone();
        let mut did = Vec::new();
        for machine in &mut self.clusters.machines {
            if let Some(cluster) = &machine.simulated {
                cluster.store().now_secs = now_secs;
                cluster.tick();
            }
            let turn = step(&board, &machine.name, &mut machine.memory, machine.api.as_mut(), &self.clock);
            let done = turn.iter().flat_map(|turn| &turn.outcome).flat_map(|report| &report.done);
            let (mut applied, mut pruned) = (0, 0);
            for done in done {
                match done.did {
                    Did::Applied(_) | Did::Adopted | Did::Replaced => applied += 1,
                    Did::Pruned => pruned += 1,
                    Did::WasGone | Did::WouldApply(_) | Did::WouldPrune | Did::WouldFail(_) => {}
                }
            }
            did.push((machine.name.clone(), applied, pruned));
        }
        let tick = self.controller.tick(&mut self.git, &self.clock, &self.branches, &self.role);
        let mut shown = Vec::new();
        match tick.decided {
            Some(Ok(advanced)) => {
                self.reports = advanced.reports.iter().map(Message::from).collect();
                for commit in &advanced.pushed {
                    say(&format!("  live {} {:<9} {}\n", commit.id.short(), commit.cause.as_str(), commit.subject()))?;
                    shown.push(Shown { id: commit.id.0.clone(), cause: commit.cause.as_str() });
                }
            }
            Some(Err(error)) => return Err(crate::repository::advance_failure(error)),
            None => {}
        }
        match tick.not_followed {
            Some(error) => Err(Failure::Environment(error.to_string())),
            None => Ok((shown, did)),
        }
    }

    fn status(&self) -> Status {
        status(self.controller.wanted().map(AsRef::as_ref), &self.controller.board().turns(), self.reports.clone())
    }

    /// Shows which app runs where.
    pub fn table(&self) -> Result<(), Failure> {
        let status = self.status();
        let names = self.clusters.names();
        let width = status.apps.iter().map(|app| app.team.len() + app.app.len() + 1).max().unwrap_or(0).max(4);
        let mut text = format!("\n  {:<width$}", "ready");
        for name in &names {
            text.push_str(&format!("  {name:>8}"));
        }
        text.push('\n');
        for app in &status.apps {
            text.push_str(&format!("  {:<width$}", format!("{}/{}", app.team, app.app)));
            for name in &names {
                let here = app.clusters.iter().find(|placement| placement.cluster == *name);
                let cell = here.map_or_else(|| "-".to_owned(), |placement| placement.ready.to_string());
                text.push_str(&format!("  {cell:>8}"));
            }
            text.push_str(&format!("  {}\n", app.health));
        }
        say(&text)
    }
}

fn words((cluster, (applied, pruned)): (&SmolStr, &(usize, usize))) -> String {
    match (applied, pruned) {
        (applied, 0) => format!("{cluster}: {applied} applied"),
        (0, pruned) => format!("{cluster}: {pruned} deleted"),
        (applied, pruned) => format!("{cluster}: {applied} applied, {pruned} deleted"),
    }
}
