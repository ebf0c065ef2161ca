//! Deployment: all replicas updated, available and ready, no old ones left, and its conditions agree.

use super::super::object::{Malformed, Object, Verdict, current, failed, in_progress};

/// `progressDeadlineSeconds` that stands for none: the controller then writes no condition `Progressing`
/// (kubernetes `pkg/controller/deployment/util`, `HasProgressDeadline`).
const NO_DEADLINE: i64 = i32::MAX as i64;

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    let deadline = object.count(&["spec", "progressDeadlineSeconds"], NO_DEADLINE)?;
    let conditions = object.conditions()?;
    let mut complete = deadline == NO_DEADLINE;
    let mut available = false;
    for condition in &conditions {
        match condition.kind {
            "Progressing" if condition.reason == "ProgressDeadlineExceeded" => return failed(condition.says()),
            "Progressing" if condition.status == "True" && condition.reason == "NewReplicaSetAvailable" => {
                complete = true;
            }
            "Available" => available |= condition.status == "True",
            _ => {}
        }
    }
    let wanted = object.count(&["spec", "replicas"], 1)?;
    let all = object.count(&["status", "replicas"], 0)?;
    let updated = object.count(&["status", "updatedReplicas"], 0)?;
    let ready = object.count(&["status", "readyReplicas"], 0)?;
    let able = object.count(&["status", "availableReplicas"], 0)?;
    if wanted > all {
        return in_progress(format!("{all} of {wanted} replicas exist"));
    }
    if wanted > updated {
        return in_progress(format!("{updated} of {wanted} replicas are updated"));
    }
    if all > wanted {
        return in_progress(format!("{} replicas too many are still there", all.saturating_sub(wanted)));
    }
    if updated > able {
        return in_progress(format!("{able} of {updated} updated replicas are available"));
    }
    if wanted > ready {
        return in_progress(format!("{ready} of {wanted} replicas are ready"));
    }
    if !complete {
        return in_progress("its new ReplicaSet is not reported available yet");
    }
    if !available {
        return in_progress("it is not reported available yet");
    }
    current(format!("{ready} of {wanted} replicas are ready"))
}
