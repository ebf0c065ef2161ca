//! `fleetwright gitops`: the objects with which Flux or Argo CD apply the rendered branch.

use clap::ValueEnum;
use fleetwright_compiler::Session;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::yaml;
use serde_json::{Value, json};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, streams};

/// Print the objects with which Flux or Argo CD apply the rendered branch
///
/// For those who let another tool apply: `branches.rendered` of fleet.yaml names the branch that the decider writes
/// manifests to, a folder for each cluster. Both tools delete what is no longer there. Apps are never lowered there before
/// enough replicas are seen ready elsewhere.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tool
    #[arg(value_enum)]
    tool: Tool,

    /// The repository, as the tool reaches it
    #[arg(long, value_name = "URL")]
    url: String,

    /// For Flux that runs in this cluster itself; default: for one that reaches all clusters, each with the kubeconfig in
    /// the Secret `<cluster>-kubeconfig`
    #[arg(long, value_name = "NAME")]
    cluster: Option<SmolStr>,

    /// The namespace of the tool; default: `flux-system` or `argocd`
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,
}

/// The tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    /// Flux: a GitRepository and a Kustomization for each cluster
    Flux,
    /// Argo CD: an ApplicationSet
    Argocd,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context)?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    let settings = &compiled.fleet.settings;
    let Some(branch) = &settings.rendered_branch else {
        return Err(Failure::Usage(
            "the fleet has no rendered branch: add `branches: {rendered: rendered}` to the spec of fleet.yaml"
                .to_owned(),
        ));
    };
    let clusters: Vec<SmolStr> = compiled.fleet.clusters.iter().map(|cluster| cluster.name.clone()).collect();
    let clusters = match &args.cluster {
        None => clusters,
        Some(_) if args.tool == Tool::Argocd => {
            return Err(Failure::Usage(
                "`--cluster` is of Flux: an ApplicationSet names clusters that Argo CD knows".to_owned(),
            ));
        }
        Some(name) if clusters.contains(name) => vec![name.clone()],
        Some(name) => {
            return Err(Failure::Usage(format!("the fleet has no cluster `{name}`; it has {}", clusters.join(", "))));
        }
    };
    let objects = match args.tool {
        Tool::Flux => flux(&settings.name, branch, args, &clusters),
        Tool::Argocd => vec![argocd(&settings.name, branch, args, &clusters)],
    };
    streams::data(&yaml::emit_documents(&objects))?;
    Ok(Outcome::Done)
}

fn flux(fleet: &str, branch: &str, args: &Args, clusters: &[SmolStr]) -> Vec<Value> {
    let namespace = args.namespace.as_deref().unwrap_or("flux-system");
    let metadata = |name: &str| json!({"name": name, "namespace": namespace});
    let source = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": metadata(fleet),
        "spec": {"interval": "1m", "url": args.url, "ref": {"branch": branch}},
    });
    let kustomization = |cluster: &SmolStr| {
        let mut object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": metadata(&format!("{fleet}-{cluster}")),
            "spec": {
                "interval": "10m", "retryInterval": "1m", "path": format!("./{cluster}"), "prune": true,
                "sourceRef": {"kind": "GitRepository", "name": fleet},
            },
        });
        if args.cluster.is_none() {
            object["spec"]["kubeConfig"] = json!({"secretRef": {"name": format!("{cluster}-kubeconfig")}});
        }
        object
    };
    std::iter::once(source).chain(clusters.iter().map(kustomization)).collect()
}

fn argocd(fleet: &str, branch: &str, args: &Args, clusters: &[SmolStr]) -> Value {
    let elements: Vec<Value> = clusters.iter().map(|cluster| json!({"cluster": cluster.as_str()})).collect();
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet",
        "metadata": {"name": fleet, "namespace": args.namespace.as_deref().unwrap_or("argocd")},
        "spec": {
            "goTemplate": true,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"list": {"elements": elements}}],
            "template": {
                "metadata": {"name": format!("{fleet}-{{{{.cluster}}}}")},
                "spec": {
                    "project": "default",
                    "source": {
                        "repoURL": args.url, "targetRevision": branch, "path": "{{.cluster}}",
                        "directory": {"recurse": true},
                    },
                    "destination": {"name": "{{.cluster}}"},
                    "syncPolicy": {"automated": {"prune": true, "selfHeal": true}, "syncOptions": ["ServerSideApply=true"]},
                },
            },
        },
    })
}
