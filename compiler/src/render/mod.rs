//! Being written.
pub mod ops;
