//! Job: Current as soon as it runs, and when it is complete or suspended; Failed when its controller gave up.

use super::super::object::{Malformed, Object, Verdict, current, failed, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    for condition in object.conditions()?.iter().filter(|condition| condition.status == "True") {
        match condition.kind {
            "Complete" => return current("it is complete"),
            "Failed" => return failed(condition.says()),
            "Suspended" => return current("it is suspended"),
            _ => {}
        }
    }
    if object.text(&["status", "startTime"])?.is_empty() {
        return in_progress("it has not started");
    }
    let count = |field| object.count(&["status", field], 0);
    let (active, succeeded, lost) = (count("active")?, count("succeeded")?, count("failed")?);
    current(format!("it runs: {active} pods active, {succeeded} succeeded, {lost} failed"))
}
