//! `fleetwright render`: the manifests of each cluster, into a folder.

use std::path::PathBuf;

use fleetwright_compiler::base::ClusterId;
use fleetwright_compiler::render::RenderedFile;
use fleetwright_compiler::source::RepoPath;
use fleetwright_compiler::{Compiled, Session};
use fleetwright_files::{Stale, WriteReport, write_tree};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::output::{self, count};
use crate::{fleet, streams};

/// Write the manifests of every cluster into a folder
///
/// Each app in each cluster is one file, `<cluster>/<team>/<app>.yaml`; the Namespaces that are generated for a cluster
/// are in `<cluster>/_namespaces.yaml`. A file is written only when it changed. Files of an earlier run that are no
/// longer rendered are removed; nothing else ever is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder: a new or empty one, or one that `render` wrote before
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Name, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context)?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    fleet::say_record(&opened);
    let files = paths(&compiled)?;
    // Text exists only while it is written: a large fleet would not fit into memory.
    let texts = files.into_iter().map(|(path, file)| {
        let mut text = String::new();
        file.write(&compiled.fleet, &mut text);
        (path, text)
    });
    let report = write_tree(&args.to, texts, Stale::Remove)?;
    streams::data(&said(context.format(), &report)?)?;
    streams::talk(&format!(
        "{} in {}: {} written, {} unchanged, {} removed",
        count(report.written.len() + report.unchanged.len(), "file"),
        args.to.display(),
        report.written.len(),
        report.unchanged.len(),
        report.removed.len()
    ));
    fleet::say_warnings(&compiled);
    Ok(Outcome::Done)
}

fn paths(compiled: &Compiled) -> Result<Vec<(RepoPath, &RenderedFile)>, Failure> {
    let of_cluster = |cluster: ClusterId| compiled.rendered.files(cluster).iter().map(move |file| (cluster, file));
    compiled
        .fleet
        .cluster_ids()
        .flat_map(of_cluster)
        .map(|(cluster, file)| {
            let path = file.path(&compiled.fleet, cluster);
            match RepoPath::new(&path) {
                Ok(path) => Ok((path, file)),
                Err(e) => Err(Failure::Bug(format!("`{path}` was to be rendered: {e}"))),
            }
        })
        .collect()
}

fn said(format: Format, report: &WriteReport) -> Result<String, Failure> {
    let WriteReport { written, unchanged, removed } = report;
    let names = |paths: &[RepoPath]| paths.iter().map(|p| p.as_str().to_owned()).collect::<Vec<String>>();
    let data = serde_json::json!({
        "written": names(written),
        "unchanged": names(unchanged),
        "removed": names(removed),
    });
    output::data(format, &data, || {
        let written = written.iter().map(|path| ("written", path));
        let removed = removed.iter().map(|path| ("removed", path));
        if format == Format::Name {
            let mut all: Vec<&RepoPath> = written.map(|(_, path)| path).chain(unchanged).collect();
            all.sort();
            return all.into_iter().map(|path| format!("{path}\n")).collect();
        }
        written.chain(removed).map(|(what, path)| format!("{what} {path}\n")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done() {
        let paths = |texts: &[&str]| texts.iter().map(|t| RepoPath::new(t).unwrap()).collect::<Vec<RepoPath>>();
        let report = WriteReport {
            written: paths(&["a/t/x.yaml", "c/t/x.yaml"]),
            unchanged: paths(&["b/t/x.yaml"]),
            removed: paths(&["d/t/x.yaml"]),
        };
        for (format, expected) in [
            (Format::Text, "written a/t/x.yaml\nwritten c/t/x.yaml\nremoved d/t/x.yaml\n"),
            (Format::Name, "a/t/x.yaml\nb/t/x.yaml\nc/t/x.yaml\n"),
            (Format::Yaml, "written:\n- a/t/x.yaml\n- c/t/x.yaml\nunchanged:\n- b/t/x.yaml\nremoved:\n- d/t/x.yaml\n"),
        ] {
            assert_eq!(said(format, &report).unwrap(), expected, "{format:?}");
        }
    }
}
