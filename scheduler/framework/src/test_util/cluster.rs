//! A cluster in the making, and one cycle over it.

use std::time::Duration;

use plimsoll_objects::{Object, ObjectKind, Pod};
use serde_json::Value;

use super::load::LoadBuilder;
use super::node::NodeBuilder;
use super::pod::PodBuilder;
use crate::cycle::Cycle;
use crate::load::{LoadMode, NodeLoad, PodEstimate};
use crate::node::NodeInfo;
use crate::now::Now;
use crate::plugin::WaitingPod;
use crate::snapshot::Snapshot;

/// Nodes, the pods on them, their load, and an instant.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    nodes: Vec<NodeBuilder>,
    pods: Vec<PodBuilder>,
    waiting: Vec<PodBuilder>,
    load: Vec<LoadBuilder>,
    objects: Vec<Object>,
    mode: LoadMode,
    now: Duration,
}

/// One pod before one cluster: what a cycle borrows from.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The pod to place.
    pub pod: Pod,
    /// What it is expected to use.
    pub estimate: PodEstimate,
    /// The cluster.
    pub snapshot: Snapshot,
    /// When.
    pub now: Now,
}

/// A cluster of `nodes`, empty and without any measurement, at the epoch.
pub fn cluster(nodes: impl IntoIterator<Item = NodeBuilder>) -> Cluster {
    Cluster {
        nodes: nodes.into_iter().collect(),
        ..Cluster::default()
    }
}

/// A snapshot of `nodes` with `pods` on them, without any measurement.
///
/// # Panics
/// A pod is on no node, or on one that is not there.
pub fn snapshot(
    nodes: impl IntoIterator<Item = NodeBuilder>,
    pods: impl IntoIterator<Item = PodBuilder>,
) -> Snapshot {
    cluster(nodes).pods(pods).snapshot()
}

// === impl Cluster ===

impl Cluster {
    /// Adds pods that are on nodes.
    #[must_use]
    pub fn pods(mut self, pods: impl IntoIterator<Item = PodBuilder>) -> Self {
        self.pods.extend(pods);
        self
    }

    /// Adds pods that hold a node and wait for the plugin's permission, since the epoch.
    #[must_use]
    pub fn waiting(mut self, pods: impl IntoIterator<Item = PodBuilder>) -> Self {
        self.waiting.extend(pods);
        self
    }

    /// Adds load. Of a node without any, nothing is known.
    #[must_use]
    pub fn load(mut self, rows: impl IntoIterator<Item = LoadBuilder>) -> Self {
        self.load.extend(rows);
        self
    }

    /// Adds objects of other kinds, each as the API server has it, with `apiVersion` and
    /// `kind`.
    ///
    /// # Panics
    /// One cannot be decoded, or is of a kind that nothing reads.
    #[must_use]
    pub fn objects(mut self, objects: impl IntoIterator<Item = Value>) -> Self {
        for json in objects {
            let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
            let (version, kind) = (text("apiVersion"), text("kind"));
            let Some(known) = ObjectKind::of(&version, &kind) else {
                panic!("test cluster: unknown kind {version} {kind}");
            };
            match Object::decode(known, json.to_string().as_bytes()) {
                Ok(object) => self.objects.push(object),
                Err(error) => panic!("test cluster: {kind}: {error}"),
            }
        }
        self
    }

    /// Sets whether load is to be judged.
    #[must_use]
    pub fn load_mode(mut self, mode: LoadMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the instant, as time since the epoch on both clocks.
    #[must_use]
    pub fn at(mut self, now: Duration) -> Self {
        self.now = now;
        self
    }

    /// What a cycle would see: nodes in the order given, ids from 0.
    ///
    /// # Panics
    /// A pod is on no node, or a pod or a load row names a node that is not there.
    pub fn snapshot(&self) -> Snapshot {
        let infos = self
            .nodes
            .iter()
            .map(|node| NodeInfo::new(crate::NodeId(0), node.arc()));
        let mut infos: Vec<NodeInfo> = infos.collect();
        for pod in self.pods.iter().chain(&self.waiting) {
            let pod = pod.arc();
            let on = pod.spec.node_name.clone().unwrap_or_default();
            let index = index_of(&infos, &on, pod.key());
            infos[index].add_pod(pod);
        }
        let mut rows = vec![NodeLoad::default(); infos.len()];
        for row in &self.load {
            let index = index_of(&infos, row.node(), &"load");
            rows[index] = row.row(&infos[index].node);
        }
        let mut snapshot = Snapshot::of(infos, rows, Now::at(self.now));
        snapshot.set_load_mode(self.mode);
        for object in &self.objects {
            snapshot.catalog_mut().set(object.clone());
        }
        snapshot
    }

    /// `pod` before this cluster.
    ///
    /// # Panics
    /// As [`Cluster::snapshot`].
    pub fn scene(&self, pod: &PodBuilder) -> Scene {
        Scene {
            pod: pod.build(),
            estimate: pod.estimate(),
            snapshot: self.snapshot(),
            now: Now::at(self.now),
        }
    }

    /// The pods that wait, as `Permit` is told of them.
    pub(super) fn waiting_pods(&self) -> Vec<WaitingPod> {
        let waiting = self.waiting.iter().map(PodBuilder::arc);
        waiting
            .map(|pod| WaitingPod {
                node: pod.spec.node_name.clone().unwrap_or_default(),
                pod,
                since: Duration::ZERO,
            })
            .collect()
    }
}

fn index_of(infos: &[NodeInfo], node: &str, whose: &dyn std::fmt::Display) -> usize {
    match infos.iter().position(|info| &**info.name() == node) {
        Some(index) => index,
        None => panic!("test cluster: {whose}: there is no node `{node}`"),
    }
}

// === impl Scene ===

impl Scene {
    /// The cycle over this scene.
    pub fn cycle(&self) -> Cycle<'_> {
        Cycle {
            pod: &self.pod,
            estimate: &self.estimate,
            snapshot: &self.snapshot,
            now: self.now,
        }
    }

    /// The node called `name`.
    ///
    /// # Panics
    /// There is none.
    pub fn node(&self, name: &str) -> &NodeInfo {
        match self.snapshot.nodes().find(|info| &**info.name() == name) {
            Some(info) => info,
            None => panic!("test cluster: there is no node `{name}`"),
        }
    }
}
