//! The record, with its names held against the fleet: what it says of something that is gone is reported, never dropped in
//! silence, and nothing it says is said twice.

mod apps;
mod estimates;
mod observed;
mod placed;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FileInput, Lowering};
use crate::base::{FileId, SmolStr, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::App;
use crate::parse::DocBody;
use crate::placements::{Record, RecordDoc, StateForm, TideDoc, TidePhase};
use crate::source::FileClass;

/// Reads `placements/` and `state/`.
pub(super) fn record(cx: &mut Lowering<'_>, apps: &[Arc<App>]) -> Record {
    let files = files(cx);
    let mut record = Record::default();
    let mut strays = observed::Strays::new();
    // What was observed first: placements name pools, and of some only the observation knows.
    for (id, name, doc) in documents(cx.files, &files) {
        observed::read(cx, id, name, doc, &mut record, &mut strays);
    }
    observed::report_strays(cx, strays);
    let recorded = documents(cx.files, &files).flat_map(|(_, team, doc)| {
        let apps = if let RecordDoc::Placements(doc) = doc { doc.apps.as_slice() } else { &[] };
        apps.iter().map(move |doc| (team.clone(), doc.app.value.clone()))
    });
    let mut placements = placed::Placements::new(cx, apps, &recorded.collect());
    for (id, team, doc) in documents(cx.files, &files) {
        match doc {
            RecordDoc::Placements(doc) => {
                doc.apps.iter().for_each(|app| placements.app(cx, id, team, app, &mut record))
            }
            RecordDoc::Tides(tides) => {
                let phase = |doc: &TideDoc| TidePhase { phase: doc.phase.clone(), window: doc.window.clone() };
                record.tides = tides.iter().map(|(name, doc)| (name.clone(), phase(doc))).collect();
            }
            RecordDoc::Suspended(suspended) => {
                suspended.iter().for_each(|app| placements.suspended(cx, id, app, &mut record));
            }
            RecordDoc::Move(doc) => placements.moves(cx, id, team, doc, &mut record),
            RecordDoc::App(doc) => apps::read(cx, id, team, placements.known(team), doc, &mut record),
            RecordDoc::Estimates(rows) => {
                record.estimates.insert(team.clone(), estimates::read(cx, id, rows));
            }
            RecordDoc::Capacity(_)
            | RecordDoc::Taints(_)
            | RecordDoc::Lifecycle(_)
            | RecordDoc::Outage(_)
            | RecordDoc::Decider(_)
            | RecordDoc::Pin(_)
            | RecordDoc::Holds(_)
            | RecordDoc::Fence(_)
            | RecordDoc::Approval(_) => {}
        }
    }
    placements.finish(cx, &mut record);
    estimates::missing(cx, apps, &record);
    record
}

/// What a file of the record is about: its form (`None`: placements) and the team or cluster it is named after.
type Subject = (Option<StateForm>, SmolStr);

/// The files of the record that a compile depends on; a second one about the same thing, and one that lies where no team
/// would look for it, are reported.
fn files(cx: &mut Lowering<'_>) -> BTreeMap<Subject, FileId> {
    let mut files: BTreeMap<Subject, FileId> = BTreeMap::new();
    let inputs = cx.files;
    for (index, file) in (0_u32..).zip(inputs) {
        let id = FileId(index);
        let Some((stem, _)) = file.path.file_name().and_then(|name| name.rsplit_once('.')) else { continue };
        let form = match file.class {
            FileClass::Placements if file.path.components().count() != 2 => {
                cx.report(
                    Diagnostic::new(
                        codes::record::UNKNOWN_RECORD,
                        Place::File(id),
                        "no team's placements are recorded here",
                    )
                    .help(format!(
                        "they lie in placements/<team>.yaml: move it to placements/{stem}.yaml, or remove it"
                    )),
                );
                continue;
            }
            FileClass::Placements => None,
            FileClass::State => match StateForm::of(file.path.as_str()) {
                form if form.is_for_compile() => Some(form),
                _ => continue,
            },
            FileClass::FleetFile
            | FileClass::Cluster
            | FileClass::Policy
            | FileClass::Team
            | FileClass::TeamFolder
            | FileClass::Vendor
            | FileClass::Approval => continue,
        };
        let subject = (form, named_after(form, file.path.as_str(), stem));
        match files.get(&subject) {
            None => {
                files.insert(subject, id);
            }
            Some(first) => cx.report(
                Diagnostic::new(
                    codes::record::DUPLICATE_RECORD,
                    Place::File(id),
                    format!("`{stem}` is recorded in two files, which differ in their ending only"),
                )
                .related(Place::File(*first), "the other one")
                .help("keep the one that is true, as .yaml"),
            ),
        }
    }
    files
}

/// What a file is named after: a team or a cluster; `team/app` where it is about an app.
fn named_after(form: Option<StateForm>, path: &str, stem: &str) -> SmolStr {
    let team = path.rsplit('/').nth(1).filter(|_| form.is_some_and(StateForm::is_of_app));
    team.map_or_else(|| SmolStr::new(stem), |team| format!("{team}/{stem}").into())
}

/// The documents of files, each with what its file is named after.
fn documents<'f>(
    inputs: &'f [FileInput],
    files: &'f BTreeMap<Subject, FileId>,
) -> impl Iterator<Item = (FileId, &'f SmolStr, &'f RecordDoc)> {
    files.iter().flat_map(|((_, name), id)| {
        inputs[id.index()].ir.docs.iter().filter_map(move |doc| match &doc.body {
            DocBody::Record(part) => Some((*id, name, part)),
            DocBody::Intent(_) | DocBody::Manifest(_) => None,
        })
    })
}

fn twice(cx: &mut Lowering<'_>, file: FileId, at: &Spanned<SmolStr>, what: &str) {
    cx.error(codes::record::DUPLICATE_RECORD, Place::Span(file, at.span), format!("{what} is recorded twice"));
}
