//! Custom kinds that a WorkloadKind teaches: its expressions, asked in the order failed, inProgress, current.
//!
//! An expression that misses a field does not hold: before its controller has written a status, an object is InProgress. One
//! that cannot be evaluated for any other reason makes the object Unknown, never healthy.

use std::sync::Arc;

use fleetwright_compiler::kinds::cel::{Expression, Undecided};
use fleetwright_compiler::model::{CustomKind, HealthRules};

use super::Health;
use super::object::{Malformed, Object, Verdict, current, failed, in_progress};

/// What the rules of the kind say; `None` without any.
pub(super) fn judge(object: &Object<'_>, kinds: &[Arc<CustomKind>]) -> Option<Result<Verdict, Malformed>> {
    let (group, kind) = (object.group(), object.kind());
    let known = kinds.iter().find(|known| known.group == group && known.kind == kind)?;
    let HealthRules { current, in_progress, failed } = known.health.as_ref()?;
    Some(by_rules(object, current, in_progress.as_ref(), failed.as_ref()))
}

fn by_rules(
    object: &Object<'_>,
    is_current: &Expression,
    is_in_progress: Option<&Expression>,
    is_failed: Option<&Expression>,
) -> Result<Verdict, Malformed> {
    let mut missing = None;
    let asked =
        [(is_failed, Health::Failed), (is_in_progress, Health::InProgress), (Some(is_current), Health::Current)];
    for (expression, health) in asked {
        let Some(expression) = expression else { continue };
        match expression.holds(object.0) {
            Ok(true) => {
                let why = format!("`{}` holds", expression.text());
                return match health {
                    Health::Failed => failed(why),
                    Health::Current => current(why),
                    Health::InProgress | Health::Terminating | Health::NotFound | Health::Unknown => in_progress(why),
                };
            }
            Ok(false) => {}
            Err(Undecided::Missing(name)) => missing = Some(name),
            Err(Undecided::Failed(why)) => return Err(Malformed(format!("`{}`: {why}", expression.text()))),
        }
    }
    match missing {
        Some(name) => in_progress(format!("`{name}` is not there yet")),
        None => in_progress(format!("`{}` does not hold yet", is_current.text())),
    }
}
