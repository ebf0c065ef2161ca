//! `fleetwright what-if`: what a loss or another number would do, tried out on the plan.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{ClusterId, SmolStr};
use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::report::{self, ScenarioReport, WhatIfReport};
use fleetwright_compiler::what_if::{Changes, Loss, World, changed, in_use, settled, without};
use fleetwright_compiler::{Compiled, Session};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
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
    #[arg(long, value_name = "cluster=NAME|region=NAME|any-cluster|any-region")]
    lose: Vec<String>,

    /// Other replicas of an app, or of the workload that is named
    #[arg(long, value_name = "TEAM/APP[=WORKLOAD]=N")]
    replicas: Vec<String>,

    /// Other static weights of an app; clusters that are not named keep theirs
    #[arg(long, num_args = 2, value_names = ["TEAM/APP", "CLUSTER=WEIGHT,..."])]
    weight: Vec<String>,

    /// Exit with 1 when something would be left undone
    #[arg(long)]
    exit_code: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Json, Format::Yaml, Format::Markdown];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    if args.lose.is_empty() && args.replicas.is_empty() && args.weight.is_empty() {
        return Err(Failure::Usage("suppose something: `--lose`, `--replicas` or `--weight`".into()));
    }
    let losses: Vec<Lose> = args.lose.iter().map(|text| Lose::parse(text)).collect::<Result<_, _>>()?;
    let opened = fleet::open(context)?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    let (changes, words) = changes(&compiled.fleet, args)?;
    fleet::say_record(&opened);
    let report = WhatIfReport { scenarios: scenarios(&compiled, &changes, &losses)?, changes: words };
    let wide = context.format() == Format::Wide;
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
    AnyCluster,
    AnyRegion,
}

impl Lose {
    fn parse(text: &str) -> Result<Self, Failure> {
        match (text, text.split_once('=')) {
            ("any-cluster", _) => Ok(Self::AnyCluster),
            ("any-region", _) => Ok(Self::AnyRegion),
            (_, Some(("cluster", name))) => Ok(Self::This(Loss::Cluster(name.into()))),
            (_, Some(("region", name))) => Ok(Self::This(Loss::Region(name.into()))),
            _ => Err(Failure::Usage(format!(
                "`--lose {text}`: expected cluster=NAME, region=NAME, any-cluster or any-region"
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

fn scenarios(compiled: &Compiled, changes: &Changes, losses: &[Lose]) -> Result<Vec<ScenarioReport>, Failure> {
    let named = named(&compiled.fleet, losses)?;
    let fleet = changed(&compiled.fleet, changes).map_err(|error| Failure::Usage(error.to_string()))?;
    let settled = settled(&compiled.fleet, &compiled.record, &compiled.target);
    let world = World { fleet: &fleet, variants: &compiled.variants, settled: &settled };
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
    for text in &args.replicas {
        let form = || Failure::Usage(format!("`--replicas {text}`: expected TEAM/APP=N or TEAM/APP=WORKLOAD=N"));
        let (what, number) = text.rsplit_once('=').ok_or_else(form)?;
        let (app, workload) = what.split_once('=').map_or((what, None), |(app, workload)| (app, Some(workload)));
        let replicas: u32 = number.parse().ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(form)?;
        let id = app_named(fleet, app)?;
        let of = workload.map(|workload| format!(" of {workload}")).unwrap_or_default();
        words.push(format!("{} has {replicas} replicas{of}", fleet.app_name(id)));
        changes.replicas.push((id, workload.map(SmolStr::from), replicas));
    }
    for pair in args.weight.chunks(2) {
        let [app, weights] = pair else { continue };
        let id = app_named(fleet, app)?;
        words.push(format!("{} weighs {weights}", fleet.app_name(id)));
        changes.weights.push((id, weights_of(fleet, weights)?));
    }
    Ok((changes, words))
}

/// `eu-a=80,us-a=20`
fn weights_of(fleet: &Fleet, text: &str) -> Result<BTreeMap<ClusterId, u32>, Failure> {
    let form = || Failure::Usage(format!("`--weight … {text}`: expected CLUSTER=WEIGHT, with commas between several"));
    let one = |pair: &str| {
        let (cluster, weight) = pair.split_once('=').ok_or_else(form)?;
        Ok((cluster_named(fleet, cluster)?, weight.parse().map_err(|_| form())?))
    };
    text.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_lost() {
        for (text, expected) in [
            ("cluster=eu-a", Some(Lose::This(Loss::Cluster("eu-a".into())))),
            ("region=eu", Some(Lose::This(Loss::Region("eu".into())))),
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
