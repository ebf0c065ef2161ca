//! The loop of the controller: a tick when something may be due, turns in the threads of the clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::model;
use fleetwright_reconciler::controller::status::Status;
use fleetwright_reconciler::controller::tick::reports;
use fleetwright_reconciler::controller::{Board, Controller, Role, Threads, Tick};
use fleetwright_reconciler::decide::Identity;
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::io::serve::{on_shutdown, serve};
use fleetwright_reconciler::observation::Answers;
use fleetwright_reconciler::ports::{Clock as _, Notifier};
use tracing::{error, info};

use super::answers::{Facts, Shared, respond, stuck_secs};
use super::config::Settings;
use super::journal::{self, Journal};
use super::lease::elect;
use super::{Args, Listen};
use crate::connect::Connections;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::Repository;

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
    shared.stuck_secs.store(stuck_secs(repository.git.longest_exchange()), Ordering::Relaxed);
    let board = Board::default();
    {
        let (shared, board) = (Arc::clone(&shared), board.clone());
        on_shutdown(connections.runtime(), move || {
            info!("asked to end: turns that were begun are finished");
            shared.stopping.store(true, Ordering::Relaxed);
            board.wake();
            // What goes on needs the thread that brought the signal.
            std::thread::spawn(cut_off);
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

/// Ends what hangs, in Git or in a cluster: everything here can be killed at any time.
fn cut_off() {
    std::thread::sleep(GRACE);
    error!("something did not end in time, and is cut off");
    std::process::exit(i32::from(Failure::Environment(String::new()).code()));
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
            if !self.shared.leads() {
                // The Lease ended meanwhile, and what was just ordered is another's to order.
                self.stand_by();
                continue;
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
