//! A person approves what a budget asks about.

use fleetwright_compiler::placements::ApprovalDoc;
use fleetwright_compiler::source::RepoPath;

use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::{Proposal, key};
use crate::instant;

/// Approves exactly what has this hash, once, until `for_secs` from now.
///
/// # Errors
/// When it is no hash, or it is approved.
pub fn approve(desk: &Desk<'_>, hash: &str, for_secs: u64) -> Result<Proposal, OrderError> {
    let hex = hash.strip_prefix("b3:").unwrap_or(hash);
    if hex.len() < 16 || hex.len() > 64 || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(OrderError::Wrong(format!(
            "`{}` is no hash of something to approve: copy it from the message that asks for the approval, `b3:` and at \
             least 16 hexadecimal digits",
            hash.escape_debug()
        )));
    }
    let path = RepoPath::new(&format!("state/approvals/{hex}.yaml"))?;
    let is_over = |expires: &str| instant::parse(expires).is_some_and(|expires| expires <= desk.now_secs);
    if let Some(approval) = desk.live.state.approvals.get(hex)
        && approval.used.is_none()
        && !is_over(&approval.expires)
    {
        let (by, expires) = (&approval.by, &approval.expires);
        return Err(OrderError::Guarded(format!("it is approved already, by {by} until {expires}")));
    }
    let until = desk.now_secs.saturating_add(i64::try_from(for_secs).unwrap_or(i64::MAX));
    let doc = ApprovalDoc {
        hash: format!("b3:{hex}").into(),
        by: desk.person.name.as_str().into(),
        expires: instant::text(until),
        used: None,
    };
    let mut record = desk.live.record.clone();
    record.put_state(path, &doc);
    let key = key(Cause::Approve, &[hex, &desk.now()]);
    Ok(desk.proposal(Cause::Approve, key, format!("Approve b3:{hex}"), record))
}
