//! Manifests that people run in production or publish as examples, where a folder of them is there: `../shared/real`
//! beside the checkout, or `FLEETWRIGHT_REAL`. Its `read.jsonl` holds what the Kubernetes reader makes of each document:
//! `{file, doc, value}` or `{file, doc, error}`.
//!
//! Without the folder nothing is tested here, which is said; [`super::manifests`] tests the same on manifests of the
//! project's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetwright_compiler::base::{Digest, FileId};
use fleetwright_compiler::diag::Place;
use fleetwright_compiler::yaml::{Limits, LineIndex, compose};
use fleetwright_compiler::{CompileError, Refusal};
use serde::Deserialize;
use serde_json::Value;

use super::deployed::{assert_deployed, compile_app};

/// What must come of a folder: `read.jsonl` by its digest, so that of another folder nothing is expected.
struct Counts {
    read: &'static str,
    files: usize,
    deployed: usize,
    unreadable: usize,
}

/// The folder this test was written with.
const KNOWN: Counts = Counts { read: "b3:fa913781939d2b5d", files: 378, deployed: 573, unreadable: 5 };

/// Folders whose manifests belong together.
const ONE_APP: [&str; 4] = ["argo-cd", "flink", "kube-prometheus", "online-boutique"];
/// Folders whose files repeat each other's names.
const FILE_BY_FILE: [&str; 2] = ["ray", "kubernetes-examples"];

/// What is refused, besides the documents that the Kubernetes reader cannot read: file, line, code, and why that is right.
const REFUSED: &[(&str, u32, &str, &str)] = &[
    ("ray/ray-job.kueue-toy-sample.yaml", 4, "FW1081", "`generateName` and no name"),
    (QUOBYTE, 9, "FW1002", "`type` stands twice; the Kubernetes reader keeps the last"),
    (SCALEIO, 12, "FW1002", "`storageClassName` stands twice; the Kubernetes reader keeps the last"),
    (VITESS, 4, "FW1095", "a placeholder as name"),
    (VITESS, 7, "FW1095", "a placeholder as label"),
    (VITESS, 8, "FW1095", "a placeholder as label"),
    (VITESS, 9, "FW1095", "a placeholder as label"),
    (FIBRE, 17, "FW1086", "`lun` is an integer, not a string"),
];
const QUOBYTE: &str =
    "kubernetes-examples/_archived__persistent-volume-provisioning__quobyte__quobyte-admin-secret.yaml";
const SCALEIO: &str = "kubernetes-examples/_archived__volumes__scaleio__sc-pvc.yaml";
const VITESS: &str = "kubernetes-examples/_archived__storage__vitess__vttablet-pod-template.yaml";
const FIBRE: &str = "kubernetes-examples/_archived__volumes__fibre_channel__fc.yaml";

#[derive(Deserialize)]
struct Read {
    file: String,
    /// Its position in the file, from 0.
    doc: u32,
    #[serde(default)]
    value: Option<Value>,
    #[serde(default)]
    error: Option<String>,
}

/// The folder, if it is there.
fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("FLEETWRIGHT_REAL").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/real"));
    if folder.join("read.jsonl").exists() {
        return Some(folder);
    }
    eprintln!("NOT TESTED: no real manifests in {} (set FLEETWRIGHT_REAL to a folder of them)", folder.display());
    None
}

/// By file, what is in it and its documents. A file may have none.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, Vec<Read>)> {
    let mut files: BTreeMap<String, (Vec<u8>, Vec<Read>)> = BTreeMap::new();
    for top in ONE_APP.into_iter().chain(FILE_BY_FILE).filter(|top| folder.join(top).is_dir()) {
        find(folder, top, &mut files);
    }
    for line in std::fs::read_to_string(folder.join("read.jsonl")).unwrap().lines() {
        let read: Read = serde_json::from_str(line).unwrap();
        files.get_mut(&read.file).unwrap_or_else(|| panic!("{} is not there", read.file)).1.push(read);
    }
    files
}

fn find(root: &Path, below: &str, files: &mut BTreeMap<String, (Vec<u8>, Vec<Read>)>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}/{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => find(root, &path, files),
            false => _ = files.insert(path, (std::fs::read(entry.path()).unwrap(), Vec::new())),
        }
    }
}

#[test]
fn real_manifests_are_deployed_as_kubernetes_reads_them() {
    let Some(folder) = folder() else { return };
    let files = files(&folder);
    let top = |path: &str| path.split('/').next().unwrap().to_owned();
    let mut fleets: Vec<(String, Vec<&String>)> = Vec::new();
    for name in ONE_APP {
        fleets.push((name.to_owned(), files.keys().filter(|f| top(f) == name).collect()));
    }
    fleets.retain(|(_, of)| !of.is_empty());
    for name in FILE_BY_FILE {
        fleets.extend(files.keys().filter(|f| top(f) == name).map(|f| (f.clone(), vec![f])));
    }

    let (mut deployed, mut unreadable, mut refused, mut wrong) = (0, 0, Vec::new(), Vec::new());
    for (name, of) in &fleets {
        if of.iter().all(|f| files[*f].1.is_empty()) {
            // nothing but comments
            let Err(CompileError::Refused(refusal)) = compile_app(of.iter().map(|f| (f.as_str(), &*files[*f].0)))
            else {
                panic!("{name}: an App without objects");
            };
            let codes: Vec<String> = refusal.diagnostics.iter().map(|d| d.code.to_string()).collect();
            assert_eq!(codes, ["FW1053"], "{name}");
            continue;
        }
        let manifests = of.iter().map(|f| (f.as_str(), files[*f].0.as_slice()));
        let documents = || of.iter().flat_map(|f| &files[*f].1);
        match compile_app(manifests) {
            Ok(compiled) => {
                assert!(documents().all(|d| d.error.is_none()), "{name}: what cannot be read is deployed");
                deployed += assert_deployed(&compiled, documents().filter_map(|d| d.value.as_ref()), name);
            }
            Err(CompileError::Refused(refusal)) => {
                let mistakes = mistakes(&refusal, &files);
                let spoils = |m: &Mistake, d: &Read| (m.code == "FW1001") && (&m.file, m.doc) == (&d.file, Some(d.doc));
                for read in documents().filter(|d| d.error.is_some()) {
                    let said = mistakes.iter().any(|m| spoils(m, read));
                    assert!(
                        said,
                        "{name}: nothing said about document {} of {}: {:?}",
                        read.doc, read.file, read.error
                    );
                    unreadable += 1;
                }
                for mistake in mistakes {
                    let Mistake { file, line, code, message, .. } = &mistake;
                    match REFUSED.iter().find(|(f, l, c, _)| (*f, *l, *c) == (file.as_str(), *line, code.as_str())) {
                        Some(row) => refused.push(row),
                        None if documents().any(|d| d.error.is_some() && spoils(&mistake, d)) => {}
                        None => wrong.push(format!("{file}:{line} {code} {message}")),
                    }
                }
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
    assert!(wrong.is_empty(), "refused:\n{}", wrong.join("\n"));
    let missing: Vec<_> = REFUSED.iter().filter(|r| files.contains_key(r.0) && !refused.contains(r)).collect();
    assert!(missing.is_empty(), "not refused: {missing:?}");
    refused.sort();
    refused.dedup();
    let (files, refused) = (files.len(), refused.len());
    if digest(&folder) == KNOWN.read {
        let found = (files, deployed, unreadable, refused);
        assert_eq!(
            found,
            (KNOWN.files, KNOWN.deployed, KNOWN.unreadable, REFUSED.len()),
            "files, deployed, unreadable, refused"
        );
    } else {
        eprintln!("another folder than the known one, {}: nothing is expected of how many there are", digest(&folder));
    }
    eprintln!(
        "{files} files: {deployed} objects deployed, {unreadable} unreadable documents, {refused} other mistakes"
    );
}

fn digest(folder: &Path) -> String {
    let read = std::fs::read(folder.join("read.jsonl")).unwrap();
    Digest::of(&read).short()
}

/// An error of a refusal.
struct Mistake {
    file: String,
    line: u32,
    /// The document it is in, as the compiler counts them.
    doc: Option<u32>,
    code: String,
    message: String,
}

/// The errors of a refusal. Each is in one of the manifests and at some bytes of it.
fn mistakes(refusal: &Refusal, files: &BTreeMap<String, (Vec<u8>, Vec<Read>)>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for error in refusal.diagnostics.iter().filter(|d| d.is_error()) {
        let Place::Span(FileId(file), span) = &error.place else { panic!("no place: {error:?}") };
        let path = refusal.files[*file as usize].path.as_str();
        let path = path.strip_prefix("teams/t/app/base/").unwrap_or_else(|| panic!("{path}: {error:?}"));
        let text = std::str::from_utf8(&files[path].0).unwrap();
        assert!(span.start < span.end && (span.end as usize) <= text.len(), "{path}: {error:?}");
        let (documents, _) = compose(text, &Limits::default());
        let inside = documents.iter().find(|d| d.span.start <= span.start && span.start < d.span.end);
        mistakes.push(Mistake {
            file: path.to_owned(),
            line: LineIndex::new(text).position(span.start).0,
            doc: inside.map(|d| d.index),
            code: error.code.to_string(),
            message: error.message.clone(),
        });
    }
    mistakes
}
