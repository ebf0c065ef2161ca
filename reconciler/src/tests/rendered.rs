//! The rendered branch.

use fleetwright_compiler::source::RepoPath;

use super::world::{World, app, fleet, seen, up};
use crate::controller::Wanted;
use crate::observation::{AppSeen, Observation, WorkloadSeen};
use crate::ports::{CommitId, FleetRepo as _, PushError};
use crate::rendered::{RenderedError, Written, write};

fn render(world: &World, observation: Option<&Observation>) -> Result<Written, RenderedError> {
    let mut repo = world.repo("mirror.git");
    repo.fetch(&["live"]).unwrap();
    let tip = CommitId(world.tip("live").unwrap().to_string().into());
    let wanted = Wanted::read(&repo, &world.session, &world.branches, &tip).unwrap();
    assert_eq!(wanted.rendered_branch(), Some("rendered"));
    write(&mut repo, &wanted, observation, "rendered", world.clock.0.get())
}

fn rendered_fleet() -> super::world::Files {
    let mut files = fleet();
    let text = files["fleet.yaml"].replace("spec: {}", "spec: {branches: {rendered: rendered}}");
    files.insert("fleet.yaml".into(), text);
    app(&mut files, "other", 3, "");
    files
}

fn paths(paths: &[&str]) -> Vec<RepoPath> {
    paths.iter().map(|path| RepoPath::new(path).unwrap()).collect()
}

/// Every cluster answers, and each app has so many ready replicas in each.
fn all_ready(ready: u32) -> Observation {
    let mut observation = seen([("a", up()), ("b", up()), ("c", up())]);
    for cluster in observation.clusters.values_mut() {
        let workloads = [("apps/Deployment/web".into(), WorkloadSeen { replicas: ready, ready })];
        let app = AppSeen {
            health: crate::health::Health::Current,
            blocking: Vec::new(),
            workloads: workloads.into(),
            content: "x".into(),
            since_secs: 0,
        };
        cluster.apps.insert(("t".into(), "web".into()), app);
    }
    observation
}

#[test]
fn manifests_of_every_cluster_and_nothing_when_nothing_changed() {
    let world = World::live(&rendered_fleet());
    let first = render(&world, None).unwrap();
    assert!(first.commit.is_some() && first.waiting.is_empty());
    let files = world.files("rendered");
    let names: Vec<&str> = files.keys().map(String::as_str).filter(|name| name.starts_with("a/")).collect();
    assert_eq!(names, ["a/_namespaces.yaml", "a/t/other.yaml", "a/t/web.yaml"]);
    assert!(files["b/t/web.yaml"].contains("replicas: 2"), "{}", files["b/t/web.yaml"]);
    assert_eq!(render(&world, None).unwrap(), Written::default());
}

#[test]
fn nothing_is_lowered_blindly_and_a_deleted_intent_goes_at_once() {
    let world = World::live(&rendered_fleet());
    render(&world, None).unwrap();
    let mut files = rendered_fleet();
    app(&mut files, "web", 3, "");
    files.retain(|path, _| !path.starts_with("teams/t/other/"));
    world.commit_main(&files);
    world.advance().unwrap();
    // six become three: without a look at the clusters nobody knows that three are ready
    let blind = render(&world, None).unwrap();
    assert_eq!(blind.waiting, paths(&["a/t/web.yaml", "b/t/web.yaml", "c/t/web.yaml"]));
    let now = world.files("rendered");
    assert!(now["a/t/web.yaml"].contains("replicas: 2") && !now.contains_key("a/t/other.yaml"), "{now:?}");
    // and again: what waits is no commit
    assert_eq!(render(&world, None).unwrap().commit, None);
    // clusters that do not answer have nothing ready
    assert_eq!(render(&world, Some(&seen([]))).unwrap().waiting.len(), 3);
    let ready = render(&world, Some(&all_ready(2))).unwrap();
    assert!(ready.commit.is_some() && ready.waiting.is_empty());
    assert!(world.files("rendered")["a/t/web.yaml"].contains("replicas: 1"));
}

#[test]
fn files_of_others_stay_and_a_refused_push_is_an_error() {
    let world = World::live(&rendered_fleet());
    let mut theirs = super::world::Files::new();
    theirs.insert("README.md".into(), "ours\n".into());
    theirs.insert("a/t/gone.yaml".into(), "kind: ConfigMap\n".into());
    theirs.insert(".github/workflows/ci.yaml".into(), "on: push\n".into());
    world.commit("rendered", &theirs);
    render(&world, None).unwrap();
    let files = world.files("rendered");
    assert!(files.contains_key(".github/workflows/ci.yaml"), "{files:?}");
    assert!(files.contains_key("README.md") && !files.contains_key("a/t/gone.yaml"), "{files:?}");
    let mut files = rendered_fleet();
    app(&mut files, "web", 9, "");
    world.commit_main(&files);
    world.advance().unwrap();
    world.refuse("rendered");
    assert!(matches!(render(&world, None), Err(RenderedError::Push(PushError::Refused { .. }))));
}

/// The branch is never stale: each writing is what is live now, on top of whatever stands there, and what a person committed
/// in between stays in its history.
#[test]
fn gitpush_07_the_branch_is_made_anew_on_top_of_what_people_did() {
    let world = World::live(&rendered_fleet());
    render(&world, None).unwrap();
    let mut theirs = world.files("rendered");
    theirs.insert("NOTES.md".into(), "theirs\n".into());
    let edited = theirs["a/t/web.yaml"].replace("replicas: 2", "replicas: 9");
    theirs.insert("a/t/web.yaml".into(), edited);
    let by_hand = git2::Oid::from_str(&world.commit("rendered", &theirs).0).unwrap();
    for replicas in [9, 12] {
        let mut files = rendered_fleet();
        app(&mut files, "web", replicas, "");
        world.commit_main(&files);
    }
    world.advance().unwrap();
    let written = render(&world, Some(&all_ready(4))).unwrap();
    let files = world.files("rendered");
    assert!(files["a/t/web.yaml"].contains("replicas: 4"), "{}", files["a/t/web.yaml"]);
    assert!(files.contains_key("NOTES.md") && written.commit.is_some(), "{written:?}");
    let tip = world.tip("rendered").unwrap();
    assert!(world.remote.graph_descendant_of(tip, by_hand).unwrap(), "the person's commit is below it");
}

/// Whoever applies the branch deletes what is no longer there, and with a Namespace all that is in it.
#[test]
fn a_namespace_stays_when_its_last_app_leaves() {
    let world = World::live(&rendered_fleet());
    render(&world, None).unwrap();
    let before = world.files("rendered")["a/_namespaces.yaml"].clone();
    let mut files = rendered_fleet();
    files.retain(|path, _| !path.starts_with("teams/t/other/"));
    let text = files["teams/t/web/app.yaml"].replace("placement: {", "placement: {clusters: {names: [b, c]}, ");
    files.insert("teams/t/web/app.yaml".into(), text);
    world.commit_main(&files);
    world.advance().unwrap();
    render(&world, Some(&all_ready(6))).unwrap();
    let after = world.files("rendered");
    assert!(!after.contains_key("a/t/web.yaml"), "{after:?}");
    assert_eq!(after["a/_namespaces.yaml"], before);
    assert_eq!(render(&world, Some(&all_ready(6))).unwrap(), Written::default());
}

/// Whoever applies the branch deletes what is no longer there: what nobody recorded stays.
#[test]
fn what_is_not_recorded_stays_as_it_is() {
    let world = World::live(&rendered_fleet());
    render(&world, None).unwrap();
    let before = world.files("rendered");
    let placements = world.live_text("placements/t.yaml");
    world.edit_live(|files| {
        files.remove("placements/t.yaml");
    });
    let written = render(&world, Some(&all_ready(6))).unwrap();
    let all = ["a/t/other.yaml", "a/t/web.yaml", "b/t/other.yaml", "b/t/web.yaml", "c/t/other.yaml", "c/t/web.yaml"];
    assert_eq!((written.waiting, written.commit.is_some()), (paths(&all), false));
    assert_eq!(world.files("rendered"), before);
    world.advance().unwrap();
    assert_eq!(world.live_text("placements/t.yaml"), placements);
    assert_eq!(render(&world, None).unwrap(), Written::default());
}

/// What is there under an older name of an app is the app's: it goes when the file under the new name comes, and not before.
#[test]
fn a_renamed_app_has_a_file_all_the_time() {
    let world = World::live(&rendered_fleet());
    render(&world, None).unwrap();
    let before = world.files("rendered");
    let mut files = rendered_fleet();
    let intent = files.remove("teams/t/web/app.yaml").unwrap();
    let manifest = files.remove("teams/t/web/web.yaml").unwrap();
    let intent = intent.replace("{name: web}", "{name: front}");
    let with = |replicas: u32, files: &mut super::world::Files| {
        let intent = intent.replace("  namespace: t\n", "  namespace: t\n  previousNames: [t/web]\n");
        files.insert("teams/t/front/app.yaml".into(), intent);
        let manifest = manifest.replace("replicas: 6", &format!("replicas: {replicas}"));
        files.insert("teams/t/front/web.yaml".into(), manifest);
    };
    // renamed, and fewer: that is not lowered blindly under another name either
    with(3, &mut files);
    world.commit_main(&files);
    world.advance().unwrap();
    let both = ["a/t/front.yaml", "a/t/web.yaml", "b/t/front.yaml", "b/t/web.yaml", "c/t/front.yaml", "c/t/web.yaml"];
    assert_eq!(render(&world, None).unwrap(), Written { commit: None, waiting: paths(&both) });
    // as many as before, and somebody removed what is recorded of it before that was rendered
    with(6, &mut files);
    world.commit_main(&files);
    world.advance().unwrap();
    let recorded = world.live_text("placements/t.yaml");
    world.edit_live(|files| {
        let text = files["placements/t.yaml"].replace('"', "");
        let kept = text.split("- app: ").filter(|block| !block.starts_with("front\n")).collect::<Vec<_>>();
        files.insert("placements/t.yaml".into(), kept.join("- app: "));
    });
    let old = ["a/t/web.yaml", "b/t/web.yaml", "c/t/web.yaml"];
    assert_eq!(render(&world, None).unwrap(), Written { commit: None, waiting: paths(&old) });
    assert_eq!(world.files("rendered"), before);
    world.advance().unwrap();
    assert_eq!(world.live_text("placements/t.yaml"), recorded);
    let written = render(&world, None).unwrap();
    assert!(written.commit.is_some() && written.waiting.is_empty(), "{written:?}");
    let names: Vec<String> = world.files("rendered").into_keys().filter(|name| name.starts_with("a/")).collect();
    assert_eq!(names, ["a/_namespaces.yaml", "a/t/front.yaml", "a/t/other.yaml"]);
}
