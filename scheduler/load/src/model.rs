//! The load model of all nodes, owned by the engine.
//!
//! Takes what the engine's cache learns (nodes, pods from the instant of assume, samples),
//! gives one row per node, whether load is to be judged at all, and which nodes are worth
//! another look. Between refreshes rows stand still; a refresh reckons only what changed,
//! and brings the ages of all rows up to date once per [`AGE_STEP`](crate::options::AGE_STEP).

mod refresh;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadMode, NodeId, NodeLoad, Now, PodEstimate};
use plimsoll_objects::{Node, Pod, Uid};

use crate::brown_out::Watch;
use crate::capacity::{LinkSpeeds, Stated};
use crate::census::LoadCensus;
use crate::estimator;
use crate::moment::Moment;
use crate::node_state::NodeState;
use crate::options::LoadOptions;
use crate::pod_entry::{PodEntry, agent_key};
use crate::sample::Sample;
use crate::silence::{Peers, StandIn};

/// Taints of nodes that take no pods: an autoscaler removes them (cluster-autoscaler
/// `utils/taints/taints.go`, Karpenter `pkg/apis/v1/taints.go`), or their kubelet is silent
/// or broken (`k8s.io/api/core/v1/well_known_taints.go`).
const OUT_TAINTS: [&str; 4] = [
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/not-ready",
];

/// What became of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It is the newest of its node now.
    Taken,
    /// No newer than what is known: a replay, or overtaken on the way.
    Older,
    /// The agent does not trust its own figures: the last ones stay, and age.
    Untrusted,
    /// No such node (any more): an agent cannot make a node.
    UnknownNode,
}

/// The load of all nodes.
#[derive(Debug, Clone)]
pub struct LoadModel {
    options: LoadOptions,
    /// By [`NodeId`].
    states: Vec<Option<NodeState>>,
    by_name: BTreeMap<Arc<str>, NodeId>,
    /// Nodes whose `changed` was set since the last refresh.
    changed: Vec<NodeId>,
    /// When the ages of all rows were last brought up to date.
    aged_at: Option<Duration>,
    stand_in: StandIn,
    peers: Peers,
    unknown: NodeLoad,
    link_speeds: Arc<LinkSpeeds>,
    /// Whether load is to be judged, and whether rows show it (as of the last refresh).
    enabled: bool,
    shown: bool,
    watch: Watch,
    census: LoadCensus,
    /// The mode at the last refresh, and when it began.
    mode: LoadMode,
    mode_since: Duration,
    /// Nodes to be announced, or all.
    falls: Vec<NodeId>,
    all_fell: bool,
}

// === impl LoadModel: what the engine learns ===

impl LoadModel {
    /// A model of no nodes.
    pub fn new(options: LoadOptions) -> Self {
        Self {
            options,
            states: Vec::new(),
            by_name: BTreeMap::new(),
            changed: Vec::new(),
            aged_at: None,
            stand_in: StandIn::default(),
            peers: Peers::default(),
            unknown: NodeLoad::default(),
            link_speeds: Arc::default(),
            enabled: true,
            shown: true,
            watch: Watch::default(),
            census: LoadCensus::default(),
            mode: LoadMode::default(),
            mode_since: Duration::ZERO,
            falls: Vec::new(),
            all_fell: false,
        }
    }

    /// Takes the operator's table of link speeds, bytes per second by instance type: it
    /// stands in where a node's annotation says nothing, before what its agent reads.
    pub fn set_link_speeds(&mut self, table: Arc<BTreeMap<Arc<str>, u64>>) {
        for id in (0_u32..).map(NodeId).take(self.states.len()) {
            if self.state(id).is_some() {
                self.touch(id).stated.look_up(&table);
            }
        }
        self.link_speeds = table;
    }

    /// Turns the judgement of load off or on, from the next refresh. While it is off all
    /// rows are empty; samples go on being taken, so that rows are whole when it is on again.
    pub fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    /// The node `id` was added or changed. Its pods may have been added before it. An id
    /// that stood for another name stands for a new node from now on.
    pub fn node_set(&mut self, id: NodeId, node: &Node) {
        let known = self.state(id).and_then(|state| state.name.as_ref());
        if known.is_some_and(|known| known != node.name()) {
            self.node_gone(id);
        }
        let stated = Stated::of(node, &self.link_speeds);
        let state = self.touch(id);
        state.stated = stated;
        state.is_out = is_out(node);
        state.name = Some(Arc::clone(node.name()));
        self.by_name.insert(Arc::clone(node.name()), id);
    }

    /// The node `id` is gone, with its pods and figures; if it comes back, its pods are to
    /// be added again.
    pub fn node_gone(&mut self, id: NodeId) {
        let Some(state) = self.states.get_mut(id.index()).and_then(Option::take) else {
            return;
        };
        let Some(name) = state.name else { return };
        if self.by_name.get(&name) == Some(&id) {
            self.by_name.remove(&name);
        }
    }

    /// The pod is on the node `id` as of `now`: just assumed, first seen by the watch, or
    /// changed. Known pods are updated, so the engine may say it as often as it likes. A
    /// pod that is terminal has left. Whether it runs already is read from its phase.
    pub fn pod_set(&mut self, id: NodeId, pod: &Pod, now: Now) {
        if pod.is_terminal() {
            self.pod_removed(id, pod.uid(), now);
            return;
        }
        let estimate = self.estimate(pod);
        let pods = &mut self.touch(id).pods;
        if let Some(entry) = pods.get_mut(agent_key(pod)) {
            entry.update(pod, estimate, now);
        } else {
            let entry = PodEntry::new(pod, estimate, now);
            pods.insert(Arc::clone(agent_key(pod)), entry);
        }
    }

    /// The pod has left the node `id`: deleted, terminal, moved, or its assumption was
    /// forgotten. What it used goes on being taken off the figures that show it still.
    pub fn pod_removed(&mut self, id: NodeId, uid: &Uid, now: Now) {
        let Some(state) = self.state_mut(id) else {
            return;
        };
        if state.remove_pod(uid, Moment::at(now.mono)) {
            self.touch(id);
        }
    }

    /// Takes a sample; says what became of it.
    pub fn apply(&mut self, sample: &Sample) -> Applied {
        let Some(id) = self.by_name.get(&sample.node).copied() else {
            return Applied::UnknownNode;
        };
        if self.state(id).is_some_and(|state| state.is_older(sample)) {
            return Applied::Older;
        }
        if sample.untrusted.is_some() {
            return Applied::Untrusted;
        }
        self.touch(id).take(sample);
        Applied::Taken
    }
}

// === impl LoadModel: what it gives ===

impl LoadModel {
    /// What `pod` will use before it is measured.
    pub fn estimate(&self, pod: &Pod) -> PodEstimate {
        estimator::estimate(pod, &self.options)
    }

    /// The row of the node `id` as of the last refresh: an empty one for an unknown node.
    pub fn row(&self, id: NodeId) -> &NodeLoad {
        self.state(id).map_or(&self.unknown, |state| &state.row)
    }

    /// Whether load is to be judged, as of the last refresh (off: at once).
    pub fn mode(&self) -> LoadMode {
        if !self.enabled {
            LoadMode::Off
        } else if self.watch.is_on() {
            LoadMode::BrownOut
        } else {
            LoadMode::Live
        }
    }

    /// When the mode of the last refresh began, on the engine's monotonic clock.
    pub fn mode_since(&self) -> Duration {
        self.mode_since
    }

    /// How many nodes report, as of the last refresh.
    pub fn census(&self) -> LoadCensus {
        self.census
    }
}

// === impl LoadModel: states ===

impl LoadModel {
    fn state(&self, id: NodeId) -> Option<&NodeState> {
        self.states.get(id.index())?.as_ref()
    }

    fn state_mut(&mut self, id: NodeId) -> Option<&mut NodeState> {
        self.states.get_mut(id.index())?.as_mut()
    }

    /// The state of `id`, made if there is none, to be reckoned at the next refresh.
    fn touch(&mut self, id: NodeId) -> &mut NodeState {
        if self.states.len() <= id.index() {
            self.states.resize(id.index() + 1, None);
        }
        let state = self.states[id.index()].get_or_insert_default();
        if !state.changed {
            state.changed = true;
            self.changed.push(id);
        }
        state
    }
}

/// Whether the node takes no pods, so that the silence of its agent tells nothing of the
/// others' pipeline: it is cordoned, being removed, or lost itself.
fn is_out(node: &Node) -> bool {
    let mut taints = node.taints.iter();
    node.unschedulable || taints.any(|taint| OUT_TAINTS.contains(&&*taint.key))
}

fn live(states: &mut [Option<NodeState>]) -> impl Iterator<Item = (NodeId, &mut NodeState)> {
    let numbered = (0_u32..).map(NodeId).zip(states);
    numbered.filter_map(|(id, state)| Some((id, state.as_mut()?)))
}

#[cfg(test)]
mod tests;
