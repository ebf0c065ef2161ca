//! Apps whose block somebody removed from `placements/` on the live branch: appliers leave them as they are.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;

use super::world::{Files, World, app, fleet, seats};
use crate::apply::hold::Hold;
use crate::cluster::Key;
use crate::controller::status::status;
use crate::controller::{ClusterTurn, Turn, Wanted};
use crate::observation::Observation;
use crate::ports::{CommitId, FleetRepo as _};
use crate::simulated::SimulatedCluster;

fn wanted(world: &World) -> Wanted {
    let mut repo = world.repo("mirror.git");
    repo.fetch(&["main", "live"]).unwrap();
    let tip = CommitId(world.tip("live").unwrap().to_string().into());
    Wanted::read(&repo, &world.session, &world.branches, &tip).unwrap()
}

fn unrecorded(world: &World) -> Vec<String> {
    wanted(world).unrecorded().iter().map(|(team, app)| format!("{team}/{app}")).collect()
}

/// Beside `web`: an app of copies, one of objects only, one that fits nowhere, and one that runs once.
fn many() -> Files {
    let mut files = fleet();
    app(&mut files, "copies", 2, "");
    let text = files["teams/t/copies/app.yaml"].replace("StaticWeight", "Duplicated");
    files.insert("teams/t/copies/app.yaml".into(), text);
    app(&mut files, "objects", 1, "");
    let objects = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: objects}\ndata: {x: \"1\"}\n";
    files.insert("teams/t/objects/web.yaml".into(), objects.into());
    app(&mut files, "nowhere", 1, ", spread: [{topologyKey: region, min: 2}]");
    app(&mut files, "once", 1, ", clusters: {names: [a, b]}");
    files
}

/// Removes the block of an app from the live branch, as a person would.
fn forget(world: &World, name: &str) {
    world.edit_live(|files| {
        let text = files.get_mut("placements/t.yaml").expect("placements");
        let head = format!("app: {name}\n");
        let blocks: Vec<&str> = text.split_inclusive('\n').collect();
        let starts = |line: &&str| line.trim_start_matches("- ").starts_with("app: ");
        let from = blocks.iter().position(|line| line.ends_with(&head)).expect("a block");
        let after = blocks.iter().skip(from + 1).position(starts).map_or(blocks.len(), |at| from + 1 + at);
        *text = blocks[..from].iter().chain(&blocks[after..]).copied().collect();
        if !text.contains("app: ") {
            files.remove("placements/t.yaml");
        }
    });
}

struct Clusters(BTreeMap<SmolStr, (SimulatedCluster, ClusterTurn)>);

impl Clusters {
    fn new() -> Self {
        let cluster =
            |name: &str| (SmolStr::from(name), (SimulatedCluster::new(&format!("uid-{name}")), ClusterTurn::default()));
        Self(["a", "b", "c"].map(cluster).into())
    }

    /// A turn of each cluster, and what each deployment of the fleet has there.
    fn turn(&mut self, world: &World) -> BTreeMap<SmolStr, Turn> {
        let wanted = wanted(world);
        let now = world.clock.0.get();
        let seen = Observation::default();
        let turn = |(name, (cluster, memory)): (&SmolStr, &mut (SimulatedCluster, ClusterTurn))| {
            let order = wanted.order(name, &seen, now, None, &BTreeSet::new()).expect("an order");
            let turn = memory.turn(&mut cluster.api(), &order, now);
            cluster.tick();
            (name.clone(), turn)
        };
        self.0.iter_mut().map(turn).collect()
    }

    fn runs(&self, app: &str) -> BTreeMap<String, u32> {
        let replicas = |(name, (cluster, _)): (&SmolStr, &(SimulatedCluster, ClusterTurn))| {
            let object = cluster.get(&Key::new("apps", "Deployment", "t", app))?;
            Some((name.to_string(), u32::try_from(object["spec"]["replicas"].as_u64()?).ok()?))
        };
        self.0.iter().filter_map(replicas).collect()
    }
}

#[test]
fn what_the_decider_recorded_is_recorded_wherever_it_is() {
    let world = World::live(&many());
    assert_eq!(unrecorded(&world), [""; 0]);
    let mut files = many();
    app(&mut files, "new", 3, "");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!((unrecorded(&world), world.seats("new")), (vec![], seats([("a", 1), ("b", 1), ("c", 1)])));
    // taken from every cluster by hand, it is recorded to be in none
    world.edit_live(|files| {
        let text = files.get_mut("placements/t.yaml").expect("placements");
        let (rest, new) = text.split_once("- app: new\n").expect("a block");
        let after = new.split_once("- app: ").map_or(String::new(), |(_, after)| format!("- app: {after}"));
        *text = format!("{rest}- app: new\n  clusters: []\n{after}");
    });
    assert_eq!(unrecorded(&world), [""; 0]);
}

#[test]
fn what_is_not_recorded_is_left_as_it_is_until_the_decider_places_it() {
    for gone in ["web", "copies", "objects", "once"] {
        let world = World::live(&many());
        let mut clusters = Clusters::new();
        for _ in 0..3 {
            clusters.turn(&world);
        }
        let before: Vec<_> = ["web", "copies", "once"].map(|app| clusters.runs(app)).into();
        assert_eq!(before[0], seats([("a", 2), ("b", 2), ("c", 2)]));
        let text = world.live_text("placements/t.yaml");
        forget(&world, gone);
        assert_ne!(world.live_text("placements/t.yaml"), text);
        assert_eq!(unrecorded(&world), [format!("t/{gone}")]);
        for _ in 0..3 {
            let turns = clusters.turn(&world);
            let mut left = 0;
            for (cluster, turn) in &turns {
                let report = turn.outcome.as_ref().expect("it answers");
                assert_eq!((report.writes, report.is_applied()), (0, true), "{gone} in {cluster}: {:?}", report.done);
                assert!(report.held.iter().all(|held| held.why == Hold::Unrecorded && held.app.1 == gone));
                left += report.held.len();
                assert_eq!(turn.doomed, []);
            }
            assert!(left > 0, "{gone} is said to be left");
            let status = status(Some(&wanted(&world)), &turns, Vec::new());
            let said = format!("says nothing of t/{gone}: nothing of that is applied or deleted");
            assert!(status.reports.iter().any(|report| report.text.contains(&said)), "{:?}", status.reports);
            let of_app = status.apps.iter().find(|app| app.app == gone).expect("it is in the status");
            assert_eq!((of_app.health.as_str(), of_app.unplaced), ("Unknown", 0));
        }
        let after: Vec<_> = ["web", "copies", "once"].map(|app| clusters.runs(app)).into();
        assert_eq!(after, before, "{gone}");
        // the decider writes down where it goes, and that is followed
        world.advance().unwrap();
        assert_eq!(unrecorded(&world), [""; 0]);
        let turns = clusters.turn(&world);
        assert!(turns.values().all(|turn| turn.outcome.as_ref().is_ok_and(|report| report.held.is_empty())));
        assert_eq!(clusters.runs("web"), world.seats("web"));
    }
}

/// An app runs where it would not be placed anew: no applier moves it there before that is decided.
#[test]
fn no_applier_moves_what_is_not_recorded() {
    let with = |clusters: &str| {
        let mut files = fleet();
        app(&mut files, "web", 3, &format!(", clusters: {{names: [{clusters}]}}"));
        let text = files["teams/t/web/app.yaml"].replace("StaticWeight", "Aggregated");
        files.insert("teams/t/web/app.yaml".into(), text);
        files
    };
    let world = World::live(&with("c"));
    world.commit_main(&with("a, b, c"));
    world.advance().unwrap();
    let mut clusters = Clusters::new();
    clusters.turn(&world);
    assert_eq!(clusters.runs("web"), seats([("c", 3)]));
    forget(&world, "web");
    for _ in 0..3 {
        clusters.turn(&world);
    }
    assert_eq!(clusters.runs("web"), seats([("c", 3)]));
    world.advance().unwrap();
    clusters.turn(&world);
    assert_eq!(world.seats("web"), seats([("a", 3)]));
    // what replaces it is not seen ready yet
    assert_eq!(clusters.runs("web"), seats([("a", 3), ("c", 3)]));
}

/// Somebody removes a whole team's file, or all of them; what is changed beside it is applied.
#[test]
fn nothing_is_recorded_of_a_whole_team() {
    let world = World::live(&many());
    let mut clusters = Clusters::new();
    clusters.turn(&world);
    let before = clusters.runs("web");
    world.edit_live(|files| {
        files.remove("placements/t.yaml");
    });
    assert_eq!(unrecorded(&world).len(), 5);
    for turn in clusters.turn(&world).values() {
        assert_eq!(turn.outcome.as_ref().map(|report| report.writes), Ok(0));
    }
    assert_eq!(clusters.runs("web"), before);
}

/// What runs under a name that the app had before is that app's.
#[test]
fn what_is_not_recorded_may_run_under_an_older_name() {
    let world = World::live(&fleet());
    let mut clusters = Clusters::new();
    clusters.turn(&world);
    let mut files = fleet();
    let text = files.remove("teams/t/web/app.yaml").unwrap().replace("name: web", "name: shop");
    files.insert("teams/t/shop/app.yaml".into(), text.replace("spec:\n", "spec:\n  previousNames: [web]\n"));
    let workload = files.remove("teams/t/web/web.yaml").unwrap();
    files.insert("teams/t/shop/web.yaml".into(), workload);
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(unrecorded(&world), [""; 0]);
    // before any cluster took it over
    forget(&world, "shop");
    for turn in clusters.turn(&world).values() {
        let report = turn.outcome.as_ref().expect("it answers");
        assert_eq!((report.writes, report.held.is_empty()), (0, false), "{:?}", report.done);
    }
    assert_eq!(clusters.runs("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
}
