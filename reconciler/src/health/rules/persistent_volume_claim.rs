//! PersistentVolumeClaim: Current when Bound.

use super::super::object::{Malformed, Object, Verdict, current, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    match object.text(&["status", "phase"])? {
        "Bound" => current("it is bound"),
        "" => in_progress("it has no phase yet"),
        phase => in_progress(format!("its phase is {phase}, not Bound")),
    }
}
