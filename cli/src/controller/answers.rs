//! What the controller says about itself over HTTP, from memory and at once.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleetwright_reconciler::controller::metrics::Metrics;
use fleetwright_reconciler::controller::status::{self, Message, Status, status};
use fleetwright_reconciler::controller::{Board, Wanted};
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::io::serve::Answer;
use fleetwright_reconciler::ports::Clock as _;
use serde::Serialize;

/// What the loop, the server and the signals share.
#[derive(Debug, Default)]
pub struct Shared {
    /// The process was asked to end.
    pub stopping: AtomicBool,
    /// Somebody asked for a look at the repository now.
    pub nudged: AtomicBool,
    /// Until when this process is the one that works.
    pub leading_until_secs: AtomicI64,
    /// When the loop came round last, for `/healthz`.
    pub round_secs: AtomicI64,
    /// The loop is stuck when it did not come round for so long.
    pub stuck_secs: AtomicI64,
    /// When the live branch was followed last, for `/readyz`.
    pub followed_secs: AtomicI64,
    /// What the status is made from.
    pub facts: Mutex<Facts>,
    /// What is counted.
    pub metrics: Metrics,
}

/// What the status is made from when somebody asks, with the turns on the board.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What is live.
    pub wanted: Option<Arc<Wanted>>,
    /// What people should know.
    pub reports: Vec<Message>,
}

impl Shared {
    /// Whether this process is the one that works.
    pub fn leads(&self) -> bool {
        SystemClock.now_secs() < self.leading_until_secs.load(Ordering::Relaxed)
    }

    /// What is known now.
    pub fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The status as it is now.
    pub fn status(&self, board: &Board) -> Status {
        let Facts { wanted, reports } = self.facts().clone();
        status(wanted.as_deref(), &board.turns(), reports)
    }
}

/// The least after which the loop is stuck.
const STUCK_SECS: i64 = 1200;

/// The loop is stuck when it did not come round for so long: longer than Git may take, or whoever restarts the process ends what
/// it waits for.
pub fn stuck_secs(longest_exchange: Duration) -> i64 {
    i64::try_from(longest_exchange.as_secs().saturating_mul(2)).unwrap_or(i64::MAX).max(STUCK_SECS)
}
/// Nothing new is followed when the repository did not answer for so long.
const STALE_SECS: i64 = 300;
/// The answer to a request for a path; `post`: something is posted to it.
pub fn respond(shared: &Shared, board: &Board, path: &str, post: bool) -> Answer {
    let now_secs = SystemClock.now_secs();
    if let (Some(rest), false) = (path.strip_prefix("/api/apps/"), post) {
        return app(shared, board, rest);
    }
    match (path, post) {
        ("/healthz", false) => {
            let secs = now_secs.saturating_sub(shared.round_secs.load(Ordering::Relaxed));
            if secs > shared.stuck_secs.load(Ordering::Relaxed) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_waits_for_git_is_not_stuck() {
        for (git, stuck) in [(120, 1200), (600, 1200), (601, 1202), (7200, 14_400), (u64::MAX, i64::MAX)] {
            assert_eq!(stuck_secs(Duration::from_secs(git)), stuck, "{git}");
        }
        let shared = Shared::default();
        let answer = |waited: i64| {
            shared.round_secs.store(SystemClock.now_secs().saturating_sub(waited), Ordering::Relaxed);
            respond(&shared, &Board::default(), "/healthz", false).status
        };
        shared.stuck_secs.store(stuck_secs(Duration::from_secs(1800)), Ordering::Relaxed);
        assert_eq!((answer(3000), answer(4000)), (200, 500));
    }
}
