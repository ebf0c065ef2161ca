//! What one process keeps between compiles. A new session per compile gives the same results.
//!
//! Invariants: a memo's key is everything its value depends on; a kept value is never changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::ContentId;
use crate::parse::{FileForm, FileIr};
use crate::source::WalkCache;

/// Kept parses and listings.
#[derive(Debug, Default)]
pub struct Session {
    walks: Mutex<WalkCache>,
    parses: Mutex<HashMap<(ContentId, FileForm), Kept>>,
    generation: Mutex<u64>,
}

#[derive(Debug)]
struct Kept {
    ir: Arc<FileIr>,
    last_used: u64,
}

/// Parses that no compile has used for this many compiles are dropped: base and head of a diff both stay.
const KEEP_FOR: u64 = 4;

impl Session {
    /// A session that keeps nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The kept listings.
    pub(crate) fn walks(&self) -> MutexGuard<'_, WalkCache> {
        // a panic elsewhere cannot leave a cache half changed: entries are whole or absent
        self.walks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parse of a content, if it was kept.
    pub(crate) fn parsed(&self, id: ContentId, form: FileForm) -> Option<Arc<FileIr>> {
        let now = *self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parses = self.parses.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = parses.get_mut(&(id, form))?;
        kept.last_used = now;
        Some(Arc::clone(&kept.ir))
    }

    /// Keeps a parse.
    pub(crate) fn keep(&self, id: ContentId, form: FileForm, ir: &Arc<FileIr>) {
        let now = *self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parses = self.parses.lock().unwrap_or_else(PoisonError::into_inner);
        parses.insert((id, form), Kept { ir: Arc::clone(ir), last_used: now });
    }

    /// Begins a compile, and drops what has not been used for a while.
    pub(crate) fn begin(&self) {
        let mut generation = self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        *generation += 1;
        let oldest = generation.saturating_sub(KEEP_FOR);
        drop(generation);
        let mut parses = self.parses.lock().unwrap_or_else(PoisonError::into_inner);
        parses.retain(|_, kept| kept.last_used >= oldest);
    }
}
