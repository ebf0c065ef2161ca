//! Fleets that other tools describe, turned into the files of a fleet repository.
//!
//! ```text
//! files --documents--> objects --karmada | kubespray | capi--> intents + notes --repository--> files
//! nodes of a cluster --live--> a Cluster + notes --repository--> files
//! ```
//!
//! Invariants: pure, like everything here; an import never guesses in silence. Whatever of the source is not carried over
//! as it was is a [`Note`], and what the API refuses for now (`api::not_yet`) is taken out and noted, so that the result
//! compiles. No note holds a value of a manifest.
//! The next source is a folder or a file here with a function from [`InputFile`]s to [`Imported`], and a subcommand.

pub mod capi;
mod documents;
pub mod karmada;
pub mod kubespray;
pub mod live;
mod numbers;
mod report;
mod repository;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::base::SmolStr;
use crate::base::taint::Taint;

pub use report::Report;

/// A file of the source.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Its path, relative to the folder that is imported.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What an import makes.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The files of the fleet repository, by path.
    pub files: BTreeMap<String, String>,
    /// Files of the record, by path: what runs already, as far as the source says so.
    pub placements: BTreeMap<String, String>,
    /// What is not as it was, in the order of the source.
    pub notes: Vec<Note>,
}

/// What became of a part of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Fate {
    /// Nothing here does that; it is left out.
    NoCounterpart,
    /// It is there, and behaves differently.
    Differs,
    /// It was decided while importing, and does not follow its source any more.
    Resolved,
    /// The object is not carried over, and need not be.
    Skipped,
}

/// A part of the source that is not carried over as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Note {
    /// The file of the source.
    pub file: SmolStr,
    /// The object: `PropagationPolicy shop/web`.
    pub object: SmolStr,
    /// The field, dotted; empty for the object as a whole.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub field: SmolStr,
    /// What became of it.
    pub fate: Fate,
    /// In words.
    pub text: String,
}

/// A file of the source that cannot be read. Nothing is imported then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unreadable {
    /// Its path.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.text),
            line => write!(f, "{}:{line}: {}", self.file, self.text),
        }
    }
}

/// Collects notes about one object.
struct About<'n> {
    file: SmolStr,
    object: SmolStr,
    notes: &'n mut Vec<Note>,
}

impl About<'_> {
    fn say(&mut self, fate: Fate, field: &str, text: impl Into<String>) {
        let Self { file, object, notes } = self;
        let note = Note { file: file.clone(), object: object.clone(), field: field.into(), fate, text: text.into() };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// `key=value:effect` or `key:effect`, as Kubernetes writes a taint on one line.
fn taint(text: &str) -> Option<Taint> {
    let (left, effect) = text.rsplit_once(':')?;
    let (key, value) = left.split_once('=').unwrap_or((left, ""));
    let effect = serde_json::from_value(effect.trim().into()).ok()?;
    Some(Taint { key: key.trim().into(), value: value.into(), effect })
}
