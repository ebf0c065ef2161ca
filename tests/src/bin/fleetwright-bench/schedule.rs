//! Scheduling alone, of a fleet that was compiled before: CPU time, user and system, median of the runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::api::Survive;
use fleetwright_compiler::base::AppId;
use fleetwright_compiler::placements::Record;
use fleetwright_compiler::schedule::select::{Candidate, Class, Constraint, Need, select};
use fleetwright_compiler::schedule::{Scenario, Target};
use fleetwright_compiler::what_if::{settled, survival, used_by};
use fleetwright_tests::generate::Shape;

use crate::compile::compiled;

/// CPU time of all threads of this process in nanoseconds.
fn cpu_nanos() -> Result<u64, String> {
    let path = "/proc/self/task";
    let mut sum = 0;
    for thread in std::fs::read_dir(path).map_err(|e| format!("{path}: {e}"))? {
        let path = thread.map_err(|e| e.to_string())?.path().join("schedstat");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let nanos: Option<u64> = text.split_whitespace().next().and_then(|n| n.parse().ok());
        sum += nanos.ok_or_else(|| format!("{} has no CPU time", path.display()))?;
    }
    Ok(sum)
}

/// The median CPU time of so many runs, after one that does not count.
fn median(runs: u32, mut work: impl FnMut()) -> Result<u64, String> {
    work();
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        let start = cpu_nanos()?;
        work();
        times.push(cpu_nanos()? - start);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn micros(nanos: u64, parts: usize) -> f64 {
    nanos as f64 / 1000.0 / parts.max(1) as f64
}

fn scheduled(of: &Compiled, record: &Record) -> Target {
    fleetwright_compiler::schedule::schedule(&of.fleet, &of.variants, record, &Scenario::default())
}

/// Every hundredth app, as new.
fn one_in_a_hundred_new(of: &Compiled, record: &Record) -> (Record, usize) {
    let apps: Vec<AppId> = of.fleet.app_ids().step_by(100).collect();
    let mut record = record.clone();
    for id in &apps {
        let app = of.fleet.app(*id);
        record.apps.remove(&(of.fleet.team(app.team).name.clone(), app.name.clone()));
    }
    (record, apps.len())
}

/// CPU time for each app: of a fleet without a record, of one where all is settled, and where 1 % of the apps are new.
pub fn schedule(shape: Shape, runs: u32) -> Result<String, String> {
    let of = compiled(shape)?;
    let apps = of.fleet.apps.len();
    let settled = settled(&of.fleet, &of.record, &of.target);
    let (open, new) = one_in_a_hundred_new(&of, &settled);
    let time = |record: &Record| median(runs, || drop(std::hint::black_box(scheduled(&of, record))));
    let (fresh, quiet, some) = (time(&Record::default())?, time(&settled)?, time(&open)?);
    Ok(format!(
        "{apps} apps on {} clusters, CPU, median of {runs}\n\
         fresh:           {:8.2} ms, {:7.2} us for each app\n\
         settled:         {:8.2} ms, {:7.2} us for each app\n\
         1 % of them new: {:8.2} ms, {:7.2} us for each app; {:.1} us more for each of the {new} new ones",
        of.fleet.clusters.len(),
        fresh as f64 / 1e6,
        micros(fresh, apps),
        quiet as f64 / 1e6,
        micros(quiet, apps),
        some as f64 / 1e6,
        micros(some, apps),
        micros(some.saturating_sub(quiet), new),
    ))
}

/// CPU time in 20 and in 200 regions, where every app is spread over regions and clusters.
pub fn regions(shape: Shape, runs: u32) -> Result<String, String> {
    let mut out = format!("CPU, median of {runs}\n");
    let mut whole = Vec::new();
    for regions in [20, 200] {
        let of = compiled(Shape { regions, spread: true, ..shape })?;
        let apps = of.fleet.apps.len();
        let time = median(runs, || drop(std::hint::black_box(scheduled(&of, &Record::default()))))?;
        out.push_str(&format!(
            "{apps} apps on {} clusters in {regions} regions, fresh: {:.2} ms, {:.2} us for each app\n",
            of.fleet.clusters.len(),
            time as f64 / 1e6,
            micros(time, apps)
        ));
        whole.push(time);
    }
    out.push_str(&format!("200 regions cost {:.2} times as much as 20\n", whole[1] as f64 / whole[0] as f64));
    for class in [Class::Widest, Class::Fewest, Class::Duplicated] {
        let times = [20, 200].map(|regions| {
            let candidates = candidates(shape.clusters, regions);
            median(runs, || (0..SELECTIONS).for_each(|_| select_once(&candidates, class)))
        });
        let [few, many] = times;
        let (few, many) = (few?, many?);
        out.push_str(&format!(
            "selection alone, {class:?}: {:.1} us in 20 regions, {:.1} us in 200: {:.2} times as much\n",
            micros(few, SELECTIONS),
            micros(many, SELECTIONS),
            many as f64 / few as f64
        ));
    }
    Ok(out)
}

/// So many at a time: the kernel adds CPU time up in steps of some milliseconds.
const SELECTIONS: usize = 500;

/// What an app of which nothing is placed may choose from.
fn candidates(clusters: u32, regions: u32) -> Vec<Candidate> {
    let candidate = |cluster: u32| Candidate {
        room: Some(u64::from(cluster.wrapping_mul(2_654_435_761) >> 20)),
        held: false,
        kept: 0,
        pinned: false,
        weight: 1,
        tier: 0,
        groups: vec![Some(cluster.wrapping_mul(40_503) % regions), Some(cluster)],
    };
    (0..clusters).map(candidate).collect()
}

/// Selects for one app: 2 to 3 regions, 2 to 5 clusters.
fn select_once(candidates: &[Candidate], class: Class) {
    let constraints = [Constraint { min: 2, max: Some(3) }, Constraint { min: 2, max: Some(5) }];
    let need = Need { replicas: 40, per_cluster_min: 0, class, all_or_nothing: false, fresh: false };
    let selection = std::hint::black_box(select(candidates, &constraints, &need));
    assert!(selection.failure.is_none(), "{selection:?}");
}

/// CPU time to try the loss of each cluster that apps must survive: for one app in a hundred, and for every app.
pub fn survive(shape: Shape, runs: u32) -> Result<String, String> {
    let mut of = compiled(shape)?;
    let mut out = String::new();
    for (step, runs) in [(100, runs), (10, runs)] {
        let ids: Vec<AppId> = of.fleet.app_ids().step_by(step).collect();
        for id in &ids {
            Arc::make_mut(&mut of.fleet.apps[id.index()]).survive = Some(Survive::AnyCluster);
        }
        let used: BTreeSet<_> = ids
            .iter()
            .filter_map(|id| of.target.apps.get(id.index()))
            .flat_map(|app| used_by(app).iter().collect::<Vec<_>>())
            .collect();
        let (fleet, variants, record, target) = (&of.fleet, &of.variants, &of.record, &of.target);
        let mut lapses = 0;
        let time = median(runs, || {
            lapses = survival(fleet, variants, record, target).map_or(0, |l| l.len());
        })?;
        out.push_str(&format!(
            "{} of {} apps survive any cluster: {} losses on {} clusters, {:.1} ms CPU, {:.2} ms for each loss; {lapses} lapses\n",
            ids.len(),
            fleet.apps.len(),
            used.len(),
            fleet.clusters.len(),
            time as f64 / 1e6,
            time as f64 / 1e6 / used.len().max(1) as f64,
        ));
    }
    Ok(out)
}
