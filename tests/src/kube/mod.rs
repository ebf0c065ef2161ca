//! Real Kubernetes clusters on loopback: kube-apiserver, etcd, kube-controller-manager, kube-scheduler and kwok, which plays
//! the kubelets. [`Rig::start`] starts as many as a test needs.
//!
//! ```text
//! Rig ── folder: one temporary folder, kubeconfig with one context for each cluster
//!  ├─ Cluster cluster-1 ── Watchdog  the process group's leader; ends the group when this process is gone
//!  │                    ├─ etcd, kube-apiserver
//!  │                    └─ kube-controller-manager, kube-scheduler, kwok
//!  └─ Cluster cluster-2 ..
//! ```
//!
//! Invariants: everything listens on 127.0.0.1 and on ports that were free; each cluster has its own authority, keys and
//! random token; only processes started here get signals, by their id, and none outlives the [`Rig`], a panic, or this
//! process. Waiting is always for a state, with a deadline, and what comes late or dies shows the end of its log.
//!
//! The programs come from `KUBEBUILDER_ASSETS` or from `tests/kube/build.sh` ([`Programs::find`]). How pods and nodes behave
//! is `stages.yaml`; a new behaviour is a stage there.

mod certificates;
mod client;
mod cluster;
mod error;
mod kubeconfig;
mod node;
mod process;
mod programs;
mod requests;
mod wait;
mod watchdog;

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use watchdog::Watchdog;

pub use client::{Client, RequestError};
pub use cluster::Cluster;
pub use error::RigError;
pub use node::NodeSpec;
pub use process::Process;
pub use programs::{NotThere, Programs};
pub use requests::Request;
pub use wait::{Late, until};

/// Some clusters, running. Dropped, they stop and their files go.
#[derive(Debug)]
pub struct Rig {
    // before `folder`: what is dropped first still writes into what is dropped last
    clusters: Vec<Cluster>,
    kubeconfig: PathBuf,
    /// Ends what is started beside the clusters.
    watchdog: Watchdog,
    folder: TempDir,
}

impl Rig {
    /// Starts `count` clusters, named `cluster-1` and so on, with four nodes each (see [`NodeSpec::fleet`]). Returns when every
    /// node is Ready and pods can be created: three clusters take about ten seconds on two cores.
    ///
    /// # Errors
    /// [`RigError::NotThere`] when the programs are not on this machine, which is no failure of a test; otherwise what did not
    /// start, with the end of its log.
    pub fn start(count: usize) -> Result<Rig, RigError> {
        Rig::start_from(&Programs::find()?, count, &NodeSpec::fleet(4))
    }

    /// Starts `count` clusters from these programs, with these nodes in each.
    ///
    /// # Errors
    /// As [`Rig::start`].
    pub fn start_from(programs: &Programs, count: usize, nodes: &[NodeSpec]) -> Result<Rig, RigError> {
        let folder = tempfile::Builder::new()
            .prefix("fleetwright-rig-")
            .tempdir()
            .map_err(RigError::io("creating a temporary folder"))?;
        let started: Vec<Result<Cluster, RigError>> = std::thread::scope(|scope| {
            let starting: Vec<_> = (1..=count)
                .map(|number| {
                    let folder = folder.path();
                    scope.spawn(move || Cluster::start(programs, folder, &format!("cluster-{number}"), nodes))
                })
                .collect();
            starting.into_iter().map(|thread| thread.join().unwrap_or(Err(RigError::Panicked))).collect()
        });
        let clusters = started.into_iter().collect::<Result<Vec<_>, _>>()?;
        let kubeconfig = folder.path().join("kubeconfig");
        kubeconfig::write(&kubeconfig, clusters.iter().map(Cluster::tested_context))?;
        let watchdog = Watchdog::start(folder.path())?;
        Ok(Rig { clusters, kubeconfig, watchdog, folder })
    }

    /// The clusters, by number.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// A kubeconfig with one context for each cluster, named as the cluster. Requests of whoever uses it are written down:
    /// [`Cluster::requests`].
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A folder that lives as long as the clusters, for what a test wants to keep beside them.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a program beside the clusters, in a folder of its own below [`Rig::folder`] whose name is `name`; all it prints is
    /// appended to `NAME.log` there. It sees nothing of this process' environment but `PATH`. Whoever holds it ends it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_program(&self, name: &'static str, program: &Path, arguments: &[String]) -> Result<Process, RigError> {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).map_err(RigError::io(format!("creating {}", folder.display())))?;
        Process::start(name, program, arguments, &folder, self.watchdog.group()?)
    }
}
