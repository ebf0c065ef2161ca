//! Effects: what stands behind the ports in a real process.
//!
//! Invariant: nothing is decided here.

pub mod clock;
pub mod git;
#[cfg(feature = "kube")]
pub mod kube;
#[cfg(feature = "kube")]
pub mod serve;
