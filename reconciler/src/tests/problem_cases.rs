//! Problem cases of other tools, each under the name it goes by: fetching, races of pushes, tides that were missed.

use std::cell::Cell;

use super::pushes::advance_before;
use super::world::{Files, NOW, World, app, down, fleet, seats, seen, up};
use crate::advance::AdvanceError;
use crate::apply::run::PassError;
use crate::controller::status::status;
use crate::controller::{Turn, Wanted};
use crate::decide::{Urgency, orders};
use crate::health::Health;
use crate::observation::{AppSeen, WorkloadSeen};
use crate::ports::CommitId;

fn with_web(replicas: u32) -> Files {
    let mut files = fleet();
    app(&mut files, "web", replicas, "");
    files
}

/// The schedule wins while it lasts, and a person's new number counts when it is over. `diff` does not say from when.
#[test]
fn tidal_07_a_number_that_is_edited_in_a_window_counts_after_it() {
    let with = |replicas: u32| {
        let mut files = fleet();
        app(&mut files, "web", replicas, ", clusters: {names: [a, b]}");
        files.insert(
            "policies/tide.yaml".into(),
            "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {name: evening}\nspec:\n  timeZone: \
             Asia/Shanghai\n  apps: {}\n  phases:\n  - {name: peak, from: \"19:10\", replicas: 8}\n  - {name: calm, from: \
             \"19:25\"}\n"
                .into(),
        );
        files
    };
    // It is 19:00.
    let world = World::live(&with(2));
    assert_eq!(world.seats("web"), seats([("a", 1), ("b", 1)]));
    world.later(12 * 60);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 4)]));
    world.later(3 * 60);
    world.commit_main(&with(6));
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 4)]));
    world.later(10 * 60);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 3), ("b", 3)]));
}

/// Replicas and health are summed over clusters; one that does not report is Unknown, which is no failure.
#[test]
fn health_05_an_app_is_as_well_as_its_clusters() {
    let mut files = fleet();
    app(&mut files, "web", 9, ", clusters: {names: [a, b]}");
    let text = files.get_mut("teams/t/web/app.yaml").unwrap();
    *text = text.replace("{strategy: StaticWeight}", "{strategy: StaticWeight, weights: {a: 2, b: 1}}");
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 3)]));
    let repo = world.repo("mirror.git");
    let tip = CommitId(world.tip("live").unwrap().to_string().into());
    let wanted = Wanted::read(&repo, &world.session, &world.branches, &tip).unwrap();
    for (b, health, ready, of_b) in [
        (Some((3, Health::Current)), "Current", 9, "Current"),
        (Some((2, Health::InProgress)), "InProgress", 8, "InProgress"),
        (None, "Unknown", 6, "Unknown"),
    ] {
        let turns = [("a", Some((6, Health::Current))), ("b", b)].map(|(cluster, reports)| {
            let seen = reports.map(|(ready, health)| {
                let workloads = [("apps/Deployment/web".into(), WorkloadSeen { replicas: ready, ready })].into();
                let (blocking, content) = (Vec::new(), "c".into());
                (("t".into(), "web".into()), AppSeen { health, blocking, workloads, content, since_secs: NOW })
            });
            let answers = if seen.is_some() { up() } else { down(NOW - 60) };
            let mut observed = super::world::seen([(cluster, answers)]).clusters.remove(cluster).unwrap();
            observed.apps = seen.into_iter().collect();
            let outcome = Err(PassError::NotFetched(0));
            let turn =
                Turn { number: 1, seen: observed, outcome, is_moving: false, doomed: Vec::new(), applied_objects: 1 };
            (cluster.into(), turn)
        });
        let status = status(Some(&wanted), &turns.into(), Vec::new());
        let [app] = status.apps.as_slice() else { panic!("one app: {:?}", status.apps) };
        assert_eq!((app.health.as_str(), app.ready, app.replicas), (health, ready, 9));
        assert_eq!(app.clusters[1].health, of_b);
    }
}

/// A rewritten branch is fetched, whatever its history, and said; what is live does not go back by itself.
#[test]
fn gitsync_01_a_rewritten_branch_is_fetched_and_said() {
    let world = World::live(&fleet());
    let first = world.tip("main").unwrap();
    world.commit_main(&with_web(9));
    world.advance().unwrap();
    let (live, second) = (world.tip("live"), world.tip("main").unwrap());
    // amended and pushed with force: the new tip stands where the second commit stood
    world.remote.reference("refs/heads/main", first, true, "force").unwrap();
    world.commit_main(&with_web(12));
    for _ in 0..3 {
        let advanced = world.advance().unwrap();
        assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Guarded));
        assert!(advanced.reports[0].text.contains("their history was rewritten"), "{}", advanced.reports[0].text);
        assert_eq!(world.tip("live"), live);
    }
    // set back to an older commit: the same
    world.remote.reference("refs/heads/main", first, true, "force").unwrap();
    assert_eq!(world.advance().unwrap().reports[0].urgency, Urgency::Guarded);
    // and once it contains again what is live, it goes on
    world.remote.reference("refs/heads/main", second, true, "force").unwrap();
    world.commit_main(&with_web(15));
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5), ("c", 5)]));
}

/// No commit, no branch, no YAML: nothing is concluded from it, and what is live stays.
#[test]
fn gitsync_04_nothing_to_read_is_an_error_and_changes_nothing() {
    let world = World::new();
    assert!(matches!(world.advance().unwrap_err(), AdvanceError::NoIntents(_)), "no commits at all");

    let world = World::live(&fleet());
    let live = world.tip("live");
    world.remote.find_reference("refs/heads/main").unwrap().delete().unwrap();
    assert!(matches!(world.advance().unwrap_err(), AdvanceError::NoIntents(_)), "the branch is gone");
    assert_eq!(world.tip("live"), live);

    let world = World::live(&fleet());
    let live = world.tip("live");
    let mut files = fleet();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    files.insert("teams/t/web/web.yaml".into(), pointer.into());
    world.commit_main(&files);
    let advanced = world.advance().unwrap();
    assert_eq!((advanced.pushed.len(), world.tip("live")), (0, live));
    assert!(advanced.reports[0].text.contains("error[FW1005]"), "{}", advanced.reports[0].text);
}

/// A person changes the same app while a failover is decided: the push is refused, and it is decided again on what the
/// person left.
#[test]
fn gitpush_01_a_refused_push_is_decided_again() {
    let lost = seen([("a", down(NOW - 300)), ("b", up()), ("c", up())]);
    let world = World::live(&fleet());
    let person = Cell::new(None);
    let pushed = advance_before(&world, Some(&lost), || {
        world.order(|desk| orders::drain(desk, "b")).unwrap().expect("a commit");
        person.set(world.tip("live"));
    });
    assert_eq!(pushed.unwrap(), 1);
    assert_eq!(world.seats("web"), seats([("c", 6)]), "neither a, which is lost, nor b, which the person drains");
    assert_eq!(Some(world.live_tip().parent_id(0).unwrap()), person.get(), "the person's commit is below it");

    // what is left to do is nothing: no commit
    let world = World::live(&fleet());
    let pushed = advance_before(&world, Some(&lost), || {
        world.order(|desk| orders::failover(desk, "a", false)).unwrap().expect("a commit");
        person.set(world.tip("live"));
    });
    assert_eq!((pushed.unwrap(), world.tip("live")), (0, person.get()));
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
}

/// Whatever is pushed, everything that was there is below it.
#[test]
fn gitpush_03_history_is_never_lost() {
    let world = World::new();
    let mut before = Vec::new();
    for replicas in [3, 6, 9] {
        world.commit_main(&with_web(replicas));
        world.advance().unwrap();
        let (live, main) = (world.live_tip(), world.tip("main").unwrap());
        assert_eq!(live.parent_ids().next_back(), Some(main));
        for older in &before {
            assert!(world.remote.graph_descendant_of(live.id(), *older).unwrap());
        }
        before.extend([live.id(), main]);
    }
}

/// The clock of a tide and a failover both write where one app runs, each what is its own; then they are quiet.
#[test]
fn gitpush_04_two_causes_on_one_app_come_to_rest() {
    let mut files = fleet();
    app(&mut files, "web", 10, "");
    files.insert(
        "policies/tide.yaml".into(),
        "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {name: inference}\nspec:\n  timeZone: UTC\n  apps: {}\n  \
         phases:\n  - {name: day, from: \"07:00\", weights: {a: 80, b: 20}}\n  - {name: night, from: \"23:00\", weights: {a: 20, \
         b: 80}}\n"
            .into(),
    );
    let world = World::live(&files);
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 2)]));
    world.clock.0.set(NOW + 12 * 3600);
    let lost = seen([("a", up()), ("b", down(NOW)), ("c", up())]);
    assert_eq!(world.advance_seeing(Some(&lost)).unwrap().pushed.len(), 2);
    assert_eq!(world.live_text("state/tides.yaml"), "inference:\n  phase: night\n  window: 2026-11-30T23:00:00Z\n");
    assert_eq!(world.seats("web"), seats([("a", 10)]));
    for _ in 0..10 {
        world.later(60);
        assert_eq!(world.advance_seeing(Some(&lost)).unwrap().pushed, []);
    }
}

/// A tide that scales the only app, over two clusters alike; it is 11:00.
fn scaling(base: u32, replicas: &str, from: &str, until: &str) -> Files {
    let mut files = fleet();
    app(&mut files, "web", base, ", clusters: {names: [a, b]}");
    files.insert(
        "policies/tide.yaml".into(),
        format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {{name: rush}}\nspec:\n  timeZone: UTC\n  apps: {{}}\n  \
             phases:\n  - {{name: rush, from: \"{from}\", replicas: {replicas}}}\n  - {{name: base, from: \"{until}\", replicas: \
             100%}}\n"
        ),
    );
    files
}

/// The clock stands so many minutes after 11:00.
fn tick_at(world: &World, minutes: i64) -> usize {
    world.clock.0.set(NOW + minutes * 60);
    let pushed = world.advance().unwrap().pushed.len();
    assert_eq!(world.advance().unwrap().pushed, [], "a second tick adds nothing");
    pushed
}

#[test]
fn tidal_04_a_phase_runs_exactly_what_it_states() {
    let world = World::live(&scaling(31, "73", "12:00", "13:00"));
    assert_eq!(world.seats("web"), seats([("a", 16), ("b", 15)]));
    assert_eq!(tick_at(&world, 60), 1);
    assert_eq!(world.seats("web").values().sum::<u32>(), 73);
    assert_eq!(tick_at(&world, 120), 1);
    assert_eq!(world.seats("web").values().sum::<u32>(), 31);
}

/// What was missed is not made up for: the phase of now, in one commit.
#[test]
fn tidal_05_missed_ticks_cost_nothing() {
    let world = World::live(&scaling(4, "8", "12:00", "13:00"));
    // three hours and twenty minutes: both turns were missed, and the phase is what it was
    assert_eq!(tick_at(&world, 200), 0);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2)]));
    // a day and a half hour, 1470 minutes: one turn, into the phase of now
    assert_eq!(tick_at(&world, 25 * 60 + 30), 1);
    assert_eq!(world.live_text("state/tides.yaml"), "rush:\n  phase: rush\n  window: 2026-12-01T12:00:00Z\n");
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 4)]));
}

#[test]
fn tidal_07_a_change_within_a_phase_counts_when_the_phase_ends() {
    let at = |minute: i64| 8 * 60 + minute; // 19:00 and so many minutes
    let world = World::live(&scaling(2, "8", "19:10", "19:25"));
    assert_eq!(world.seats("web"), seats([("a", 1), ("b", 1)]));
    tick_at(&world, at(12));
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 4)]));
    world.commit_main(&scaling(6, "8", "19:10", "19:25"));
    assert_eq!(tick_at(&world, at(15)), 1);
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 4)]), "the phase still counts");
    assert_eq!(tick_at(&world, at(25)), 1);
    assert_eq!(world.seats("web"), seats([("a", 3), ("b", 3)]), "the new base");
}
