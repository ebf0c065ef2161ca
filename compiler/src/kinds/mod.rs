//! What kinds of Kubernetes mean: their fields, their pods, their counts.
//!
//! The next workload kind goes into [`replicas`]; the tables of [`native`] are data.

pub mod cel;
pub mod components;
pub mod native;
pub mod pod;
pub mod replicas;
