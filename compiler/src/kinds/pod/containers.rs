//! The containers of a pod: names, roles, resources, host ports.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::HostPort;
use super::field::Field;
use super::resources::{Level, Role, Stated};
use crate::base::FieldError;
use crate::base::name::{NameRule, check};

/// Which resources a container states, the requests that its limits stand in for included.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ContainerFacts {
    /// Its name; empty when it has none, which is an error.
    pub name: SmolStr,
    /// Resources with a request, or with a limit that stands in for one.
    pub requests: BTreeSet<SmolStr>,
    /// Resources with a limit.
    pub limits: BTreeSet<SmolStr>,
}

/// All containers of a pod, init containers first.
pub(super) struct Containers {
    pub(super) facts: Vec<ContainerFacts>,
    /// What they state, requests defaulted from limits.
    pub(super) stated: Vec<(Role, Stated)>,
    /// The host ports of those that run at the same time, in written order.
    pub(super) host_ports: Vec<HostPort>,
}

impl Containers {
    pub(super) fn read(pod: &Field<'_>, errors: &mut Vec<FieldError>) -> Self {
        let host_network = pod.get("hostNetwork").is_true(errors);
        let mut containers = Self { facts: Vec::new(), stated: Vec::new(), host_ports: Vec::new() };
        let mut names = BTreeSet::new();
        for container in pod.get("initContainers").items(errors) {
            let is_sidecar = container.get("restartPolicy").text(errors) == Some("Always");
            let role = if is_sidecar { Role::Sidecar } else { Role::Init };
            containers.read_one(&container, role, host_network, &mut names, errors);
        }
        let regular = pod.get("containers");
        let init_count = containers.facts.len();
        for container in regular.items(errors) {
            containers.read_one(&container, Role::Regular, host_network, &mut names, errors);
        }
        if containers.facts.len() == init_count {
            errors.push(regular.error("a pod needs at least one container"));
        }
        containers
    }

    fn read_one<'a>(
        &mut self,
        container: &'a Field<'a>,
        role: Role,
        host_network: bool,
        names: &mut BTreeSet<SmolStr>,
        errors: &mut Vec<FieldError>,
    ) {
        if container.is_absent() {
            errors.push(container.error("expected an object"));
        }
        container.expect_object(errors);
        let name_field = container.get("name");
        let name = SmolStr::new(name_field.text(errors).unwrap_or_default());
        let wrong = if name.is_empty() {
            Some("a container needs a name".to_owned())
        } else if let Err(expected) = check(NameRule::Dns1123Label, &name) {
            Some(format!("{name:?} is not a valid container name: expected {expected}"))
        } else if !names.insert(name.clone()) {
            Some(format!("another container is named {name:?} too"))
        } else {
            None
        };
        errors.extend(wrong.map(|message| name_field.error(message)));

        let stated = Stated::read(&container.get("resources"), Level::Container, errors).with_default_requests();
        self.facts.push(ContainerFacts {
            name,
            requests: stated.requests.keys().cloned().collect(),
            limits: stated.limits.keys().cloned().collect(),
        });
        self.stated.push((role, stated));

        for port in container.get("ports").items(errors) {
            let host_port = read_host_port(&port, host_network, errors);
            // Init containers run one after the other and have ended before the rest start.
            if let Some(host_port) = host_port.filter(|_| role != Role::Init) {
                if role == Role::Regular && self.host_ports.contains(&host_port) {
                    let HostPort { protocol, port: number, .. } = &host_port;
                    errors.push(port.get("hostPort").error(format!("host port {number}/{protocol} is taken twice")));
                } else {
                    self.host_ports.push(host_port);
                }
            }
        }
    }
}

/// The host port of a container port, if it has one: on the host network each has, by default its own number.
fn read_host_port(port: &Field<'_>, host_network: bool, errors: &mut Vec<FieldError>) -> Option<HostPort> {
    let container_port = read_port_number(&port.get("containerPort"), errors);
    let number = match read_port_number(&port.get("hostPort"), errors) {
        None if host_network => container_port,
        host_port => host_port,
    };
    let protocol = port.get("protocol").text(errors).unwrap_or("TCP");
    let ip = port.get("hostIP").text(errors).unwrap_or_default();
    Some(HostPort { protocol: protocol.into(), ip: ip.into(), port: number? })
}

/// 0 is the same as absent, as for the API server.
fn read_port_number(field: &Field<'_>, errors: &mut Vec<FieldError>) -> Option<u16> {
    if field.is_absent() {
        return None;
    }
    match field.value().as_i64().map(u16::try_from) {
        Some(Ok(number)) => (number != 0).then_some(number),
        _ => {
            errors.push(field.error("expected a port number from 1 to 65535"));
            None
        }
    }
}
