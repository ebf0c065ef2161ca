//! Leaf vocabulary: spans, digests, ids, names, quantities, labels, taints, patterns.
//!
//! Invariant: nothing here knows a fleet, a file or a YAML node; every other module may import this one.
//! The next small value type that several stages share goes here, a file of its own.

pub mod branch;
mod digest;
mod field;
pub mod glob;
mod ids;
pub mod labels;
pub mod name;
mod path;
pub mod quantity;
mod resources;
mod span;
pub mod taint;

pub use digest::{ContentId, Digest, DigestWriter};
pub use field::FieldError;
pub use ids::{AppId, ClusterId, FileId, PoolId, TeamId, workload_numbers};
pub use path::{Path, PathError, Seg};
pub use resources::{ResourceNameError, Resources, check_resource_name};
pub use smol_str::SmolStr;
pub use span::{SPANNED_END, SPANNED_NAME, SPANNED_START, SPANNED_VALUE, Span, Spanned};
