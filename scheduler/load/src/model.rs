//! The load model of all nodes, owned by the engine.
//!
//! Takes what the engine's cache learns (nodes, pods from the instant of assume, samples),
//! gives one row per node. Between refreshes rows stand still; a refresh reckons only what
//! changed, and brings the ages of all rows up to date once per [`AGE_STEP`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{NodeId, NodeLoad, Now, PodEstimate};
use plimsoll_objects::{Node, Pod, Uid};

use crate::capacity::Stated;
use crate::estimator;
use crate::moment::Moment;
use crate::node_state::NodeState;
use crate::options::{AGE_STEP, LoadOptions, PEER_CONFIDENCE};
use crate::pod_entry::{PodEntry, agent_key};
use crate::sample::Sample;
use crate::silence::{Floor, Peers};

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
    floor: Floor,
    peers: Peers,
    unknown: NodeLoad,
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
            floor: Floor::default(),
            peers: Peers::default(),
            unknown: NodeLoad::default(),
        }
    }

    /// The node `id` was added or changed. Its pods may have been added before it. An id
    /// that stood for another name stands for a new node from now on.
    pub fn node_set(&mut self, id: NodeId, node: &Node) {
        let known = self.state(id).and_then(|state| state.name.as_ref());
        if known.is_some_and(|known| known != node.name()) {
            self.node_gone(id);
        }
        let state = self.touch(id);
        state.stated = Stated::of(node);
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

    /// Brings rows up to date and tells `changed` of each row that changed, nodes in the
    /// order of their ids within one pass. Costs what changed since the last refresh; once
    /// per [`AGE_STEP`] of `now` (the engine's monotonic clock) also a blend of every row.
    pub fn refresh(&mut self, now: Duration, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        let at = Moment::at(now);
        let mut ids = std::mem::take(&mut self.changed);
        ids.sort_unstable();
        for id in &ids {
            let options = self.options;
            if let Some(state) = self.state_mut(*id) {
                state.reckon(at, &options);
            }
        }
        if self
            .aged_at
            .is_none_or(|last| now.abs_diff(last) >= AGE_STEP)
        {
            self.aged_at = Some(now);
            self.age_all(at, changed);
        } else {
            self.blend(&ids, at, changed);
        }
        ids.clear();
        self.changed = ids;
    }

    /// Blends `ids` only, silent nodes by the last floor.
    fn blend(&mut self, ids: &[NodeId], at: Moment, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        for id in ids {
            let slot = self.states.get_mut(id.index());
            if let Some(state) = slot.and_then(Option::as_mut)
                && state.blend(at, &self.floor, &self.options)
            {
                changed(*id, &state.row);
            }
        }
    }

    /// Blends every row: those that are well known as they are, then the others, judged by
    /// them.
    fn age_all(&mut self, at: Moment, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        let options = self.options;
        self.peers.clear();
        let mut silent = Vec::new();
        for (id, state) in live(&mut self.states) {
            let confidence = state.confidence(at, &options);
            if confidence >= 1.0 {
                if state.blend(at, &Floor::default(), &options) {
                    changed(id, &state.row);
                }
                self.peers.add(&state.row);
                continue;
            }
            if confidence >= PEER_CONFIDENCE {
                self.peers
                    .add(&state.blended(at, &Floor::default(), &options));
            }
            silent.push(id);
        }
        self.floor = if silent.is_empty() {
            Floor::default()
        } else {
            self.peers.floor(&options)
        };
        self.blend(&silent, at, changed);
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

fn live(states: &mut [Option<NodeState>]) -> impl Iterator<Item = (NodeId, &mut NodeState)> {
    let numbered = (0_u32..).map(NodeId).zip(states);
    numbered.filter_map(|(id, state)| Some((id, state.as_mut()?)))
}

#[cfg(test)]
mod tests;
