//! What suppositions look like.

use crate::diff::{AppShortfall, Shortfall};
use crate::report::{
    FloorReport, HeadroomReport, LeftReport, MoveReport, ScenarioReport, WhatIfReport, what_if_markdown, what_if_text,
};

fn left(resource: &str, free: &str, now: &str, percent: i64) -> LeftReport {
    LeftReport {
        resource: resource.into(),
        free: free.into(),
        now: now.into(),
        offered: "10".into(),
        percent: Some(percent),
    }
}

fn scenario(lost: &str, missing: u64) -> ScenarioReport {
    let unplaced = Shortfall::Unplaced {
        workload: "apps/Deployment/web".into(),
        replicas: 2,
        wanted: 9,
        displaced: 0,
        each: false,
        copies: Vec::new(),
    };
    let short = AppShortfall { app: "shop/web".into(), shortfall: unplaced };
    let moved = MoveReport {
        app: "shop/web".into(),
        workload: "apps/Deployment/web".into(),
        cluster: "us-a".into(),
        before: 3,
        after: 5,
        cause: "Refill",
        why: "in place of others",
    };
    let floor = FloorReport {
        app: "shop/web".into(),
        workload: "apps/Deployment/web".into(),
        cluster: "us-a".into(),
        replicas: 1,
        min: 2,
    };
    let cluster = HeadroomReport {
        cluster: "us-a".into(),
        resources: vec![left("cpu", "1", "3", 10), left("memory", "4", "4", 40)],
    };
    ScenarioReport {
        lost: vec![lost.to_owned()],
        moved: 2,
        stopped: 3,
        missing,
        shortfalls: if missing > 0 { vec![short] } else { Vec::new() },
        nowhere: Vec::new(),
        floors: if missing > 0 { vec![floor] } else { Vec::new() },
        moves: vec![moved],
        clusters: vec![cluster],
    }
}

#[test]
fn one_scenario_is_shown_in_full() {
    let report = WhatIfReport {
        record: None,
        changes: vec!["shop/web has 9 replicas".into()],
        scenarios: vec![scenario("region eu", 2)],
    };
    let expected = "\
Supposed: shop/web has 9 replicas

As supposed and without region eu: 2 replicas start, 3 stop, 2 more run nowhere
  Not possible
    shop/web: 2 of 9 replicas of apps/Deployment/web fit nowhere
    shop/web: apps/Deployment/web has 1 replicas in us-a, at least 2 are wanted
  Moves
    shop/web apps/Deployment/web  us-a  3 -> 5  in place of others
  Left
    us-a  cpu 1 of 10 (10%; now 3), memory 4 of 10 (40%)
";
    assert_eq!(what_if_text(&report, false), expected);
}

#[test]
fn of_several_those_that_leave_something_undone_are_shown() {
    let scenarios = vec![scenario("cluster eu-a", 0), scenario("cluster eu-b", 2)];
    let report = WhatIfReport { record: None, changes: Vec::new(), scenarios };
    let text = what_if_text(&report, false);
    let table = "\
LOST          MOVED  MISSING  BREACHES  LEAST LEFT
cluster eu-a      2        0         0  us-a cpu 10%
cluster eu-b      2        2         1  us-a cpu 10%

Without cluster eu-b: ";
    assert!(text.starts_with(table), "{text}");
    assert!(!text.contains("Without cluster eu-a") && what_if_text(&report, true).contains("Without cluster eu-a"));
    let comment = what_if_markdown(&report);
    assert!(comment.contains("| cluster eu-b | 2 | 2 | 1 | us-a cpu 10% |"), "{comment}");
    assert!(comment.contains("**Without cluster eu-b**\n\n- shop/web: 2 of 9"), "{comment}");
}

/// Whatever combination of suppositions there is, the headline says what was supposed.
#[test]
fn headlines_are_true() {
    for (lost, changes, expected) in [
        (vec!["cluster eu-a"], vec![], "Without cluster eu-a: 2 replicas start elsewhere, 0 more run nowhere"),
        (vec![], vec!["shop/web has 9 replicas"], "As supposed: 2 replicas start, 3 stop, 0 more run nowhere"),
        (vec![], vec!["it is 2026-11-30T15:00:00Z"], "As supposed: 2 replicas start, 3 stop, 0 more run nowhere"),
        (vec![], vec!["pool gpu of eu-a has no nodes"], "As supposed: 2 replicas start, 3 stop, 0 more run nowhere"),
        (
            vec!["cluster eu-a", "region us"],
            vec!["shop/web weighs eu-b=3"],
            "As supposed and without cluster eu-a, region us: 2 replicas start, 3 stop, 0 more run nowhere",
        ),
    ] {
        let lost = lost.into_iter().map(str::to_owned).collect();
        let scenarios = vec![ScenarioReport { lost, ..scenario("", 0) }];
        let changes: Vec<String> = changes.into_iter().map(str::to_owned).collect();
        let report = WhatIfReport { record: None, changes, scenarios };
        let text = what_if_text(&report, false);
        assert!(text.lines().any(|line| line == expected), "{text}");
    }
    let nothing = WhatIfReport { record: None, changes: Vec::new(), scenarios: Vec::new() };
    assert_eq!(what_if_text(&nothing, false), "Nothing runs anywhere, so there is nothing to lose\n");
}
