//! CustomResourceDefinition: Current when Established; Failed when its names are taken.

use super::super::object::{Malformed, Object, Verdict, current, failed, in_progress};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    for condition in &object.conditions()? {
        if condition.is("NamesAccepted", "False") {
            return failed(condition.says());
        }
        if condition.is("Established", "False") && condition.reason != "Installing" {
            return failed(condition.says());
        }
        if condition.is("Established", "True") {
            return current("it is established");
        }
    }
    in_progress("it is being established")
}
