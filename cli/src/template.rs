//! The files that `init` writes: those of `fleet-repo-template/`, part of the binary, and the schemas of this version.

use std::collections::BTreeMap;

use fleetwright_compiler::api::{KINDS, schema};

/// Path and content of each file of the template, ascending by path. A test holds it against the folder.
const FILES: &[(&str, &str)] = &[
    (".github/workflows/fleetwright.yml", include_str!("../../fleet-repo-template/.github/workflows/fleetwright.yml")),
    (".gitignore", include_str!("../../fleet-repo-template/.gitignore")),
    (".gitlab-ci.yml", include_str!("../../fleet-repo-template/.gitlab-ci.yml")),
    ("README.md", include_str!("../../fleet-repo-template/README.md")),
    ("clusters/prod-eu.yaml", include_str!("../../fleet-repo-template/clusters/prod-eu.yaml")),
    ("clusters/prod-us.yaml", include_str!("../../fleet-repo-template/clusters/prod-us.yaml")),
    ("clusters/staging.yaml", include_str!("../../fleet-repo-template/clusters/staging.yaml")),
    ("fleet.yaml", include_str!("../../fleet-repo-template/fleet.yaml")),
    ("policies/production.yaml", include_str!("../../fleet-repo-template/policies/production.yaml")),
    ("teams/shop.yaml", include_str!("../../fleet-repo-template/teams/shop.yaml")),
    ("teams/shop/web/app.yaml", include_str!("../../fleet-repo-template/teams/shop/web/app.yaml")),
    ("teams/shop/web/configmap.yaml", include_str!("../../fleet-repo-template/teams/shop/web/configmap.yaml")),
    ("teams/shop/web/deployment.yaml", include_str!("../../fleet-repo-template/teams/shop/web/deployment.yaml")),
    ("teams/shop/web/service.yaml", include_str!("../../fleet-repo-template/teams/shop/web/service.yaml")),
];

/// Path and content of every file of a new fleet repository, ascending by path.
pub fn files() -> BTreeMap<String, String> {
    let template = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    // Of this binary rather than of the folder, so that they are never of another version.
    let schemas = KINDS
        .iter()
        .filter_map(|kind| Some((format!("schemas/{}", schema::file_name(kind)), schema::file_text(kind)?)));
    template.chain(schemas).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::{Path, PathBuf};

    use fleetwright_compiler::diag::Diagnostics;
    use fleetwright_compiler::schedule::Scenario;
    use fleetwright_compiler::source::{MemoryFiles, Overlay};
    use fleetwright_compiler::{Session, compile};

    use super::*;

    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }

    /// The files of a folder of this repository, ascending by path: what a list of embedded files must be.
    pub(crate) fn files_of(folder: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let mut found = Vec::new();
        walk(&root, &mut found);
        let relative = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let mut found: Vec<String> = found.iter().map(relative).collect();
        found.sort();
        found
    }

    #[test]
    fn the_list_is_the_folder() {
        let found = files_of("fleet-repo-template");
        let listed: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(listed, found);
    }

    #[test]
    fn it_compiles_clean() {
        let files = MemoryFiles::new(files()).unwrap();
        let compiled = match compile(&Session::new(), &Overlay::same(&files), &Scenario::default()) {
            Ok(compiled) => compiled,
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(compiled.diagnostics, Diagnostics::default());
        let placed = fleetwright_compiler::schedule::placed(&compiled.fleet, &compiled.target);
        let web = placed.values().next().unwrap();
        assert_eq!(web.clusters, ["prod-eu", "prod-us"]);
        let replicas: u32 = web.workloads.values().flat_map(|w| &w.seats).map(|seat| seat.replicas).sum();
        assert_eq!(replicas, 6);
    }

    #[test]
    fn modelines_name_schemas_that_are_written() {
        let written = files();
        let mut modelines = 0;
        for (path, text) in FILES {
            let Some(line) = text.lines().find(|line| line.starts_with("# yaml-language-server:")) else { continue };
            let named = line.split("$schema=").nth(1).unwrap();
            // As many `../` as the file lies deep.
            let up = "../".repeat(path.matches('/').count());
            let from_root = named.strip_prefix(&up).unwrap();
            assert!(written.contains_key(from_root), "{path}: {named}");
            let kind = text.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap();
            assert_eq!(from_root, format!("schemas/{}", schema::file_name(kind)), "{path}");
            modelines += 1;
        }
        assert_eq!(modelines, 7);
    }
}
