//! The fleets in `examples/` and what `init` writes: each compiles without a word, and its plan and all that is rendered are
//! in `examples/<name>/` beside this file. `SNAPSHOTS=overwrite` writes them anew; the diff of that is what a reviewer reads.
//! The next example is a folder with a README; nothing here names one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetwright_compiler::base::ClusterId;
use fleetwright_compiler::report;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Compiled, Session, compile};
use fleetwright_files::FolderFiles;
use snapbox::{Assert, Data};

/// Root of the workspace.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn examples() -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(|e| e.unwrap());
    let mut found: Vec<_> = entries.map(|e| (e.file_name().to_str().unwrap().to_owned(), e.path())).collect();
    found.sort();
    found
}

/// Compiles a folder in which there is nothing to remark on.
fn compile_clean(folder: &Path) -> Compiled {
    let files = FolderFiles::open(folder).unwrap();
    let compiled = match compile(&Session::new(), &Overlay::same(&files), &Scenario::default()) {
        Ok(compiled) => compiled,
        Err(CompileError::Refused(refusal)) => panic!("{}: {:#?}", folder.display(), refusal.diagnostics),
        Err(other) => panic!("{}: {other}", folder.display()),
    };
    assert!(compiled.diagnostics.is_empty(), "{}: {:#?}", folder.display(), compiled.diagnostics);
    compiled
}

#[test]
fn examples_compile_clean_and_give_what_is_written_here() {
    let examples = examples();
    assert!(examples.len() >= 3, "{examples:?}");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/examples");
    let assert = Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    for (name, folder) in examples {
        assert!(folder.join("README.md").exists(), "{name} has no README.md");
        let compiled = compile_clean(&folder);
        let mut expected = rendered(&compiled);
        expected.insert("plan.txt".to_owned(), report::plan(&compiled).to_text(true));
        for (file, text) in &expected {
            let path = golden.join(&name).join(file);
            assert.eq(Data::text(text.clone()), Data::read_from(&path, None).raw());
        }
        let stale = std::fs::read_dir(golden.join(&name)).unwrap().map(|e| e.unwrap());
        let stale: Vec<_> = stale.filter(|e| !expected.contains_key(e.file_name().to_str().unwrap())).collect();
        assert!(stale.is_empty(), "nothing renders these any more: {stale:?}");
    }
}

#[test]
fn what_init_writes_compiles_clean() {
    let compiled = compile_clean(&root().join("fleet-repo-template"));
    let apps: Vec<String> = compiled.fleet.app_ids().map(|id| compiled.fleet.app_name(id).to_string()).collect();
    assert_eq!(apps, ["shop/web"]);
    assert!(compiled.rendered.clusters.iter().any(|c| !c.files.is_empty()));
}

/// All that is rendered, by app: each document once, with the clusters whose file holds it, in the order of the files.
fn rendered(compiled: &Compiled) -> BTreeMap<String, String> {
    let mut documents: BTreeMap<String, Vec<(String, Vec<String>)>> = BTreeMap::new();
    for (id, cluster) in (0..).map(ClusterId).zip(&compiled.fleet.clusters) {
        for file in compiled.rendered.files(id) {
            let mut text = String::new();
            file.write(&compiled.fleet, &mut text);
            let path = file.path(&compiled.fleet, id);
            let of = documents.entry(path.split_once('/').unwrap().1.replace('/', "-")).or_default();
            let mut at = 0;
            for document in text.split_inclusive("\n---\n") {
                let document = document.strip_suffix("---\n").unwrap_or(document);
                match of.iter().position(|(known, _)| known == document) {
                    Some(known) => {
                        of[known].1.push(cluster.name.to_string());
                        at = known + 1;
                    }
                    None => {
                        // beside its neighbours of this file, so that what differs stands together
                        of.insert(at, (document.to_owned(), vec![cluster.name.to_string()]));
                        at += 1;
                    }
                }
            }
        }
    }
    let text = |of: Vec<(String, Vec<String>)>| {
        of.into_iter().map(|(document, clusters)| format!("--- # {}\n{document}", clusters.join(", "))).collect()
    };
    documents.into_iter().map(|(name, of)| (name, text(of))).collect()
}
