//! Service: ready at once; a LoadBalancer when it has its cluster IP.
//!
//! Its external address is not waited for: many load balancers are announced elsewhere and never written to `status`.

use super::super::object::{Malformed, Object, Verdict, current, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    let balanced = object.text(&["spec", "type"])? == "LoadBalancer";
    if balanced && object.text(&["spec", "clusterIP"])?.is_empty() {
        return in_progress("it has no cluster IP yet");
    }
    current("it is served")
}
