//! How clusters are reached: contexts of a kubeconfig, or the pod's own service account.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::model;
use fleetwright_reconciler::apply::inventory::NAMESPACE;
use fleetwright_reconciler::cluster::ClusterApi;
use fleetwright_reconciler::io::kube::{Connection, KubeRuntime, LazyApi, contexts, current_context};

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

    /// The current context; `None` where the kubeconfig has none.
    ///
    /// # Errors
    /// When the kubeconfig cannot be read.
    pub fn current_context(&self) -> Result<Option<SmolStr>, Failure> {
        let name = current_context(self.kubeconfig.as_deref()).map_err(|e| Failure::Environment(e.to_string()))?;
        Ok(name.map(SmolStr::from))
    }

    /// The port to a cluster: as stated here, else as its Cluster file says in `connection`, else by the context of its name.
    pub fn api(&self, cluster: &SmolStr, connection: Option<&model::Connection>) -> Box<dyn ClusterApi> {
        let named = |context: Option<&SmolStr>| Connection::Context {
            kubeconfig: self.kubeconfig.clone(),
            context: Some(context.unwrap_or(cluster).to_string()),
        };
        let connection = match (self.stated.get(cluster), connection) {
            (Some(stated), _) => stated.clone(),
            (None, Some(model::Connection { context: None, secret_ref: Some(name) })) => {
                Connection::Secret { namespace: NAMESPACE.to_owned(), name: name.to_string() }
            }
            (None, Some(model::Connection { context, .. })) => named(context.as_ref()),
            (None, None) => named(None),
        };
        Box::new(LazyApi::new(self.runtime.clone(), Box::new(move || Ok(connection.clone()))))
    }
}
