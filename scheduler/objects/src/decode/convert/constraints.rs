//! The wire's selector, affinity and ports -> [`Constraints`]; the images of a pod.
//!
//! Selectors are parsed here; what cannot be parsed stays in them as a value.

use std::sync::Arc;

use super::super::{pod_claims, pod_volumes, spread, topology};
use super::selector::requirements;
use super::{texts, wire};
use crate::constraints::{Constraints, HostPort, NodeAffinity};
use crate::intern::intern;
use crate::selector::{NodeSelector, NodeSelectorTerm, PreferredTerm};

/// Protocol of a port that names none.
const DEFAULT_PROTOCOL: &str = "TCP";
/// The address that stands for all of them.
const EVERY_ADDRESS: &str = "0.0.0.0";

/// The constraints of a pod in `namespace`; `None` if there are none.
///
/// Of a pod that has a node what others are held against is kept: ports, pod affinity,
/// volumes, claims.
pub(super) fn constraints(
    wire: &wire::PodSpec<'_>,
    status: &wire::PodStatus<'_>,
    namespace: &str,
) -> Option<Arc<Constraints>> {
    let affinity = wire.affinity.as_ref();
    let mut constraints = Constraints {
        host_ports: host_ports(wire).into(),
        pod_affinity: topology::pod_affinity(
            affinity.and_then(|affinity| affinity.pods.as_ref()),
            affinity.and_then(|affinity| affinity.pods_anti.as_ref()),
            namespace,
        ),
        volumes: pod_volumes::volumes(&wire.volumes.0),
        claims: pod_claims::claims(wire, status),
        ..Constraints::default()
    };
    if wire.node_name.0.is_empty() {
        let selector = wire.node_selector.as_ref();
        constraints.node_selector = selector.map(|pairs| texts(Some(pairs), |_| true));
        constraints.spread = spread::spread(&wire.topology_spread_constraints.0);
        if let Some(affinity) = affinity.and_then(|affinity| affinity.nodes.as_ref()) {
            constraints.node_affinity = node_affinity(affinity);
        }
    }
    (!constraints.is_empty()).then(|| Arc::new(constraints))
}

/// The images of a pod that needs a node.
pub(super) fn images(wire: &wire::PodSpec<'_>) -> Box<[Arc<str>]> {
    if !wire.node_name.0.is_empty() {
        return Box::default();
    }
    let containers = wire.init_containers.0.iter().chain(&wire.containers.0);
    let volumes = wire.volumes.0.iter();
    let sources = volumes.filter_map(|volume| volume.image.as_ref());
    containers
        .map(|container| &container.image)
        .chain(sources.map(|source| &source.reference))
        .map(|name| image_name(&name.0))
        .collect()
}

/// A name with its tag (kube-scheduler `normalizedImageName`): without a colon after the
/// last slash it has none.
fn image_name(name: &str) -> Arc<str> {
    if name.rfind(':') <= name.rfind('/') {
        intern(&format!("{name}:latest"))
    } else {
        intern(name)
    }
}

/// The host ports of init containers that keep running, then of containers. On the node's
/// own network every port is one, but that the API server writes into the pod.
fn host_ports(wire: &wire::PodSpec<'_>) -> Vec<HostPort> {
    let init = wire.init_containers.0.iter();
    let running = init
        .filter(|container| container.restart_policy.0 == "Always")
        .chain(&wire.containers.0);
    running
        .flat_map(|container| &container.ports.0)
        .filter_map(host_port)
        .collect()
}

fn host_port(wire: &wire::ExposedPort<'_>) -> Option<HostPort> {
    let port = wire.host_port.filter(|port| *port > 0)?;
    let address = Some(&*wire.host_ip.0).filter(|ip| !ip.is_empty() && *ip != EVERY_ADDRESS);
    Some(HostPort {
        port,
        protocol: intern(super::or(&wire.protocol.0, DEFAULT_PROTOCOL)),
        address: address.map(intern),
    })
}

fn node_affinity(wire: &wire::NodeAffinity<'_>) -> NodeAffinity {
    let required = wire.required.as_ref().map(|selector| NodeSelector {
        terms: selector.node_selector_terms.0.iter().map(term).collect(),
    });
    let preferred = wire.preferred.as_ref().map(|terms| {
        let terms = terms.0.iter();
        let terms = terms.map(|preferred| PreferredTerm {
            weight: preferred.weight.unwrap_or(0),
            preference: preferred.preference.as_ref().map(term).unwrap_or_default(),
        });
        terms.collect()
    });
    NodeAffinity {
        required,
        preferred,
    }
}

/// A term, parsed.
pub(in super::super) fn term(wire: &wire::Term<'_>) -> NodeSelectorTerm {
    let expressions = requirements(&wire.match_expressions.0);
    NodeSelectorTerm::new(&expressions, &requirements(&wire.match_fields.0))
}
