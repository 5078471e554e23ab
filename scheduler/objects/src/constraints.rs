//! What a pod asks of its node besides resources and tolerations: rare, so that a pod has
//! one pointer for all of it.
//!
//! Parsed once, at decoding. What only the choice of a node needs (selector, affinity) is
//! left out for a pod that has a node; its host ports stay, since they are in use there.

use std::sync::Arc;

use crate::meta::Labels;
use crate::node::Node;
use crate::pod_affinity::PodAffinity;
use crate::pod_claim::PodClaims;
use crate::pod_volume::PodVolume;
use crate::selector::{NodeSelector, PreferredTerm};
use crate::spread::SpreadConstraint;

/// The rarer wishes of a pod. Never all empty in a decoded pod.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraints {
    /// `spec.nodeSelector`: every pair must be among the node's labels. An empty one is not
    /// the same as none: kube-scheduler's plugin then has something to judge.
    pub node_selector: Option<Labels>,
    /// `spec.affinity.nodeAffinity`.
    pub node_affinity: NodeAffinity,
    /// Ports of the node that the pod's containers take: those with `hostPort` of
    /// containers and of init containers that keep running.
    pub host_ports: Box<[HostPort]>,
    /// `spec.affinity.podAffinity` and `podAntiAffinity`.
    pub pod_affinity: Option<Box<PodAffinity>>,
    /// `spec.topologySpreadConstraints`.
    pub spread: Box<[SpreadConstraint]>,
    /// The volumes that bear on where the pod can run.
    pub volumes: Box<[PodVolume]>,
    /// The devices that the pod claims.
    pub claims: Option<Box<PodClaims>>,
}

/// `spec.affinity.nodeAffinity`. Absent lists and empty ones differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeAffinity {
    /// `requiredDuringSchedulingIgnoredDuringExecution`.
    pub required: Option<NodeSelector>,
    /// `preferredDuringSchedulingIgnoredDuringExecution`.
    pub preferred: Option<Box<[PreferredTerm]>>,
}

/// A port of a node, on one address or on all of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    /// `hostPort`: above 0.
    pub port: i32,
    /// `protocol`; `TCP` where the object has none.
    pub protocol: Arc<str>,
    /// `hostIP`; `None` for every address: an empty one, or `0.0.0.0`. As in
    /// kube-scheduler, `::` is an address like any other.
    pub address: Option<Arc<str>>,
}

// === impl Constraints ===

impl Constraints {
    /// Whether `node` has the labels of the selector and one of the required terms matches
    /// it. Terms that could not be parsed match nothing.
    pub fn allows(&self, node: &Node) -> bool {
        let labels = &node.meta.labels;
        let mut wanted = self.node_selector.iter().flatten();
        wanted.all(|(key, value)| labels.get(key) == Some(value))
            && self
                .node_affinity
                .required
                .as_ref()
                .is_none_or(|terms| terms.matches(node))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

// === impl HostPort ===

impl HostPort {
    /// Whether both cannot be taken on one node.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let same_address = match (&self.address, &other.address) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        self.port == other.port && self.protocol == other.protocol && same_address
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::HostPort;

    fn port(port: i32, protocol: &str, address: &str) -> HostPort {
        HostPort {
            port,
            protocol: Arc::from(protocol),
            address: (!address.is_empty()).then(|| Arc::from(address)),
        }
    }

    #[test]
    fn ports_conflict_on_the_same_address_and_on_every_address() {
        let one = port(80, "TCP", "10.0.0.1");
        let cases = [
            (port(80, "TCP", "10.0.0.1"), true),
            (port(80, "TCP", ""), true),
            (port(80, "TCP", "10.0.0.2"), false),
            (port(80, "TCP", "::"), false),
            (port(80, "UDP", "10.0.0.1"), false),
            (port(81, "TCP", "10.0.0.1"), false),
        ];
        for (other, conflict) in cases {
            assert_eq!(one.conflicts_with(&other), conflict, "{other:?}");
            assert_eq!(other.conflicts_with(&one), conflict, "{other:?}");
        }
        assert!(port(80, "TCP", "").conflicts_with(&port(80, "TCP", "")));
    }
}
