//! HorizontalPodAutoscaler, as Argo CD judges it: what it cannot scale or measure is Failed, else it is Current once its
//! controller has looked at it.

use super::super::object::{Condition, Malformed, Object, Verdict, current, failed, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    let conditions = object.conditions()?;
    if let Some(broken) = conditions.iter().find(|condition| broken(condition)) {
        return failed(broken.says());
    }
    if conditions.iter().any(|condition| condition.is("AbleToScale", "True")) {
        return current("it is able to scale");
    }
    // autoscaling/v1 has no conditions; there a count is the sign that its controller has looked.
    if conditions.is_empty() && object.whole(&["status", "currentReplicas"])?.is_some() {
        return current("its controller has counted replicas");
    }
    in_progress("its controller has not looked at it yet")
}

/// `ScalingActive` is False with `ScalingDisabled` at zero replicas, which is no failure.
fn broken(condition: &Condition<'_>) -> bool {
    match condition.kind {
        "AbleToScale" => condition.status == "False" && condition.reason.starts_with("Failed"),
        "ScalingActive" => {
            condition.status == "False"
                && (condition.reason.starts_with("Failed") || condition.reason.starts_with("Invalid"))
        }
        _ => false,
    }
}
