//! Steps of moves: what each of them is, what never happens between two, and that they arrive.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::api::{IntOrPercent, Strategy};
use crate::placements::PlacedSeat;
use crate::schedule::fixture::FleetFixture;

fn app(replicas: u32) -> Arc<App> {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.add(fleet.app("web", Strategy::StaticWeight).deployment(replicas));
    Arc::clone(&fleet.fleet.apps[0])
}

/// Seats such as `a=8 b/spot=4 c=2:1-9` (an autoscaler's bounds) of the app's one workload.
fn placed(app: &App, weights: &str, seats: &str) -> PlacedApp {
    let seat = |text: &str| {
        let (at, counts) = text.split_once('=').unwrap();
        let (cluster, pool) = at.split_once('/').map_or((at, None), |(c, p)| (c, Some(p.into())));
        let (replicas, bounds) = counts.split_once(':').map_or((counts, None), |(n, b)| (n, b.split_once('-')));
        let bounds = bounds.map(|(min, max)| (min.parse().unwrap(), max.parse().unwrap()));
        let replicas = replicas.parse().unwrap();
        PlacedSeat { cluster: cluster.into(), pool, replicas, completions: None, bounds }
    };
    let mut seats: Vec<PlacedSeat> = seats.split_whitespace().map(seat).collect();
    seats.sort();
    let mut clusters: Vec<SmolStr> = seats.iter().map(|seat| seat.cluster.clone()).collect();
    clusters.dedup();
    let workload = PlacedWorkload { weights: weights.into(), seats, gave_way: Vec::new() };
    let workloads = [(app.workloads[0].key.clone(), workload)].into();
    PlacedApp { place: None, tier: None, clusters, workloads }
}

fn shown(placed: &PlacedApp) -> String {
    let text = |seat: &PlacedSeat| {
        let pool = seat.pool.as_ref().map(|pool| format!("/{pool}")).unwrap_or_default();
        let bounds = seat.bounds.map(|(min, max)| format!(":{min}-{max}")).unwrap_or_default();
        format!("{}{pool}={}{bounds}", seat.cluster, seat.replicas)
    };
    placed.workloads.values().flat_map(|w| &w.seats).map(text).collect::<Vec<_>>().join(" ")
}

fn steps(max: IntOrPercent) -> Steps {
    Steps { max, every_secs: 0, deadline_secs: None }
}

/// What runs after each raise and each lowering, until it is there.
fn walk(app: &App, steps: &Steps, before: &PlacedApp, target: &PlacedApp) -> Vec<String> {
    let mut now = lower(app, before, target);
    let mut seen = if is_there(&now, before) { Vec::new() } else { vec![shown(&now)] };
    while !is_there(&now, target) {
        for next in [raise(app, steps, &now, target, &mut |_, wanted| wanted), PlacedApp::clone(target)] {
            now = if is_there(&next, target) && is_raised(app, &now, target) { lower(app, &now, target) } else { next };
            if is_there(&now, target) && seen.last() == Some(&shown(&now)) {
                break;
            }
            seen.push(shown(&now));
            assert!(seen.len() < 100, "{seen:?}");
        }
        now = lower(app, &now, target);
    }
    seen
}

#[test]
fn each_step_raises_then_lowers() {
    for (total, max, before, target, expected) in [
        // 80:20 to 20:80, two at a time
        (
            10,
            IntOrPercent::Percent(20),
            "a=8 b=2",
            "a=2 b=8",
            vec!["a=8 b=4", "a=6 b=4", "a=6 b=6", "a=4 b=6", "a=4 b=8", "a=2 b=8"],
        ),
        (10, IntOrPercent::Int(100), "a=8 b=2", "a=2 b=8", vec!["a=8 b=8", "a=2 b=8"]),
        // a share is rounded up, and never nothing
        (3, IntOrPercent::Percent(1), "a=2 b=1", "a=1 b=2", vec!["a=2 b=2", "a=1 b=2"]),
        // four more in all come at once, beside the step
        (14, IntOrPercent::Int(3), "a=10", "a=4 b=10", vec!["a=10 b=7", "a=7 b=7", "a=7 b=10", "a=4 b=10"]),
        // four fewer in all go at once
        (6, IntOrPercent::Int(2), "a=10", "a=2 b=4", vec!["a=6", "a=6 b=2", "a=4 b=2", "a=4 b=4", "a=2 b=4"]),
        // in proportion to what is still to come
        (
            20,
            IntOrPercent::Int(6),
            "a=20",
            "b=8 c=12",
            vec![
                "a=20 b=2 c=4",
                "a=14 b=2 c=4",
                "a=14 b=5 c=7",
                "a=8 b=5 c=7",
                "a=8 b=7 c=11",
                "a=2 b=7 c=11",
                "a=2 b=8 c=12",
                "b=8 c=12",
            ],
        ),
        // pools of a cluster are rows of their own
        (
            4,
            IntOrPercent::Int(2),
            "a=4",
            "b/p=2 b/q=2",
            vec!["a=4 b/p=1 b/q=1", "a=2 b/p=1 b/q=1", "a=2 b/p=2 b/q=2", "b/p=2 b/q=2"],
        ),
        // the bounds of an autoscaler go along in proportion
        (
            8,
            IntOrPercent::Int(4),
            "a=8:8-40",
            "b=8:8-40",
            vec!["a=8:8-40 b=4:4-20", "a=4:4-20 b=4:4-20", "a=4:4-20 b=8:8-40", "b=8:8-40"],
        ),
    ] {
        let app = app(total);
        let (before, target) = (placed(&app, "b3:0", before), placed(&app, "b3:1", target));
        let steps = steps(max);
        assert_eq!(walk(&app, &steps, &before, &target), expected);
        let lowered = expected.len() % 2;
        assert_eq!(
            usize::try_from(count(&app, &steps, &before, &target)).unwrap(),
            (expected.len() - lowered) / 2,
            "{expected:?}"
        );
    }
}

#[test]
fn the_digest_changes_with_the_last_step_and_clusters_that_are_left_are_still_its_clusters() {
    let app = app(10);
    let (before, target) = (placed(&app, "b3:0", "a=8 b=2"), placed(&app, "b3:1", "b=10"));
    let digest = |placed: &PlacedApp| placed.workloads.values().map(|w| w.weights.clone()).collect::<Vec<_>>();
    let steps = steps(IntOrPercent::Int(8));
    let raised = raise(&app, &steps, &before, &target, &mut |_, wanted| wanted);
    assert_eq!((shown(&raised).as_str(), digest(&raised)), ("a=8 b=10", vec!["b3:0".into()]));
    assert_eq!(raised.clusters, ["a", "b"]);
    assert!(is_raised(&app, &raised, &target) && !is_raised(&app, &before, &target));
    let done = lower(&app, &raised, &target);
    assert_eq!((shown(&done).as_str(), digest(&done), done.clusters.len()), ("b=10", vec!["b3:1".into()], 1));
}

#[test]
fn only_what_fits_is_raised() {
    let app = app(10);
    let (before, target) = (placed(&app, "b3:0", "a=10"), placed(&app, "b3:1", "b=5 c=5"));
    let mut asked = Vec::new();
    let next = raise(&app, &steps(IntOrPercent::Int(6)), &before, &target, &mut |row, wanted| {
        asked.push(format!("{} {wanted}", row.cluster));
        if row.cluster == "b" { 1 } else { wanted }
    });
    assert_eq!(shown(&next), "a=10 b=1 c=3");
    assert_eq!(asked, ["b 3", "c 3"]);
    // what has room later is part of the same step
    let more = raise(&app, &steps(IntOrPercent::Int(6)), &next, &target, &mut |_, wanted| wanted);
    assert_eq!(shown(&more), "a=10 b=2 c=4");
}

#[test]
fn what_only_grows_or_shrinks_takes_no_steps_and_neither_does_what_is_not_divided() {
    for (before, target, expected) in [
        ("a=8 b=2", "a=8 b=4", false),
        ("a=8 b=2", "a=8", false),
        ("a=8 b=2", "a=2 b=8", true),
        ("a/p=8", "a/q=8", false),
        ("", "a=8", false),
    ] {
        let app = app(10);
        assert_eq!(needs_steps(&app, &placed(&app, "d", before), &placed(&app, "d", target)), expected, "{before}");
    }
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.add(fleet.app("whole", Strategy::StaticWeight).deployment(4).with_workload(|w| w.share = Share::Whole));
    let app = Arc::clone(&fleet.fleet.apps[0]);
    assert!(!needs_steps(&app, &placed(&app, "d", "a=4"), &placed(&app, "d", "b=4")));
}

fn row() -> impl proptest::strategy::Strategy<Value = Vec<u32>> {
    prop::collection::vec(0_u32..30, 3)
}

fn text(counts: &[u32]) -> String {
    let named = ["a", "b", "c"].iter().zip(counts).filter(|(_, n)| **n > 0);
    named.map(|(name, n)| format!("{name}={n}")).collect::<Vec<_>>().join(" ")
}

proptest! {
    /// Whatever has room when: no row passes its target, no more than a step beyond the total runs, and it arrives.
    #[test]
    fn steps_stay_within_their_bounds_and_arrive(
        before in row(),
        target in row(),
        max in 1_u32..12,
        rooms in prop::collection::vec(0_u32..5, 0..12),
    ) {
        let total: u32 = target.iter().sum();
        let app = app(total);
        let (start, goal) = (placed(&app, "b3:0", &text(&before)), placed(&app, "b3:1", &text(&target)));
        let steps = steps(IntOrPercent::Int(max));
        let of = |placed: &PlacedApp| ["a", "b", "c"].map(|c| by_cluster(placed, &app.workloads[0].key).get(&SmolStr::new(c)).copied().unwrap_or(0));
        let mut rooms = rooms.into_iter();
        let mut now = lower(&app, &start, &goal);
        for _ in 0..400 {
            let was = of(&now);
            let mut room = rooms.next().unwrap_or(u32::MAX);
            let raised = raise(&app, &steps, &now, &goal, &mut |_, wanted| { let n = wanted.min(room); room -= n; n });
            let sum: u32 = of(&raised).iter().sum();
            let before_step: u32 = was.iter().sum();
            prop_assert!(sum <= total.max(before_step) + max, "{} after {}", shown(&raised), shown(&now));
            for (at, (before, after)) in was.iter().zip(of(&raised)).enumerate() {
                prop_assert!(after >= *before && (after == *before || after <= target[at]));
            }
            let lowered = lower(&app, &raised, &goal);
            prop_assert!(of(&lowered).iter().sum::<u32>() >= total.min(sum), "never fewer than are wanted, once they ran");
            now = lowered;
            if is_there(&now, &goal) { break; }
        }
        prop_assert!(is_there(&now, &goal), "{} is not {}", shown(&now), shown(&goal));
        prop_assert_eq!(&now.workloads, &goal.workloads);
    }
}
