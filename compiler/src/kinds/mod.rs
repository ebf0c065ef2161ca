//! Being written.

pub mod native;
