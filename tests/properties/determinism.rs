//! The same bytes in give the same bytes out: any order of files, any number of threads, any kind of tree.

use std::collections::BTreeMap;
use std::path::Path;

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{FleetFiles, MemoryFiles, Overlay};
use fleetwright_compiler::{CompileError, Compiled, Session, compile, difference};
use fleetwright_files::{FolderFiles, GitFiles};
use fleetwright_tests::fleet::FleetBuilder;
use fleetwright_tests::generate::{self, Shape};
use proptest::prelude::*;

use crate::small_fleet::small_fleet;
use crate::{cases, compile_fresh, tree};

type Outcome = Result<Compiled, CompileError>;

/// All manifests, and all that is said, as text.
fn bytes(outcome: &Outcome) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let diagnostics = match outcome {
        Ok(compiled) => {
            for cluster in compiled.fleet.cluster_ids() {
                for file in compiled.rendered.files(cluster) {
                    let mut text = String::new();
                    file.write(&compiled.fleet, &mut text);
                    texts.insert(file.path(&compiled.fleet, cluster), text);
                }
            }
            &compiled.diagnostics
        }
        Err(CompileError::Refused(refusal)) => &refusal.diagnostics,
        Err(error) => panic!("{error}"),
    };
    texts.insert("said".to_owned(), format!("{diagnostics:?}"));
    texts
}

fn with_threads(threads: usize, files: &MemoryFiles) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    pool.install(|| compile_fresh(files))
}

fn compile_tree(files: &dyn FleetFiles) -> Outcome {
    compile(&Session::new(), &Overlay::same(files), &Scenario::default())
}

/// A commit of a folder, all of it.
fn commit(folder: &Path) {
    let repository = git2::Repository::init(folder).expect("a repository can be made");
    let mut index = repository.index().expect("it has an index");
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None).expect("files can be added");
    let tree = repository.find_tree(index.write_tree().expect("the tree can be written")).expect("it is there");
    let who = git2::Signature::new("test", "test@example.com", &git2::Time::new(1_000_000_000, 0)).expect("a name");
    repository.commit(Some("HEAD"), &who, &who, "test", &tree, &[]).expect("a commit can be made");
}

/// A fleet in each kind of tree.
fn assert_same_everywhere(fleet: &FleetBuilder) {
    let files = tree(fleet);
    let in_memory = bytes(&compile_fresh(&files));

    let backwards = MemoryFiles::new(fleet.texts().iter().rev()).expect("the same paths");
    assert_eq!(bytes(&compile_fresh(&backwards)), in_memory, "files in another order");
    assert_eq!(bytes(&with_threads(1, &files)), in_memory, "one thread");
    assert_eq!(bytes(&with_threads(2, &files)), in_memory, "two threads");

    let folder = tempfile::tempdir().expect("a folder can be made");
    fleet.write_to(folder.path()).expect("it can be written");
    commit(folder.path());
    let on_disk = compile_tree(&FolderFiles::open(folder.path()).expect("the folder can be opened"));
    let in_git = compile_tree(&GitFiles::open(folder.path(), "HEAD").expect("the commit can be opened"));
    assert_eq!(difference(&on_disk, &in_git), None, "folder and Git tree");
    assert_eq!(bytes(&on_disk), in_memory, "folder");
    assert_eq!(bytes(&in_git), in_memory, "Git tree");
}

proptest! {
    #![proptest_config(cases(8, 400))]

    #[test]
    fn small_fleets_give_the_same_bytes_everywhere(fleet in small_fleet()) {
        assert_same_everywhere(&fleet.build());
    }
}

#[test]
fn a_generated_fleet_gives_the_same_bytes_everywhere() {
    let files = generate::files(Shape::new(60, 8, 7));
    let fleet = files.into_iter().fold(FleetBuilder::new(), |fleet, (path, text)| fleet.file(&path, text));
    assert_same_everywhere(&fleet);
}
