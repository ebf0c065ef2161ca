//! PersistentVolume: usable as Available, Bound or Released; Failed when reclaiming it failed (core/v1 `PersistentVolumePhase`).

use super::super::object::{Malformed, Object, Verdict, current, failed, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    match object.text(&["status", "phase"])? {
        // Written by hand for a claim to find, it may have no status at all.
        "" => current("it is stored"),
        phase @ ("Available" | "Bound" | "Released") => current(format!("its phase is {phase}")),
        "Failed" => failed("its phase is Failed: it was not reclaimed"),
        phase => in_progress(format!("its phase is {phase}")),
    }
}
