//! One cluster: its programs from start to end, and what a test does to them.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::certificates::{self, Identity};
use super::client::Client;
use super::error::RigError;
use super::kubeconfig::{self, Context};
use super::node::{self, NodeSpec};
use super::process::Process;
use super::programs::Programs;
use super::requests::{self, Request};
use super::wait::{Ended, until_or};
use super::watchdog::Watchdog;

const ETCD: &str = "etcd";
const SERVER: &str = "kube-apiserver";
/// Generous: two cores may be busy with other things. A quiet machine needs three seconds.
const START_WITHIN: Duration = Duration::from_secs(120);
/// Between finding a port free and listening on it somebody else may take it.
const ATTEMPTS: usize = 3;

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    name: String,
    folder: PathBuf,
    programs: Programs,
    ports: Ports,
    client: Client,
    token: String,
    tested_token: String,
    // before `watchdog`: the programs end before the leader of their group
    processes: Mutex<Processes>,
    watchdog: Watchdog,
}

/// In the order in which they started; they end in the opposite one, so that etcd outlives the API server.
#[derive(Debug, Default)]
struct Processes(Vec<Process>);

impl Drop for Processes {
    fn drop(&mut self) {
        while let Some(last) = self.0.pop() {
            drop(last);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    etcd: u16,
    etcd_peer: u16,
    server: u16,
}

impl Ports {
    fn free() -> Result<Ports, RigError> {
        let listeners: [std::io::Result<TcpListener>; 3] =
            std::array::from_fn(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let ports = listeners.map(|listener| listener.and_then(|l| l.local_addr()).map(|address| address.port()));
        let [etcd, etcd_peer, server] = ports;
        let taken = || RigError::io("looking for a free port");
        Ok(Ports {
            etcd: etcd.map_err(taken())?,
            etcd_peer: etcd_peer.map_err(taken())?,
            server: server.map_err(taken())?,
        })
    }
}

impl Cluster {
    /// Starts all programs and creates the nodes. The files lie in a folder of their own below `rig`.
    pub(super) fn start(programs: &Programs, rig: &Path, name: &str, nodes: &[NodeSpec]) -> Result<Cluster, RigError> {
        let mut attempt = 1;
        loop {
            match Cluster::start_once(programs, rig, name, attempt, nodes) {
                Err(error) if error.is_port_taken() && attempt < ATTEMPTS => attempt += 1,
                ended => return ended,
            }
        }
    }

    fn start_once(
        programs: &Programs,
        rig: &Path,
        name: &str,
        attempt: usize,
        nodes: &[NodeSpec],
    ) -> Result<Cluster, RigError> {
        // what an attempt left behind is nothing to start from
        let folder = &rig.join(format!("{name}.{attempt}"));
        std::fs::create_dir(folder).map_err(RigError::io(format!("creating {}", folder.display())))?;
        let Identity { authority, token, tested_token } = certificates::write(folder)?;
        for (name, text) in [("stages.yaml", include_str!("stages.yaml")), ("audit.yaml", include_str!("audit.yaml"))] {
            std::fs::write(folder.join(name), text).map_err(RigError::io(format!("writing {name}")))?;
        }
        let ports = Ports::free()?;
        let cluster = Cluster {
            name: name.to_owned(),
            folder: folder.to_owned(),
            programs: programs.clone(),
            ports,
            client: Client::new(format!("https://127.0.0.1:{}", ports.server), &authority, token.clone()),
            token,
            tested_token,
            processes: Mutex::default(),
            watchdog: Watchdog::start(rig)?,
        };
        kubeconfig::write(&folder.join("kubeconfig"), std::iter::once(cluster.context(&cluster.token)))?;

        cluster.run(ETCD)?;
        let health = Client::new(format!("http://127.0.0.1:{}", ports.etcd), &authority, String::new());
        cluster.wait_for("etcd", START_WITHIN, || health.ready())?;
        cluster.run(SERVER)?;
        cluster.wait_for("the API server to be ready", START_WITHIN, || cluster.client.ready())?;
        for name in ["kube-controller-manager", "kube-scheduler", "kwok"] {
            cluster.run(name)?;
        }
        for node in nodes {
            cluster.create_node(node)?;
        }
        for node in nodes {
            cluster.wait_for(&format!("{} to be Ready", node.name), START_WITHIN, || {
                let seen = cluster.client.get(&format!("/api/v1/nodes/{}", node.name)).map_err(|e| e.to_string())?;
                if node::is_open(&seen) {
                    Ok(())
                } else {
                    Err(format!("{} {}", seen["status"]["conditions"], seen["spec"]))
                }
            })?;
        }
        // without its account, the server refuses pods
        cluster.wait_for("the service account of namespace default", START_WITHIN, || {
            let account = "/api/v1/namespaces/default/serviceaccounts/default";
            cluster.client.get(account).map(|_| ()).map_err(|error| error.to_string())
        })?;
        Ok(cluster)
    }

    /// Its name, which is also its context in the kubeconfig.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A client of its API server.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The address of its API server.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.server)
    }

    /// As user [`certificates::TESTED`].
    pub(super) fn tested_context(&self) -> Context {
        self.context(&self.tested_token)
    }

    fn context(&self, token: &str) -> Context {
        Context {
            name: self.name.clone(),
            server: self.url(),
            authority: self.folder.join("ca.crt"),
            token: token.to_owned(),
        }
    }

    /// All requests so far of whoever uses the kubeconfig of the rig, in the order in which they came.
    ///
    /// # Errors
    /// When the API server's log of them cannot be read.
    pub fn requests(&self) -> Result<Vec<Request>, RigError> {
        let log = self.folder.join("audit.log");
        match std::fs::read_to_string(&log) {
            Ok(text) => Ok(requests::read(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(RigError::io(format!("reading {}", log.display()))(error)),
        }
    }

    /// Creates one more node; it becomes Ready a moment later.
    ///
    /// # Errors
    /// What the API server said.
    pub fn create_node(&self, node: &NodeSpec) -> Result<(), RigError> {
        match self.client.create("/api/v1/nodes", &node.manifest()) {
            Ok(_) => Ok(()),
            Err(source) => Err(RigError::Request { cluster: self.name.clone(), source }),
        }
    }

    /// Looks until `look` finds what it looks for; a look that does not find it says what it saw instead.
    ///
    /// # Errors
    /// After `within`, with the ends of the logs; at once when a program of the cluster has ended by itself.
    pub fn wait_for<T>(
        &self,
        what: &str,
        within: Duration,
        look: impl FnMut() -> Result<T, String>,
    ) -> Result<T, RigError> {
        until_or(what, within, || self.alive(), look).map_err(|ended| match ended {
            Ended::Gone(error) => error,
            Ended::Late(late) => RigError::Late { cluster: self.name.clone(), late, logs: self.logs() },
        })
    }

    /// The API server stops answering, as behind a network that drops everything: connections open, and nothing comes.
    ///
    /// # Errors
    /// When it is not running.
    pub fn partition(&self) -> Result<(), RigError> {
        self.server(|server| server.signal("STOP"))
    }

    /// The API server answers again.
    ///
    /// # Errors
    /// When it is not running, or is not ready in time.
    pub fn heal(&self) -> Result<(), RigError> {
        self.server(|server| server.signal("CONT"))?;
        self.wait_for("the API server to be ready again", START_WITHIN, || self.client.ready())
    }

    /// The API server ends at once, as by a power cut. Its data stays in etcd.
    ///
    /// # Errors
    /// When it is not running.
    pub fn crash(&self) -> Result<(), RigError> {
        self.server(|server| {
            server.kill();
            Ok(())
        })?;
        self.processes().0.retain(|process| process.name != SERVER);
        Ok(())
    }

    /// Starts the API server again after a crash, on the same port and data, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start.
    pub fn restart(&self) -> Result<(), RigError> {
        let mut attempt = 1;
        loop {
            self.run(SERVER)?;
            match self.wait_for("the API server to be ready", START_WITHIN, || self.client.ready()) {
                // an outgoing connection of somebody else has the port for a moment
                Err(error) if error.is_port_taken() && attempt < ATTEMPTS => attempt += 1,
                ended => return ended,
            }
            self.processes().0.retain(|process| process.name != SERVER);
        }
    }

    fn server(&self, act: impl FnOnce(&mut Process) -> Result<(), RigError>) -> Result<(), RigError> {
        match self.processes().0.iter_mut().find(|process| process.name == SERVER) {
            Some(server) => act(server),
            None => Err(RigError::NotRunning { cluster: self.name.clone(), program: SERVER }),
        }
    }

    fn alive(&self) -> Result<(), RigError> {
        for process in &mut self.processes().0 {
            if let Some(status) = process.ended() {
                let (cluster, program, log) = (self.name.clone(), process.name, process.log_tail());
                return Err(RigError::Died { cluster, program, status, log });
            }
        }
        Ok(())
    }

    fn logs(&self) -> String {
        let tail = |process: &Process| format!("  {}:\n{}", process.name, process.log_tail());
        self.processes().0.iter().map(tail).collect::<Vec<_>>().join("\n")
    }

    // a test that panics while it looks must not keep the programs from being ended
    fn processes(&self) -> MutexGuard<'_, Processes> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, name: &'static str) -> Result<(), RigError> {
        let group = self.watchdog.group()?;
        let process = Process::start(name, &self.programs.path(name), &self.arguments(name), &self.folder, group)?;
        let mut processes = self.processes();
        // a server that comes back goes right behind etcd: the order is the one in which all end
        let place = if name == SERVER { processes.0.len().min(1) } else { processes.0.len() };
        processes.0.insert(place, process);
        Ok(())
    }

    /// Relative paths are the cluster's folder, in which every program runs.
    fn arguments(&self, name: &str) -> Vec<String> {
        let Ports { etcd, etcd_peer, server } = self.ports;
        let text = match name {
            ETCD => format!(
                "--data-dir=etcd --listen-client-urls=http://127.0.0.1:{etcd} --advertise-client-urls=http://127.0.0.1:{etcd} \
                 --listen-peer-urls=http://127.0.0.1:{etcd_peer} --initial-advertise-peer-urls=http://127.0.0.1:{etcd_peer} \
                 --initial-cluster=default=http://127.0.0.1:{etcd_peer} --unsafe-no-fsync"
            ),
            SERVER => format!(
                "--etcd-servers=http://127.0.0.1:{etcd} --secure-port={server} --bind-address=127.0.0.1 \
                 --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --cert-dir=certificates \
                 --tls-cert-file=server.crt --tls-private-key-file=server.key --client-ca-file=ca.crt \
                 --service-account-key-file=accounts.pub --service-account-signing-key-file=accounts.key \
                 --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.96.0.0/16 \
                 --authorization-mode=RBAC --token-auth-file=tokens.csv --allow-privileged=true \
                 --audit-policy-file=audit.yaml --audit-log-path=audit.log --audit-log-maxsize=1000"
            ),
            // node-lifecycle stays on: without it nodes keep the taint `not-ready`
            "kube-controller-manager" => "--kubeconfig=kubeconfig --authentication-kubeconfig=kubeconfig \
                 --authorization-kubeconfig=kubeconfig --service-account-private-key-file=accounts.key --root-ca-file=ca.crt \
                 --leader-elect=false --secure-port=0 --controllers=*,-nodeipam,-cloud-node-lifecycle-controller"
                .to_owned(),
            "kube-scheduler" => "--kubeconfig=kubeconfig --authentication-kubeconfig=kubeconfig \
                 --authorization-kubeconfig=kubeconfig --leader-elect=false --secure-port=0"
                .to_owned(),
            _ => "--kubeconfig=kubeconfig --config=stages.yaml --manage-all-nodes=true --node-lease-duration-seconds=40 \
                 --cidr=10.0.0.1/16"
                .to_owned(),
        };
        text.split_whitespace().map(str::to_owned).collect()
    }
}
