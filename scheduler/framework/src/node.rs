//! A node and the pods on it, summed up (kube-scheduler `framework.NodeInfo`).
//!
//! The sums change with each pod added or removed; a plugin never adds them up itself.

mod groups;
mod label_set;

use std::sync::Arc;

use plimsoll_objects::{HostPort, Node, Pod, Resources, ScoringRequests, Uid};

pub use self::groups::{PodCounts, PodGroup, PodGroups};
pub use self::label_set::LabelSet;

/// Index of a node in every per-node array of one engine. An index is reused after its
/// node is gone, so it means something only within one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A node with its pods.
#[derive(Debug, Clone)]
pub struct NodeInfo {
    /// Index in per-node arrays.
    pub id: NodeId,
    /// The node object.
    pub node: Arc<Node>,
    /// Pods that run, are bound or are assumed here.
    pub pods: Vec<Arc<Pod>>,
    /// The same pods by namespace and labels, as counts.
    pub groups: PodGroups,
    /// Sum of the pods' requests.
    pub requested: Resources,
    /// Sum of the pods' requests with defaults for containers that request none.
    pub non_zero_requested: ScoringRequests,
    /// Ports that the pods take, once per container that takes one. `Differs:`
    /// kube-scheduler keeps a set, so that of two pods on one port the first to go frees it.
    pub used_ports: Vec<HostPort>,
    /// The pods that have volumes which bear on where a pod can run, in the order they came.
    pub volume_pods: Vec<Arc<Pod>>,
    /// Grows with every change of this node or its pods; never repeats in one engine.
    pub generation: u64,
}

// === impl NodeId ===

impl NodeId {
    /// No node: what a name stands for that no node has. It is in no snapshot, so a set of
    /// it alone leaves no node, and is not empty.
    pub const ABSENT: Self = Self(u32::MAX);

    /// As an array index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

// === impl NodeInfo ===

impl NodeInfo {
    /// A node without pods.
    pub fn new(id: NodeId, node: Arc<Node>) -> Self {
        Self {
            id,
            node,
            pods: Vec::new(),
            groups: PodGroups::default(),
            requested: Resources::default(),
            non_zero_requested: ScoringRequests::default(),
            used_ports: Vec::new(),
            volume_pods: Vec::new(),
            generation: 0,
        }
    }

    /// The node's name.
    pub fn name(&self) -> &Arc<str> {
        self.node.name()
    }

    /// What pods may request.
    pub fn allocatable(&self) -> &Resources {
        &self.node.status.allocatable
    }

    /// Adds a pod and its requests.
    pub fn add_pod(&mut self, pod: Arc<Pod>) {
        self.requested.add(&pod.spec.requests.placed);
        self.non_zero_requested
            .add(pod.spec.requests.placed_scoring);
        self.used_ports.extend_from_slice(pod.host_ports());
        self.groups.add(&pod);
        if !pod.volumes().is_empty() {
            self.volume_pods.push(Arc::clone(&pod));
        }
        self.pods.push(pod);
    }

    /// Removes the pod `uid` and its requests; `None` if it is not here. The order of the
    /// other pods stays: kube-scheduler's preemption reads it.
    pub fn remove_pod(&mut self, uid: &Uid) -> Option<Arc<Pod>> {
        let index = self.pods.iter().position(|pod| pod.uid() == uid)?;
        let pod = self.pods.remove(index);
        self.groups.remove(&pod);
        if self.is_capped() {
            self.sum_up();
        } else {
            self.requested.sub(&pod.spec.requests.placed);
            self.non_zero_requested
                .sub(pod.spec.requests.placed_scoring);
        }
        for port in pod.host_ports() {
            if let Some(index) = self.used_ports.iter().position(|used| used == port) {
                self.used_ports.remove(index);
            }
        }
        if !pod.volumes().is_empty() {
            let index = self.volume_pods.iter().position(|other| other.uid() == uid);
            index.map(|index| self.volume_pods.remove(index));
        }
        Some(pod)
    }

    /// Whether a sum reached the end of its range: what was added beyond is lost, so that
    /// taking it away would leave too little.
    fn is_capped(&self) -> bool {
        let requested = &self.requested;
        let scoring = self.non_zero_requested;
        let named = [
            requested.cpu,
            requested.memory,
            requested.ephemeral_storage,
            scoring.cpu,
            scoring.memory,
        ];
        let amounts = named.iter().chain(requested.scalar.values());
        amounts.into_iter().any(|amount| *amount == i64::MAX)
    }

    /// Sums up the pods anew.
    fn sum_up(&mut self) {
        self.requested = Resources::default();
        self.non_zero_requested = ScoringRequests::default();
        for pod in &self.pods {
            self.requested.add(&pod.spec.requests.placed);
            self.non_zero_requested
                .add(pod.spec.requests.placed_scoring);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, prop_assert_eq, proptest};

    use super::{NodeId, NodeInfo};
    use crate::test_util::{PodBuilder, node, pod};

    /// Amounts that a pod of a test asks for: plain ones, and ones that fill the range.
    fn amounts() -> impl Strategy<Value = Vec<(i64, i64, i64)>> {
        let amount = || proptest::prop_oneof![0..1_i64 << 40, (i64::MAX - 9)..=i64::MAX];
        prop::collection::vec((amount(), amount(), amount()), 1..6)
    }

    fn pods(amounts: &[(i64, i64, i64)]) -> Vec<PodBuilder> {
        let named = amounts.iter().enumerate();
        named
            .map(|(index, (cpu, memory, gpus))| {
                let pod = pod(&format!("p{index}")).cpu(&format!("{cpu}m"));
                pod.memory(&memory.to_string())
                    .request("example.com/gpu", &gpus.to_string())
            })
            .collect()
    }

    fn with(pods: &[PodBuilder]) -> NodeInfo {
        let mut info = NodeInfo::new(NodeId(0), node("n1").arc());
        for pod in pods {
            info.add_pod(pod.arc());
        }
        info
    }

    proptest! {
        #[test]
        fn a_pod_that_goes_leaves_the_sums_of_the_others(amounts in amounts(), index: usize) {
            let mut pods = pods(&amounts);
            let mut info = with(&pods);
            let gone = pods.remove(index % amounts.len()).build();

            info.remove_pod(gone.uid()).expect("the pod is here");

            let others = with(&pods);
            prop_assert_eq!(&info.pods, &others.pods);
            prop_assert_eq!(info.non_zero_requested, others.non_zero_requested);
            for name in ["cpu", "memory", "example.com/gpu"] {
                let amount = |info: &NodeInfo| info.requested.get(name).unwrap_or(0);
                prop_assert_eq!(amount(&info), amount(&others), "{}", name);
            }
        }
    }

    #[test]
    fn pods_without_requests_count_with_defaults_for_scoring_only() {
        let info = with(&[pod("a"), pod("b").cpu("250m")]);
        assert_eq!(info.requested.cpu, 250);
        assert_eq!(info.non_zero_requested.cpu, 350);
        assert_eq!(info.non_zero_requested.memory, 2 * 200 * 1024 * 1024);
    }

    #[test]
    fn ports_are_in_use_until_the_last_pod_on_them_goes() {
        let taking = |name| pod(name).host_port(80).host_port_on("10.0.0.1", "UDP", 53);
        let mut info = with(&[taking("a"), pod("b"), taking("c")]);
        assert_eq!(info.used_ports.len(), 4);
        info.remove_pod(taking("a").build().uid());
        assert_eq!(info.used_ports, taking("c").build().host_ports());
        info.remove_pod(taking("c").build().uid());
        assert!(info.used_ports.is_empty());
    }

    #[test]
    fn removing_a_pod_that_is_not_here_changes_nothing() {
        let mut info = with(&[pod("a").cpu("1"), pod("b").cpu("2")]);
        assert!(info.remove_pod(pod("c").build().uid()).is_none());
        assert_eq!((info.pods.len(), info.requested.cpu), (2, 3000));
    }

    #[test]
    fn the_order_of_the_pods_stays_when_one_goes() {
        let mut info = with(&[pod("a"), pod("b"), pod("c")]);
        info.remove_pod(pod("a").build().uid());
        let names: Vec<&str> = info.pods.iter().map(|pod| &*pod.key().name).collect();
        assert_eq!(names, ["b", "c"]);
    }
}
