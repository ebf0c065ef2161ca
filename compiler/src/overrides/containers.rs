//! The containers of an object.

use serde_json::Value;

use super::Subject;
use super::error::OpError;
use super::pointer::child;
use crate::base::name::nearest;
use crate::base::{Path, Seg, SmolStr};

/// Which containers an operation is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Containers {
    /// The operation does not say.
    Unnamed,
    /// `*`: all containers and init containers.
    All,
    /// That one.
    Named(SmolStr),
}

impl Containers {
    /// From the text of `target.container`.
    #[must_use]
    pub fn from_target(container: Option<&str>) -> Self {
        match container {
            None => Self::Unnamed,
            Some("*") => Self::All,
            Some(name) => Self::Named(name.into()),
        }
    }
}

/// What [`Containers::Unnamed`] means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WhenUnnamed {
    All,
    TheOnlyOne,
}

/// The lists of containers in a pod spec.
pub(super) const LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

struct Container {
    path: Path,
    name: SmolStr,
    list: &'static str,
}

/// The places of the containers that an operation is about: never none.
pub(super) fn select(
    object: &Value,
    subject: &Subject,
    which: &Containers,
    unnamed: WhenUnnamed,
) -> Result<Vec<Path>, OpError> {
    let all = containers(object, subject);
    if all.is_empty() {
        return Err(OpError::NoPodTemplate);
    }
    let known = |of: &[&Container]| of.iter().map(|container| container.name.clone()).collect::<Vec<_>>();
    let every: Vec<&Container> = all.iter().collect();
    let lasting: Vec<&Container> = all.iter().filter(|container| container.list != "ephemeralContainers").collect();
    let chosen: Vec<&Container> = match (which, unnamed) {
        (Containers::All, _) | (Containers::Unnamed, WhenUnnamed::All) => lasting,
        (Containers::Unnamed, WhenUnnamed::TheOnlyOne) => {
            let main: Vec<&Container> = all.iter().filter(|container| container.list == "containers").collect();
            if main.len() != 1 {
                return Err(OpError::WhichContainer { known: known(&main) });
            }
            main
        }
        (Containers::Named(name), _) => {
            let named: Vec<&Container> = all.iter().filter(|container| container.name == *name).collect();
            if named.is_empty() {
                let known = known(&every);
                let nearest = nearest(name, known.iter().map(SmolStr::as_str)).map(SmolStr::from);
                return Err(OpError::NoContainer { wanted: name.clone(), nearest, known });
            }
            named
        }
    };
    Ok(chosen.into_iter().map(|container| container.path.clone()).collect())
}

fn containers(object: &Value, subject: &Subject) -> Vec<Container> {
    let mut found = Vec::new();
    for spec in pod_specs(object, subject) {
        for list in LISTS {
            let at = spec.join(list.into());
            let items = lookup(object, &at).and_then(Value::as_array).into_iter().flatten();
            for (index, item) in items.enumerate() {
                let name = item.get("name").and_then(Value::as_str).unwrap_or_default().into();
                found.push(Container { path: at.join(index.into()), name, list });
            }
        }
    }
    found
}

/// The places of the pod specs that the object has.
pub(super) fn pod_specs(object: &Value, subject: &Subject) -> Vec<Path> {
    let mut found = Vec::new();
    for path in &subject.pod_specs {
        let mut places = vec![Path::root()];
        for seg in &path.0 {
            places = places.iter().flat_map(|place| steps(object, place, seg)).collect();
        }
        found.extend(places);
    }
    found
}

/// One step from a place, or as many as the list there has items when the step is `*`.
fn steps(object: &Value, place: &Path, seg: &Seg) -> Vec<Path> {
    match (lookup(object, place), seg) {
        (Some(Value::Array(items)), Seg::Key(star)) if star == "*" => {
            (0..items.len()).map(|index| place.join(index.into())).collect()
        }
        (Some(value), seg) if child(value, seg).is_some() => vec![place.join(seg.clone())],
        _ => Vec::new(),
    }
}

/// The value at a place, if there is one.
pub(super) fn lookup<'v>(object: &'v Value, path: &Path) -> Option<&'v Value> {
    path.0.iter().try_fold(object, child)
}
