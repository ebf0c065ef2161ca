//! StatefulSet: all replicas ready and of one revision, or of the revisions its partition asks for.
//!
//! Its controller writes no conditions, so that it never fails by itself. With `OnDelete` a person rolls it out: Current.

use super::super::object::{Malformed, Object, Verdict, current, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    if object.text(&["spec", "updateStrategy", "type"])? == "OnDelete" {
        return current("its update strategy is OnDelete: pods are replaced by hand");
    }
    let wanted = object.count(&["spec", "replicas"], 1)?;
    let all = object.count(&["status", "replicas"], 0)?;
    let ready = object.count(&["status", "readyReplicas"], 0)?;
    let at_current = object.count(&["status", "currentReplicas"], 0)?;
    let updated = object.count(&["status", "updatedReplicas"], 0)?;
    if wanted > all {
        return in_progress(format!("{all} of {wanted} replicas exist"));
    }
    if wanted > ready {
        return in_progress(format!("{ready} of {wanted} replicas are ready"));
    }
    if all > wanted {
        return in_progress(format!("{} replicas too many are still there", all.saturating_sub(wanted)));
    }
    if let Some(partition) = object.whole(&["spec", "updateStrategy", "rollingUpdate", "partition"])? {
        // Replicas with an ordinal below the partition keep the old revision.
        let rolled = wanted.saturating_sub(partition);
        if updated < rolled {
            return in_progress(format!("{updated} of {rolled} replicas above the partition are updated"));
        }
        return current(format!("{updated} replicas are updated, as its partition asks"));
    }
    if wanted > at_current {
        return in_progress(format!("{at_current} of {wanted} replicas are of the current revision"));
    }
    if object.text(&["status", "currentRevision"])? != object.text(&["status", "updateRevision"])? {
        return in_progress("its update revision is not the current one yet");
    }
    current(format!("{ready} of {wanted} replicas are ready"))
}
