//! Effects: what stands behind the ports in a real process.
//!
//! Invariant: nothing is decided here.

#[cfg(feature = "kube")]
pub mod kube;
