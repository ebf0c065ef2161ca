//! One pass over a cluster, as a pure function: what can be written now, and why the rest cannot.
//!
//! Level-triggered: a pass looks at what is wanted, what was applied and what is there, and remembers nothing. A wait is an
//! object that is not Current at this pass; a newer commit that changes the object waited for is therefore waited for in
//! its stead, and one about something else changes nothing.
//! Invariants: what was not seen is not absent; a step names everything its executor needs, and leaves it no choice.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;

use super::desired::{DesiredApp, DesiredObject};
use super::floor::may_lower;
use super::hold::{Held, Hold};
use super::inventory::AppName;
use super::order::Round;
use super::prune;
use super::standing::{Todo, Why};
use super::view::{Drift, Mode, View};
use crate::cluster::{GroupKind, Key};
use crate::health::Health;

/// What a pass does, and what it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// What is done now; the order is one of presentation, all of it may be sent at once.
    pub steps: Vec<Step>,
    /// What is not done, and why.
    pub held: Vec<Held>,
    /// Deletions that were let through: each is marked in its inventory before the first of them is done.
    pub going: BTreeMap<AppName, BTreeSet<Key>>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Apply an object.
    Apply {
        /// Whose.
        app: AppName,
        /// Which.
        key: Key,
        /// Why.
        why: Why,
        /// Leave `spec.replicas` out: an HPA owns it. It is sent all the same when the object is created.
        without_replicas: bool,
        /// Before that, hand `spec.replicas` to the create-only manager with this value, so that it does not fall to 1.
        hand_over_replicas: Option<u32>,
        /// Take fields from any manager.
        force: bool,
    },
    /// Delete an object of which new content is applied afterwards.
    Replace {
        /// Whose.
        app: AppName,
        /// Which.
        key: Key,
        /// Its UID.
        uid: SmolStr,
    },
    /// Delete an object nobody wants any more, after a look at it.
    Prune {
        /// Whose.
        app: AppName,
        /// Which.
        key: Key,
        /// Only where nothing lives in it that is not going as well (CustomResourceDefinitions, Namespaces).
        only_empty: bool,
    },
    /// Strike an object from an inventory: another app has it now, or its kind is gone.
    Forget {
        /// From whose.
        app: AppName,
        /// Which.
        key: Key,
    },
}

/// Decides a pass.
#[must_use]
pub fn decide(view: &View<'_>) -> Pass {
    let mut pass = Pass::default();
    if view.rules.mode == Mode::Suspended {
        return pass;
    }
    let todos = todos(view);
    for (app, desired) in view.desired.apps() {
        for (key, object) in &desired.objects {
            let todo = todos.get(key).and_then(Option::as_ref);
            match step(view, &todos, app, desired, key, object, todo) {
                Ok(step) => pass.steps.extend(step),
                Err(why) => pass.held.push(Held { app: app.clone(), key: key.clone(), why }),
            }
        }
    }
    prune::prune(view, &todos, &mut pass);
    pass
}

/// What is left to do for each object; `None` where that cannot be said.
pub(super) type Todos<'a> = BTreeMap<&'a Key, Option<Todo>>;

pub(super) fn todos<'a>(view: &View<'a>) -> Todos<'a> {
    let objects = view.desired.apps().iter().flat_map(|(app, desired)| desired.objects.iter().map(move |o| (app, o)));
    objects.map(|(app, (key, object))| (key, view.todo(app, key, object))).collect()
}

/// Whether an object is applied, as far as it will be.
pub(super) fn is_applied(view: &View<'_>, todo: Option<&Todo>) -> bool {
    match todo {
        Some(Todo::Nothing) => true,
        Some(Todo::Apply(Why::Drifted | Why::Missing)) => view.rules.drift == Drift::Report,
        Some(Todo::Apply(Why::New | Why::Changed | Why::Replicas) | Todo::Recreate { .. } | Todo::AwaitDeletion)
        | None => false,
    }
}

/// Why an object is not yet as it should be; `None` when it is applied and Current.
pub(super) fn not_current(view: &View<'_>, todos: &Todos<'_>, key: &Key) -> Option<Option<Health>> {
    if !is_applied(view, todos.get(key).and_then(Option::as_ref)) {
        return Some(None);
    }
    match view.live.get(key).map(|live| live.health) {
        // A Job that ran and was removed by its TTL.
        None if key.kind.is("batch", "Job") => None,
        None => Some(Some(Health::NotFound)),
        Some(Health::Current) => None,
        Some(health) => Some(Some(health)),
    }
}

fn step(
    view: &View<'_>,
    todos: &Todos<'_>,
    app: &AppName,
    desired: &DesiredApp,
    key: &Key,
    object: &DesiredObject,
    todo: Option<&Todo>,
) -> Result<Option<Step>, Hold> {
    let Some(todo) = todo else { return Err(view.not_seen(&key.kind)) };
    if let Some(mistake) = &object.rules.mistake {
        return Err(Hold::Mistake(mistake.clone()));
    }
    let why = match todo {
        Todo::Nothing => return Ok(None),
        Todo::AwaitDeletion => return Err(Hold::Terminating),
        Todo::Apply(Why::Drifted | Why::Missing) if view.rules.drift == Drift::Report => return Err(Hold::Drifted),
        Todo::Apply(why) => Some(*why),
        Todo::Recreate { .. } => None,
    };
    if view.served.kind(&key.kind, Some(&object.version)).is_none() {
        return Err(Hold::NotServed(key.kind.clone()));
    }
    guard(view, app, desired, key, object)?;
    gate(view, todos, desired, key, object)?;
    if let Some(failure) = view.failure(key, Some(&object.digest)) {
        return Err(Hold::Failed { error: failure.error.clone(), retry_secs: failure.retry_secs });
    }
    let (app, key) = (app.clone(), key.clone());
    Ok(Some(match (todo, why) {
        (Todo::Recreate { .. }, _) if object.rules.protected => return Err(Hold::Protected),
        (Todo::Recreate { uid }, _) => Step::Replace { app, key, uid: uid.clone() },
        (_, why) => {
            let live = view.live.get(&key);
            let without_replicas = object.has_replicas(&key) && view.is_scaled(&key) && live.is_some();
            let held = live.filter(|live| live.holds_replicas).and_then(|live| live.workload);
            Step::Apply {
                why: why.unwrap_or(Why::Changed),
                without_replicas,
                hand_over_replicas: held.filter(|_| without_replicas).map(|workload| workload.replicas),
                force: object.rules.force,
                app,
                key,
            }
        }
    }))
}

/// What must be there first.
fn gate(
    view: &View<'_>,
    todos: &Todos<'_>,
    desired: &DesiredApp,
    key: &Key,
    object: &DesiredObject,
) -> Result<(), Hold> {
    let after = |other: &Key| match not_current(view, todos, other) {
        Some(health) => Err(Hold::After { key: other.clone(), health }),
        None => Ok(()),
    };
    // Where nothing is applied, nothing ever comes first: all is asked about at once.
    if view.rules.mode == Mode::Observe {
        return Ok(());
    }
    if !key.namespace.is_empty() {
        let namespace =
            Key { kind: GroupKind::new("", "Namespace"), namespace: SmolStr::default(), name: key.namespace.clone() };
        if view.desired.owner(&namespace).is_some() {
            after(&namespace)?;
        }
    }
    for other in &object.rules.depends_on {
        if view.desired.owner(other).is_none() {
            return Err(Hold::NobodyApplies(other.clone()));
        }
        after(other)?;
    }
    for other in &desired.depends_on {
        let Some(first) = view.desired.apps().get(other) else { return Err(Hold::AppNotHere(other.clone())) };
        if let Some(key) = first.objects.keys().find(|key| not_current(view, todos, key).is_some()) {
            return Err(Hold::AfterApp { app: other.clone(), key: Box::new(key.clone()) });
        }
    }
    for (other, earlier) in desired.objects.iter().filter(|(_, earlier)| earlier.round < object.round) {
        let needs_health = earlier.round == Round::Foundations || object.round == Round::Webhooks;
        if needs_health {
            after(other)?;
        } else if !is_applied(view, todos.get(other).and_then(Option::as_ref)) {
            return Err(Hold::After { key: other.clone(), health: None });
        }
    }
    Ok(())
}

/// What must not be lost, and what a quarantined cluster must not get.
fn guard(view: &View<'_>, app: &AppName, desired: &DesiredApp, key: &Key, object: &DesiredObject) -> Result<(), Hold> {
    let live = view.live.get(key);
    let runs = live.and_then(|live| live.workload).map(|workload| workload.replicas);
    let wanted = object.replicas();
    if let Some(cluster) = desired.may_run_in.first()
        && runs.is_none_or(|runs| runs == 0)
        && object.runs_pods(key)
    {
        return Err(Hold::MayRunIn(cluster.clone()));
    }
    if view.rules.quarantined && !matches!((wanted, runs), (Some(wanted), Some(runs)) if wanted < runs) {
        return Err(Hold::Quarantined);
    }
    if let (Some(live), Some(runs), Some(wanted)) = (live, runs, wanted)
        && wanted < runs
        && !view.is_scaled(key)
        && !view.may_lower_anyway(app)
    {
        may_lower(view.floors.get(key), live, wanted).map_err(|(ready, needed)| view.lowering(app, ready, needed))?;
    }
    Ok(())
}
