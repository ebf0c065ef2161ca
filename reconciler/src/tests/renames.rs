//! Apps that are renamed, that change their team, or that suspend themselves: what the record says afterwards.

use super::world::{Files, NOW, World, app, down, fleet, refusal, seats, seen, up};
use crate::decide::orders;

/// Two apps of six replicas: `web`, which changes, and `api`, which stays.
fn two() -> Files {
    let mut files = fleet();
    app(&mut files, "api", 6, "");
    files.insert(
        "teams/u.yaml".into(),
        "apiVersion: fleetwright.io/v1alpha1\nkind: Team\nmetadata: {name: u}\nspec: {namespaces: [{name: t}]}\n"
            .into(),
    );
    files
}

/// Two, with another line in the spec of web's App.
fn web_says(line: &str) -> Files {
    let mut files = two();
    let path = "teams/t/web/app.yaml";
    let text = files[path].replace("  namespace: t\n", &format!("  namespace: t\n  {line}\n"));
    files.insert(path.into(), text);
    files
}

/// Two, with web in another folder and under another name.
fn web_is(folder: &str, name: &str) -> Files {
    let mut files = web_says("previousNames: [t/web]");
    for file in ["app.yaml", "web.yaml"] {
        let text = files.remove(&format!("teams/t/web/{file}")).unwrap();
        let text = if file == "app.yaml" { text.replace("{name: web}", &format!("{{name: {name}}}")) } else { text };
        files.insert(format!("{folder}/{file}"), text);
    }
    files
}

/// The record with web taken out of b: what a fresh placement would not say.
fn uneven(world: &World) {
    world.order(|desk| orders::drain(desk, "b")).unwrap().expect("a commit");
    world.order(|desk| orders::uncordon(desk, "b")).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("a", 3), ("c", 3)]));
}

#[test]
fn a_renamed_app_stays_where_it_is_and_the_record_knows_its_new_name_alone() {
    let world = World::live(&two());
    uneven(&world);
    world.order(|desk| orders::suspend(desk, "t/web")).unwrap().expect("a commit");
    world.commit_main(&web_is("teams/t/front", "front"));
    let pushed = world.advance().unwrap().pushed;
    assert_eq!(pushed.len(), 1);
    assert!(pushed[0].message.contains("\nt/front takes over what runs as t/web\n"), "{}", pushed[0].message);
    assert!(!pushed[0].message.contains(" -> "), "nothing moves: {}", pushed[0].message);
    assert_eq!(world.seats("front"), seats([("a", 3), ("c", 3)]));
    assert_eq!((world.seats("web"), world.seats("api")), (seats([]), seats([("a", 3), ("c", 3)])));
    assert_eq!(world.live_text("state/suspended.yaml"), "- t/front\n");
    assert_eq!(world.advance().unwrap().pushed, [], "and that is all");
}

#[test]
fn an_app_that_changes_its_team_is_in_the_new_teams_file_alone() {
    let world = World::live(&two());
    uneven(&world);
    let before = world.live_text("placements/t.yaml");
    let block = before.split("- app: web\n").nth(1).unwrap().to_owned();
    world.commit_main(&web_is("teams/u/web", "web"));
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
    assert!(!world.live_text("placements/t.yaml").contains("app: web"));
    assert!(world.live_text("placements/u.yaml").ends_with(&format!("- app: web\n{block}")));
    assert_eq!(world.advance().unwrap().pushed, []);

    // The last app of a team takes the team's file along.
    let mut files = web_is("teams/u/web", "web");
    files.retain(|path, _| !path.starts_with("teams/t/api/"));
    world.commit_main(&files);
    world.advance().unwrap();
    assert!(!world.files("live").contains_key("placements/t.yaml"));
}

#[test]
fn an_app_that_suspends_itself_is_suspended() {
    let world = World::live(&two());
    world.commit_main(&web_says("suspend: true"));
    world.advance().unwrap();
    world.order(|desk| orders::drain(desk, "b")).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert_eq!(world.seats("api"), seats([("a", 3), ("c", 3)]));
    assert!(!world.files("live").contains_key("state/suspended.yaml"), "its file is where it is said");
    assert_eq!(
        refusal(world.order(|desk| orders::suspend(desk, "t/web"))),
        ("guarded", "App t/web is suspended already: its file says `suspend: true`".into())
    );
    assert_eq!(
        refusal(world.order(|desk| orders::resume(desk, "t/web"))).1,
        "App t/web is suspended by its own file: take `suspend: true` out of it on the intents' branch"
    );
    world.commit_main(&two());
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 3), ("c", 3)]), "it goes on");
}

#[test]
fn an_app_may_leave_a_lost_cluster_sooner_or_later_than_others() {
    // what web says, and where web and api are after so many seconds
    for (line, secs, web, api) in [
        ("failover: {after: 90s}", 89, true, true),
        ("failover: {after: 90s}", 90, false, true),
        ("failover: {after: 90s}", 300, false, false),
        ("failover: {after: 10m}", 300, true, false),
        ("failover: {after: 10m}", 600, false, false),
        ("failover: {}", 300, false, false),
    ] {
        let world = World::live(&web_says(line));
        let observation = seen([("a", down(NOW)), ("b", up()), ("c", up())]);
        for at in [89, 90, 300, 600].into_iter().filter(|at| *at <= secs) {
            world.clock.0.set(NOW + at);
            world.advance_seeing(Some(&observation)).unwrap();
        }
        let stays = |name: &str| world.seats(name).contains_key("a");
        assert_eq!((stays("web"), stays("api")), (web, api), "{line} after {secs} s");
    }
}
