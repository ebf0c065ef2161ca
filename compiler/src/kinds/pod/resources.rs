//! Requests and limits of a pod, as the API server defaults and the scheduler adds them up (`SetDefaults_Pod`,
//! `resource.PodRequests`, `resource.PodLimits`), and what validation refuses (`validateResourceRequirements`,
//! `validatePodResourceConsistency`).
//!
//! Amounts are in thousandths here, rounded up per container, which is how the API server stores them.

mod check;

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::field::Field;
use crate::base::quantity::{plain_amount, read_counted};
use crate::base::{FieldError, Resources};
pub(super) use check::{check_overhead, check_pod_level};

/// Thousandths of a unit, by resource name.
pub(super) type MilliList = BTreeMap<SmolStr, i128>;

/// How a container's resources count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Runs as long as the pod.
    Regular,
    /// Runs before the others, and ends.
    Init,
    /// An init container with `restartPolicy: Always`: starts before the others and keeps running.
    Sidecar,
}

/// For what resources are stated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    Container,
    /// The pod as a whole; only what [`is_pod_level`] counts.
    Pod,
}

/// The resources of one container, or of the pod as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Stated {
    pub(super) requests: MilliList,
    pub(super) limits: MilliList,
}

/// What a pod asks for in all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Totals {
    pub(super) requests: MilliList,
    pub(super) limits: MilliList,
}

impl Stated {
    /// Reads `{requests, limits}` and reports what validation refuses.
    pub(super) fn read(resources: &Field<'_>, level: Level, errors: &mut Vec<FieldError>) -> Self {
        resources.expect_object(errors);
        let limits = read_list(&resources.get("limits"), errors);
        let requests = read_list(&resources.get("requests"), errors);
        let stated = Self { requests, limits };
        check::check_stated(&stated, level, resources, errors);
        stated
    }

    /// What one container states, where a limit stands in for a missing request.
    pub(super) fn with_default_requests(mut self) -> Self {
        for (resource, limit) in &self.limits {
            self.requests.entry(resource.clone()).or_insert(*limit);
        }
        self
    }

    /// What the pod as a whole states, completed from its containers.
    fn completed_from(mut self, containers: &Totals) -> Self {
        if self.requests.is_empty() && self.limits.is_empty() {
            return self;
        }
        for (resource, limit) in &containers.limits {
            if is_hugepages(resource) && !self.requests.contains_key(resource) {
                self.limits.entry(resource.clone()).or_insert(*limit);
            }
        }
        if self.limits.is_empty() {
            return self;
        }
        for (resource, request) in &containers.requests {
            if is_pod_level(resource) && is_overcommittable(resource) {
                self.requests.entry(resource.clone()).or_insert(*request);
            }
        }
        for (resource, limit) in &self.limits {
            if is_pod_level(resource) {
                self.requests.entry(resource.clone()).or_insert(*limit);
            }
        }
        self
    }

    /// Whether anything is stated that counts for the pod as a whole.
    pub(super) fn sets_pod_level(&self) -> bool {
        self.requests.keys().chain(self.limits.keys()).any(|resource| is_pod_level(resource))
    }
}

/// Reads amounts by resource name.
pub(super) fn read_list(list: &Field<'_>, errors: &mut Vec<FieldError>) -> MilliList {
    let mut amounts = MilliList::new();
    for (resource, field) in list.entries(errors) {
        if field.is_absent() {
            continue;
        }
        match read_counted(resource, field.value()) {
            Ok(quantity) => {
                amounts.insert(SmolStr::new(resource), quantity.milli_value());
            }
            Err(error) => errors.push(field.error(error)),
        }
    }
    amounts
}

/// What the containers need at once: all that run together, or, if that is more, what an init container needs beside
/// the sidecars started before it (KEP-753). The order of the init containers counts.
pub(super) fn container_totals(containers: &[(Role, Stated)]) -> Totals {
    let total = |list: fn(&Stated) -> &MilliList| {
        let mut running = MilliList::new();
        let mut started = MilliList::new();
        let mut peak = MilliList::new();
        for (role, stated) in containers {
            match role {
                Role::Regular => add(&mut running, list(stated)),
                Role::Sidecar => {
                    add(&mut running, list(stated));
                    add(&mut started, list(stated));
                    raise(&mut peak, &started);
                }
                Role::Init => {
                    let mut at_once = started.clone();
                    add(&mut at_once, list(stated));
                    raise(&mut peak, &at_once);
                }
            }
        }
        raise(&mut running, &peak);
        running
    };
    Totals { requests: total(|stated| &stated.requests), limits: total(|stated| &stated.limits) }
}

/// What the pod asks for: its containers, unless the pod as a whole states more exactly, and the overhead.
pub(super) fn pod_totals(containers: Totals, pod: Stated, overhead: &MilliList) -> Totals {
    let pod = pod.completed_from(&containers);
    let Totals { mut requests, mut limits } = containers;
    requests.extend(pod.requests.into_iter().filter(|(resource, _)| is_pod_level(resource)));
    limits.extend(pod.limits.into_iter().filter(|(resource, _)| is_pod_level(resource)));
    add(&mut requests, overhead);
    for (resource, amount) in overhead {
        if let Some(limit) = limits.get_mut(resource).filter(|limit| **limit != 0) {
            *limit += amount;
        }
    }
    Totals { requests, limits }
}

fn add(list: &mut MilliList, other: &MilliList) {
    for (resource, amount) in other {
        *list.entry(resource.clone()).or_insert(0) += amount;
    }
}

fn raise(list: &mut MilliList, other: &MilliList) {
    for (resource, amount) in other {
        let mine = list.entry(resource.clone()).or_insert(*amount);
        *mine = (*mine).max(*amount);
    }
}

/// In the units that are booked. `Err` lists what is more than Kubernetes counts, though each container states less.
pub(super) fn booked(list: &MilliList) -> Result<Resources, Vec<SmolStr>> {
    let exact = |resource: &str, milli: i128| {
        if resource == "cpu" { milli } else { milli / 1000 + (milli % 1000).signum() }
    };
    let beyond = |(resource, milli): &(&SmolStr, &i128)| i64::try_from(exact(resource, **milli)).is_err();
    let uncounted: Vec<SmolStr> = list.iter().filter(beyond).map(|(resource, _)| resource.clone()).collect();
    if !uncounted.is_empty() {
        return Err(uncounted);
    }
    Ok(Resources(list.iter().map(|(resource, milli)| (resource.clone(), exact(resource, *milli))).collect()))
}

/// Thousandths as a text for messages: `0.5`, `2Gi`.
fn milli_text(resource: &str, milli: i128) -> String {
    match resource {
        "cpu" => plain_amount(resource, milli),
        _ if milli % 1000 == 0 => plain_amount(resource, milli / 1000),
        _ => format!("{milli}m"),
    }
}

fn is_hugepages(resource: &str) -> bool {
    resource.starts_with("hugepages-")
}

/// Resources that can be stated for a pod as a whole (KEP-2837).
fn is_pod_level(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory") || is_hugepages(resource)
}

fn is_native(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}

/// Whether a container may use more than it requests.
fn is_overcommittable(resource: &str) -> bool {
    is_native(resource) && !is_hugepages(resource)
}
