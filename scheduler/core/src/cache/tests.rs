//! Whatever comes in whatever order: the snapshot brought up to date step by step equals one
//! made anew, and both equal a plain model of the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::test_util::{node, pod};
use plimsoll_framework::{Now, Snapshot};
use plimsoll_load::{LoadOptions, Machine, Sample};
use plimsoll_objects::Uid;
use proptest::prelude::*;

use super::Cache;

/// What the cache is told. Repeats and losses come by themselves: every operation may
/// happen at any time, to a node or pod that is known or not.
#[derive(Debug, Clone)]
enum Op {
    SetNode { node: u8, zone: u8, cpu: u8 },
    RemoveNode(u8),
    Confirm { pod: u8, node: u8, cpu: u8 },
    Assume { pod: u8, node: u8, cpu: u8 },
    Forget(u8),
    RemovePod(u8),
    Sample(u8),
    Snapshot,
}

/// The cluster, plainly.
#[derive(Debug, Default)]
struct Model {
    nodes: BTreeMap<String, u8>,
    /// Node, cpu, whether assumed.
    pods: BTreeMap<String, (String, u8, bool)>,
}

const NODES: u8 = 5;
const PODS: u8 = 8;

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let (nodes, pods, cpu) = (0..NODES, 0..PODS, 1..4_u8);
    let set_node = (nodes.clone(), 0..3_u8, cpu.clone())
        .prop_map(|(node, zone, cpu)| Op::SetNode { node, zone, cpu });
    let confirm = (pods.clone(), nodes.clone(), cpu.clone())
        .prop_map(|(pod, node, cpu)| Op::Confirm { pod, node, cpu });
    let assume = (pods.clone(), nodes.clone(), cpu).prop_map(|(pod, node, cpu)| Op::Assume {
        pod,
        node,
        cpu,
    });
    let op = prop_oneof![
        4 => set_node,
        2 => nodes.clone().prop_map(Op::RemoveNode),
        4 => confirm,
        4 => assume,
        2 => pods.clone().prop_map(Op::Forget),
        2 => pods.prop_map(Op::RemovePod),
        1 => nodes.prop_map(Op::Sample),
        3 => Just(Op::Snapshot),
    ];
    proptest::collection::vec(op, 1..120)
}

fn name(kind: &str, number: u8) -> String {
    format!("{kind}{number}")
}

fn uid(number: u8) -> Uid {
    Uid(format!("default/{}", name("p", number)).into())
}

impl Model {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::SetNode { node, cpu, .. } => drop(self.nodes.insert(name("n", *node), *cpu)),
            Op::RemoveNode(node) => drop(self.nodes.remove(&name("n", *node))),
            Op::Confirm { pod, node, cpu } => {
                self.pods
                    .insert(name("p", *pod), (name("n", *node), *cpu, false));
            }
            Op::Assume { pod, node, cpu } => {
                self.pods
                    .insert(name("p", *pod), (name("n", *node), *cpu, true));
            }
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

    fn check(&self, cache: &Cache, snapshot: &Snapshot) {
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

fn apply(cache: &mut Cache, op: &Op, now: Now) {
    match op {
        Op::SetNode {
            node: number,
            zone,
            cpu,
        } => {
            let made = node(&name("n", *number))
                .zone(&name("z", *zone))
                .cpu(&cpu.to_string());
            cache.set_node(&made.arc(), now);
        }
        Op::RemoveNode(number) => drop(cache.remove_node(&name("n", *number))),
        Op::Confirm {
            pod: number,
            node,
            cpu,
        } => {
            let made = pod(&name("p", *number))
                .cpu(&cpu.to_string())
                .on(&name("n", *node));
            cache.confirm(&made.arc(), now);
        }
        Op::Assume {
            pod: number,
            node,
            cpu,
        } => {
            let made = pod(&name("p", *number)).cpu(&cpu.to_string()).build();
            cache.assume(&made, &name("n", *node).into(), now);
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

/// A snapshot made anew from what the cache holds.
fn rebuilt(cache: &Cache, now: Now) -> Snapshot {
    let mut snapshot = Snapshot::empty(now);
    for info in cache.nodes.iter().flatten() {
        snapshot.set_node(Arc::clone(info));
        snapshot.set_load(info.id, *cache.load.row(info.id));
    }
    snapshot.set_order(cache.tree.order());
    snapshot
}

fn assert_same(one: &Snapshot, other: &Snapshot) {
    assert_eq!(one.order(), other.order());
    for (a, b) in one.nodes().zip(other.nodes()) {
        assert_eq!((a.id, a.generation, &a.node), (b.id, b.generation, &b.node));
        assert_eq!((&a.pods, &a.requested), (&b.pods, &b.requested));
        assert_eq!(one.load(a.id), other.load(b.id));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_snapshot_kept_up_to_date_equals_one_made_anew(ops in ops()) {
        let mut cache = Cache::new(LoadOptions::default());
        let mut model = Model::default();
        let mut now = Now::at(Duration::from_secs(100));
        let mut snapshot = Snapshot::empty(now);
        for op in ops.iter().chain([&Op::Snapshot]) {
            now = Now::at(now.mono + Duration::from_millis(30));
            apply(&mut cache, op, now);
            model.apply(op);
            if matches!(op, Op::Snapshot) {
                cache.update_snapshot(&mut snapshot, now);
                assert_same(&snapshot, &rebuilt(&cache, now));
                model.check(&cache, &snapshot);
            }
        }
    }
}

#[test]
fn an_update_touches_only_what_changed() {
    let mut cache = Cache::new(LoadOptions::default());
    let now = Now::at(Duration::from_secs(1));
    for number in 0..3 {
        cache.set_node(&node(&name("n", number)).arc(), now);
    }
    let mut snapshot = Snapshot::empty(now);
    cache.update_snapshot(&mut snapshot, now);
    let before: Vec<_> = snapshot.nodes().map(Arc::clone).collect();
    cache.assume(&pod("p").cpu("1").build(), &"n1".into(), now);
    cache.update_snapshot(&mut snapshot, now);
    let same: Vec<bool> = snapshot
        .nodes()
        .zip(&before)
        .map(|(now, then)| Arc::ptr_eq(now, then))
        .collect();
    assert_eq!(same, [true, false, true]);
    assert_eq!(
        before[1].pods.len(),
        0,
        "an older snapshot keeps what it had"
    );
}

#[test]
fn nodes_stand_zone_by_zone_in_turn() {
    let mut cache = Cache::new(LoadOptions::default());
    let now = Now::at(Duration::from_secs(1));
    let mut snapshot = Snapshot::empty(now);
    let mut names = |cache: &mut Cache| {
        cache.update_snapshot(&mut snapshot, now);
        snapshot
            .nodes()
            .map(|info| info.name().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (number, zone) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c"), (6, "c")] {
        cache.set_node(&node(&name("n", number)).zone(zone).arc(), now);
    }
    assert_eq!(names(&mut cache), "n1 n4 n5 n2 n6 n3");
    cache.set_node(&node("n1").zone("b").arc(), now);
    assert_eq!(names(&mut cache), "n2 n4 n5 n3 n1 n6");
    cache.remove_node("n4");
    cache.remove_node("n1");
    assert_eq!(names(&mut cache), "n2 n5 n3 n6");
}
