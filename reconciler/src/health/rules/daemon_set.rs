//! DaemonSet: an updated, available, ready pod on every node that wants one.
//!
//! Its controller always writes `observedGeneration`: without it nothing in `status` counts.

use super::super::object::{Malformed, Object, Verdict, current, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    let generation = object.whole(&["metadata", "generation"])?;
    if generation.is_none() || object.whole(&["status", "observedGeneration"])?.is_none() {
        return in_progress("its controller has not seen it yet");
    }
    let Some(wanted) = object.whole(&["status", "desiredNumberScheduled"])? else {
        return in_progress("its controller has not counted nodes yet");
    };
    let parts = [
        ("currentNumberScheduled", "scheduled"),
        ("updatedNumberScheduled", "updated"),
        ("numberAvailable", "available"),
        ("numberReady", "ready"),
    ];
    for (field, word) in parts {
        let have = object.count(&["status", field], 0)?;
        if wanted > have {
            return in_progress(format!("{have} of {wanted} pods are {word}"));
        }
    }
    current(format!("all {wanted} pods are ready"))
}
