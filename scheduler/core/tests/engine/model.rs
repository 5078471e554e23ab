//! Whatever happens in whatever order: every pod that exists and fits is bound once, and no
//! pod is asked for on two nodes while one of them may have been given to it.

use std::collections::BTreeMap;

use plimsoll_core::{CacheSizes, QueueSizes};
use proptest::prelude::*;

use crate::world::{NODE_CORES, Treatment, World};

const NODES: usize = 4;
const PODS: usize = 10;

#[derive(Debug, Clone)]
enum Op {
    Create(usize),
    Delete(usize),
    BeginDelete(usize),
    SwitchNode(usize),
    BindByHand(usize, usize),
    Deliver { twice: bool },
    LoseWatch,
    Relist,
    Treat(usize, Treatment),
    Pass(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let treatment = prop_oneof![
        4 => Just(Treatment::Works),
        1 => Just(Treatment::Throttles),
        1 => Just(Treatment::Breaks),
        1 => Just(Treatment::Refuses),
        1 => Just(Treatment::LosesAnswer),
        1 => Just(Treatment::LosesRequest),
        1 => Just(Treatment::DoesAndHangs),
        1 => Just(Treatment::Hangs),
    ];
    let op = prop_oneof![
        4 => (0..PODS).prop_map(Op::Create),
        1 => (0..PODS).prop_map(Op::Delete),
        1 => (0..PODS).prop_map(Op::BeginDelete),
        1 => (0..NODES).prop_map(Op::SwitchNode),
        1 => (0..PODS, 0..NODES).prop_map(|(pod, node)| Op::BindByHand(pod, node)),
        8 => any::<bool>().prop_map(|twice| Op::Deliver { twice }),
        1 => Just(Op::LoseWatch),
        1 => Just(Op::Relist),
        6 => (any::<usize>(), treatment).prop_map(|(pick, how)| Op::Treat(pick, how)),
        3 => (0..20_000_u64).prop_map(Op::Pass),
    ];
    proptest::collection::vec(op, 1..150)
}

fn apply(world: &mut World, op: &Op) {
    let name = |number: &usize| format!("p{number}");
    match op {
        Op::Create(pod) => world.create(&name(pod)),
        Op::Delete(pod) => world.delete(&name(pod)),
        Op::BeginDelete(pod) => world.begin_delete(&name(pod)),
        Op::SwitchNode(node) => world.switch_node(*node),
        Op::BindByHand(pod, node) => world.bind_by_hand(&name(pod), *node),
        Op::Deliver { twice } => world.deliver(*twice),
        Op::LoseWatch => world.lose_watch(),
        Op::Relist => world.relist(),
        Op::Treat(pick, treatment) => world.treat(*pick, *treatment),
        Op::Pass(millis) => world.pass_millis(*millis),
    }
}

/// All faults end: nodes come back, lists are taken, the server works, time passes.
fn heal(world: &mut World) {
    for node in 0..NODES {
        if !world.nodes[node] {
            world.switch_node(node);
        }
    }
    for name in world.deleting.clone() {
        world.delete(&name);
    }
    world.relist();
    for _ in 0..100 {
        for _ in 0..10 {
            while !world.open.is_empty() {
                world.treat(0, Treatment::Works);
            }
            for _ in 0..20 {
                world.deliver(false);
            }
        }
        world.pass_millis(10_000);
    }
}

fn run(ops: &[Op]) -> World {
    let mut world = World::new(NODES);
    for op in ops {
        apply(&mut world, op);
    }
    heal(&mut world);
    world
}

/// Pods that the truth has on each node.
fn crowd(world: &World) -> BTreeMap<&str, usize> {
    let mut crowd = BTreeMap::new();
    for node in world.pods.values().filter_map(|(_, node)| node.as_deref()) {
        *crowd.entry(node).or_default() += 1;
    }
    crowd
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_pod_is_bound_once_whatever_fails_on_the_way(ops in ops()) {
        let world = run(&ops);
        let without: Vec<_> =
            world.pods.iter().filter(|(_, (_, node))| node.is_none()).collect();
        prop_assert!(without.is_empty(), "not bound: {without:?}");
        let stats = world.harness.stats();
        prop_assert_eq!(stats.queue, QueueSizes::default());
        let pods = world.pods.len();
        let expected = CacheSizes { nodes: NODES, pods, assumed: 0, orphans: 0 };
        prop_assert_eq!(stats.cache, expected);
        let in_flight = stats.in_flight;
        let open = in_flight.permit + in_flight.pre_bind + in_flight.ready + in_flight.binds;
        prop_assert_eq!((open, in_flight.status, in_flight.status_waiting), (0, 0, 0));
        if !ops.iter().any(|op| matches!(op, Op::BindByHand(..))) {
            let crowded: Vec<_> =
                crowd(&world).into_iter().filter(|(_, pods)| *pods > NODE_CORES).collect();
            prop_assert!(crowded.is_empty(), "{crowded:?}");
        }
    }
}
