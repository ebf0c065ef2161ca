//! How an object stands: what was applied, what is there, and what that leaves to do.

use super::desired::{ApplyRule, DesiredObject};
use super::inventory::Entry;
use super::live::LiveObject;
use crate::cluster::Key;
use fleetwright_compiler::base::SmolStr;

/// Why an object is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It was never applied here.
    New,
    /// Its content changed.
    Changed,
    /// It is gone.
    Missing,
    /// Somebody changed a field of ours, or made the object anew.
    Drifted,
    /// `spec.replicas` goes to an HPA, or comes back from one.
    Replicas,
}

/// What is left to do for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Todo {
    /// Nothing.
    Nothing,
    /// Apply it.
    Apply(Why),
    /// Delete what is there, and then apply.
    Recreate {
        /// The UID of what is there.
        uid: SmolStr,
    },
    /// Its deletion must end first.
    AwaitDeletion,
}

/// What is left to do. `live` is `None` only when it is known that there is no such object.
#[must_use]
pub fn todo(
    key: &Key,
    desired: &DesiredObject,
    entry: Option<&Entry>,
    live: Option<&LiveObject>,
    scaled: bool,
) -> Todo {
    if live.is_some_and(|live| live.deleting) {
        return Todo::AwaitDeletion;
    }
    let applied = entry.filter(|entry| entry.digest.is_some());
    let (Some(entry), Some(live)) = (applied, live) else {
        return match (applied, live) {
            (None, _) => Todo::Apply(Why::New),
            (Some(entry), None) => gone(key, desired, entry),
            (Some(_), Some(_)) => Todo::Nothing,
        };
    };
    let rule = desired.apply_rule(key);
    if rule != ApplyRule::Update && entry.content.as_ref() != Some(&desired.content) {
        return Todo::Recreate { uid: live.uid.clone() };
    }
    if rule == ApplyRule::Once && live.finished {
        return Todo::Nothing;
    }
    if entry.digest.as_ref() != Some(&desired.digest) {
        return Todo::Apply(Why::Changed);
    }
    if desired.has_replicas(key) && live.holds_replicas == scaled && entry.held == live.held {
        return Todo::Apply(Why::Replicas);
    }
    if entry.uid.as_ref() != Some(&live.uid) || entry.held != live.held {
        return Todo::Apply(Why::Drifted);
    }
    Todo::Nothing
}

/// It was applied, and is gone.
fn gone(key: &Key, desired: &DesiredObject, entry: &Entry) -> Todo {
    let same_content = entry.content.as_ref() == Some(&desired.content);
    match desired.apply_rule(key) {
        // A Job that its TTL removed has run; only new content makes it run again.
        ApplyRule::Once if same_content => Todo::Nothing,
        ApplyRule::Once | ApplyRule::Recreate | ApplyRule::Update => {
            if same_content && entry.digest.as_ref() == Some(&desired.digest) {
                Todo::Apply(Why::Missing)
            } else {
                Todo::Apply(Why::Changed)
            }
        }
    }
}
