//! From a kubeconfig, or from inside a pod, to a client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::runtime::{Builder, Runtime};

use super::KubeApi;
use crate::cluster::{ClusterApi as _, Key};

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(String);

impl ConnectError {
    fn of(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

/// Where a cluster is and who we are there. Credentials stay in the kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A context of a kubeconfig.
    Context {
        /// The file; `None`: `$KUBECONFIG`, else `~/.kube/config`.
        kubeconfig: Option<PathBuf>,
        /// The context; `None`: the current one.
        context: Option<String>,
    },
    /// The service account of this pod.
    InCluster,
    /// The current context of the kubeconfig in a Secret of the cluster that this pod runs in: key `kubeconfig`, or `value`,
    /// where Cluster API puts it. Read when the connection is made.
    Secret {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// The threads on which requests run: one set for all clusters of a process.
#[derive(Clone, Debug)]
pub struct KubeRuntime(Arc<Runtime>);

impl KubeRuntime {
    /// Starts them.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn start() -> Result<Self, ConnectError> {
        let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("kube").enable_all().build();
        runtime.map(|runtime| Self(Arc::new(runtime))).map_err(|error| ConnectError::of("no threads", &error))
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> tokio::task::AbortHandle {
        self.0.spawn(future).abort_handle()
    }
}

/// The names of the contexts of a kubeconfig, in its order. `None`: `$KUBECONFIG`, else `~/.kube/config`.
///
/// # Errors
/// When it cannot be read.
pub fn contexts(kubeconfig: Option<&Path>) -> Result<Vec<String>, ConnectError> {
    Ok(read(kubeconfig)?.contexts.into_iter().map(|context| context.name).collect())
}

/// The name of the current context of a kubeconfig; `None` where it has none.
///
/// # Errors
/// When it cannot be read.
pub fn current_context(kubeconfig: Option<&Path>) -> Result<Option<String>, ConnectError> {
    Ok(read(kubeconfig)?.current_context.filter(|name| !name.is_empty()))
}

fn read(kubeconfig: Option<&Path>) -> Result<Kubeconfig, ConnectError> {
    let read = match kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    read.map_err(|error| ConnectError::of("the kubeconfig cannot be read", &error))
}

/// The kubeconfig in a Secret beside this pod. No message holds a part of it.
fn of_secret(runtime: &KubeRuntime, namespace: &str, name: &str) -> Result<Kubeconfig, ConnectError> {
    let wrong = |what: &str| ConnectError(format!("Secret {namespace}/{name}: {what}"));
    let mut here = KubeApi::connect(runtime, &Connection::InCluster)?;
    let found = here.get(&[Key::new("", "Secret", namespace, name)]).pop();
    let secret = match found {
        Some(Ok(Some(secret))) => secret,
        Some(Ok(None)) | None => {
            return Err(wrong("it does not exist; the Cluster names it in `connection.secretRef`"));
        }
        Some(Err(error)) => return Err(ConnectError::of(&format!("Secret {namespace}/{name}"), &error)),
    };
    let data = ["kubeconfig", "value"].iter().find_map(|key| secret.get("data")?.get(*key)?.as_str());
    let text = data.ok_or_else(|| wrong("it has no key `kubeconfig` or `value`"))?;
    let bytes = STANDARD.decode(text).map_err(|_| wrong("it does not hold base64"))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it does not hold a kubeconfig"))?;
    Kubeconfig::from_yaml(&text).map_err(|_| wrong("it does not hold a kubeconfig"))
}

pub(super) fn client(runtime: &KubeRuntime, connection: &Connection) -> Result<kube::Client, ConnectError> {
    let mut config = match connection {
        Connection::InCluster => {
            kube::Config::incluster().map_err(|error| ConnectError::of("no service account in this pod", &error))?
        }
        Connection::Secret { namespace, name } => {
            let options = KubeConfigOptions::default();
            let loaded =
                runtime.block_on(kube::Config::from_custom_kubeconfig(of_secret(runtime, namespace, name)?, &options));
            loaded.map_err(|error| ConnectError::of(&format!("the kubeconfig in Secret {namespace}/{name}"), &error))?
        }
        Connection::Context { kubeconfig, context } => {
            let file = read(kubeconfig.as_deref())?;
            let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
            let loaded = runtime.block_on(kube::Config::from_custom_kubeconfig(file, &options));
            loaded.map_err(|error| ConnectError::of(context.as_deref().unwrap_or("the current context"), &error))?
        }
    };
    config.default_retry = false;
    // The client starts tasks of its own, which need the runtime.
    let _here = runtime.0.enter();
    kube::Client::try_from(config).map_err(|error| ConnectError::of("the connection cannot be set up", &error))
}
