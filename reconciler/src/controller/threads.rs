//! A thread for each cluster.

use std::thread::JoinHandle;
use std::time::Duration;

use fleetwright_compiler::base::SmolStr;
use serde_json::Value;

use super::board::{Board, Next};
use super::turn::ClusterTurn;
use crate::cluster::ClusterApi;
use crate::health::Health;
use crate::ports::Clock;

/// A turn begins at least so often: the probe of whether a cluster answers.
const EVERY: Duration = Duration::from_secs(10);

/// Starts the thread of a cluster. It ends when the board is stopped.
///
/// # Errors
/// When the system gives no thread.
pub fn start(
    board: &Board,
    cluster: SmolStr,
    mut api: Box<dyn ClusterApi>,
    clock: impl Clock + Send + 'static,
    assess: fn(&Value) -> (Health, String),
) -> std::io::Result<JoinHandle<()>> {
    let board = board.clone();
    std::thread::Builder::new().name(format!("cluster {cluster}")).spawn(move || {
        let mut memory = ClusterTurn::default();
        let mut done = 0;
        while let Next::Turn(number, order) = board.next(&cluster, done, EVERY) {
            let turn = memory.turn(api.as_mut(), &order, &assess, clock.now_secs());
            board.took(&cluster, turn);
            done = number;
        }
    })
}
