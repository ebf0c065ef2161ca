//! What holds for objects of every kind: deletion, the observed generation, and the conditions kstatus defines.

use super::Health;
use super::object::{Malformed, Object, Verdict, in_progress};

/// A verdict that needs no rule of the kind.
///
/// A generation the controller has not observed makes all else in `status` an answer to an older question.
pub(super) fn judge(object: &Object<'_>) -> Result<Option<Verdict>, Malformed> {
    if !object.text(&["metadata", "deletionTimestamp"])?.is_empty() {
        return Ok(Some((Health::Terminating, "it is being deleted".to_owned())));
    }
    let generation = object.whole(&["metadata", "generation"])?;
    let observed = object.whole(&["status", "observedGeneration"])?;
    if let (Some(generation), Some(observed)) = (generation, observed)
        && generation != observed
    {
        let why = format!("its controller has seen generation {observed}, the object is at {generation}");
        return in_progress(why).map(Some);
    }
    for condition in object.conditions()? {
        if condition.is("Reconciling", "True") {
            return in_progress(condition.says()).map(Some);
        }
        if condition.is("Stalled", "True") {
            return Ok(Some((Health::Failed, condition.says())));
        }
    }
    Ok(None)
}

/// The condition `Ready`, for kinds without a rule. False and Unknown are InProgress: `Ready` does not say whether it ever
/// will be.
pub(super) fn ready(object: &Object<'_>) -> Result<Option<Verdict>, Malformed> {
    for condition in object.conditions()?.iter().filter(|condition| condition.kind == "Ready") {
        match condition.status {
            "True" => return Ok(Some((Health::Current, "Ready is True".to_owned()))),
            "False" | "Unknown" => return in_progress(condition.says()).map(Some),
            _ => {}
        }
    }
    Ok(None)
}
