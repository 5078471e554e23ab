//! What happens to a cache, in any order, and a plain model of the cluster it ends as.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plimsoll_framework::test_util::{PodBuilder, node, pod};
use plimsoll_framework::{Now, Snapshot};
use plimsoll_load::{Machine, Sample};
use plimsoll_objects::Uid;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cache::Cache;

/// What the cache is told. Repeats and losses come by themselves: every operation may
/// happen at any time, to a node or pod that is known or not.
#[derive(Debug, Clone)]
pub(super) enum Op {
    SetNode { node: u8, zone: u8, cpu: u8 },
    RemoveNode(u8),
    Confirm(Placed),
    Assume(Placed),
    Forget(u8),
    RemovePod(u8),
    Sample(u8),
    Snapshot,
}

/// A pod on a node. `shape` is what selectors and volumes see of it: it may change while the
/// pod runs.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pod: u8,
    node: u8,
    cpu: u8,
    shape: u8,
}

/// The cluster, plainly.
#[derive(Debug, Default)]
pub(super) struct Model {
    nodes: BTreeMap<String, u8>,
    /// Node, cpu, whether assumed.
    pods: BTreeMap<String, (String, u8, bool)>,
}

const NODES: u8 = 5;
const PODS: u8 = 8;
const SHAPES: u8 = 12;
/// Claims that pods name, in each namespace.
pub(super) const CLAIMS: u8 = 3;

pub(super) fn ops() -> impl Strategy<Value = Vec<Op>> {
    let (nodes, pods) = (0..NODES, 0..PODS);
    let set_node = (nodes.clone(), 0..3_u8, 1..4_u8).prop_map(|(node, zone, cpu)| Op::SetNode {
        node,
        zone,
        cpu,
    });
    let placed = || {
        (0..PODS, 0..NODES, 1..4_u8, 0..SHAPES).prop_map(|(pod, node, cpu, shape)| Placed {
            pod,
            node,
            cpu,
            shape,
        })
    };
    let op = prop_oneof![
        4 => set_node,
        2 => nodes.clone().prop_map(Op::RemoveNode),
        4 => placed().prop_map(Op::Confirm),
        4 => placed().prop_map(Op::Assume),
        2 => pods.clone().prop_map(Op::Forget),
        2 => pods.prop_map(Op::RemovePod),
        1 => nodes.prop_map(Op::Sample),
        3 => Just(Op::Snapshot),
    ];
    proptest::collection::vec(op, 1..120)
}

pub(super) fn name(kind: &str, number: u8) -> String {
    format!("{kind}{number}")
}

fn uid(number: u8) -> Uid {
    Uid(format!("default/{}", name("p", number)).into())
}

impl Model {
    pub(super) fn apply(&mut self, op: &Op) {
        match op {
            Op::SetNode { node, cpu, .. } => drop(self.nodes.insert(name("n", *node), *cpu)),
            Op::RemoveNode(node) => drop(self.nodes.remove(&name("n", *node))),
            Op::Confirm(placed) => self.place(placed, false),
            Op::Assume(placed) => self.place(placed, true),
            Op::Forget(pod) => {
                let key = name("p", *pod);
                if self.pods.get(&key).is_some_and(|(_, _, assumed)| *assumed) {
                    self.pods.remove(&key);
                }
            }
            Op::RemovePod(pod) => drop(self.pods.remove(&name("p", *pod))),
            Op::Sample(_) | Op::Snapshot => {}
        }
    }

    fn place(&mut self, placed: &Placed, assumed: bool) {
        let at = (name("n", placed.node), placed.cpu, assumed);
        self.pods.insert(name("p", placed.pod), at);
    }

    pub(super) fn check(&self, cache: &Cache, snapshot: &Snapshot) {
        let names: BTreeSet<String> = snapshot
            .nodes()
            .map(|info| info.name().to_string())
            .collect();
        assert_eq!(names, self.nodes.keys().cloned().collect());
        assert_eq!(snapshot.len(), self.nodes.len());
        for info in snapshot.nodes() {
            let here = self
                .pods
                .iter()
                .filter(|(_, (node, _, _))| **node == **info.name());
            let (mut pods, mut cpu) = (BTreeSet::new(), 0);
            for (pod, (_, own, _)) in here {
                pods.insert(pod.clone());
                cpu += i64::from(*own) * 1_000;
            }
            let found: BTreeSet<_> = info
                .pods
                .iter()
                .map(|pod| pod.key().name.to_string())
                .collect();
            assert_eq!((info.pods.len(), &found), (pods.len(), &pods));
            assert_eq!(info.requested.cpu, cpu);
            assert_eq!(
                info.allocatable().cpu,
                i64::from(self.nodes[&**info.name()]) * 1_000
            );
        }
        let sizes = cache.sizes();
        let orphans = self
            .pods
            .values()
            .filter(|(node, _, _)| !self.nodes.contains_key(node));
        let assumed = self.pods.values().filter(|(_, _, assumed)| *assumed);
        assert_eq!(
            (sizes.nodes, sizes.pods),
            (self.nodes.len(), self.pods.len())
        );
        assert_eq!(
            (sizes.orphans, sizes.assumed),
            (orphans.count(), assumed.count())
        );
    }
}

impl Placed {
    fn builder(&self) -> PodBuilder {
        let Self {
            pod: number, cpu, ..
        } = self;
        let made = pod(&name("p", *number)).uid(&uid(*number).0);
        let port = 8_000 + i32::from(self.shape % 2);
        let made = made.cpu(&cpu.to_string()).host_port(port);
        let made = made.label("app", &name("a", self.shape % 3));
        let made = made.merge(self.spec());
        let made = if number.is_multiple_of(2) {
            made
        } else {
            made.namespace("odd")
        };
        if self.shape == 7 {
            made.deleted("2026-01-01T00:00:00Z")
        } else {
            made
        }
    }

    /// Shapes from 4 on have a term of affinity, those of 2 in 3 volumes; all have a port.
    fn spec(&self) -> Value {
        let kind = ["podAffinity", "podAntiAffinity"][usize::from(self.shape % 2)];
        let selector = json!({"matchLabels": {"app": name("a", self.shape % 4)}});
        let terms = json!([{"topologyKey": "zone", "labelSelector": selector}]);
        let affinity = json!({kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
        let claims = (0..self.shape % 3).map(|claim| name("c", (claim + self.shape) % CLAIMS));
        let volumes = claims
            .map(|claim| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}));
        let mut spec = json!({"volumes": volumes.collect::<Vec<_>>()});
        if self.shape >= 4 {
            spec["affinity"] = affinity;
        }
        json!({"spec": spec})
    }
}

pub(super) fn apply(cache: &mut Cache, op: &Op, now: Now) {
    match op {
        Op::SetNode {
            node: number,
            zone,
            cpu,
        } => {
            let made = node(&name("n", *number))
                .zone(&name("z", *zone))
                .cpu(&cpu.to_string())
                .image(&name("i", *cpu), 1);
            cache.set_node(&made.arc(), now);
        }
        Op::RemoveNode(number) => drop(cache.remove_node(&name("n", *number))),
        Op::Confirm(placed) => {
            let made = placed.builder().on(&name("n", placed.node));
            cache.confirm(&made.arc(), now);
        }
        Op::Assume(placed) => {
            let made = placed.builder().build();
            cache.assume(&made, &name("n", placed.node).into(), now);
        }
        Op::Forget(number) => drop(cache.forget(&uid(*number), now)),
        Op::RemovePod(number) => drop(cache.remove_pod(&uid(*number), now)),
        Op::Sample(number) => {
            cache.sample(&Sample {
                node: name("n", *number).into(),
                start_id: 1,
                sequence: now.mono.as_millis() as u64,
                arrived: now.mono,
                age: Duration::ZERO,
                period: Duration::from_secs(1),
                machine: Machine::default(),
                steal: None,
                untrusted: None,
                figures: Vec::new(),
                pods: Vec::new(),
            });
        }
        Op::Snapshot => {}
    }
}
