//! Whether the clock can be trusted: decisions that depend on time wait where it cannot.

use super::{Report, Urgency, View};
use crate::instant;
use crate::observation::Answers;

/// Furthest that the clock may be from those of the API servers.
const MAX_SKEW_SECS: i64 = 120;

/// Why decisions that depend on time wait; `None` where they need not.
#[must_use]
pub fn distrust(view: &View<'_>) -> Option<Report> {
    let now = view.situation.now_secs;
    let waits = |text: String| Some(Report::new(Urgency::Waits, format!("decisions that depend on time wait: {text}")));
    if let Some(live) = view.situation.live.as_ref().filter(|live| now < live.time_secs) {
        let (now, then) = (instant::text(now), instant::text(live.time_secs));
        return waits(format!("this clock says {now}, and the live commit is of {then}; set the clock"));
    }
    let clusters = view.situation.observation?.clusters.values();
    let answering = clusters.filter(|seen| matches!(seen.answers, Answers::Yes { .. }));
    let mut skews: Vec<i64> = answering.filter_map(|seen| seen.clock_ahead_secs).collect();
    skews.sort_unstable();
    // The middle one: a single cluster whose clock is wrong stops nobody.
    let middle = skews.get(skews.len() / 2)?;
    if middle.saturating_abs() > MAX_SKEW_SECS {
        return waits(format!("most API servers' clocks are {middle} s ahead of this one; set the clock"));
    }
    None
}
