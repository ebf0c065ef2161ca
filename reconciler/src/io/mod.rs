//! Effects: what stands behind the ports in a real process.
//!
//! Invariant: nothing is decided here.

#[cfg(feature = "kube")]
pub mod ask;
pub mod clock;
pub mod git;
#[cfg(feature = "kube")]
pub mod kube;
pub mod notify;
#[cfg(feature = "kube")]
pub mod serve;
