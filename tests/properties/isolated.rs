//! A change of one app moves another only where room, quota or a group forced it: that is so, and the plan and the diff say so.

use fleetwright_compiler::diff::{Forced, Why, diff};
use fleetwright_compiler::report::plan;
use fleetwright_tests::oracle::room::holds;
use proptest::prelude::*;

use crate::cases;
use crate::crowded_fleet::{CrowdedFleet, Shape, Wish, crowded_fleet};
use crate::reading::{Seats, compiled, number};

const SHAPE: Shape = Shape { apps: 5, pairs: true, quotas: true, groups: true };

/// What happens to one app.
#[derive(Clone, Debug)]
enum Edit {
    Replicas(u32),
    /// Of its pods, by number.
    Size(usize),
    Weights(Vec<u32>),
    Strategy(&'static str),
    /// It is another app.
    Take,
    /// The last app goes.
    Remove,
    /// There is one more.
    Add,
}

fn edit() -> impl Strategy<Value = Edit> {
    let strategy = prop_oneof![Just("StaticWeight"), Just("DynamicWeight"), Just("Aggregated")];
    prop_oneof![
        4 => (0_u32..12).prop_map(Edit::Replicas),
        3 => (0_usize..3).prop_map(Edit::Size),
        1 => proptest::collection::vec(0_u32..5, 5).prop_map(Edit::Weights),
        1 => strategy.prop_map(Edit::Strategy),
        2 => Just(Edit::Take),
        2 => Just(Edit::Remove),
        2 => Just(Edit::Add),
    ]
}

/// The fleet after an edit of an app, and which app that is.
fn edited(fleet: &CrowdedFleet, app: usize, edit: &Edit, other: &CrowdedFleet) -> (CrowdedFleet, usize) {
    let mut after = fleet.clone();
    let clusters = fleet.sites.len();
    let last = fleet.wishes.len();
    let taken = other.wishes.first().cloned().map(|mut wish| {
        wish.make_valid(clusters);
        wish
    });
    match edit {
        Edit::Remove => {
            after.wishes.pop();
            return (after, last - 1);
        }
        Edit::Add => {
            after.wishes.extend(taken);
            return (after, last);
        }
        Edit::Replicas(_) | Edit::Size(_) | Edit::Weights(_) | Edit::Strategy(_) | Edit::Take => {}
    }
    let Some(wish) = after.wishes.get_mut(app) else { return (after, app) };
    match edit {
        Edit::Replicas(n) => wish.workloads.iter_mut().for_each(|(replicas, _)| *replicas = *n),
        Edit::Size(n) => wish.workloads.iter_mut().for_each(|(_, size)| *size = *n),
        Edit::Weights(weights) if wish.strategy == "StaticWeight" => wish.weights = Some(weights.clone()),
        Edit::Strategy(strategy) => {
            wish.strategy = strategy;
            wish.weights = None;
        }
        Edit::Take => *wish = taken.map_or_else(|| wish.clone(), |taken| Wish { team: wish.team, ..taken }),
        Edit::Weights(_) | Edit::Remove | Edit::Add => {}
    }
    (after, app)
}

/// Whether what ran in a cluster, with the sizes of today, is more than its nodes hold.
fn is_overdrawn(after: &CrowdedFleet, ran: &Seats, cluster: usize) -> bool {
    let pools = after.sites.get(cluster).and_then(|site| site.pools.as_ref());
    let counts = |app: usize, _: usize| after.wishes.get(app).is_some_and(|wish| wish.capacity() != "Ignore");
    let known = |app: usize, workload: usize| app < after.wishes.len() && counts(app, workload);
    pools
        .into_iter()
        .flatten()
        .enumerate()
        .any(|(pool, of)| !holds(of.nodes(), &ran.in_pool(after, (cluster, pool), &known)))
}

fn is_of_a_group(fleet: &CrowdedFleet, app: usize) -> bool {
    fleet.wishes.get(app).is_some_and(|wish| wish.group.is_some())
}

/// Whether an app lacked something before, so that it may take what others give back.
fn is_short(fleet: &CrowdedFleet, ran: &Seats, app: usize) -> bool {
    let Some(wish) = fleet.wishes.get(app) else { return false };
    let mut workloads = wish.workloads.iter().enumerate();
    if wish.is_copied() {
        return workloads.any(|(workload, (wanted, _))| {
            let copies = ran.by_cluster(app, workload);
            let able = (0..fleet.sites.len()).filter(|cluster| fleet.may_come(wish, *cluster));
            *wanted > 0 && able.into_iter().any(|cluster| copies.get(&cluster).is_none_or(|n| n < wanted))
        });
    }
    workloads.any(|(workload, (wanted, _))| ran.total(app, workload) < *wanted)
}

proptest! {
    #![proptest_config(cases(80, 100_000))]

    #[test]
    fn a_change_of_one_app_moves_another_only_where_it_must(
        fleet in crowded_fleet(SHAPE),
        other in crowded_fleet(SHAPE),
        app in 0_usize..5,
        edit in edit(),
    ) {
        let fresh = compiled(&fleet.build())?;
        let base = compiled(&fleet.build().placed(&fresh))?;
        let (after, changed) = edited(&fleet, app % fleet.wishes.len(), &edit, &other);
        let head = compiled(&after.build().placed(&fresh))?;
        let (ran, runs) = (Seats::read(&base), Seats::read(&head));

        for app in (0..fleet.wishes.len()).filter(|app| *app != changed) {
            let grouped = is_of_a_group(&fleet, app);
            for workload in 0..2 {
                let (had, has) = (ran.by_cluster(app, workload), runs.by_cluster(app, workload));
                let shown = format!("app {app}, workload {workload}: {had:?} -> {has:?} when app {changed} changed");
                let lost: Vec<usize> = had.iter().filter(|(c, n)| has.get(c).copied().unwrap_or(0) < **n).map(|(c, _)| *c).collect();
                let gained = has.iter().any(|(cluster, n)| had.get(cluster).copied().unwrap_or(0) < *n);
                let displaced = (0..fleet.sites.len()).any(|cluster| ran.clusters(app).contains(&cluster) && is_overdrawn(&after, &ran, cluster));
                let short = is_short(&fleet, &ran, app);
                for cluster in &lost {
                    let fits = !is_overdrawn(&after, &ran, *cluster);
                    // who was short, and finds room for more of it elsewhere, goes there
                    prop_assert!(!fits || grouped || short || displaced, "{shown}: cluster {cluster} holds them");
                }
                prop_assert!(!gained || grouped || short || displaced, "{shown}: it had all");
            }
        }

        // the plan: what leaves leaves for want of room, or for the group; what comes takes its place, or was short
        for step in plan(&head).moves.iter().filter(|step| number(&step.app) != changed) {
            let known = match step.cause {
                "Displaced" | "Room" | "Group" | "Refill" => true,
                // it was short, and is not any more
                "Total" => step.after > step.before && is_short(&fleet, &ran, number(&step.app)),
                _ => false,
            };
            prop_assert!(known, "{:?} when app {} changed", step, changed);
        }

        // the diff: each row says which of the three it was
        let found = diff(&base, &head);
        for app in found.placements.iter().filter(|app| number(&app.app) != changed) {
            for workload in &app.workloads {
                // a manifest of no replicas moves without a word
                for row in workload.clusters.iter().filter(|row| row.before.unwrap_or(0) != row.after.unwrap_or(0)) {
                    let forced = |why: &Why| match why {
                        Why::Forced { by } => matches!(by, Forced::Room | Forced::Quota | Forced::Group),
                        Why::Shortfall { .. } | Why::Verdict { .. } => true,
                        Why::Move { reason } => {
                            ["no longer holds", "take the place", "room for more", "its group"].iter().any(|of| reason.contains(of))
                        }
                        _ => false,
                    };
                    let whys: Vec<&Why> = row.why.iter().chain(&workload.why).collect();
                    prop_assert!(!whys.is_empty() && whys.iter().all(|why| forced(why)), "{}: {:?} {:?}", app.app, row, workload.why);
                }
            }
        }
    }
}

/// Pods of one app grow, and the zone no longer holds both: the other app goes to the zone that holds all of it, and for each
/// cluster the plan says why.
#[test]
fn a_plan_says_why_an_app_moves_that_nobody_changed() {
    use fleetwright_tests::fleet::{FleetBuilder, deployment, pool};
    use serde_json::json;

    let fleet = |cpu: &str| {
        let node = || json!([pool("p", 1, "4", "64Gi")]);
        let big =
            json!({ "placement": { "clusters": { "names": ["c0"] }, "replicas": { "strategy": "StaticWeight" } } });
        let spread = json!([{ "topologyKey": "zone", "max": 1 }]);
        let web = json!({ "placement": { "spread": spread, "replicas": { "strategy": "StaticWeight" } } });
        FleetBuilder::new()
            .cluster("c0", json!({ "zones": ["z0"], "nodePools": node() }))
            .cluster("c1", json!({ "zones": ["z1"] }))
            .cluster("c2", json!({ "zones": ["z0"], "nodePools": node() }))
            .open_team("t0")
            .app("t0", "big", big, &[deployment("big", 1, cpu, "64Mi")])
            .app("t0", "web", web, &[deployment("web", 5, "1", "64Mi")])
    };
    let ran = compiled(&fleet("1")).expect("it compiles");
    let moved = compiled(&fleet("4").placed(&ran)).expect("it compiles");
    let moves =
        plan(&moved).moves.into_iter().map(|of| format!("{} {} -> {} {}", of.cluster, of.before, of.after, of.cause));
    assert_eq!(moves.collect::<Vec<_>>(), ["c0 2 -> 0 Displaced", "c1 0 -> 5 Refill", "c2 3 -> 0 Room"]);
}
