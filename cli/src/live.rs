//! What `status`, `get` and `tree` look at: a controller that runs, or the clusters themselves.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fleetwright_compiler::base::SmolStr;
use fleetwright_reconciler::controller::status::{self, AppStatus, Status, status};
use fleetwright_reconciler::controller::tick::reports;
use fleetwright_reconciler::controller::{Board, ClusterTurn, Controller, Role};
use fleetwright_reconciler::io::ask;
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::ports::Clock as _;

use crate::connect::Connections;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::{Repository, RepositoryArgs};
use crate::streams;

/// Where to look.
#[derive(Debug, clap::Args)]
pub struct LiveArgs {
    #[command(flatten)]
    repository: RepositoryArgs,

    /// Ask the controller that serves here (`http://HOST:PORT`), instead of the repository and the clusters
    ///
    /// It also knows what holds decisions up. `kubectl port-forward` brings one that runs in a cluster here.
    #[arg(long, value_name = "URL", env = "FLEETWRIGHT_SERVER")]
    server: Option<String>,

    /// The kubeconfig with which to look at clusters; default: $KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", env = "FLEETWRIGHT_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,

    /// Look again every so many seconds, and show what changed, until interrupted
    #[arg(short, long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
}

/// Something to look at.
pub enum Source {
    /// A controller.
    Server(Connections, String),
    /// The repository and the clusters. Nothing is written to either.
    Clusters(Box<Looker>),
}

/// Looks at the clusters as an applier does, and writes nothing.
pub struct Looker {
    repository: Repository,
    connections: Connections,
    controller: Controller,
    machines: std::collections::BTreeMap<SmolStr, Machine>,
}

struct Machine {
    api: Box<dyn fleetwright_reconciler::cluster::ClusterApi>,
    memory: ClusterTurn,
}

impl Source {
    fn open(context: &Context, args: &LiveArgs) -> Result<Self, Failure> {
        let connections = Connections::new(args.kubeconfig.clone(), std::collections::BTreeMap::new())?;
        Ok(match &args.server {
            Some(server) => Self::Server(connections, server.trim_end_matches('/').to_owned()),
            None => Self::Clusters(Box::new(Looker {
                repository: Repository::open(context, &args.repository)?,
                connections,
                controller: Controller::new(Board::default()),
                machines: std::collections::BTreeMap::new(),
            })),
        })
    }

    /// The status of the fleet.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn status(&mut self) -> Result<Status, Failure> {
        match self {
            Self::Server(connections, server) => {
                let body = ask(connections, server, "/api/status")?;
                body.ok_or_else(|| {
                    Failure::Environment(format!("{server} serves no status: is it a fleetwright controller?"))
                })
            }
            Self::Clusters(looker) => looker.look(),
        }
    }

    /// One app with all its objects.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn app(&mut self, team: &str, app: &str) -> Result<Option<AppStatus>, Failure> {
        match self {
            Self::Server(connections, server) => ask(connections, server, &format!("/api/apps/{team}/{app}")),
            Self::Clusters(looker) => {
                looker.look()?;
                let turns = looker.controller.board().turns();
                Ok(looker.controller.wanted().and_then(|wanted| status::app(wanted, &turns, team, app)))
            }
        }
    }
}

fn ask<T: serde::de::DeserializeOwned>(
    connections: &Connections,
    server: &str,
    path: &str,
) -> Result<Option<T>, Failure> {
    let Some(body) = ask::get(connections.runtime(), server, path).map_err(Failure::Environment)? else {
        return Ok(None);
    };
    serde_json::from_str(&body)
        .map(Some)
        .map_err(|e| Failure::Environment(format!("{server} is of another version: its answer cannot be read ({e})")))
}

impl Looker {
    fn look(&mut self) -> Result<Status, Failure> {
        let Repository { git, branches, .. } = &mut self.repository;
        let tick = self.controller.tick(git, &SystemClock, branches, &Role::Applier);
        if let Some(error) = &tick.not_followed {
            return Err(Failure::Environment(error.to_string()));
        }
        let Some(wanted) = self.controller.wanted().map(Arc::clone) else {
            return Err(Failure::Guard(format!(
                "there is no branch `{}` yet: `fleetwright advance` makes it",
                branches.live
            )));
        };
        let board = self.controller.board().clone();
        for cluster in wanted.clusters() {
            let fleet = &wanted.compiled().fleet;
            let connection = fleet.cluster_id(cluster).and_then(|id| fleet.cluster(id).connection.as_ref());
            self.machines.entry(cluster.clone()).or_insert_with(|| Machine {
                api: self.connections.api(cluster, connection),
                memory: ClusterTurn::default(),
            });
        }
        self.machines.retain(|name, _| wanted.has(name));
        // One that does not answer costs the others nothing.
        std::thread::scope(|scope| {
            for (name, machine) in &mut self.machines {
                let board = &board;
                scope.spawn(move || {
                    if let Some((number, order)) = board.ordered(name) {
                        let turn = machine.memory.look(machine.api.as_mut(), &order, SystemClock.now_secs());
                        board.took(name, number, turn);
                    }
                });
            }
        });
        Ok(status(Some(&wanted), &board.turns(), reports(&tick)))
    }
}

/// Looks, shows, and looks again where that is wanted.
///
/// # Errors
/// As looking and showing. While it looks again, a look that fails is said and not the end.
pub fn show(
    context: &Context,
    args: &LiveArgs,
    mut shown: impl FnMut(&mut Source) -> Result<String, Failure>,
) -> Result<Outcome, Failure> {
    let mut source = Source::open(context, args)?;
    repeat(args.watch, || shown(&mut source))
}

/// Shows something once, or again whenever it changed, every so many seconds.
///
/// # Errors
/// As showing. While it is repeated, an environment that fails is said and not the end.
pub fn repeat(pause_secs: Option<u64>, mut shown: impl FnMut() -> Result<String, Failure>) -> Result<Outcome, Failure> {
    let Some(pause_secs) = pause_secs else {
        streams::data(&shown()?)?;
        return Ok(Outcome::Done);
    };
    let mut last = None;
    loop {
        match shown() {
            Ok(text) if last.as_ref() == Some(&text) => {}
            Ok(text) => {
                let line = if last.is_some() { "\n" } else { "" };
                streams::data(&format!("{line}{text}"))?;
                last = Some(text);
            }
            Err(Failure::Environment(text)) => streams::talk(&text),
            Err(other) => return Err(other),
        }
        std::thread::sleep(Duration::from_secs(pause_secs));
    }
}
