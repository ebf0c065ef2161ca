//! Pod: Current when Ready or finished, Failed when it cannot be scheduled or its containers crash again and again.
//!
//! kstatus grants an unschedulable pod 15 seconds; there is no clock here, and whoever acts on Failed waits far longer.

use serde_json::Value;

use super::super::Health;
use super::super::object::{Malformed, Object, Verdict, current, failed, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    let conditions = object.conditions()?;
    match object.text(&["status", "phase"])? {
        "Succeeded" => current("it has finished"),
        // A pod on its own restarts nothing; what runs it (a Job) says whether that is a failure.
        "Failed" => current("it has finished, without success"),
        "Running" => {
            if conditions.iter().any(|condition| condition.is("Ready", "True")) {
                return current("it is ready");
            }
            let crashing = crashing(object)?;
            if crashing.is_empty() {
                in_progress("it runs and is not ready")
            } else {
                failed(format!("containers that crash again and again: {}", crashing.join(", ")))
            }
        }
        "Pending" => match conditions.iter().find(|condition| condition.is("PodScheduled", "False")) {
            Some(condition) if condition.reason == "Unschedulable" => failed(condition.says()),
            _ => in_progress("it is pending"),
        },
        "" => in_progress("no kubelet has seen it yet"),
        other => Ok((Health::Unknown, format!("its phase is {other}"))),
    }
}

fn crashing<'a>(object: &Object<'a>) -> Result<Vec<&'a str>, Malformed> {
    let looping = |status: &&Value| {
        let reason = status.get("state").and_then(|state| state.get("waiting")).and_then(|why| why.get("reason"));
        reason.and_then(Value::as_str) == Some("CrashLoopBackOff")
    };
    let statuses = object.list(&["status", "containerStatuses"])?;
    Ok(statuses.iter().filter(looping).filter_map(|status| status.get("name")?.as_str()).collect())
}
