//! Whole fleets side by side.
