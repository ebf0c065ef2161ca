//! The two inputs of a compile: what people intend, and the record of what runs.

use std::fmt;
use std::sync::Arc;

use super::listing::{INTENT_TOPS, RECORD_TOPS};
use super::{Contents, FileOrigin, FilesError, FleetFiles, Limits, SourceFile, SourceFinding, SourceFindingKind};

/// Where `placements/` and `state/` come from.
#[derive(Clone, Copy)]
pub enum RecordSource<'a> {
    /// Nothing runs, or what runs is to be left out of account.
    None,
    /// They lie beside the intents: a plain folder, or one commit of the live branch.
    Same,
    /// They lie in another tree, of which nothing else is read.
    Tree(&'a dyn FleetFiles),
}

/// `placements/` and `state/` of the record, everything else of the intents.
#[derive(Clone, Copy)]
pub struct Overlay<'a> {
    /// What people wrote.
    pub intents: &'a dyn FleetFiles,
    /// What runs.
    pub record: RecordSource<'a>,
}

/// Why a listed file could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    /// The repository's fault.
    #[error("{0}")]
    Refused(SourceFinding),
    /// The environment's fault.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// One tree of an overlay and the names at its root that are read.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) files: &'a dyn FleetFiles,
    pub(super) tops: &'static [&'static str],
}

impl<'a> Overlay<'a> {
    /// Intents alone.
    #[must_use]
    pub fn without_record(intents: &'a dyn FleetFiles) -> Self {
        Self { intents, record: RecordSource::None }
    }

    /// One tree that holds both.
    #[must_use]
    pub fn same(both: &'a dyn FleetFiles) -> Self {
        Self { intents: both, record: RecordSource::Same }
    }

    /// Two trees.
    #[must_use]
    pub fn with_record(intents: &'a dyn FleetFiles, record: &'a dyn FleetFiles) -> Self {
        Self { intents, record: RecordSource::Tree(record) }
    }

    /// The tree that files of this origin lie in; `None` for the record when there is none.
    #[must_use]
    pub fn tree(&self, from: FileOrigin) -> Option<&'a dyn FleetFiles> {
        match (from, self.record) {
            (FileOrigin::Intents, _) | (FileOrigin::Record, RecordSource::Same) => Some(self.intents),
            (FileOrigin::Record, RecordSource::Tree(record)) => Some(record),
            (FileOrigin::Record, RecordSource::None) => None,
        }
    }

    /// The trees and what is read of each. Links stay inside their part, so that it makes no difference to them
    /// whether the record lies in the same tree.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'a>> {
        let record = self.tree(FileOrigin::Record).map(|files| Part { files, tops: &RECORD_TOPS });
        [Some(Part { files: self.intents, tops: &INTENT_TOPS }), record].into_iter().flatten()
    }

    /// The bytes of a listed file.
    ///
    /// # Errors
    /// When it is larger than the limit, or cannot be read.
    pub fn read(&self, file: &SourceFile, limits: &Limits) -> Result<Arc<[u8]>, ReadError> {
        let Some(files) = self.tree(file.from) else {
            return Err(
                FilesError::new(file.path.as_str(), "it was listed with a record, and there is none now").into()
            );
        };
        let place = file.link.as_ref().unwrap_or(&file.path);
        match files.read_at_most(place, &file.id, limits.file_bytes)? {
            Contents::Bytes(bytes) => Ok(bytes),
            Contents::TooLarge(bytes) => Err(ReadError::Refused(SourceFinding {
                path: file.path.clone(),
                kind: SourceFindingKind::TooLarge { bytes, limit_bytes: limits.file_bytes },
            })),
        }
    }
}

impl fmt::Debug for RecordSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Same => "Same",
            Self::Tree(_) => "Tree",
        })
    }
}

impl fmt::Debug for Overlay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlay").field("record", &self.record).finish_non_exhaustive()
    }
}
