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

/// All containers of a pod, init containers last.
pub(super) struct Containers {
    pub(super) facts: Vec<ContainerFacts>,
    /// What they state, requests defaulted from limits.
    pub(super) stated: Vec<(Role, Stated)>,
    /// The host ports of those that run at the same time.
    pub(super) host_ports: Vec<HostPort>,
}

impl Containers {
    pub(super) fn read(pod: &Field<'_>, errors: &mut Vec<FieldError>) -> Self {
        let host_network = pod.get("hostNetwork").is_true(errors);
        let mut containers = Self { facts: Vec::new(), stated: Vec::new(), host_ports: Vec::new() };
        let mut names = BTreeSet::new();
        let mut taken = BTreeSet::new();
        let regular = pod.get("containers");
        for container in regular.items(errors) {
            containers.read_one(&container, Role::Regular, &mut names, errors);
            let ports = read_host_ports(&container.get("ports"), host_network, true, &mut taken, errors);
            containers.host_ports.extend(ports);
        }
        if containers.facts.is_empty() {
            errors.push(regular.error("a pod needs at least one container"));
        }
        for container in pod.get("initContainers").items(errors) {
            let is_sidecar = container.get("restartPolicy").text(errors) == Some("Always");
            containers.read_one(&container, if is_sidecar { Role::Sidecar } else { Role::Init }, &mut names, errors);
            // They start one after the other, so that each may take its own; only sidecars keep theirs.
            let ports = read_host_ports(&container.get("ports"), host_network, false, &mut BTreeSet::new(), errors);
            containers.host_ports.extend(ports.into_iter().filter(|_| is_sidecar));
        }
        containers
    }

    fn read_one<'a>(
        &mut self,
        container: &'a Field<'a>,
        role: Role,
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
    }
}

/// The host ports of a container. Those in `taken` are errors.
fn read_host_ports(
    ports: &Field<'_>,
    host_network: bool,
    regular: bool,
    taken: &mut BTreeSet<HostPort>,
    errors: &mut Vec<FieldError>,
) -> Vec<HostPort> {
    let mut host_ports = Vec::new();
    for port in ports.items(errors) {
        let Some(host_port) = read_host_port(&port, host_network, regular, errors) else { continue };
        if taken.insert(host_port.clone()) {
            host_ports.push(host_port);
        } else {
            let HostPort { protocol, port: number, .. } = &host_port;
            errors.push(port.get("hostPort").error(format!("host port {number}/{protocol} is taken twice")));
        }
    }
    host_ports
}

/// The host port of a container port, if it has one: on the host network each has, and it is the same number.
fn read_host_port(
    port: &Field<'_>,
    host_network: bool,
    regular: bool,
    errors: &mut Vec<FieldError>,
) -> Option<HostPort> {
    let container_port_field = port.get("containerPort");
    let container_port = read_port_number(&container_port_field, errors);
    if container_port == Some(0) || container_port_field.is_absent() {
        errors.push(container_port_field.error("a container port needs a number from 1 to 65535"));
    }
    let host_port_field = port.get("hostPort");
    // 0 is the same as absent, as for the API server.
    let number = match read_port_number(&host_port_field, errors).filter(|number| *number != 0) {
        None if host_network => container_port.filter(|number| *number != 0),
        number => number,
    };
    if host_network && regular && number.zip(container_port).is_some_and(|(host, container)| host != container) {
        errors.push(host_port_field.error("on the host network a host port must equal its container port"));
    }
    let protocol = port.get("protocol").text(errors).unwrap_or("TCP");
    let ip = port.get("hostIP").text(errors).unwrap_or_default();
    Some(HostPort { protocol: protocol.into(), ip: ip.into(), port: number? })
}

fn read_port_number(field: &Field<'_>, errors: &mut Vec<FieldError>) -> Option<u16> {
    if field.is_absent() {
        return None;
    }
    let number = field.value().as_i64().and_then(|number| u16::try_from(number).ok());
    if number.is_none() {
        errors.push(field.error("expected a port number from 1 to 65535"));
    }
    number
}
