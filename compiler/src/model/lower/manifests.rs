//! Which manifest files belong to which App.
//!
//! Without `manifests`: the App file's folder and all below, less folders that hold an App of their own. With it: globs
//! inside the team's folder, relative to the App file's folder.

use std::collections::{BTreeMap, BTreeSet};

use super::{Docs, FileInput, Lowering};
use crate::base::glob::Glob;
use crate::base::{FileId, SmolStr, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::parse::DocBody;
use crate::source::FileClass;

/// By App document (its position in `docs.apps`), the files it takes, ascending.
pub(super) fn assign(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> Vec<Vec<FileId>> {
    let mut files_of: Vec<BTreeSet<FileId>> = vec![BTreeSet::new(); docs.apps.len()];
    // folders that hold Apps, each with those that take what lies there
    let mut folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, (file, app)) in docs.apps.iter().enumerate() {
        let folder = folder(cx.path(*file).as_str()).to_owned();
        let takers = folders.entry(folder).or_default();
        if app.spec.manifests.is_none() && app.spec.sources.is_none() {
            takers.push(index);
        }
    }
    let mut taken: BTreeSet<FileId> = BTreeSet::new();
    let manifests: Vec<(FileId, String)> = manifest_files(cx);
    for (id, path) in &manifests {
        let mut at = folder(path);
        loop {
            if let Some(takers) = folders.get(at) {
                for taker in takers {
                    files_of[*taker].insert(*id);
                    taken.insert(*id);
                }
                break;
            }
            // `teams/<team>` is the outermost folder of a team
            if at.matches('/').count() <= 1 {
                break;
            }
            at = folder(at);
        }
    }
    // Apps with a pattern that matches nothing, and may have been meant for any file of the team
    let mut unmatched: BTreeSet<FileId> = BTreeSet::new();
    for (index, (file, app)) in docs.apps.iter().enumerate() {
        for pattern in app.spec.manifests.iter().flatten() {
            match matching(cx, *file, pattern, &manifests) {
                Some(found) => {
                    files_of[index].extend(&found);
                    taken.extend(found);
                }
                None => {
                    unmatched.insert(*file);
                }
            }
        }
    }
    // only now, or one wrong pattern would hide the next
    let mut astray: BTreeSet<String> = BTreeSet::new();
    for file in unmatched {
        let path = cx.path(file).as_str().to_owned();
        cx.unread.objects_in(&path);
        astray.extend(path.split('/').nth(1).map(str::to_owned));
    }
    report_unused(cx, &manifests, &taken, (&folders, &astray));
    files_of.into_iter().map(|set| set.into_iter().collect()).collect()
}

/// Reports files that no App takes; of a folder with several and without any other, the folder. Nothing of `astray`, teams
/// with a pattern that may be meant for what looks unused.
fn report_unused(
    cx: &mut Lowering<'_>,
    manifests: &[(FileId, String)],
    taken: &BTreeSet<FileId>,
    (apps, astray): (&BTreeMap<String, Vec<usize>>, &BTreeSet<String>),
) {
    // folders with something in use at or below them
    let mut used: BTreeSet<&str> = apps.keys().flat_map(|path| folders_up(path)).collect();
    let in_use = manifests.iter().filter(|(id, _)| taken.contains(id));
    used.extend(in_use.flat_map(|(_, path)| folders_up(folder(path))));
    let mut unused: BTreeMap<String, Vec<FileId>> = BTreeMap::new();
    for (id, path) in manifests.iter().filter(|(id, _)| !taken.contains(id)) {
        let team = path.split('/').nth(1).unwrap_or_default();
        if astray.contains(team)
            || cx.unread.intents_of(team)
            || cx.teams.binary_search_by(|t| t.name.as_str().cmp(team)).is_err()
        {
            continue;
        }
        let outermost = folders_up(folder(path)).take_while(|f| !used.contains(f)).last();
        unused.entry(outermost.unwrap_or(path).to_owned()).or_default().push(*id);
    }
    for (place, files) in unused {
        let (place, message) = match files.as_slice() {
            [one] => (Place::File(*one), "no App takes this file".to_owned()),
            more => (Place::Path(place), format!("no App takes the {} files of this folder", more.len())),
        };
        cx.report(
            Diagnostic::new(codes::layout::UNUSED_MANIFEST, place, message)
                .help("put an App beside or above it, or name it in an App's `manifests`"),
        );
    }
}

/// A folder and those above it, up to the team's.
fn folders_up(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(folder(path))).take(path.matches('/').count())
}

/// The folders of Helm charts.
pub(super) fn charts(files: &[FileInput]) -> BTreeSet<String> {
    let charts = files.iter().filter(|f| f.class == FileClass::TeamFolder && f.path.file_name() == Some("Chart.yaml"));
    charts.map(|f| folder(f.path.as_str()).to_owned()).collect()
}

/// Whether a file is input of Kustomize, or a part of a chart: that is said once, and not what is wrong with it as a
/// manifest.
pub(super) fn is_tool_input(charts: &BTreeSet<String>, file: &FileInput) -> bool {
    let in_chart = || folders_up(folder(file.path.as_str())).any(|folder| charts.contains(folder));
    file.class == FileClass::TeamFolder && (is_tool_file(file) || (!charts.is_empty() && in_chart()))
}

fn is_tool_file(file: &FileInput) -> bool {
    matches!(file.path.file_name(), Some("kustomization.yaml" | "kustomization.yml" | "Chart.yaml"))
}

/// Files in teams' folders that hold at least one manifest, or that could not be read as one.
fn manifest_files(cx: &mut Lowering<'_>) -> Vec<(FileId, String)> {
    let mut found = Vec::new();
    let files = cx.files;
    for (index, file) in (0_u32..).zip(files) {
        if file.class != FileClass::TeamFolder {
            continue;
        }
        let id = FileId(index);
        let name = file.path.file_name().unwrap_or_default();
        if is_tool_file(file) {
            cx.report(
                Diagnostic::new(
                    codes::layout::NOT_PLAIN_MANIFESTS,
                    Place::File(id),
                    format!("`{name}` is input of Kustomize or Helm, not a manifest"),
                )
                .help("render it once and commit the text; `sources` will name such inputs, and is not supported yet"),
            );
        }
        if is_tool_input(&cx.charts, file) {
            continue;
        }
        if file.ir.docs.iter().any(|d| matches!(d.body, DocBody::Manifest(_))) {
            found.push((id, file.path.as_str().to_owned()));
        }
    }
    found
}

/// The files that a pattern of an App matches; `None` where that it has none was said.
fn matching(
    cx: &mut Lowering<'_>,
    app_file: FileId,
    pattern: &Spanned<SmolStr>,
    manifests: &[(FileId, String)],
) -> Option<Vec<FileId>> {
    let place = Place::Span(app_file, pattern.span);
    let app_path = cx.path(app_file).as_str().to_owned();
    let team = app_path.split('/').take(2).collect::<Vec<_>>().join("/");
    let glob = match Glob::below(folder(&app_path), &pattern.value) {
        Ok(Some(glob)) if glob.stays_in(&team) => glob,
        Ok(_) => {
            cx.report(
                Diagnostic::new(
                    codes::layout::BAD_GLOB,
                    place,
                    format!("`{}` leaves the team's folder", pattern.value),
                )
                .help(format!("patterns are relative to {} and stay inside {team}/", folder(&app_path))),
            );
            return None;
        }
        Err(error) => {
            cx.error(codes::layout::BAD_GLOB, place, format!("`{}` is no valid pattern: {error}", pattern.value));
            return None;
        }
    };
    let found: Vec<FileId> = manifests.iter().filter(|(_, path)| glob.matches(path)).map(|(id, _)| *id).collect();
    let team_name = team.trim_start_matches("teams/");
    if found.is_empty() && !cx.unread.objects_of(team_name) {
        cx.report(
            Diagnostic::new(codes::layout::BAD_GLOB, place, format!("`{}` matches no file", pattern.value))
                .help("`*` matches inside one folder, `**/` any number of folders"),
        );
        return None;
    }
    Some(found)
}

/// The folder of a path; a path without one is its own.
fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(folder, _)| folder)
}
