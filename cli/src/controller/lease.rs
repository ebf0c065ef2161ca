//! The thread that holds the Lease: whoever has none orders nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fleetwright_reconciler::cluster::ClusterApi;
use fleetwright_reconciler::controller::Board;
use fleetwright_reconciler::controller::election::{Election, RENEW_SECS};
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::io::kube::{Connection, KubeApi};
use fleetwright_reconciler::ports::Clock as _;
use tracing::{error, info, warn};

use super::answers::Shared;
use super::config::Lease;
use crate::connect::Connections;
use crate::exit::Failure;

/// Starts the thread that holds the Lease.
pub fn elect(lease: &Lease, connections: &Connections, shared: Arc<Shared>, board: Board) -> Result<(), Failure> {
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
