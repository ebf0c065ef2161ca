//! Being written.
pub mod pod;
