//! What a live commit orders of clusters: moves and deletions apart, exclusive apps, commits of long ago.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;

use super::world::{Files, World, app, down, fleet, seen, up};
use crate::apply::run::PassError;
use crate::controller::status::status;
use crate::controller::{Board, ClusterOrder, Controller, Role, Turn, Wanted};
use crate::decide::Identity;
use crate::decide::orders;
use crate::observation::Observation;
use crate::ports::{CommitId, FleetRepo as _};

fn wanted(world: &World) -> Wanted {
    let mut repo = world.repo("mirror.git");
    repo.fetch(&["main", "live"]).unwrap();
    let tip = CommitId(world.tip("live").unwrap().to_string().into());
    Wanted::read(&repo, &world.session, &world.branches, &tip).unwrap()
}

fn order(world: &World, cluster: &str, observation: &Observation) -> ClusterOrder {
    wanted(world).order(cluster, observation, world.clock.0.get(), None, &BTreeSet::new()).unwrap()
}

fn moved(world: &World, cluster: &str) -> Vec<String> {
    let order = order(world, cluster, &Observation::default());
    order.rules.moved.iter().map(|(team, app)| format!("{team}/{app}")).collect()
}

#[test]
fn what_a_decision_removes_is_a_move_and_what_the_intents_remove_is_not() {
    let world = World::live(&fleet());
    assert_eq!(moved(&world, "a"), [""; 0]);
    world.order(|desk| orders::drain(desk, "a")).unwrap();
    assert_eq!(world.seats("web").get("a"), None);
    assert_eq!((moved(&world, "a"), moved(&world, "b")), (vec!["t/web".to_owned()], vec![]));
    // taken back, it is there again; and then the intents take it away
    world.revert_live();
    assert_eq!(moved(&world, "a"), [""; 0]);
    let mut files = fleet();
    app(&mut files, "web", 6, ", clusters: {names: [b, c]}");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("web").get("a"), None);
    assert_eq!(moved(&world, "a"), [""; 0]);
}

fn exclusive() -> Files {
    let mut files = fleet();
    app(&mut files, "web", 1, "");
    let text = files["teams/t/web/app.yaml"].replace("spec:\n", "spec:\n  exclusive: true\n");
    files.insert("teams/t/web/app.yaml".into(), text);
    files
}

#[test]
fn an_exclusive_app_waits_until_it_is_seen_gone_where_it_was() {
    let world = World::live(&exclusive());
    let first: Vec<String> = world.seats("web").into_keys().collect();
    let [first] = first.as_slice() else { panic!("one copy: {first:?}") };
    world.order(|desk| orders::drain(desk, first)).unwrap();
    let second: Vec<String> = world.seats("web").into_keys().collect();
    let [second] = second.as_slice() else { panic!("one copy: {second:?}") };
    assert_ne!(first, second);
    let may_run_in = |observation: &Observation| -> Vec<String> {
        let order = order(&world, second, observation);
        order.desired.apps()[&("t".into(), "web".into())].may_run_in.iter().map(ToString::to_string).collect()
    };
    let observed = |answers, is_complete| {
        let mut observation = seen([(first.as_str(), answers)]);
        observation.clusters.values_mut().for_each(|cluster| cluster.is_complete = is_complete);
        observation
    };
    for (observation, waits) in [
        (Observation::default(), true),
        (observed(down(0), false), true),
        // it answers, and not all of it was looked at
        (observed(up(), false), true),
        (observed(up(), true), false),
    ] {
        assert_eq!(may_run_in(&observation), if waits { vec![first.clone()] } else { vec![] }, "{observation:?}");
    }
}

#[test]
fn a_commit_of_long_ago_is_proven_by_git_and_no_other_is() {
    let world = World::live(&fleet());
    // an ancestor that no order lists, and a commit that is none
    let old = SmolStr::from(world.tip("main").unwrap().to_string());
    let foreign = SmolStr::from(world.commit("elsewhere", &Files::from([("x".into(), "1".into())])).0.as_str());
    let board = Board::default();
    let mut controller = Controller::new(board.clone());
    let role = Role::Whole(Identity { holder: "hub".into(), term: None });
    let mut tick = || {
        let mut repo = world.repo("mirror.git");
        controller.tick(&mut repo, &world.clock, &world.branches, &role);
    };
    tick();
    let listed = |commit: &SmolStr| board.ordered("a").unwrap().1.ancestors.contains(commit);
    assert!(!listed(&old) && !listed(&foreign));
    for (cluster, found) in [("a", &old), ("b", &foreign)] {
        let error = PassError::NotForward { found: found.clone(), ours: "x".into() };
        let seen = seen([(cluster, up())]).clusters.remove(cluster).unwrap();
        let turn =
            Turn { number: 1, seen, outcome: Err(error), is_moving: false, doomed: Vec::new(), applied_objects: 0 };
        board.took(&cluster.into(), 1, turn);
    }
    tick();
    assert_eq!((listed(&old), listed(&foreign)), (true, false));
}

#[test]
fn how_a_cluster_is_treated_is_what_its_files_say() {
    use crate::apply::budget::Budget;
    use crate::apply::view::{Drift, Mode};
    let mut files = fleet();
    let said = "spec: {drift: Report, adopt: {managers: [kubectl]}, limits: {deletions: {share: 50%, count: 7}}}";
    files.insert("fleet.yaml".into(), files["fleet.yaml"].replace("spec: {}", said));
    files.insert("clusters/a.yaml".into(), files["clusters/a.yaml"].replace("spec: {}", "spec: {mode: Observe}"));
    let text = files["teams/t.yaml"].replace("spec: {", "spec: {serviceAccountName: t/deployer, ");
    files.insert("teams/t.yaml".into(), text);
    app(&mut files, "base", 3, "");
    let text = files["teams/t/web/app.yaml"].replace("spec:\n", "spec:\n  dependsOn: [base]\n  prune: false\n");
    files.insert("teams/t/web/app.yaml".into(), text);
    let world = World::live(&files);
    let orders: BTreeMap<&str, ClusterOrder> =
        ["a", "b"].map(|name| (name, order(&world, name, &Observation::default()))).into();
    assert_eq!((orders["a"].rules.mode, orders["b"].rules.mode), (Mode::Observe, Mode::Apply));
    let rules = &orders["b"].rules;
    assert_eq!((rules.drift, rules.adopt.as_slice()), (Drift::Report, &["kubectl".into()][..]));
    assert_eq!(rules.budget, Budget::Stated { share_percent: Some(50), count: Some(7) });
    let web = &orders["b"].desired.apps()[&("t".into(), "web".into())];
    assert_eq!((web.depends_on.as_slice(), web.keep_removed), (&[("t".into(), "base".into())][..], true));
    let account = web.service_account.as_ref().unwrap();
    assert_eq!((account.namespace.as_str(), account.name.as_str()), ("t", "deployer"));
}

/// An app that fits nowhere is not shown as well because nothing of it is unwell.
#[test]
fn an_app_that_is_nowhere_is_not_current() {
    let mut files = fleet();
    app(&mut files, "web", 6, ", spread: [{topologyKey: region, min: 2}]");
    let world = World::live(&files);
    let status = status(Some(&wanted(&world)), &BTreeMap::new(), Vec::new());
    let [web] = status.apps.as_slice() else { panic!("one app: {:?}", status.apps) };
    assert_eq!((web.health.as_str(), web.replicas, web.unplaced, web.clusters.len()), ("NotFound", 0, 6, 0));
}
