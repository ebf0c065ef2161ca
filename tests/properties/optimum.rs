//! Each app, given what was placed before it, gets as many replicas as any allowed division of them places: every division
//! over every set of clusters is tried.

use std::collections::BTreeMap;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::SmolStr;
use fleetwright_tests::oracle::placement::{Site, best, most_copies};
use proptest::prelude::*;

use crate::cases;
use crate::crowded_fleet::{CrowdedFleet, Shape, Wish, crowded_fleet};
use crate::reading::{Seats, Turn, compiled, selected};

/// What a turn can come to: replicas (of copies, those of one), and the fewest clusters they can be in (of copies, the most).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    placed: u32,
    clusters: usize,
}

const NOTHING: Outcome = Outcome { placed: 0, clusters: 0 };

/// The best outcome over some of the clusters; `had` is what stays where not all of it is found a place for.
fn outcome(wish: &Wish, sites: &[Site], wanted: u32, had: u32) -> Outcome {
    let constraints = wish.constraints();
    if wish.is_copied() {
        return most_copies(sites, &constraints, wanted)
            .map_or(NOTHING, |clusters| Outcome { placed: wanted, clusters });
    }
    let (placed, clusters) = best(sites, &constraints, wanted).unwrap_or((0, 0));
    if placed < had || (wish.capacity() == "Require" && placed < wanted) {
        return Outcome { placed: had, clusters: 0 };
    }
    Outcome { placed, clusters }
}

/// The same where the app may be in one tier of several: the first that holds all of it, else the one that holds most.
fn outcome_of_tiers(wish: &Wish, sites: &[Site], wanted: u32, had: u32) -> Outcome {
    let Some(tiers) = wish.one_of_tiers() else { return outcome(wish, sites, wanted, had) };
    let only = |tier: &Vec<usize>| -> Vec<Site> {
        let closed = |site: &Site| Site { most: 0, ..site.clone() };
        let of = |(at, site): (usize, &Site)| if tier.contains(&at) { site.clone() } else { closed(site) };
        sites.iter().enumerate().map(of).collect()
    };
    let outcomes = tiers.iter().map(|tier| outcome(wish, &only(tier), wanted, had));
    let outcomes: Vec<Outcome> = outcomes.collect();
    let whole = outcomes.iter().find(|outcome| outcome.placed == wanted);
    whole.or_else(|| outcomes.iter().max_by_key(|outcome| outcome.placed)).copied().unwrap_or(NOTHING)
}

/// Whether a team may have so much more.
fn is_granted(turn: &Turn<'_>, outcome: Outcome) -> bool {
    if turn.wish().team != 0 {
        return true;
    }
    let fleet = turn.fleet;
    let of_team = |app: usize, workload: usize| {
        (turn.placed)(app, workload) && fleet.wishes.get(app).is_some_and(|wish| wish.team == 0)
    };
    let [cpu_milli, pods, _] = turn.seats.asked(fleet, None, &of_team);
    let more = if turn.wish().is_copied() {
        outcome.placed * u32::try_from(outcome.clusters).unwrap_or(0)
    } else {
        outcome.placed
    };
    let fits = |used: u32, each: u32, most: Option<u32>| most.is_none_or(|most| used + more * each <= most);
    fits(cpu_milli, fleet.cpu_milli(turn.who.0, turn.who.1), fleet.limits.cpus.map(|cpus| cpus * 1000))
        && fits(pods, 1, fleet.limits.pods)
}

/// The other members of an app's group, those that are placed before it first.
fn group(fleet: &CrowdedFleet, app: usize) -> Vec<usize> {
    let same = |other: &usize| {
        let (a, b) = (fleet.wishes.get(app), fleet.wishes.get(*other));
        a.zip(b).is_some_and(|(a, b)| a.group.is_some() && a.team == b.team && a.group == b.group)
    };
    fleet.order().into_iter().filter(same).collect()
}

/// Whether its group lets an app come to a cluster, given who is placed before it.
fn is_open(compiled: &Compiled, fleet: &CrowdedFleet, seats: &Seats, app: usize, cluster: usize) -> bool {
    let Some((anti, _)) = fleet.wishes.get(app).and_then(|wish| wish.group) else { return true };
    let members = group(fleet, app);
    let before = members.iter().take_while(|member| **member != app);
    if anti {
        // an app of no replicas is in all clusters that are selected for it
        let idle = |app: usize| fleet.wishes.get(app).is_some_and(|wish| wish.workloads.iter().all(|(n, _)| *n == 0));
        return before.into_iter().all(|member| match idle(*member) {
            true => !selected(compiled, *member).contains(&cluster),
            false => !seats.clusters(*member).contains(&cluster),
        });
    }
    match members.first() {
        Some(first) if *first != app => selected(compiled, *first).contains(&cluster),
        // the first goes where all may be, which have the keys that these are spread over
        _ => members.iter().all(|member| {
            fleet.wishes.get(*member).is_some_and(|wish| {
                fleet.may_come(&Wish { weights: None, ..wish.clone() }, cluster)
                    && fleet.groups(wish, cluster).iter().all(Option::is_some)
            })
        }),
    }
}

const SHAPE: Shape = Shape { apps: 4, pairs: true, quotas: true, groups: true };

/// One workload, of which there is something to place.
fn is_judged(wish: &Wish) -> bool {
    matches!(wish.workloads.as_slice(), [(replicas, _)] if *replicas > 0)
}

fn plain(mut fleet: CrowdedFleet) -> CrowdedFleet {
    // how many Deployments there are depends on which of several best divisions is taken
    fleet.limits.deployments = None;
    fleet
}

proptest! {
    #![proptest_config(cases(60, 100_000))]

    #[test]
    fn of_new_apps_each_is_placed_as_far_as_possible(fleet in crowded_fleet(SHAPE)) {
        let fleet = plain(fleet);
        let compiled = compiled(&fleet.build())?;
        let seats = Seats::read(&compiled);
        let order = fleet.order();
        for (position, app) in order.iter().enumerate() {
            let Some(wish) = fleet.wishes.get(*app).filter(|wish| is_judged(wish)) else { continue };
            let earlier = order.get(..position).unwrap_or_default();
            let turn = Turn {
                fleet: &fleet,
                seats: &seats,
                who: (*app, 0),
                placed: &|other, _| earlier.contains(&other),
                open: &|cluster| is_open(&compiled, &fleet, &seats, *app, cluster),
            };
            let places = seats.by_cluster(*app, 0);
            // the first of those that share their clusters leaves out where the others have no room
            let leads = wish.group.is_some_and(|(anti, _)| !anti) && group(&fleet, *app).first() == Some(app);
            let mut sites = turn.sites(&|_| 0);
            let mut right = outcome_of_tiers(wish, &sites, turn.wanted(), 0);
            if wish.is_copied() && leads && (1..right.clusters).contains(&places.len()) {
                let idle = |member: usize| fleet.wishes.get(member).is_none_or(|wish| wish.workloads.iter().all(|(n, _)| *n == 0));
                let others = group(&fleet, *app).into_iter().filter(|member| member != app);
                prop_assert!(others.into_iter().any(|member| !idle(member)), "nobody else needs room: {places:?}, {sites:?}");
                let blind = |(cluster, site): (usize, &Site)| {
                    let unknown = fleet.sites.get(cluster).is_some_and(|site| site.pools.is_none());
                    unknown && site.most >= turn.wanted() && !places.contains_key(&cluster)
                };
                let unseen = wish.spread.is_empty() && wish.tiers.is_none() && sites.iter().enumerate().any(blind);
                prop_assert!(!unseen, "nothing says that there is no room for the others: {places:?}, {sites:?}");
                // then its quota is asked for those that are left
                right.clusters = places.len();
            }
            if !is_granted(&turn, right) {
                // When all the others are placed, what there is room for may be little enough for the quota.
                let last = Turn { placed: &|other, _| other != *app, ..turn };
                let in_the_end = last.sites(&|_| 0);
                let then = outcome_of_tiers(wish, &in_the_end, last.wanted(), 0);
                let gets = !seats.clusters(*app).is_empty() && is_granted(&last, then);
                (sites, right) = (in_the_end, if gets { then } else { NOTHING });
            }
            let shown = format!("app {app} is in {places:?}, {right:?} is right; {sites:?}");
            if wish.is_copied() && leads {
                prop_assert!(places.values().all(|n| *n == right.placed), "{}", shown);
                prop_assert_eq!(places.is_empty(), right.clusters == 0, "{}", shown);
            } else if wish.is_copied() {
                prop_assert!(places.values().all(|n| *n == right.placed), "{}", shown);
                prop_assert_eq!(places.len(), right.clusters, "{}", shown);
            } else {
                prop_assert_eq!(seats.total(*app, 0), right.placed, "{}", shown);
            }
            if wish.strategy == "Aggregated" && !leads && wish.tiers.is_none() && right.placed == turn.wanted() {
                prop_assert_eq!(places.len(), right.clusters, "fewest clusters: {}", shown);
            }
        }
    }

    /// A settled app that wants more gets as much as any division would give it, its own replicas moved or not.
    #[test]
    fn a_settled_app_grows_as_far_as_possible(fleet in crowded_fleet(SHAPE), app in 0_usize..4, more in 1_u32..5) {
        let mut fleet = plain(fleet);
        let app = app % fleet.wishes.len();
        let ran = compiled(&fleet.build())?;
        let before = Seats::read(&ran);
        let judged = |wish: &&mut Wish| is_judged(wish) && !wish.is_copied() && wish.group.is_none() && wish.tiers.is_none();
        let Some(wish) = fleet.wishes.get_mut(app).filter(judged) else { return Ok(()) };
        wish.workloads.iter_mut().for_each(|(replicas, _)| *replicas += more);
        let wish = wish.clone();
        let now = compiled(&fleet.build().placed(&ran))?;
        let seats = Seats::read(&now);
        let had = before.total(app, 0);
        let turn = Turn {
            fleet: &fleet,
            seats: &seats,
            who: (app, 0),
            placed: &|other, _| other != app,
            open: &|_| true,
        };
        let own = before.by_cluster(app, 0);
        let sites: Vec<Site> = turn.sites(&|_| 0).into_iter().enumerate().map(|(at, site)| {
            let held = own.get(&at).copied().unwrap_or(0);
            // what runs is not stopped because its floor no longer fits
            let least = if held > 0 { site.least.min(site.most) } else { site.least };
            Site { most: site.most.max(held), least, ..site }
        }).collect();
        let right = outcome(&wish, &sites, turn.wanted(), had);
        let placed = seats.total(app, 0);
        let right = if is_granted(&turn, right) { right.placed } else { had };
        prop_assert_eq!(placed, right, "from {:?} to {:?}; {:?}", own, seats.by_cluster(app, 0), sites);
    }
}

/// What these properties prove depends on what is in the fleets.
#[test]
fn crowded_fleets_hold_everything_that_matters() {
    use fleetwright_compiler::diff::Shortfall;
    use fleetwright_compiler::report::plan;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<SmolStr, usize> = BTreeMap::new();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..300 {
        let fleet = crowded_fleet(SHAPE).new_tree(&mut runner).expect("a fleet can be drawn").current();
        let Ok(compiled) = compiled(&fleet.build()).map_err(|why| *refused.entry(why.to_string()).or_default() += 1)
        else {
            continue;
        };
        let report = plan(&compiled);
        let seats = Seats::of(&report);
        let mut note = |what: &str| *seen.entry(what.into()).or_default() += 1;
        note("compiles");
        for short in &report.shortfalls {
            note(match short.shortfall {
                Shortfall::Unplaced { .. } => "unplaced",
                Shortfall::Spread { .. } => "spread",
                Shortfall::Quota { cluster: None, .. } => "quota",
                Shortfall::Quota { .. } => "quota of a cluster",
                Shortfall::NoWeightMatches { .. } => "no weight",
                _ => "other",
            });
        }
        for (app, wish) in fleet.wishes.iter().enumerate() {
            let used = seats.clusters(app).len();
            note(if used > 1 { wish.strategy } else { "one cluster at most" });
            if used > 1 && !wish.spread.is_empty() {
                note("spread over several");
            }
            if used > 0 && group(&fleet, app).len() > 1 {
                note(if wish.group.is_some_and(|(anti, _)| anti) { "apart" } else { "together" });
            }
        }
    }
    assert!(seen.get("compiles").copied() > Some(250), "{seen:?} {refused:?}");
    let strategies = ["Duplicated", "StaticWeight", "DynamicWeight", "Aggregated"];
    let shortfalls = ["unplaced", "spread", "quota", "quota of a cluster"];
    let rest = ["spread over several", "apart", "together"];
    for what in strategies.into_iter().chain(shortfalls).chain(rest) {
        assert!(seen.get(what).copied() > Some(3), "{what}: {seen:?}");
    }
}
