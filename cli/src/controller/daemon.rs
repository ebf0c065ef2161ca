//! The loop of the controller: a tick when something may be due, turns in the threads of the clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::model;
use fleetwright_reconciler::cluster::ClusterApi;
use fleetwright_reconciler::controller::election::{Election, RENEW_SECS};
use fleetwright_reconciler::controller::metrics::Metrics;
use fleetwright_reconciler::controller::status::{self, Message, Status, status};
use fleetwright_reconciler::controller::tick::reports;
use fleetwright_reconciler::controller::{Board, Controller, Role, Threads, Tick, Wanted};
use fleetwright_reconciler::decide::Identity;
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::io::kube::{Connection, KubeApi};
use fleetwright_reconciler::io::serve::{Answer, on_shutdown, serve};
use fleetwright_reconciler::observation::Answers;
use fleetwright_reconciler::ports::{Clock as _, Notifier};
use serde::Serialize;
use tracing::{error, info, warn};

use super::config::{Lease, Settings};
use super::journal::{self, Journal};
use super::{Args, Listen};
use crate::connect::Connections;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::Repository;

/// What the loop, the server and the signals share.
#[derive(Debug, Default)]
struct Shared {
    stopping: AtomicBool,
    /// Somebody asked for a look at the repository now.
    nudged: AtomicBool,
    /// Until when this process is the one that works.
    leading_until_secs: AtomicI64,
    /// When the loop came round last, for `/healthz`.
    round_secs: AtomicI64,
    /// When the live branch was followed last, for `/readyz`.
    followed_secs: AtomicI64,
    facts: Mutex<Facts>,
    metrics: Metrics,
}

/// What the status is made from when somebody asks, with the turns on the board.
#[derive(Clone, Debug, Default)]
struct Facts {
    wanted: Option<Arc<Wanted>>,
    reports: Vec<Message>,
}

impl Shared {
    fn leads(&self) -> bool {
        SystemClock.now_secs() < self.leading_until_secs.load(Ordering::Relaxed)
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self, board: &Board) -> Status {
        let Facts { wanted, reports } = self.facts().clone();
        status(wanted.as_deref(), &board.turns(), reports)
    }
}

/// The loop is stuck when it did not come round for so long: longer than Git may take for an exchange.
const STUCK_SECS: i64 = 1200;
/// Nothing new is followed when the repository did not answer for so long.
const STALE_SECS: i64 = 300;
/// How long what was begun may take to end.
const GRACE: Duration = Duration::from_secs(20);
/// What turns found is looked at no more often.
const LEAST_PAUSE: Duration = Duration::from_millis(100);
/// Rounds of `--once`: what needs more waits for something that takes time.
const ONCE_ROUNDS: usize = 60;

pub fn run(context: &Context, args: &Args, settings: Settings) -> Result<Outcome, Failure> {
    journal::begin();
    let repository = Repository::open(context, &args.repository.or(&settings.repository))?;
    let connections = Connections::new(settings.kubeconfig.clone(), settings.connections.clone())?;
    let role = match (&settings.cluster, settings.apply_only) {
        (Some(cluster), _) => Role::Agent(cluster.clone()),
        (None, true) => Role::Applier,
        (None, false) => Role::Whole(Identity { holder: settings.holder.clone(), term: None }),
    };
    let shared = Arc::new(Shared::default());
    shared.round_secs.store(SystemClock.now_secs(), Ordering::Relaxed);
    let board = Board::default();
    {
        let (shared, board) = (Arc::clone(&shared), board.clone());
        on_shutdown(connections.runtime(), move || {
            info!("asked to end: turns that were begun are finished");
            shared.stopping.store(true, Ordering::Relaxed);
            board.wake();
            // Whatever hangs, in Git or in a cluster, is safe to be cut off: everything here can be killed at any time.
            std::thread::sleep(GRACE);
            error!("something did not end in time, and is cut off");
            std::process::exit(i32::from(Failure::Environment(String::new()).code()));
        })
        .map_err(|e| Failure::Environment(format!("signals cannot be received: {e}")))?;
    }
    if let (Listen::At(address), false) = (settings.listen, args.once) {
        let (shared, board) = (Arc::clone(&shared), board.clone());
        let bound =
            serve(connections.runtime(), address, Arc::new(move |path, post| respond(&shared, &board, path, post)))
                .map_err(|e| Failure::Environment(format!("cannot listen on {address}: {e}")))?;
        info!(address = %bound, "serves /metrics, /healthz, /readyz and /api/status");
    }
    match settings.lease.clone().filter(|_| !args.once) {
        Some(lease) => elect(&lease, &connections, Arc::clone(&shared), board.clone())?,
        None => shared.leading_until_secs.store(i64::MAX, Ordering::Relaxed),
    }
    info!(repository = repository.git.remote_name(), role = %words(&role), "begins");
    let daemon = Daemon {
        controller: Controller::new(board.clone()),
        threads: Threads::new(board, Arc::new(SystemClock)),
        repository,
        connections,
        role,
        shared,
        journal: Journal::new(settings.notifier.clone().map(|notifier| Box::new(notifier) as Box<dyn Notifier>)),
        seen_turns: BTreeMap::new(),
        connected: BTreeMap::new(),
        followed_since: None,
    };
    if args.once { daemon.once() } else { daemon.run(Duration::from_secs(settings.poll_secs)) }
}

fn words(role: &Role) -> String {
    match role {
        Role::Whole(identity) => format!("decides as {} and applies to all clusters", identity.holder),
        Role::Applier => "applies to all clusters".to_owned(),
        Role::Agent(cluster) => format!("applies to {cluster}"),
    }
}

struct Daemon {
    controller: Controller,
    threads: Threads<SystemClock>,
    repository: Repository,
    connections: Connections,
    role: Role,
    shared: Arc<Shared>,
    journal: Journal,
    /// The number of the last turn of each cluster that was written down.
    seen_turns: BTreeMap<SmolStr, u64>,
    /// How each cluster is reached, as its file said when its thread was started.
    connected: BTreeMap<SmolStr, Option<model::Connection>>,
    /// Since when a live commit is followed that is not applied everywhere yet.
    followed_since: Option<Instant>,
}

impl Daemon {
    /// Until the process is asked to end.
    fn run(mut self, poll: Duration) -> Result<Outcome, Failure> {
        let mut next_fetch = Instant::now();
        while !self.shared.stopping.load(Ordering::Relaxed) {
            self.shared.round_secs.store(SystemClock.now_secs(), Ordering::Relaxed);
            let leads = self.shared.leads();
            self.shared.metrics.leads(leads);
            if !leads {
                self.stand_by();
                self.controller.board().wait(Duration::from_secs(1));
                continue;
            }
            let nudged = self.shared.nudged.swap(false, Ordering::Relaxed);
            if nudged || Instant::now() >= next_fetch {
                self.tick()?;
                next_fetch = Instant::now() + poll;
            } else {
                self.controller.reorder(&self.role);
            }
            self.note();
            std::thread::sleep(LEAST_PAUSE);
            let rest = next_fetch.saturating_duration_since(Instant::now());
            if !self.shared.nudged.load(Ordering::Relaxed) {
                self.controller.board().wait(rest);
            }
        }
        self.threads.stop();
        info!("ended");
        Ok(Outcome::Done)
    }

    /// Until nothing is left to do now.
    fn once(mut self) -> Result<Outcome, Failure> {
        let mut tick = self.tick()?;
        for _ in 0..ONCE_ROUNDS {
            let asked: BTreeSet<SmolStr> = self.controller.board().clusters().into_iter().collect();
            self.controller.board().wait_for_all(Duration::from_secs(60));
            self.note();
            let turns = self.controller.board().turns();
            let busy = turns.values().any(|turn| turn.outcome.as_ref().is_ok_and(|report| report.writes > 0));
            tick = self.tick()?;
            let pushed = matches!(&tick.decided, Some(Ok(advanced)) if !advanced.pushed.is_empty());
            if !busy && !pushed && asked.iter().all(|cluster| turns.contains_key(cluster)) {
                break;
            }
            self.controller.board().again();
        }
        self.note();
        let status = self.shared.status(self.controller.board());
        self.threads.stop();
        outcome(&tick, &status)
    }

    fn tick(&mut self) -> Result<Tick, Failure> {
        let begun = Instant::now();
        let Repository { git, branches, .. } = &mut self.repository;
        let tick = self.controller.tick(git, &SystemClock, branches, &self.role);
        let live = self.controller.wanted().map(|wanted| wanted.commit().0.clone());
        self.journal.tick(&tick, live.as_deref(), &self.shared.metrics);
        let now_secs = SystemClock.now_secs();
        if let (Role::Agent(name), Some(wanted)) = (&self.role, self.controller.wanted())
            && !wanted.has(name)
        {
            let known: Vec<&str> = wanted.clusters().map(|cluster| cluster.as_str()).collect();
            return Err(Failure::Usage(format!("the fleet has no cluster `{name}`; it has {}", known.join(", "))));
        }
        if tick.not_followed.is_none() {
            self.shared.followed_secs.store(now_secs, Ordering::Relaxed);
            self.shared.metrics.fetched(now_secs);
        }
        if tick.moved {
            self.followed_since = Some(begun);
        }
        let result = match (&tick.decided, &tick.not_followed) {
            (Some(Err(_)), _) => "not_decided",
            (_, Some(_)) => "not_followed",
            (_, None) => "ok",
        };
        self.shared.metrics.ticked(result, begun.elapsed().as_secs_f64());
        let reports = reports(&tick);
        self.journal.reports(&reports);
        *self.shared.facts() = Facts { wanted: self.controller.wanted().cloned(), reports };
        if let Some(wanted) = self.controller.wanted() {
            let fleet = &wanted.compiled().fleet;
            let connection = |cluster: &SmolStr| {
                let id = fleet.cluster_id(cluster)?;
                fleet.cluster(id).connection.as_ref()
            };
            let ours = self.controller.board().clusters();
            for cluster in &ours {
                let now = connection(cluster).cloned();
                if self.connected.get(cluster).is_some_and(|before| *before != now) {
                    info!(%cluster, "is reached in another way now");
                    self.threads.renew(cluster);
                }
                self.connected.insert(cluster.clone(), now);
            }
            let connect = |cluster: &SmolStr| self.connections.api(cluster, connection(cluster));
            self.threads
                .follow(ours.iter(), &connect)
                .map_err(|e| Failure::Environment(format!("cannot start a thread: {e}")))?;
        }
        Ok(tick)
    }

    /// Writes down what clusters did since the last look.
    fn note(&mut self) {
        let turns = self.controller.board().turns();
        for (cluster, turn) in &turns {
            if self.seen_turns.insert(cluster.clone(), turn.number) != Some(turn.number) {
                self.journal.turn(cluster, turn, &self.shared.metrics);
            }
        }
        let Some(wanted) = self.controller.wanted().filter(|_| self.followed_since.is_some()) else { return };
        let is_there = |cluster: &SmolStr| match turns.get(cluster).map(|turn| &turn.seen) {
            Some(seen) => matches!(seen.answers, Answers::No { .. }) || seen.applied.as_ref() == Some(wanted.commit()),
            None => false,
        };
        if self.controller.board().clusters().iter().all(is_there)
            && let Some(since) = self.followed_since.take()
        {
            let secs = since.elapsed().as_secs_f64();
            info!(live = %wanted.commit(), secs, "applied everywhere");
            self.shared.metrics.applied_everywhere(secs);
        }
    }

    /// Another process works: nothing is ordered here.
    fn stand_by(&mut self) {
        let board = self.controller.board();
        for cluster in board.clusters() {
            board.dismiss(&cluster);
        }
    }
}

/// What `--once` comes to.
fn outcome(tick: &Tick, status: &Status) -> Result<Outcome, Failure> {
    if let Some(Err(error)) = &tick.decided {
        return Err(crate::repository::advance_failure(error.clone()));
    }
    if let Some(error) = &tick.not_followed {
        return Err(Failure::Environment(error.to_string()));
    }
    let failed: Vec<&str> =
        status.clusters.iter().filter(|c| c.error.is_some()).map(|cluster| cluster.name.as_str()).collect();
    if !failed.is_empty() {
        return Err(Failure::Environment(format!(
            "not everything could be applied: see the log about {}",
            failed.join(", ")
        )));
    }
    if status.reports.iter().any(|report| report.urgency == "Wrong") {
        return Err(Failure::Refused(
            "error: the repository is wrong, see the log; what is wrong stays as it is".to_owned(),
        ));
    }
    let held: usize = status.clusters.iter().map(|cluster| cluster.held).sum();
    if held > 0 || status.reports.iter().any(|report| report.urgency == "Guarded") {
        return Err(Failure::Guard(format!("{held} objects are held, see the log")));
    }
    Ok(Outcome::Done)
}

fn respond(shared: &Shared, board: &Board, path: &str, post: bool) -> Answer {
    let now_secs = SystemClock.now_secs();
    if let (Some(rest), false) = (path.strip_prefix("/api/apps/"), post) {
        return app(shared, board, rest);
    }
    match (path, post) {
        ("/healthz", false) => {
            let secs = now_secs.saturating_sub(shared.round_secs.load(Ordering::Relaxed));
            if secs > STUCK_SECS {
                Answer::text(500, format!("no round for {secs} s\n"))
            } else {
                Answer::text(200, "ok\n")
            }
        }
        ("/readyz", false) => {
            let secs = now_secs.saturating_sub(shared.followed_secs.load(Ordering::Relaxed));
            match (shared.leads(), secs > STALE_SECS) {
                (false, _) => Answer::text(200, "stands by\n"),
                (true, false) => Answer::text(200, "ok\n"),
                (true, true) => Answer::text(503, "the live branch could not be followed for 5 minutes; see the log\n"),
            }
        }
        ("/metrics", false) => Answer {
            status: 200,
            content_type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
            body: shared.metrics.text(&shared.status(board)),
        },
        ("/api/status", false) => json(&shared.status(board)),
        ("/api/reconcile", true) => {
            shared.nudged.store(true, Ordering::Relaxed);
            board.wake();
            Answer::text(202, "the repository is looked at now\n")
        }
        ("/api/reconcile", false) => Answer::text(405, "POST\n"),
        (_, _) => {
            Answer::text(404, "/metrics, /healthz, /readyz, /api/status, /api/apps/TEAM/APP, POST /api/reconcile\n")
        }
    }
}

fn app(shared: &Shared, board: &Board, name: &str) -> Answer {
    let Facts { wanted, .. } = shared.facts().clone();
    let found = name.split_once('/').and_then(|(team, app)| status::app(wanted.as_deref()?, &board.turns(), team, app));
    found.map_or_else(|| Answer::text(404, "no such app\n"), |found| json(&found))
}

fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(body) => Answer { status: 200, content_type: "application/json", body },
        Err(e) => Answer::text(500, format!("{e}\n")),
    }
}

/// Starts the thread that holds the Lease.
fn elect(lease: &Lease, connections: &Connections, shared: Arc<Shared>, board: Board) -> Result<(), Failure> {
    let mut api: Box<dyn ClusterApi> = match &lease.cluster {
        Some(cluster) => connections.api(cluster, None),
        None => Box::new(
            KubeApi::connect(connections.runtime(), &Connection::InCluster)
                .map_err(|e| Failure::Environment(format!("`lease`: {e}; `lease.cluster` names another")))?,
        ),
    };
    // Two processes of one name must not take each other for themselves.
    let holder = format!("{}-{}", hostname(), std::process::id());
    let mut election = Election::new(lease.namespace.clone(), lease.name.clone(), holder.into());
    let work = move || {
        while !shared.stopping.load(Ordering::Relaxed) {
            if let Err(problem) = election.campaign(api.as_mut(), SystemClock.now_secs()) {
                warn!("the Lease: {problem}");
            }
            let led = shared.leads();
            shared.leading_until_secs.store(election.held_until_secs(), Ordering::Relaxed);
            let leads = shared.leads();
            if !leads {
                // Whatever the loop is busy with, nothing more is begun in a cluster.
                board.clusters().iter().for_each(|cluster| board.dismiss(cluster));
            }
            if led != leads {
                info!(leads, "the Lease");
                board.wake();
            }
            std::thread::sleep(Duration::from_secs(RENEW_SECS));
        }
        if let Err(problem) = election.resign(api.as_mut(), SystemClock.now_secs()) {
            error!("the Lease could not be let go: {problem}");
        }
    };
    match std::thread::Builder::new().name("lease".to_owned()).spawn(work) {
        Ok(_) => Ok(()),
        Err(e) => Err(Failure::Environment(format!("cannot start a thread: {e}"))),
    }
}

/// The name of this machine or pod.
fn hostname() -> String {
    let stated = std::env::var("HOSTNAME").ok();
    let read = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    stated.or_else(read).map_or_else(|| "unknown".to_owned(), |name| name.trim().to_owned())
}
