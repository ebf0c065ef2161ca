//! PodDisruptionBudget: it only states a bound, so it is Current; how many pods are healthy is said by what runs them.

use super::super::object::{Malformed, Object, Verdict, current};

pub(super) fn judge(_: &Object<'_>) -> Result<Verdict, Malformed> {
    current("it bounds disruptions")
}
