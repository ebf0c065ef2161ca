//! `fleetwright demo`: a day in the life of a small fleet, told with the commits it made.
//!
//! What runs is the product: the decider on a real Git repository, the applier on clusters that are simulated in this
//! process, or real ones. Only time is made up, where the clusters are.

mod clone;
mod fleet;
mod stage;

use fleetwright_compiler::base::SmolStr;
use fleetwright_reconciler::controller::status::Status;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::Scratch;
use crate::streams;
use clone::WorkingCopy;
use stage::{Clusters, Stage};

/// Play a day of a small fleet: push, tide, lost cluster, revert
///
/// Needs nothing but Git. A fleet repository is made in a temporary folder, and three simulated clusters in this process:
/// a push is applied, another prunes an app, a tide turns in steps, a cluster dies and is failed over, and `git revert` takes that
/// back. Every commit that is shown is a real one. With --kubeconfig the clusters are real, and a drain takes the place of
/// the tide and the lost cluster.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use real clusters: the contexts of this kubeconfig. The demo deletes what it made in them, but for namespaces
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<std::path::PathBuf>,

    /// Keep the repository, and say where it is
    #[arg(long)]
    keep: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text];

pub fn run(_context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let scratch = Scratch::new()?;
    let ended = match &args.kubeconfig {
        None => simulated(&scratch),
        Some(kubeconfig) => real(&scratch, kubeconfig),
    };
    if args.keep {
        let kept = scratch.keep();
        streams::talk(&format!("the repository is {}", kept.join("fleet.git").display()));
    }
    ended.map(|()| Outcome::Done)
}

fn simulated(scratch: &Scratch) -> Result<(), Failure> {
    let mut clone = WorkingCopy::new(scratch.path(), &fleet::files())?;
    let mut stage = Stage::open(scratch.path(), Clusters::simulated(&["asia-1", "eu-1", "eu-2"]))?;
    say("A fleet of three clusters, simulated in this process; the repository and its commits are real.\n")?;

    pushes(
        &mut clone,
        &mut stage,
        "Monday, 10:00 in Shanghai. The fleet is pushed for the first time.",
        "A shop and a chat model",
    )?;

    chapter(
        3,
        "The tide turns, in steps",
        "23:00 in Shanghai: the night phase is due. Nobody does anything. At most 30 % of the replicas move at a time: they start in \
         Europe, are seen ready, and only then stop in Asia.",
    )?;
    stage.sleep_until(fleet::NIGHT_SECS)?;
    let moved = |status: &Status| ready(status, "chat", "eu-1") == 8 && ready(status, "chat", "asia-1") == 2;
    stage.until("the replicas moved", |status| all_current(status) && moved(status))?;
    stage.table()?;

    chapter(
        4,
        "A cluster dies",
        "eu-2 stops answering. After 60 s it counts as lost, and what it ran starts elsewhere.",
    )?;
    stage.clusters().down("eu-2", true);
    let failover = stage.until("the replicas run elsewhere", |status| {
        ready(status, "checkout", "asia-1") + ready(status, "checkout", "eu-1") == 6
    })?;
    stage.table()?;

    chapter(5, "git revert brings it back", "A person reverts the failover. The new copies stay until eu-2 answers.")?;
    let Some(failover) = failover.iter().find(|commit| commit.cause == "Failover") else {
        return Err(Failure::Bug("the demo saw no failover".to_owned()));
    };
    clone.revert(&mut stage, "live", &failover.id)?;
    stage.until("the revert is followed", |status| cluster_state(status, "eu-2") == Some("Ready"))?;
    stage.table()?;
    say("\neu-2 answers again.\n")?;
    stage.clusters().down("eu-2", false);
    stage.until("eu-2 runs its share again", |status| all_current(status) && ready(status, "checkout", "eu-2") == 2)?;
    stage.table()?;
    clone.log()?;
    say("\nNext: `fleetwright init` writes a fleet of your own; `fleetwright controller` does this to real clusters.\n")
}

fn real(scratch: &Scratch, kubeconfig: &std::path::Path) -> Result<(), Failure> {
    let mut clusters = Clusters::of_kubeconfig(kubeconfig)?;
    clusters.forget()?;
    let names = clusters.names();
    let Some(first) = names.first().cloned() else {
        return Err(Failure::Usage(format!("{} has no contexts", kubeconfig.display())));
    };
    let mut clone = WorkingCopy::new(scratch.path(), &fleet::files_for(&names))?;
    let mut stage = Stage::open(scratch.path(), clusters)?;
    say(&format!("A fleet of {} real clusters: {}.\n", names.len(), names.join(", ")))?;

    pushes(&mut clone, &mut stage, "", "A shop")?;

    if names.len() > 1 {
        chapter(3, "A cluster is drained", &format!("{first} is drained: what it runs starts elsewhere first."))?;
        let drained = stage.drain(&first)?;
        stage.until("nothing runs there", |status| all_current(status) && ready(status, "checkout", &first) == 0)?;
        stage.table()?;

        chapter(4, "git revert brings it back", "")?;
        clone.revert(&mut stage, "live", &drained)?;
        stage
            .until("it runs its share again", |status| all_current(status) && ready(status, "checkout", &first) > 0)?;
        stage.table()?;
    }
    clone.log()?;
    chapter(5, "The demo cleans up", "All apps are deleted.")?;
    clone.remove("teams/shop/checkout")?;
    clone.push(&mut stage, "main", "The demo is over")?;
    stage.until("it is gone from all clusters", |status| {
        status.apps.is_empty() && status.clusters.iter().all(|cluster| cluster.applied == status.live)
    })?;
    stage.clusters().forget()?;
    say("\nThe namespaces `shop` and `fleetwright-system` are left in the clusters.\n")
}

/// The chapters that both stories begin with: a first push, and one that changes and deletes.
fn pushes(clone: &mut WorkingCopy, stage: &mut Stage, text: &str, first: &str) -> Result<(), Failure> {
    chapter(1, "A push deploys", text)?;
    clone.push(stage, "main", first)?;
    stage.until("everything is Current", all_current)?;
    stage.table()?;

    chapter(2, "Another push changes an image and deletes an app", "")?;
    clone.replace("teams/shop/checkout/checkout.yaml", "checkout:1.4.0", "checkout:1.5.0")?;
    clone.remove("teams/shop/promo")?;
    clone.push(stage, "main", "checkout 1.5.0; the promotion is over")?;
    stage.until("the app is gone from all clusters", |status| all_current(status) && app(status, "promo").is_none())?;
    stage.table()
}

fn say(text: &str) -> Result<(), Failure> {
    streams::data(text)
}

fn chapter(number: u32, title: &str, text: &str) -> Result<(), Failure> {
    say(&format!("\n== {number}. {title}\n"))?;
    if text.is_empty() { Ok(()) } else { say(&format!("{text}\n")) }
}

/// Every cluster is at the newest commit, and everything there is Current.
fn all_current(status: &Status) -> bool {
    !status.apps.is_empty()
        && status.apps.iter().all(|app| app.health == "Current" && app.ready == app.replicas)
        && status.clusters.iter().all(|cluster| cluster.applied == status.live)
}

fn cluster_state<'s>(status: &'s Status, name: &str) -> Option<&'s str> {
    status.clusters.iter().find(|cluster| cluster.name == name).map(|cluster| cluster.state.as_str())
}

fn app<'s>(status: &'s Status, name: &str) -> Option<&'s fleetwright_reconciler::controller::status::AppStatus> {
    status.apps.iter().find(|app| app.app == name)
}

fn ready(status: &Status, name: &str, cluster: &str) -> u64 {
    let placements = app(status, name).into_iter().flat_map(|app| &app.clusters);
    placements.filter(|placement| placement.cluster == cluster).map(|placement| placement.ready).sum()
}

/// A commit of the live branch, as the story shows it.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    id: SmolStr,
    cause: &'static str,
}
