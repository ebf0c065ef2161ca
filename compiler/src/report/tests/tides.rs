//! Tides: what a phase does to an app, and how it is told.

use crate::Compiled;
use crate::diff::tests::fixture::Files;
use crate::report::{plan, simulate_tides, tides};
use crate::schedule::{Scenario, placed};
use crate::tide::Timestamp;

/// A web shop by day in the EU, by night in the US with fewer replicas; its cache ignores the clock.
fn shop() -> Files {
    let app = |tide: &str| {
        format!(
            "{{namespace: shop, {tide}placement: {{clusters: {{names: [eu-a, us-a]}}, replicas: {{strategy: StaticWeight, \
             capacity: Ignore, weights: {{eu-a: 1, us-a: 1}}}}}}}}"
        )
    };
    let deployment = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 10\n  selector: \
             {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec: {{containers: \
             [{{name: c, image: a:1, resources: {{requests: {{cpu: 1m}}}}}}]}}\n"
        )
    };
    Files::shop()
        .app("web", &app(""))
        .with("teams/shop/web/web.yaml", &deployment("web"))
        .app("cache", &app("tide: Ignore, "))
        .with("teams/shop/cache/cache.yaml", &deployment("cache"))
        .with(
            "policies/hours.yaml",
            "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {name: hours}\nspec:\n  timeZone: Europe/Berlin\n  \
             apps: {}\n  calendar: closed\n  phases:\n  - {name: day, from: \"02:30\", weights: {eu-a: 80, us-a: 20}}\n  - {name: \
             night, from: \"22:00\", weights: {eu-a: 1, us-a: 3}, replicas: 35%}\n",
        )
        .with(
            "policies/closed.yaml",
            "apiVersion: fleetwright.io/v1alpha1\nkind: Calendar\nmetadata: {name: closed}\nspec:\n  holidays: [{name: Labour \
             Day, date: 2027-05-01}]\n",
        )
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn compiled(instant: Option<&str>) -> Compiled {
    shop().supposing(&Scenario { instant: instant.map(at), ..Scenario::default() })
}

fn seats(compiled: &Compiled, app: &str) -> String {
    let placed = placed(&compiled.fleet, &compiled.target);
    let workload = &placed[&("shop".into(), app.into())].workloads[&*format!("apps/Deployment/{app}")];
    workload.seats.iter().map(|seat| format!("{}={} ", seat.cluster, seat.replicas)).collect()
}

fn digest(compiled: &Compiled, app: &str) -> String {
    let placed = placed(&compiled.fleet, &compiled.target);
    placed[&("shop".into(), app.into())].workloads[&*format!("apps/Deployment/{app}")].weights.to_string()
}

#[test]
fn a_phase_replaces_weights_and_scales() {
    let (day, night, none) =
        (compiled(Some("2026-11-30T12:00:00Z")), compiled(Some("2026-11-30T21:00:00Z")), compiled(None));
    assert_eq!(seats(&day, "web"), "eu-a=8 us-a=2 ");
    assert_eq!(seats(&night, "web"), "eu-a=1 us-a=3 ", "35% of 10, rounded up, is 4");
    assert_eq!(seats(&none, "web"), "eu-a=5 us-a=5 ");
    for compiled in [&day, &night, &none] {
        assert_eq!(seats(compiled, "cache"), "eu-a=5 us-a=5 ");
        assert_eq!(digest(compiled, "cache"), digest(&none, "cache"));
    }
    let digests = [&day, &night, &none].map(|compiled| digest(compiled, "web"));
    assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2], "{digests:?}");
    assert_eq!(digests[2], digest(&none, "cache"), "the same weights have the same digest");
    let rendered: String = night
        .fleet
        .cluster_ids()
        .flat_map(|id| night.rendered.files(id))
        .filter(|file| file.app.is_some_and(|app| night.fleet.app_name(app) == "shop/web"))
        .map(|file| {
            let mut text = String::new();
            file.write(&night.fleet, &mut text);
            text.lines().filter(|line| line.contains("replicas:")).map(str::trim).collect::<Vec<_>>().join(" ") + "; "
        })
        .collect();
    assert_eq!(rendered, "replicas: 1; replicas: 3; ");
}

#[test]
fn a_plan_says_which_phase_counts() {
    let told = |instant: Option<&str>| {
        let text = plan(&compiled(instant)).to_text(false);
        text.split_once("\nTides\n").unwrap().1.lines().next().unwrap().trim().to_owned()
    };
    assert_eq!(told(Some("2026-11-30T22:00:00Z")), "hours: night, since 2026-11-30 22:00 (+01:00)");
    assert_eq!(told(None), "hours: no phase is recorded, so the Apps' own weights count; `--at` supposes one");
}

#[test]
fn the_recorded_phase_counts_until_an_instant_is_supposed() {
    let recorded = |phase: &str| {
        shop().with("state/tides.yaml", &format!("hours: {{phase: {phase}, window: 2026-11-30T21:00:00Z}}\n"))
    };
    let night = recorded("night").compiled();
    assert_eq!(seats(&night, "web"), "eu-a=1 us-a=3 ");
    assert!(plan(&night).to_text(false).contains("\nTides\n  hours: night, recorded in state/tides.yaml\n"));
    let supposed = Scenario { instant: Some(at("2026-11-30T12:00:00Z")), ..Scenario::default() };
    assert_eq!(seats(&recorded("night").supposing(&supposed), "web"), "eu-a=8 us-a=2 ");
    let gone = recorded("dusk").compiled();
    assert_eq!(seats(&gone, "web"), "eu-a=5 us-a=5 ");
    let said: Vec<String> = gone.diagnostics.iter().map(|d| d.code.to_string()).collect();
    assert!(said.contains(&"FW1206".to_owned()), "{said:?}");
}

#[test]
fn the_phase_of_each_tide() {
    let compiled = compiled(None);
    assert_eq!(
        tides(&compiled, None, at("2026-11-30T22:00:00Z")).to_text(true),
        "TIDE   PHASE  SINCE                      NEXT  FROM                       TIME ZONE      APPS  NAMES\n\
         hours  night  2026-11-30 22:00 (+01:00)  day   2026-12-01 02:30 (+01:00)  Europe/Berlin  1     shop/web\n"
    );
    assert_eq!(tides(&compiled, Some("none"), at("2026-11-30T22:00:00Z")).tides, []);
}

#[test]
fn a_simulation_explains_clocks_and_calendars() {
    let compiled = compiled(None);
    let told = |from: &str, until: &str| {
        let text = simulate_tides(&compiled, None, at(from), at(until), 100).to_text();
        text.split_once(crate::tide::tzdb_version()).unwrap().1.to_owned()
    };
    assert_eq!(
        told("2027-03-27T00:00:00Z", "2027-03-28T23:00:00Z"),
        "): night before\n  \
           2027-03-27 02:30 (+01:00)  2027-03-27T01:30:00Z  day\n  \
           2027-03-27 22:00 (+01:00)  2027-03-27T21:00:00Z  night\n  \
           2027-03-28 03:00 (+02:00)  2027-03-28T01:00:00Z  day    clocks go forward over 02:30, to 03:00\n  \
           2027-03-28 22:00 (+02:00)  2027-03-28T20:00:00Z  night\n"
    );
    assert_eq!(
        told("2026-10-24T22:00:00Z", "2026-10-25T12:00:00Z"),
        "): night before\n  \
           2026-10-25 02:30 (+02:00)  2026-10-25T00:30:00Z  day  clocks go back, 02:30 comes twice: the first counts\n"
    );
    assert_eq!(
        told("2027-05-01T00:00:00Z", "2027-05-02T01:00:00Z"),
        "): night before\n  \
           2027-05-01                                            Labour Day: no phase begins, the last goes on\n  \
           2027-05-02 02:30 (+02:00)  2027-05-02T00:30:00Z  day\n"
    );
    assert_eq!(told("2027-05-03T12:00:00Z", "2027-05-03T13:00:00Z"), "): day before\n  no change\n");
}
