//! What autoscalers run: recorded where it is booked, rarely.

use std::collections::BTreeMap;

use super::world::{Files, NOW, World, app, down, fleet, seats, seen, up};
use crate::commit::Cause;
use crate::decide::orders;
use crate::health::Health;
use crate::observation::{AppSeen, Observation, WorkloadSeen};

const FILE: &str = "state/apps/t/web.yaml";

/// `web` with an autoscaler of 6 to 60 replicas in three clusters, booked as `room` says.
fn scaled(room: &str) -> Files {
    let mut files = fleet();
    let text = files["teams/t/web/app.yaml"]
        .replace("strategy: StaticWeight", &format!("strategy: StaticWeight, autoscaled: {{room: {room}}}"));
    files.insert("teams/t/web/app.yaml".into(), text);
    files.insert(
        "teams/t/web/hpa.yaml".into(),
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: \
         {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 6, maxReplicas: 60}\n"
            .into(),
    );
    files
}

/// What is seen of `web`, where anything is.
fn runs(counts: &[(&str, u32)]) -> Observation {
    let mut seen = seen([("a", up()), ("b", up()), ("c", up())]);
    for (cluster, replicas) in counts {
        let workload = ("apps/Deployment/web".into(), WorkloadSeen { replicas: *replicas, ready: *replicas });
        let app = AppSeen {
            health: Health::Current,
            blocking: Vec::new(),
            workloads: BTreeMap::from([workload]),
            content: "b3:1".into(),
            since_secs: NOW,
        };
        seen.clusters.get_mut(*cluster).unwrap().apps.insert(("t".into(), "web".into()), app);
    }
    seen
}

fn tick(world: &World, observation: &Observation) -> Vec<Cause> {
    let advanced = world.advance_seeing(Some(observation)).unwrap();
    assert_eq!(advanced.reports, []);
    advanced.pushed.iter().map(|pushed| pushed.cause).collect()
}

/// `a=5 b=7`, as recorded.
fn recorded(world: &World) -> String {
    let text = world.files("live").remove(FILE).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| *line != "observed:").collect();
    let rows = lines.iter().filter_map(|line| line.strip_suffix(':').or_else(|| line.strip_prefix("replicas: ")));
    let rows: Vec<&str> = rows.filter(|row| *row != "apps/Deployment/web").collect();
    rows.chunks(2).map(|row| row.join("=")).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_differs_noticeably_is_recorded_at_most_every_ten_minutes() {
    let world = World::live(&scaled("Observed"));
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    // (seconds later, what is seen, what is recorded then, or nothing new)
    type Row = (i64, &'static [(&'static str, u32)], Option<&'static str>);
    let rows: [Row; 10] = [
        // what is booked without an observation is no news
        (0, &[("a", 2), ("b", 1), ("c", 0)], None),
        (0, &[("a", 5), ("b", 2), ("c", 2)], Some("a=5 b=2 c=2")),
        (0, &[("a", 5), ("b", 2), ("c", 2)], None),
        (599, &[("a", 10), ("b", 2), ("c", 2)], None),
        (1, &[("a", 10), ("b", 2), ("c", 2)], Some("a=10 b=2 c=2")),
        // 1 of 10 is less than a fifth of it; 2 are not, and take what else is seen along
        (601, &[("a", 11), ("b", 2), ("c", 2)], None),
        (0, &[("a", 12), ("b", 2), ("c", 1)], Some("a=12 b=2 c=1")),
        (601, &[("a", 4), ("b", 2), ("c", 1)], Some("a=4 b=2 c=1")),
        // beyond the share of the maximum there is nothing more to book
        (601, &[("a", 20), ("b", 2), ("c", 1)], Some("a=20 b=2 c=1")),
        (601, &[("a", 90), ("b", 0), ("c", 2)], None),
    ];
    for (later, counts, expected) in rows {
        world.later(later);
        let before = recorded(&world);
        let causes = tick(&world, &runs(counts));
        let wanted = if expected.is_some() { vec![Cause::Observed] } else { Vec::new() };
        assert_eq!(causes, wanted, "{counts:?} after {later} s");
        assert_eq!(recorded(&world), expected.unwrap_or(&before), "{counts:?} after {later} s");
    }
    let text = "observed:\n  apps/Deployment/web:\n    a:\n      replicas: 20\n    b:\n      replicas: 2\n    c:\n      replicas: 1\n";
    assert_eq!(world.live_text(FILE), text);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]), "and nothing moves");
}

#[test]
fn only_what_is_booked_as_observed_is_recorded() {
    for room in ["Min", "Max"] {
        let world = World::live(&scaled(room));
        assert_eq!(tick(&world, &runs(&[("a", 15), ("b", 15), ("c", 15)])), [], "{room}");
    }
    // what has no autoscaler
    let world = World::live(&fleet());
    assert_eq!(tick(&world, &runs(&[("a", 15), ("b", 15), ("c", 15)])), []);
}

#[test]
fn what_was_not_seen_keeps_what_is_recorded() {
    let world = World::live(&scaled("Observed"));
    assert_eq!(tick(&world, &runs(&[("a", 5), ("b", 6), ("c", 7)])), [Cause::Observed]);
    let away = |counts: &[(&str, u32)], cluster: &str| {
        let mut seen = runs(counts);
        seen.clusters.get_mut(cluster).unwrap().answers = down(NOW + 601);
        seen
    };
    world.later(601);
    // b does not answer, of c nothing of the app was read
    assert_eq!(tick(&world, &away(&[("a", 5), ("b", 50)], "b")), []);
    assert_eq!(tick(&world, &away(&[("a", 9), ("b", 50)], "b")), [Cause::Observed]);
    assert_eq!(recorded(&world), "a=9 b=6 c=7");
    // nobody looks at any cluster
    world.later(601);
    assert_eq!(world.advance().unwrap().pushed, []);
    assert_eq!(recorded(&world), "a=9 b=6 c=7");
}

#[test]
fn apps_are_recorded_together_and_frozen_ones_not_at_all() {
    let mut files = scaled("Observed");
    for (path, text) in files.clone() {
        if let Some(rest) = path.strip_prefix("teams/t/web/") {
            files.insert(format!("teams/t/api/{rest}"), text.replace("web", "api"));
        }
    }
    let world = World::live(&files);
    let both = |web: u32, api: u32| {
        let mut seen = runs(&[("a", web), ("b", 2), ("c", 2)]);
        for cluster in seen.clusters.values_mut() {
            let app = cluster.apps[&("t".into(), "web".into())].clone();
            let workload = WorkloadSeen { replicas: api, ready: api };
            let workloads = BTreeMap::from([("apps/Deployment/api".into(), workload)]);
            cluster.apps.insert(("t".into(), "api".into()), AppSeen { workloads, ..app });
        }
        seen
    };
    let advanced = world.advance_seeing(Some(&both(5, 6))).unwrap();
    let subjects: Vec<&str> = advanced.pushed.iter().map(crate::advance::Pushed::subject).collect();
    assert_eq!(subjects, ["Record what autoscalers run of t/api and t/web"]);
    world.order(|desk| orders::suspend(desk, "t/api")).unwrap().expect("a commit");
    world.later(601);
    assert_eq!(tick(&world, &both(5, 12)), []);
    assert_eq!(tick(&world, &both(8, 12)), [Cause::Observed]);
    assert!(world.live_text("state/apps/t/api.yaml").contains("replicas: 6"));
    assert_eq!(recorded(&world), "a=8 b=2 c=2");
}

/// Where something no longer runs, or is no longer there, nothing is said of it.
#[test]
fn what_is_gone_is_forgotten() {
    let files = scaled("Observed");
    let world = World::live(&files);
    assert_eq!(tick(&world, &runs(&[("a", 5), ("b", 6), ("c", 7)])), [Cause::Observed]);
    world.order(|desk| orders::drain(desk, "b")).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("a", 3), ("c", 3)]));
    world.later(601);
    assert_eq!(tick(&world, &runs(&[("a", 9), ("b", 6), ("c", 7)])), [Cause::Observed]);
    assert_eq!(recorded(&world), "a=9 c=7");
    // another name
    let mut renamed = files.clone();
    let text = files["teams/t/web/app.yaml"]
        .replace("{name: web}", "{name: front}")
        .replace("  namespace: t\n", "  namespace: t\n  previousNames: [t/web]\n");
    renamed.insert("teams/t/web/app.yaml".into(), text);
    world.commit_main(&renamed);
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
    let live = world.files("live");
    assert_eq!((live.contains_key(FILE), live.contains_key("state/apps/t/front.yaml")), (false, true));
    assert!(world.live_text("state/apps/t/front.yaml").contains("a:\n      replicas: 9"));
    assert_eq!(world.advance().unwrap().pushed, [], "and that is all");
    // booked otherwise: what was seen says nothing any more
    let mut least = renamed.clone();
    let path = "teams/t/web/app.yaml";
    least.insert(path.into(), renamed[path].replace("room: Observed", "room: Min"));
    let has_file = || world.files("live").keys().any(|path| path.starts_with("state/apps/"));
    world.commit_main(&least);
    world.advance().unwrap();
    assert!(!has_file());
    world.commit_main(&renamed);
    world.advance().unwrap();
    world.later(601);
    let mut seen = runs(&[("a", 9), ("c", 7)]);
    for cluster in seen.clusters.values_mut() {
        let of = std::mem::take(&mut cluster.apps);
        cluster.apps = of.into_values().map(|app| (("t".into(), "front".into()), app)).collect();
    }
    assert_eq!(tick(&world, &seen), [Cause::Observed]);
    assert!(has_file());
    // gone
    let mut files = files;
    files.retain(|path, _| !path.starts_with("teams/t/web/"));
    app(&mut files, "api", 6, "");
    world.commit_main(&files);
    world.advance().unwrap();
    assert!(!has_file());
}

/// What is observed keeps others away, and lets them come again.
#[test]
fn what_is_observed_is_room_that_others_do_not_have() {
    let mut files = scaled("Observed");
    for name in ["a", "b", "c"] {
        let path = format!("clusters/{name}.yaml");
        let pools = "spec: {nodePools: [{name: p, nodes: 1, allocatable: {cpu: 2, memory: 8Gi}}]}";
        let text = files[&path].replace("spec: {}", pools);
        files.insert(path, text);
    }
    let world = World::live(&files);
    assert_eq!(tick(&world, &runs(&[("a", 15), ("b", 2), ("c", 2)])), [Cause::Observed]);
    // 20 pods of 100m fit on each node
    app(&mut files, "api", 48, "");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("api"), seats([("a", 5), ("b", 18), ("c", 18)]));
    world.later(601);
    assert_eq!(tick(&world, &runs(&[("a", 18), ("b", 2), ("c", 2)])), [Cause::Observed]);
    assert_eq!(world.seats("api"), seats([("a", 5), ("b", 18), ("c", 18)]), "what runs stays");
    world.later(601);
    assert_eq!(tick(&world, &runs(&[("a", 9), ("b", 2), ("c", 2)])), [Cause::Observed]);
    assert_eq!(world.seats("api"), seats([("a", 11), ("b", 18), ("c", 18)]));
}
