//! ReplicaSet: all replicas labelled, available and ready, none too many.

use super::super::object::{Malformed, Object, Verdict, current, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    if let Some(failure) = object.conditions()?.iter().find(|condition| condition.is("ReplicaFailure", "True")) {
        return in_progress(failure.says());
    }
    let wanted = object.count(&["spec", "replicas"], 1)?;
    let parts = [("fullyLabeledReplicas", "labelled"), ("availableReplicas", "available"), ("readyReplicas", "ready")];
    for (field, word) in parts {
        let have = object.count(&["status", field], 0)?;
        if wanted > have {
            return in_progress(format!("{have} of {wanted} replicas are {word}"));
        }
    }
    let all = object.count(&["status", "replicas"], 0)?;
    if all > wanted {
        return in_progress(format!("{} replicas too many are still there", all.saturating_sub(wanted)));
    }
    current(format!("all {wanted} replicas are ready"))
}
