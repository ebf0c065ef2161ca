//! Namespace: Current unless it is being emptied, which its phase may say before the timestamp of deletion is read.

use super::super::Health;
use super::super::object::{Malformed, Object, Verdict, current};

pub(super) fn judge(object: &Object<'_>) -> Result<Verdict, Malformed> {
    match object.text(&["status", "phase"])? {
        "Terminating" => Ok((Health::Terminating, "it is being emptied".to_owned())),
        _ => current("it exists"),
    }
}
