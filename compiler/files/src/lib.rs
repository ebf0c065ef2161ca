//! Folders and Git trees as the input of the fleetwright compiler, and rendered trees as its output on disk.
//!
//! Invariants:
//! * a folder and a Git tree of the same files give the same listing and, below the root, the same ids;
//! * bytes handed out for an id are those of that id, whatever happens to the disk meanwhile;
//! * nothing outside the root is read, nothing that was not written by us is removed;
//! * no network: fetching is the reconciler's.
//!
//! Another source of trees is a file beside `folder.rs` and `git.rs` that implements
//! [`FleetFiles`](fleetwright_compiler::source::FleetFiles).

mod discover;
mod folder;
mod git;
mod ids;
mod revision;
#[cfg(test)]
mod tests;
mod write;

pub use discover::{FleetRoot, GitPlace, discover};
pub use folder::FolderFiles;
pub use git::GitFiles;
pub use revision::live_revision;
pub use write::{Stale, WriteError, WriteReport, write_tree};
