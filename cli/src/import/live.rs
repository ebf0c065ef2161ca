//! `fleetwright import live`: asks clusters, and writes their Cluster files into a fleet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fleetwright_compiler::Session;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::name::{NameRule, check};
use fleetwright_compiler::import::live::{self, LiveCluster};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_reconciler::cluster::{ClusterApi, ClusterError, GroupKind, Served, Watch};

use crate::connect::Connections;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::fleet::{self, Place};
use crate::typed::given_once;

/// Which clusters, and where to.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The context of a cluster, which its file then names in `connection.context`; may be given more than once
    ///
    /// Default: the current one.
    #[arg(long, value_name = "CONTEXT")]
    context: Vec<String>,

    /// The kubeconfig; default: $KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", env = "FLEETWRIGHT_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,

    /// What to call the cluster; default: after its context
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Also list in `apis` what it serves beyond Kubernetes' own kinds
    ///
    /// Without it the file says nothing of that, and a cluster is taken to serve everything.
    #[arg(long)]
    apis: bool,

    /// Nodes with different values of this label are different pools; may be given more than once
    #[arg(long, value_name = "KEY")]
    split_by: Vec<SmolStr>,

    /// The fleet repository to add the files to, or a new or empty folder for one; default: as -C says
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    given_once("--context", &args.context)?;
    given_once("--split-by", &args.split_by)?;
    let target = Target::find(context, args.to.as_deref())?;
    let connections = Connections::new(args.kubeconfig.clone(), BTreeMap::new())?;
    let contexts = contexts(&connections, args)?;
    let mut clusters = Vec::new();
    for name in contexts {
        clusters.push(ask(&connections, name, args)?);
    }
    let mut imported = live::import(&clusters, &args.split_by);
    if target.is_fleet {
        imported.files.remove("fleet.yaml");
    }
    let to = target.folder;
    if !target.is_fleet {
        return super::write_repository(context, &imported, &to);
    }
    for path in imported.files.keys() {
        if fs::symlink_metadata(to.join(path)).is_ok() {
            let advice = "give it another name with `--name`, or remove the file to write it anew";
            return Err(Failure::Guard(format!("{} is there already; {advice}", to.join(path).display())));
        }
    }
    for (path, text) in &imported.files {
        crate::init::write_new(&to.join(path), text)?;
    }
    let opened = fleet::open(&context.in_folder(&to)?)?;
    let compiled = fleetwright_compiler::compile(&Session::new(), &opened.overlay(), &Scenario::default());
    let compiles = super::in_words(compiled)?.replacen("it ", "the fleet ", 1);
    super::report(context, &imported, &to, &compiles)
}

/// Where the files go.
struct Target {
    folder: PathBuf,
    /// Whether a fleet is there already.
    is_fleet: bool,
}

impl Target {
    fn find(context: &Context, to: Option<&Path>) -> Result<Self, Failure> {
        let Some(to) = to else {
            let folder = Place::of_folder(context.directory())?.folder()?.to_path_buf();
            return Ok(Self { folder, is_fleet: true });
        };
        let is_fleet = fs::symlink_metadata(to.join("fleet.yaml")).is_ok();
        Ok(Self { folder: to.to_path_buf(), is_fleet })
    }
}

fn contexts(connections: &Connections, args: &Args) -> Result<Vec<SmolStr>, Failure> {
    let known = connections.contexts()?;
    let mut chosen: Vec<SmolStr> = Vec::new();
    for name in &args.context {
        let name = SmolStr::from(name.as_str());
        if !known.contains(&name) {
            let known: Vec<String> = known.iter().map(|name| crate::output::printable(name).to_string()).collect();
            let message = format!("the kubeconfig has no context `{name}`; it has {}", known.join(", "));
            return Err(Failure::Usage(message));
        }
        chosen.push(name);
    }
    if chosen.is_empty() {
        let current = connections.current_context()?;
        chosen.push(current.ok_or_else(|| {
            Failure::Usage("the kubeconfig has no current context: name one with `--context`".to_owned())
        })?);
    }
    if let Some(name) = &args.name {
        if chosen.len() > 1 {
            return Err(Failure::Usage("`--name` names one cluster, and there are several contexts".to_owned()));
        }
        check(NameRule::Dns1123Subdomain, name)
            .map_err(|expected| Failure::Usage(format!("`{name}` is no name of a cluster: expected {expected}")))?;
    }
    Ok(chosen)
}

/// What one cluster says of itself.
fn ask(connections: &Connections, context: SmolStr, args: &Args) -> Result<LiveCluster, Failure> {
    let mut api = connections.api(&context, None);
    let failed = |error: ClusterError| Failure::Environment(format!("{}: {error}", crate::output::printable(&context)));
    let nodes = Watch { kind: GroupKind::new("", "Node"), selector: None, metadata_only: false };
    let nodes = api.list(&nodes, None).map_err(failed)?;
    let served = if args.apis { Some(served(api.as_mut(), &context)?) } else { None };
    let nodes = nodes.iter().map(|node| (**node).clone()).collect();
    Ok(LiveCluster { context, name: args.name.as_deref().map(SmolStr::from), nodes, served })
}

/// The kinds by group and version. A list with a gap would keep apps away from the cluster for no reason.
fn served(api: &mut dyn ClusterApi, context: &str) -> Result<BTreeMap<SmolStr, BTreeSet<SmolStr>>, Failure> {
    let served = api
        .served()
        .map_err(|error| Failure::Environment(format!("{}: {error}", crate::output::printable(context))))?;
    let Served { kinds, unknown_groups } = &*served;
    if !unknown_groups.is_empty() {
        let groups: Vec<&str> = unknown_groups.iter().map(SmolStr::as_str).collect();
        let message = format!(
            "{}: the servers of {} do not answer, so what the cluster serves cannot be listed; try again, or leave out --apis",
            crate::output::printable(context),
            groups.join(", ")
        );
        return Err(Failure::Environment(message));
    }
    let mut listed: BTreeMap<SmolStr, BTreeSet<SmolStr>> = BTreeMap::new();
    for (kind, versions) in kinds {
        for version in versions {
            let group_version = match kind.group.as_str() {
                "" => version.version.clone(),
                group => SmolStr::from(format!("{group}/{}", version.version)),
            };
            listed.entry(group_version).or_default().insert(kind.kind.clone());
        }
    }
    Ok(listed)
}
