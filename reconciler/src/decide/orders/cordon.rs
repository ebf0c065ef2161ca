//! A person keeps new replicas away from a cluster, moves its apps elsewhere, or opens it again.

use fleetwright_compiler::api::Lifecycle;
use fleetwright_compiler::placements::LifecycleDoc;
use fleetwright_compiler::source::RepoPath;

use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::{Proposal, key};

/// No new replicas; placed ones stay.
///
/// # Errors
/// When there is no such cluster, or its lifecycle is as strict already.
pub fn cordon(desk: &Desk<'_>, cluster: &str) -> Result<Proposal, OrderError> {
    set(desk, cluster, Lifecycle::Cordoned, "Cordon")
}

/// No new replicas, and placed ones leave once they have a place elsewhere.
///
/// # Errors
/// As [`cordon`].
pub fn drain(desk: &Desk<'_>, cluster: &str) -> Result<Proposal, OrderError> {
    set(desk, cluster, Lifecycle::Draining, "Drain")
}

fn set(desk: &Desk<'_>, cluster: &str, lifecycle: Lifecycle, verb: &str) -> Result<Proposal, OrderError> {
    let found = desk.cluster(cluster)?;
    let name = &found.name;
    let recorded = desk.live.state.lifecycles.get(name).map(|doc| doc.lifecycle);
    // Of the file and the record the stricter counts, so a laxer one would do nothing.
    if found.lifecycle >= lifecycle || recorded == Some(lifecycle) {
        let now = found.lifecycle.max(recorded.unwrap_or(Lifecycle::Active));
        return Err(OrderError::Guarded(format!("cluster {name} is {now:?} already")));
    }
    let mut record = desk.live.record.clone();
    let doc = LifecycleDoc { lifecycle, by: Some(desk.person.name.as_str().into()) };
    record.put_state(path(name)?, &doc);
    let key = key(Cause::Lifecycle, &[name, verb, &desk.now()]);
    Ok(desk.proposal(Cause::Lifecycle, key, format!("{verb} {name}"), record))
}

/// What its file says counts alone again.
///
/// # Errors
/// When there is no such cluster, or nobody cordoned it.
pub fn uncordon(desk: &Desk<'_>, cluster: &str) -> Result<Proposal, OrderError> {
    let found = desk.cluster(cluster)?;
    let name = &found.name;
    if !desk.live.state.lifecycles.contains_key(name) {
        let why = match found.lifecycle {
            Lifecycle::Active => "cluster {} takes new replicas already".replace("{}", name),
            stated => format!(
                "cluster {name} is {stated:?} by its file clusters/, which counts; change `lifecycle` there, on the \
                 intents' branch"
            ),
        };
        return Err(OrderError::Guarded(why));
    }
    let mut record = desk.live.record.clone();
    record.remove(&path(name)?);
    let key = key(Cause::Lifecycle, &[name, "Uncordon", &desk.now()]);
    Ok(desk.proposal(Cause::Lifecycle, key, format!("Uncordon {name}"), record))
}

fn path(cluster: &str) -> Result<RepoPath, OrderError> {
    Ok(RepoPath::new(&format!("state/lifecycle/{cluster}.yaml"))?)
}
