//! What a pod spec asks of the place it runs in: amounts, nodes, tolerations, claims and host ports.
//!
//! Invariants: amounts are what the API server and the scheduler count (`SetDefaults_Pod`, `resource.PodRequests`,
//! `resource.PodLimits` of Kubernetes 1.36), whatever else is wrong with the pod; reading never fails, it lists what
//! Kubernetes would refuse beside the facts; fields not named here are not looked at (the kinds' field tables are for
//! that). The next thing that the choice of a cluster or a pool depends on is a field of [`PodFacts`] and a reader here.

mod affinity;
mod containers;
mod field;
mod resources;

use serde::Deserialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

pub use self::affinity::{Fit, NodeFacts, NodeSelectorTerm, RequiredAffinity, fits_node};
pub use self::containers::ContainerFacts;
use crate::base::labels::Labels;
use crate::base::name::{NameRule, check};
use crate::base::quantity::read_counted;
use crate::base::taint::Toleration;
use crate::base::{FieldError, Resources};
use containers::Containers;
use field::Field;
use resources::{
    Level, MilliList, Stated, booked, check_overhead, check_pod_level, container_totals, pod_totals, read_list,
};

/// A field that Kubernetes would refuse: its path is relative to the pod spec.
pub type PodError = FieldError;

/// What a pod asks of the place it runs in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PodFacts {
    /// What the scheduler sets aside for one pod, overhead included; the pod itself (`pods`) is not counted.
    pub requests: Resources,
    /// What it may use at most, overhead included; a resource that is absent has no limit.
    pub limits: Resources,
    /// The part of the requests that the runtime needs.
    pub overhead: Resources,
    /// Init containers last, each in written order.
    pub containers: Vec<ContainerFacts>,
    /// Whether CPU, memory or huge pages are stated for the pod as a whole (`spec.resources`).
    pub pod_level_resources: bool,
    /// Labels that its node must have.
    pub node_selector: Labels,
    /// Terms of which its node must satisfy one; `None` when it has none to satisfy.
    pub required_affinity: Option<RequiredAffinity>,
    /// The taints that it stands; without those that admission adds for nodes that are not ready or unreachable.
    pub tolerations: Vec<Toleration>,
    /// Its priority class, when it names one.
    pub priority_class_name: Option<SmolStr>,
    /// What the claims that are made for it count under a quota, see [`counted`](super::counted).
    pub claims: Resources,
    /// The PersistentVolumeClaims that it mounts, in written order.
    pub pvc_claims: Vec<SmolStr>,
    /// The ports that it takes on its node: of two pods that share one, only one fits a node.
    pub host_ports: Vec<HostPort>,
}

/// A port on the node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostPort {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: SmolStr,
    /// The address of the node it is bound to; empty is every address.
    pub ip: SmolStr,
    /// 1 to 65535.
    pub port: u16,
}

/// What was read from a pod spec, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PodReading {
    /// As far as it could be understood: a wrong field counts as absent.
    pub facts: PodFacts,
    /// What Kubernetes would refuse, in the order of the fields read.
    pub errors: Vec<PodError>,
}

impl PodFacts {
    /// The containers for which a quota on this resource (`requests.cpu`, `limits.memory`, `cpu`, ...) finds nothing to
    /// count: a ResourceQuota makes such pods inadmissible. Kubernetes demands that of CPU and memory only, and of no
    /// container when the pod as a whole states resources. Names are empty where a container has none.
    #[must_use]
    pub fn unset(&self, quota_resource: &str) -> Vec<&SmolStr> {
        let (of_limits, resource) = match quota_resource.strip_prefix("limits.") {
            Some(resource) => (true, resource),
            None => (false, quota_resource.strip_prefix("requests.").unwrap_or(quota_resource)),
        };
        if self.pod_level_resources || !matches!(resource, "cpu" | "memory") {
            return Vec::new();
        }
        self.containers
            .iter()
            .filter(|container| {
                let stated = if of_limits { &container.limits } else { &container.requests };
                !stated.contains(resource)
            })
            .map(|container| &container.name)
            .collect()
    }
}

/// Reads a pod spec (`spec.template.spec` of most kinds), as JSON.
#[must_use]
pub fn read(spec: &Value) -> PodReading {
    let mut errors = Vec::new();
    let pod = Field::root(spec);
    if pod.is_absent() {
        errors.push(pod.error("expected a pod spec"));
    }
    pod.expect_object(&mut errors);

    let containers = Containers::read(&pod, &mut errors);
    let resources_field = pod.get("resources");
    let pod_stated = Stated::read(&resources_field, Level::Pod, &mut errors);
    let overhead_field = pod.get("overhead");
    let overhead = read_list(&overhead_field, &mut errors);
    check_overhead(&overhead, &overhead_field, &mut errors);
    let container_totals = container_totals(&containers.stated);
    check_pod_level(&pod_stated, &containers.stated, &container_totals, &resources_field, &mut errors);
    let pod_level_resources = pod_stated.sets_pod_level();
    let totals = pod_totals(container_totals, pod_stated, &overhead);
    let containers_field = pod.get("containers");
    let mut of_pod = |list: &MilliList, what: &str| {
        booked(list).unwrap_or_else(|uncounted| {
            errors.extend(uncounted.iter().map(|resource| {
                containers_field
                    .error(format!("together they {what} more {resource} than Kubernetes can count (2^63-1)"))
            }));
            Resources::default()
        })
    };

    let requests = of_pod(&totals.requests, "request");
    let limits = of_pod(&totals.limits, "may use");
    let overhead = of_pod(&overhead, "need");

    let facts = PodFacts {
        requests,
        limits,
        overhead,
        containers: containers.facts,
        pod_level_resources,
        node_selector: read_node_selector(&pod.get("nodeSelector"), &mut errors),
        required_affinity: RequiredAffinity::read(&pod.get("affinity"), &mut errors),
        tolerations: read_tolerations(&pod.get("tolerations"), &mut errors),
        priority_class_name: read_priority_class(&pod.get("priorityClassName"), &mut errors),
        claims: Resources::default(),
        pvc_claims: read_claims(&pod.get("volumes"), &mut errors),
        host_ports: containers.host_ports,
    };
    PodReading { facts, errors }
}

fn read_node_selector(selector: &Field<'_>, errors: &mut Vec<PodError>) -> Labels {
    let mut labels = Labels::new();
    for (key, field) in selector.entries(errors) {
        let value = field.text(errors).unwrap_or_default();
        errors.extend(affinity::check_label(&field, key, value).err());
        labels.insert(key.into(), value.into());
    }
    labels
}

fn read_tolerations(list: &Field<'_>, errors: &mut Vec<PodError>) -> Vec<Toleration> {
    let mut tolerations = Vec::new();
    for field in list.items(errors) {
        // Unknown fields are not looked at, and a null is an absent field; a toleration of our own API is stricter.
        let known = ["key", "operator", "value", "effect", "tolerationSeconds"];
        let present: Map<String, Value> = known
            .iter()
            .filter_map(|name| Some((*name, field.value().get(name)?)))
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        match Toleration::deserialize(Value::Object(present)) {
            Ok(toleration) => {
                errors.extend(toleration.validate().err().map(|error| field.inside(error)));
                tolerations.push(toleration);
            }
            Err(error) => errors.push(field.error(format!("invalid toleration: {error}"))),
        }
    }
    tolerations
}

fn read_priority_class(field: &Field<'_>, errors: &mut Vec<PodError>) -> Option<SmolStr> {
    let name = field.text(errors)?;
    if let Err(expected) = check(NameRule::Dns1123Subdomain, name) {
        errors.push(field.error(format!("{name:?} is not a valid priority class name: expected {expected}")));
    }
    Some(name.into())
}

fn read_claims(volumes: &Field<'_>, errors: &mut Vec<PodError>) -> Vec<SmolStr> {
    let mut claims = Vec::new();
    for volume in volumes.items(errors) {
        let empty_dir = volume.get("emptyDir");
        let size = empty_dir.get("sizeLimit");
        if !size.is_absent()
            && let Err(error) = read_counted("ephemeral-storage", size.value())
        {
            errors.push(size.error(error));
        }
        let claim = volume.get("persistentVolumeClaim");
        if claim.is_absent() {
            continue;
        }
        let name_field = claim.get("claimName");
        match name_field.text(errors) {
            Some(name) => claims.push(name.into()),
            None => errors.push(name_field.error("a volume of a PersistentVolumeClaim needs its name")),
        }
    }
    claims
}

#[cfg(test)]
mod tests;
