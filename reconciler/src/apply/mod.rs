//! The applier: makes one cluster equal to what the branch `live` says, and never more than that.
//!
//! ```text
//! Desired (of a compile) + Book (what was applied) + Live (what is there) --decide--> Pass (steps, and why not the rest)
//! run: observe, decide, write {term, commit} to the inventories, write, record; again until nothing is left to do now
//! ```
//!
//! All decisions are pure; [`run`] alone talks to the port. Invariants: an error is never an empty set; nothing is pruned
//! that no inventory lists; what is there already is not written again.
//! The next guard is a file of its own, a variant of [`hold::Hold`], and a line in `decide` or `prune`.

pub mod adopt;
pub mod budget;
pub mod decide;
pub mod desired;
pub mod fields;
pub mod floor;
pub mod hold;
pub mod instances;
pub mod inventory;
pub mod live;
pub mod order;
pub mod prune;
pub mod run;
pub mod standing;
#[cfg(test)]
mod tests;
pub mod view;
