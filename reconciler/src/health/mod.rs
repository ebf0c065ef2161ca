//! Health of objects, in kstatus words.
//!
//! Pure: an object's JSON in, a word and a reason out.

/// What state an object is in (kstatus: <https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus>).
///
/// Ordered from best to worst, so that the health of an app is the maximum over its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Health {
    /// As it should be.
    Current,
    /// On its way.
    InProgress,
    /// Being deleted.
    Terminating,
    /// Not there.
    NotFound,
    /// It cannot be said.
    Unknown,
    /// It will not get there by itself.
    Failed,
}
