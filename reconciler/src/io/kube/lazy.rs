//! A cluster that is connected to when it is first asked something, and again as long as that fails: a missing context or a
//! broken kubeconfig is an error of that cluster alone, and mends itself when the file is mended.

use std::sync::Arc;

use serde_json::Value;

use super::connect::{Connection, KubeRuntime};
use super::{ConnectError, KubeApi};
use crate::cluster::{ClusterApi, ClusterError, Dark, Delta, Identity, Key, Served, Watch, Write, WriteError, Written};

/// How to find out where a cluster is.
pub type Find = dyn Fn() -> Result<Connection, ConnectError> + Send;

/// The port to a cluster that may not be connected yet.
pub struct LazyApi {
    runtime: KubeRuntime,
    find: Box<Find>,
    api: Option<KubeApi>,
}

impl std::fmt::Debug for LazyApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyApi").field("api", &self.api).finish_non_exhaustive()
    }
}

impl LazyApi {
    /// Sends and reads nothing yet.
    #[must_use]
    pub fn new(runtime: KubeRuntime, find: Box<Find>) -> Self {
        Self { runtime, find, api: None }
    }

    fn api(&mut self) -> Result<&mut KubeApi, ClusterError> {
        let api = match self.api.take() {
            Some(api) => api,
            None => (self.find)()
                .and_then(|connection| KubeApi::connect(&self.runtime, &connection))
                .map_err(|error| ClusterError::NotConnected(error.to_string()))?,
        };
        Ok(self.api.insert(api))
    }
}

impl ClusterApi for LazyApi {
    fn identity(&mut self) -> Result<Identity, ClusterError> {
        let identity = self.api()?.identity();
        if matches!(identity, Err(ClusterError::Denied(_))) {
            // Credentials that are no longer taken may have been renewed where they are read from.
            self.api = None;
        }
        identity
    }

    fn served(&mut self) -> Result<Arc<Served>, ClusterError> {
        self.api()?.served()
    }

    fn observe(&mut self, watches: &[Watch]) -> Vec<Result<Delta, ClusterError>> {
        match self.api() {
            Ok(api) => api.observe(watches),
            Err(error) => watches.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    fn list(&mut self, watch: &Watch, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, ClusterError> {
        self.api()?.list(watch, namespace)
    }

    fn get(&mut self, keys: &[Key]) -> Vec<Result<Option<Arc<Value>>, ClusterError>> {
        match self.api() {
            Ok(api) => api.get(keys),
            Err(error) => keys.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    fn write(&mut self, writes: &[Write]) -> Vec<Written> {
        match self.api() {
            Ok(api) => api.write(writes),
            Err(error) => {
                let transient = || WriteError::Transient { message: error.to_string(), retry_after_secs: None };
                writes.iter().map(|_| Err(transient())).collect()
            }
        }
    }

    fn went_dark(&self) -> Option<Dark> {
        self.api.as_ref().and_then(KubeApi::went_dark)
    }
}
