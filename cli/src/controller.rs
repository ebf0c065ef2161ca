//! `fleetwright controller`: the process that makes clusters equal to the live branch, and decides what is live.

mod answers;
mod config;
mod daemon;
mod journal;
mod lease;

use std::net::SocketAddr;
use std::path::PathBuf;

use fleetwright_compiler::base::SmolStr;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::RepositoryArgs;
use crate::typed;

/// Run the decider and the applier: pull, decide, apply, watch
///
/// Follows the repository, writes its decisions to the live branch, and makes every cluster equal to it. Clusters are
/// reached by contexts of the kubeconfig: the one that the Cluster file names in `connection.context`, else the one of the
/// cluster's name. Settings come from flags, then from the environment, then from --config. Logs are JSON lines on stderr.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub repository: RepositoryArgs,

    /// A file of settings (YAML)
    #[arg(long, value_name = "FILE", env = "FLEETWRIGHT_CONFIG")]
    pub config: Option<PathBuf>,

    /// The kubeconfig; default: $KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", env = "FLEETWRIGHT_KUBECONFIG")]
    pub kubeconfig: Option<PathBuf>,

    /// Be the agent of one cluster: apply to it alone, and decide nothing
    #[arg(long, value_name = "NAME", env = "FLEETWRIGHT_CLUSTER")]
    pub cluster: Option<SmolStr>,

    /// Decide nothing: apply what another decider, such as `fleetwright advance` in a CI job, makes live
    #[arg(long, env = "FLEETWRIGHT_APPLY_ONLY", conflicts_with = "cluster")]
    pub apply_only: bool,

    /// The name of this decider; there is one per repository
    #[arg(long, value_name = "NAME", env = "FLEETWRIGHT_HOLDER", value_parser = typed::holder)]
    pub holder: Option<SmolStr>,

    /// How often the repository is asked for news, in seconds
    #[arg(long, value_name = "SECONDS", env = "FLEETWRIGHT_POLL_SECS", value_parser = clap::value_parser!(u64).range(config::POLLS))]
    pub poll_secs: Option<u64>,

    /// Where to serve /metrics, /healthz, /readyz and /api/status; `none` for nowhere
    #[arg(long, value_name = "ADDRESS", env = "FLEETWRIGHT_LISTEN")]
    pub listen: Option<Listen>,

    /// Do what is due until nothing is left to do now, and end. Exit code 4 when something is held, 5 when something failed
    #[arg(long)]
    pub once: bool,
}

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere.
    Nowhere,
    /// There.
    At(SocketAddr),
}

impl std::str::FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::Nowhere);
        }
        text.parse()
            .map(Self::At)
            .map_err(|_| "expected an address such as 127.0.0.1:8080 or [::]:8080, or none".to_owned())
    }
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let settings = config::Settings::of(args)?;
    daemon::run(context, args, settings)
}
