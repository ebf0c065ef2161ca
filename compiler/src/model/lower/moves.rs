//! How replicas move between clusters: in which steps, and what must be ready meanwhile.

use super::Lowering;
use crate::api::{Duration, IntOrPercent, MoveSpec, MoveWait};
use crate::base::{FileId, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{MinAvailable, Steps};

/// What a `move` says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moves {
    /// What must be ready before a cluster is lowered.
    pub min_available: Option<MinAvailable>,
    /// The steps; `None`: at once.
    pub steps: Option<Steps>,
}

/// Reads a `move`.
pub(super) fn lower(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<MoveSpec>) -> Moves {
    let MoveSpec { max, every, min_available, wait, deadline } = &written.value;
    if written.value == MoveSpec::default() {
        cx.report(
            Diagnostic::new(
                codes::placement::EMPTY_MOVE,
                Place::Span(file, written.span),
                "`move` says nothing: replicas move all at once, and the `move` of a wider layer does not count",
            )
            .help("state the largest step, such as `max: 20%`; or remove `move`, and what a wider layer says counts"),
        );
    }
    let min_available = min_available.as_ref().map(|stated| stated.value.into());
    // the only thing there is to wait for
    let wait = wait.as_ref().map(|wait| match wait.value {
        MoveWait::Current => wait.span,
    });
    let secs = |stated: &Option<Spanned<Duration>>| stated.as_ref().map(|stated| stated.value.secs);
    let Some(max) = max else {
        let span = |stated: &Option<Spanned<Duration>>| stated.as_ref().map(|stated| stated.span);
        let alone = [("every", span(every)), ("wait", wait), ("deadline", span(deadline))];
        alone.into_iter().filter_map(|(name, span)| Some((name, span?))).for_each(|(name, span)| {
            without_steps(cx, file, name, span);
        });
        return Moves { min_available, steps: None };
    };
    if let IntOrPercent::Int(0) | IntOrPercent::Percent(0) = max.value {
        cx.report(
            Diagnostic::new(
                codes::placement::CONTRADICTION,
                Place::Span(file, max.span),
                "steps of no replica never get anywhere",
            )
            .help("write a share such as 20%, or a count from 1; leave `max` out to move everything at once"),
        );
    }
    let steps = Steps { max: max.value, every_secs: secs(every).unwrap_or(0), deadline_secs: secs(deadline) };
    Moves { min_available, steps: Some(steps) }
}

fn without_steps(cx: &mut Lowering<'_>, file: FileId, name: &str, span: Span) {
    let message = format!("`{name}` is about the steps of a move, and without `max` there are none");
    cx.report(
        Diagnostic::new(codes::placement::CONTRADICTION, Place::Span(file, span), message)
            .help("add the largest step, such as `max: 20%`, or remove this"),
    );
}
