//! A thread for each cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fleetwright_compiler::base::SmolStr;

use super::board::{Board, Next};
use super::turn::{ClusterTurn, Turn};
use crate::cluster::ClusterApi;
use crate::ports::Clock;

/// A turn begins at least so often: the probe of whether a cluster answers.
const EVERY: Duration = Duration::from_secs(10);
/// The next turn begins so soon while something moves.
const SOON: Duration = Duration::from_millis(250);

/// How long to wait for the next turn: soon while something moves, and longer and longer while nothing does.
fn next_pause(last: Duration, moves: bool) -> Duration {
    if moves { SOON } else { last.saturating_mul(2).min(EVERY) }
}

/// How a thread gets at its cluster. What comes back may need to connect first, and says so when it is asked something.
pub type Connect<'c> = dyn Fn(&SmolStr) -> Box<dyn ClusterApi> + 'c;

/// A thread, and whether it is to end after its turn.
#[derive(Debug)]
struct Running {
    handle: JoinHandle<()>,
    ends: Arc<AtomicBool>,
}

/// The threads of all clusters.
#[derive(Debug)]
pub struct Threads<C> {
    board: Board,
    clock: Arc<C>,
    running: BTreeMap<SmolStr, Running>,
}

impl<C: Clock + Send + Sync + 'static> Threads<C> {
    /// None yet.
    #[must_use]
    pub fn new(board: Board, clock: Arc<C>) -> Self {
        Self { board, clock, running: BTreeMap::new() }
    }

    /// Starts the threads of clusters that have none. Those of clusters that were dismissed end by themselves.
    ///
    /// # Errors
    /// When the system gives no thread; those that run go on.
    pub fn follow<'n>(
        &mut self,
        clusters: impl Iterator<Item = &'n SmolStr>,
        connect: &Connect<'_>,
    ) -> std::io::Result<()> {
        for cluster in clusters {
            // One that ended was dismissed, and is wanted again.
            if self.running.get(cluster).is_none_or(|running| running.handle.is_finished()) {
                let running = start(&self.board, cluster.clone(), connect(cluster), Arc::clone(&self.clock))?;
                self.running.insert(cluster.clone(), running);
            }
        }
        Ok(())
    }

    /// Ends the thread of a cluster after its turn, because it is reached in another way now: [`Threads::follow`] starts another.
    /// The two may overlap for a turn; inventories keep them apart, as they do two processes.
    pub fn renew(&mut self, cluster: &SmolStr) {
        if let Some(running) = self.running.remove(cluster) {
            running.ends.store(true, Ordering::Relaxed);
        }
    }

    /// Ends all of them after their turn, and waits for that.
    pub fn stop(self) {
        self.board.stop();
        for running in self.running.into_values() {
            // One that panicked said so when it did.
            let _ = running.handle.join();
        }
    }
}

/// Takes one turn of a cluster as it is ordered now, without a thread. `None` where nothing is ordered.
pub fn step(
    board: &Board,
    cluster: &SmolStr,
    memory: &mut ClusterTurn,
    api: &mut dyn ClusterApi,
    clock: &dyn Clock,
) -> Option<Turn> {
    let (number, order) = board.ordered(cluster)?;
    let turn = memory.turn(api, &order, clock.now_secs());
    board.took(cluster, number, turn.clone());
    Some(turn)
}

fn start<C: Clock + Send + Sync + 'static>(
    board: &Board,
    cluster: SmolStr,
    mut api: Box<dyn ClusterApi>,
    clock: Arc<C>,
) -> std::io::Result<Running> {
    let board = board.clone();
    let ends = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&ends);
    let handle = std::thread::Builder::new().name(format!("cluster {cluster}")).spawn(move || {
        let mut memory = ClusterTurn::default();
        let (mut done, mut pause) = (0, SOON);
        while let Next::Turn(number, order) = board.next(&cluster, done, pause) {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let turn = memory.turn(api.as_mut(), &order, clock.now_secs());
            pause = next_pause(pause, number != done || turn.is_moving);
            board.took(&cluster, number, turn);
            done = number;
        }
    })?;
    Ok(Running { handle, ends })
}
