//! What kinds of Kubernetes mean: their fields, their pods, their counts.
//!
//! The next kind of Kubernetes that runs pods goes into [`replicas`], the next kind of an operator is a file in `shipped`; the
//! tables of [`native`] are data.

pub mod cel;
pub mod counted;
pub mod custom;
pub mod dependencies;
pub mod native;
pub mod pod;
pub mod replicas;
pub mod shipped;
