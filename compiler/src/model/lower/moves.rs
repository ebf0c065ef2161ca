//! How replicas move between clusters: as yet, what must be ready meanwhile.

use super::Lowering;
use crate::api::{IntOrPercent, MoveSpec};
use crate::base::FileId;
use crate::diag::{Diagnostic, Place, codes};

/// What must be ready before a cluster is lowered, in percent of what is wanted.
pub(super) fn min_available(cx: &mut Lowering<'_>, file: FileId, written: &MoveSpec) -> Option<u32> {
    // those of steps: not yet
    let MoveSpec { max: _, every: _, min_available, wait: _, deadline: _ } = written;
    let stated = min_available.as_ref()?;
    match stated.value {
        IntOrPercent::Percent(percent) => Some(percent),
        IntOrPercent::Int(count) => {
            cx.report(
                Diagnostic::new(
                    codes::fields::NOT_YET,
                    Place::Span(file, stated.span),
                    format!("`minAvailable: {count}` is not supported yet: workloads of an app differ in their totals"),
                )
                .help("state a share of what is wanted, such as 80%"),
            );
            None
        }
    }
}
