//! A person freezes where an app runs, or lets it go on.

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::source::RepoPath;

use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::{Proposal, key};

/// Freezes counts, bookings and moves of an app.
///
/// # Errors
/// When there is no such app, or it is suspended.
pub fn suspend(desk: &Desk<'_>, app: &str) -> Result<Proposal, OrderError> {
    let (team, app) = desk.app(app)?;
    let name = SmolStr::from(format!("{team}/{app}"));
    if says_so_itself(desk, &name) {
        return Err(OrderError::Guarded(format!("App {name} is suspended already: its file says `suspend: true`")));
    }
    let mut apps = desk.live.state.suspended.clone();
    if apps.contains(&name) {
        return Err(OrderError::Guarded(format!("App {name} is suspended already")));
    }
    apps.push(name.clone());
    apps.sort();
    set(desk, &apps, Cause::Suspend, format!("Suspend {name}"))
}

/// Lets an app go on.
///
/// # Errors
/// When it is not suspended.
pub fn resume(desk: &Desk<'_>, app: &str) -> Result<Proposal, OrderError> {
    let mut apps = desk.live.state.suspended.clone();
    let before = apps.len();
    apps.retain(|suspended| suspended != app);
    if apps.len() == before && says_so_itself(desk, app) {
        return Err(OrderError::Guarded(format!(
            "App {app} is suspended by its own file: take `suspend: true` out of it on the intents' branch"
        )));
    }
    if apps.len() == before {
        let all: Vec<&str> = apps.iter().map(SmolStr::as_str).collect();
        let all = if all.is_empty() { "none is".to_owned() } else { format!("{} are", all.join(", ")) };
        return Err(OrderError::Guarded(format!("App {app} is not suspended ({all})")));
    }
    set(desk, &apps, Cause::Resume, format!("Resume {app}"))
}

/// Whether an app's own file suspends it.
fn says_so_itself(desk: &Desk<'_>, app: &str) -> bool {
    let fleet = &desk.current.fleet;
    let id = app.split_once('/').and_then(|(team, app)| fleet.app_id(team, app));
    id.is_some_and(|id| fleet.app(id).suspended)
}

fn set(desk: &Desk<'_>, apps: &[SmolStr], cause: Cause, subject: String) -> Result<Proposal, OrderError> {
    let mut record = desk.live.record.clone();
    let path = RepoPath::new("state/suspended.yaml")?;
    if apps.is_empty() {
        record.remove(&path);
    } else {
        record.put_state(path, &apps);
    }
    let key = key(cause, &[&subject, &desk.now()]);
    Ok(desk.proposal(cause, key, subject, record))
}
