//! APIService: Current when Available. While it is not, every read of all kinds of a cluster is at risk.

use super::super::object::{Malformed, Object, Verdict, current, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    match object.conditions()?.iter().find(|condition| condition.kind == "Available") {
        Some(condition) if condition.status == "True" => current("it is available"),
        Some(condition) => in_progress(condition.says()),
        None => in_progress("it is not reported available yet"),
    }
}
