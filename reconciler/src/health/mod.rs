//! Health of objects, in kstatus words.
//!
//! Pure: an object's JSON in, a word and a reason out; no clock, so "for how long" is asked by whoever decides. Where kstatus
//! and Argo CD differ, kstatus is followed; kinds kstatus has no rule for are judged as Argo CD does. Order: what all objects
//! share (`generic`), then the rule of the kind (`custom`, `rules`), then the condition `Ready`. An object that cannot be read is
//! [`Health::Unknown`], never healthy.
//!
//! The next rule is a file in `rules/`, a line in its table, and files `testdata/<rule>-<state>[-<what>].yaml`, whose names
//! are the expectation.

mod custom;
mod generic;
mod object;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use fleetwright_compiler::model::CustomKind;
use serde_json::Value;

use object::Object;

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

impl Health {
    /// The word kstatus uses.
    pub fn word(self) -> &'static str {
        match self {
            Health::Current => "Current",
            Health::InProgress => "InProgress",
            Health::Terminating => "Terminating",
            Health::NotFound => "NotFound",
            Health::Unknown => "Unknown",
            Health::Failed => "Failed",
        }
    }
}

/// The health of an object as an API server returned it, and why, in words a person can act on.
///
/// Never [`Health::NotFound`]: that is said by the server's answer, not by an object. Text from the object (messages of its
/// conditions) may be part of the reason; values of Secrets never are, because no rule reads them.
pub fn assess(object: &Value) -> (Health, String) {
    assess_by(object, &[])
}

/// As [`assess`], with the rules of the custom kinds that the fleet teaches ([`fleetwright_compiler::model::Fleet::kinds`]).
pub fn assess_by(object: &Value, kinds: &[Arc<CustomKind>]) -> (Health, String) {
    let object = Object(object);
    if object.kind().is_empty() {
        return (Health::Unknown, "it has no kind".to_owned());
    }
    let judged = generic::judge(&object)
        .transpose()
        .or_else(|| custom::judge(&object, kinds))
        .or_else(|| rules::judge(&object))
        .or_else(|| generic::ready(&object).transpose())
        .unwrap_or_else(|| Ok((Health::Current, "nothing speaks against it".to_owned())));
    judged.unwrap_or_else(|malformed| (Health::Unknown, malformed.0))
}
