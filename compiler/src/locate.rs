//! Places inside manifests, found again in their files.
//!
//! Objects carry no spans, so a mistake that shows only after parsing knows the path of the value. Before anyone sees it,
//! the file is read once more and the path becomes the bytes of the value, or of the nearest one above it that is written.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::FileId;
use crate::diag::{Diagnostics, Origin, Place, codes};
use crate::source::{self, FilesError, Overlay, ReadError, SourceFile};
use crate::yaml;

/// Turns every [`Place::Object`] into a [`Place::Span`].
///
/// # Errors
/// When a file cannot be read a second time.
pub(crate) fn objects(
    overlay: &Overlay<'_>,
    files: &[SourceFile],
    limits: &source::Limits,
    diagnostics: &mut Diagnostics,
) -> Result<(), FilesError> {
    let mut wanted: BTreeMap<FileId, BTreeSet<Origin>> = BTreeMap::new();
    for place in diagnostics.places_mut() {
        if let Place::Object(origin) = place {
            wanted.entry(origin.file).or_default().insert(origin.clone());
        }
    }
    let mut spans: BTreeMap<Origin, Place> = BTreeMap::new();
    for (id, origins) in wanted {
        let Some(file) = files.get(id.index()) else { continue };
        let bytes = match overlay.read(file, limits) {
            Ok(bytes) => bytes,
            Err(ReadError::Files(error)) => return Err(error),
            // it was read and parsed before, so it is not too large
            Err(ReadError::Refused(_)) => continue,
        };
        let Ok(text) = yaml::decode_utf8(&bytes) else { continue };
        let (documents, _) = yaml::compose(text, &yaml::Limits::default());
        for origin in origins {
            let document = documents.iter().find(|d| d.index == u32::from(origin.doc));
            let span = document.and_then(|d| d.root.as_ref()).map(|root| root.span_of(&origin.path));
            let place = span.map_or(Place::File(id), |span| Place::Span(id, span));
            spans.insert(origin, place);
        }
    }
    for place in diagnostics.places_mut() {
        if let Place::Object(origin) = place
            && let Some(found) = spans.get(origin)
        {
            *place = found.clone();
        }
    }
    say_types_once(diagnostics);
    Ok(())
}

/// A value of the wrong type is found when its file is read, and again when the pod around it is. Once is enough.
fn say_types_once(diagnostics: &mut Diagnostics) {
    let wrong_types = diagnostics.iter().filter(|d| d.code == codes::manifests::WRONG_NATIVE_TYPE);
    let said: BTreeSet<Place> = wrong_types.map(|d| d.place.clone()).collect();
    diagnostics.retain(|d| d.code != codes::manifests::INVALID_POD || !said.contains(&d.place));
}
