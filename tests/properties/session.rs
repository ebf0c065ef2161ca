//! One session through many edits gives what a fresh one gives; and a session that does not is caught.

use std::sync::Arc;

use fleetwright_compiler::base::ContentId;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{DirEntry, FilesError, FleetFiles, MemoryFiles, Overlay, RepoPath, find};
use fleetwright_compiler::{Difference, Session, compile, difference};
use fleetwright_tests::fleet::{FleetBuilder, deployment};
use proptest::prelude::*;
use serde_json::json;

use crate::small_fleet::{SmallFleet, small_fleet};
use crate::{cases, compile_fresh, tree};

/// How one file changes.
#[derive(Clone, Debug)]
enum Edit {
    /// The file becomes that of another fleet, or goes if that has none.
    Take(proptest::sample::Index),
    /// It is no YAML any more.
    Break(proptest::sample::Index),
    /// It says a number more.
    Number(proptest::sample::Index),
    /// It goes.
    Remove(proptest::sample::Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    use proptest::sample::Index;
    prop_oneof![
        6 => any::<Index>().prop_map(Edit::Take),
        1 => any::<Index>().prop_map(Edit::Break),
        4 => any::<Index>().prop_map(Edit::Number),
        1 => any::<Index>().prop_map(Edit::Remove),
    ]
}

/// The fleet after an edit; `other` is where [`Edit::Take`] takes from.
fn edited(fleet: FleetBuilder, edit: &Edit, other: &FleetBuilder) -> FleetBuilder {
    let paths: Vec<String> = fleet.texts().keys().chain(other.texts().keys()).cloned().collect();
    let path = |index: &proptest::sample::Index| index.get(&paths).clone();
    match edit {
        Edit::Take(index) => {
            let path = path(index);
            match other.texts().get(&path) {
                Some(text) => fleet.file(&path, text.clone()),
                None => fleet.without(&path),
            }
        }
        Edit::Break(index) => fleet.file(&path(index), "spec: [\n"),
        Edit::Number(index) => {
            let path = path(index);
            let text = fleet.texts().get(&path).cloned().unwrap_or_default();
            let more = text.replace("replicas: 3\n", "replicas: 4\n").replace("nodes: 2\n", "nodes: 3\n");
            fleet.file(&path, more)
        }
        Edit::Remove(index) => fleet.without(&path(index)),
    }
}

proptest! {
    #![proptest_config(cases(4, 50))]

    #[test]
    fn fifty_edits_in_one_session(first in small_fleet(), second in small_fleet(), edits in proptest::collection::vec(edit(), 50)) {
        let session = Session::new();
        let (mut fleet, other): (FleetBuilder, FleetBuilder) = (first.build(), SmallFleet::build(&second));
        for (number, edit) in edits.iter().enumerate() {
            fleet = edited(fleet, edit, &other);
            let files = tree(&fleet);
            let kept = compile(&session, &Overlay::same(&files), &Scenario::default());
            prop_assert_eq!(difference(&kept, &compile_fresh(&files)), None, "after edit {}: {:?}", number, edit);
        }
    }
}

/// A source that goes on calling one file by the id of its former content: what a stale memo looks like from inside.
struct Stale {
    files: MemoryFiles,
    path: RepoPath,
    former: ContentId,
}

impl FleetFiles for Stale {
    fn root(&self) -> Result<ContentId, FilesError> {
        self.files.root()
    }

    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError> {
        let mut entries = self.files.dir(path, id)?;
        for entry in &mut entries {
            if path.join(&entry.name).is_ok_and(|path| path == self.path) {
                entry.id = self.former;
            }
        }
        Ok(entries)
    }

    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError> {
        let current = if *path == self.path { find(&self.files, path)?.map(|entry| entry.id) } else { None };
        self.files.read(path, &current.unwrap_or(*id))
    }
}

#[test]
fn a_stale_memo_is_caught() {
    let fleet = |replicas| {
        FleetBuilder::new().cluster("a", json!({})).open_team("shop").app(
            "shop",
            "checkout",
            json!({ "placement": { "replicas": { "strategy": "Duplicated" } } }),
            &[deployment("web", replicas, "100m", "64Mi")],
        )
    };
    let path = RepoPath::new("teams/shop/checkout/deployment-web.yaml").unwrap();
    let (before, after) = (tree(&fleet(3)), tree(&fleet(5)));
    let former = find(&before, &path).unwrap().unwrap().id;
    let stale = Stale { files: after.clone(), path, former };

    let honest = Session::new();
    for files in [&before, &after] {
        assert_eq!(honest.check(&Overlay::same(files), &Scenario::default()), Ok(()));
    }

    let session = Session::new();
    compile(&session, &Overlay::same(&before), &Scenario::default()).unwrap();
    let caught = session.check(&Overlay::same(&stale), &Scenario::default()).unwrap_err();
    assert_eq!(*caught.difference(), Difference::Target);
    // The same comparison that the edits above go through.
    let kept = compile(&session, &Overlay::same(&stale), &Scenario::default());
    assert_eq!(difference(&kept, &compile_fresh(&after)), Some(Difference::Target));
}
