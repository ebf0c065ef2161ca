//! Being written.
pub mod select;
