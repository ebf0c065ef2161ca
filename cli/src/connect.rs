//! How clusters are reached: contexts of a kubeconfig, or the pod's own service account.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetwright_compiler::base::SmolStr;
use fleetwright_reconciler::cluster::ClusterApi;
use fleetwright_reconciler::io::kube::{Connection, KubeRuntime, LazyApi, contexts};

use crate::exit::Failure;

/// How clusters are reached.
#[derive(Clone, Debug)]
pub struct Connections {
    runtime: KubeRuntime,
    kubeconfig: Option<PathBuf>,
    /// Clusters that are reached in another way than by a context of their name.
    stated: BTreeMap<SmolStr, Connection>,
}

impl Connections {
    /// By the contexts of this kubeconfig; `None`: `$KUBECONFIG`, else `~/.kube/config`.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn new(kubeconfig: Option<PathBuf>, stated: BTreeMap<SmolStr, Connection>) -> Result<Self, Failure> {
        let runtime = KubeRuntime::start().map_err(|e| Failure::Environment(e.to_string()))?;
        Ok(Self { runtime, kubeconfig, stated })
    }

    /// By the contexts of this kubeconfig.
    ///
    /// # Errors
    /// As [`Connections::new`].
    pub fn of_kubeconfig(file: &Path) -> Result<Self, Failure> {
        Self::new(Some(file.to_path_buf()), BTreeMap::new())
    }

    /// The threads on which requests run.
    pub fn runtime(&self) -> &KubeRuntime {
        &self.runtime
    }

    /// The contexts there are.
    ///
    /// # Errors
    /// When the kubeconfig cannot be read.
    pub fn contexts(&self) -> Result<Vec<SmolStr>, Failure> {
        let names = contexts(self.kubeconfig.as_deref()).map_err(|e| Failure::Environment(e.to_string()))?;
        Ok(names.into_iter().map(SmolStr::from).collect())
    }

    /// The port to a cluster: as stated here, else by the context that its Cluster file names, else by the one of its name.
    pub fn api(&self, cluster: &SmolStr, context: Option<&SmolStr>) -> Box<dyn ClusterApi> {
        let connection = self.stated.get(cluster).cloned().unwrap_or_else(|| Connection::Context {
            kubeconfig: self.kubeconfig.clone(),
            context: Some(context.unwrap_or(cluster).to_string()),
        });
        Box::new(LazyApi::new(self.runtime.clone(), Box::new(move || Ok(connection.clone()))))
    }
}
