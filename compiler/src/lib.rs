//! The compiler of fleetwright.

pub mod base;
pub mod divide;
pub mod kinds;
pub mod render;
pub mod room;
pub mod schedule;
pub mod source;
pub mod yaml;
