//! Rules over the whole fleet, one file each.

mod contested;
mod rights;
mod secrets;

use super::Fleet;
use crate::diag::Diagnostics;

/// Runs every check.
pub(super) fn all(fleet: &Fleet, diagnostics: &mut Diagnostics) {
    rights::check(fleet, diagnostics);
    secrets::check(fleet, diagnostics);
    contested::check(fleet, diagnostics);
}
