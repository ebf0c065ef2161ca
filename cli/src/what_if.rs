//! `fleetwright what-if`: what a loss or another number would do, tried out on the plan.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{AppId, ClusterId, SmolStr};
use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::report::{self, ScenarioReport, WhatIfReport};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::what_if::{Changes, Loss, World, changed, in_use, settled, without, without_pools};
use fleetwright_compiler::{Compiled, Session};

use crate::args::{At, Format};
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::typed::{given_once, twice};
use crate::why::{app_named, cluster_named, nearest_of, unknown};
use crate::{fleet, output, streams};

/// Show what a loss, other replicas or other weights would do
///
/// Starts from the plan as if it had been reached, takes away what is supposed lost, and schedules again: what moves, what
/// runs nowhere, which quota, spread or floor no longer holds, and what each cluster has left. Nothing is written.
///
/// With `any-cluster` or `any-region` each is lost in turn, and everything else that is named is lost with it. Clusters and
/// regions in which nothing runs are left out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is lost: may be given several times, all of it is lost at once
    #[arg(long, value_name = "cluster=NAME|region=NAME|pool=CLUSTER/POOL|any-cluster|any-region")]
    lose: Vec<String>,

    /// Other replicas of an app, or of the workload that is named
    #[arg(long, value_name = "TEAM/APP[=WORKLOAD]=N")]
    replicas: Vec<String>,

    /// Other static weights of an app; clusters that are not named keep theirs
    #[arg(long, num_args = 2, value_names = ["TEAM/APP", "CLUSTER=WEIGHT,..."])]
    weight: Vec<String>,

    /// At this instant: the phases of tides that are due then, `now` for those that are due now
    ///
    /// Without it, tides stand as the record has them. `--rev` supposes another revision of the intents.
    #[arg(long, value_name = "INSTANT|now")]
    at: Option<At>,

    /// Show every scenario and name every cluster: the same as `-o wide`
    #[arg(long)]
    all: bool,

    /// Exit with 1 when something would be left undone
    #[arg(long)]
    exit_code: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Json, Format::Yaml, Format::Markdown];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    if args.lose.is_empty() && args.replicas.is_empty() && args.weight.is_empty() && args.at.is_none() {
        return Err(Failure::Usage("suppose something: `--lose`, `--replicas`, `--weight` or `--at`".into()));
    }
    let losses: Vec<Lose> = args.lose.iter().map(|text| Lose::parse(text)).collect::<Result<_, _>>()?;
    given_once("--lose", &args.lose)?;
    let opened = fleet::open(context)?;
    let session = Session::new();
    let compiled = fleet::compile(context, &session, &opened)?;
    let (mut changes, mut words) = changes(&compiled.fleet, args)?;
    pools(&compiled.fleet, &losses, &mut changes, &mut words)?;
    let then = match &args.at {
        None => None,
        Some(at) => {
            let instant = at.instant()?;
            words.push(format!("it is {instant}"));
            let scenario = Scenario { instant: Some(instant), ..Scenario::default() };
            Some(fleet::compile_supposing(context, &session, &opened, &scenario)?)
        }
    };
    fleet::say_missing_live(&opened);
    let then = then.as_ref().unwrap_or(&compiled);
    let scenarios = scenarios(&compiled, then, &changes, &losses)?;
    let report = WhatIfReport { record: opened.record(), scenarios, changes: words };
    let wide = args.all || context.format() == Format::Wide;
    streams::data(&match context.format() {
        Format::Markdown => report::what_if_markdown(&report),
        format => output::data(format, &report, || report::what_if_text(&report, wide))?,
    })?;
    let short = report.scenarios.iter().any(ScenarioReport::is_short);
    Ok(Outcome::of_differences(short, args.exit_code))
}

/// What `--lose` names.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Lose {
    This(Loss),
    Pool { cluster: String, pool: SmolStr },
    AnyCluster,
    AnyRegion,
}

impl Lose {
    fn parse(text: &str) -> Result<Self, Failure> {
        match (text, text.split_once('=')) {
            ("any-cluster", _) => Ok(Self::AnyCluster),
            ("any-region", _) => Ok(Self::AnyRegion),
            (_, Some(("cluster", name))) => Ok(Self::This(Loss::Cluster(name.into()))),
            (_, Some(("pool", name))) if name.contains('/') => {
                let (cluster, pool) = name.split_once('/').unwrap_or_default();
                Ok(Self::Pool { cluster: cluster.to_owned(), pool: pool.into() })
            }
            (_, Some(("region", name))) => Ok(Self::This(Loss::Region(name.into()))),
            _ => Err(Failure::Usage(format!(
                "`--lose {text}`: expected cluster=NAME, region=NAME, pool=CLUSTER/POOL, any-cluster or any-region"
            ))),
        }
    }
}

/// The losses that are named, each of them of something that exists.
fn named(fleet: &Fleet, losses: &[Lose]) -> Result<Vec<Loss>, Failure> {
    let mut named = BTreeSet::new();
    for lose in losses {
        let Lose::This(loss) = lose else { continue };
        match loss {
            Loss::Cluster(name) => {
                cluster_named(fleet, name)?;
            }
            Loss::Region(name) if loss.clusters(fleet).is_empty() => {
                let regions = fleet.clusters.iter().filter_map(|cluster| cluster.region.as_ref());
                return Err(unknown("region", name, nearest_of(name, regions.map(ToString::to_string))));
            }
            Loss::Region(_) => {}
        }
        named.insert(loss.clone());
    }
    Ok(named.into_iter().collect())
}

/// The pools that are supposed lost, each of a cluster that states it.
fn pools(fleet: &Fleet, losses: &[Lose], changes: &mut Changes, words: &mut Vec<String>) -> Result<(), Failure> {
    for lose in losses {
        let Lose::Pool { cluster, pool } = lose else { continue };
        let id = cluster_named(fleet, cluster)?;
        let stated = fleet.cluster(id).pools.iter().flatten().map(|pool| pool.name.to_string());
        let known: Vec<String> = stated.collect();
        if !known.iter().any(|name| name == pool) {
            let near = nearest_of(pool, known.into_iter());
            return Err(unknown(&format!("node pool of {cluster}"), pool, near));
        }
        words.push(format!("pool {pool} of {cluster} has no nodes"));
        changes.pools.push((id, pool.clone()));
    }
    Ok(())
}

/// `then` is the same fleet at the instant that is supposed.
fn scenarios(
    compiled: &Compiled,
    then: &Compiled,
    changes: &Changes,
    losses: &[Lose],
) -> Result<Vec<ScenarioReport>, Failure> {
    let named = named(&compiled.fleet, losses)?;
    let fleet = changed(&then.fleet, changes).map_err(|error| Failure::Usage(error.to_string()))?;
    let settled = settled(&compiled.fleet, &compiled.record, &compiled.target);
    let settled = without_pools(&fleet, settled, changes);
    let world = World { fleet: &fleet, variants: &then.variants, settled: &settled };
    let bug = |violations: Vec<String>| Failure::Bug(violations.iter().map(|v| format!("  {v}\n")).collect());
    let mut combinations = vec![named.clone()];
    if losses.contains(&Lose::AnyCluster) || losses.contains(&Lose::AnyRegion) {
        let used = in_use(&without(&world, &named).map_err(bug)?);
        let mut each: Vec<Loss> = Vec::new();
        if losses.contains(&Lose::AnyCluster) {
            each.extend(Loss::each_cluster(&fleet, &used));
        }
        if losses.contains(&Lose::AnyRegion) {
            each.extend(Loss::each_region(&fleet, &used));
        }
        combinations = each.into_iter().map(|loss| named.iter().cloned().chain([loss]).collect()).collect();
    }
    let all_clusters = combinations.len() == 1;
    let report = |losses: &Vec<Loss>| {
        let after = without(&world, losses).map_err(bug)?;
        Ok(report::scenario(compiled, &world, losses, &after, all_clusters))
    };
    combinations.iter().map(report).collect()
}

/// What the flags suppose, and the words for it.
fn changes(fleet: &Fleet, args: &Args) -> Result<(Changes, Vec<String>), Failure> {
    let (mut changes, mut words) = (Changes::default(), Vec::new());
    // What each flag was about, with its text.
    let mut given: Vec<(AppId, Option<&str>, &str)> = Vec::new();
    for text in &args.replicas {
        let form = || Failure::Usage(format!("`--replicas {text}`: expected TEAM/APP=N or TEAM/APP=WORKLOAD=N"));
        let (what, number) = text.rsplit_once('=').ok_or_else(form)?;
        let (app, workload) = what.split_once('=').map_or((what, None), |(app, workload)| (app, Some(workload)));
        let replicas: u32 = number.parse().ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(form)?;
        let id = app_named(fleet, app)?;
        // An app whose workload is left out has one alone.
        let same = |(of, named, _): &&(AppId, Option<&str>, &str)| {
            *of == id && (*named == workload || named.is_none() || workload.is_none())
        };
        if let Some((.., before)) = given.iter().find(same) {
            let what = format!("the replicas of {}", fleet.app_name(id));
            return Err(twice(&format!("`--replicas {before}`"), &format!("`--replicas {text}`"), &what));
        }
        given.push((id, workload, text));
        let of = workload.map(|workload| format!(" of {workload}")).unwrap_or_default();
        words.push(format!("{} has {replicas} replicas{of}", fleet.app_name(id)));
        changes.replicas.push((id, workload.map(SmolStr::from), replicas));
    }
    let mut weighed: BTreeMap<(AppId, ClusterId), String> = BTreeMap::new();
    for pair in args.weight.chunks(2) {
        let [app, weights] = pair else { continue };
        let id = app_named(fleet, app)?;
        let mut found = BTreeMap::new();
        for part in weights.split(',') {
            let (cluster, weight) = weight_of(fleet, part, weights)?;
            let flag = format!("`--weight {app} {part}`");
            if let Some(before) = weighed.insert((id, cluster), flag.clone()) {
                let what = format!("the weight of {} in {}", fleet.app_name(id), fleet.cluster(cluster).name);
                return Err(twice(&before, &flag, &what));
            }
            found.insert(cluster, weight);
        }
        words.push(format!("{} weighs {weights}", fleet.app_name(id)));
        changes.weights.push((id, found));
    }
    Ok((changes, words))
}

/// One of `eu-a=80,us-a=20`.
fn weight_of(fleet: &Fleet, part: &str, all: &str) -> Result<(ClusterId, u32), Failure> {
    let form = || Failure::Usage(format!("`--weight … {all}`: expected CLUSTER=WEIGHT, with commas between several"));
    let (cluster, weight) = part.split_once('=').ok_or_else(form)?;
    Ok((cluster_named(fleet, cluster)?, weight.parse().map_err(|_| form())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_lost() {
        for (text, expected) in [
            ("cluster=eu-a", Some(Lose::This(Loss::Cluster("eu-a".into())))),
            ("region=eu", Some(Lose::This(Loss::Region("eu".into())))),
            ("pool=eu-a/gpu", Some(Lose::Pool { cluster: "eu-a".into(), pool: "gpu".into() })),
            ("pool=gpu", None),
            ("any-cluster", Some(Lose::AnyCluster)),
            ("any-region", Some(Lose::AnyRegion)),
            ("eu-a", None),
            ("zone=a", None),
            ("any", None),
        ] {
            assert_eq!(Lose::parse(text).ok(), expected, "{text}");
        }
    }
}
