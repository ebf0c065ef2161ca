//! Placeholder to be filled below.
