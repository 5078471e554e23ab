//! Whatever fails in whatever order: no pod goes in vain or twice, and nothing stays open.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_core::{Command, FailureKind};
use proptest::prelude::*;

use crate::world::{Treatment, World, evicts};

const NODES: usize = 3;
const CORES: u32 = 4;
const PODS: usize = 14;

#[derive(Debug, Clone)]
enum Op {
    /// Number, priority, cores.
    Create(usize, i32, u32),
    Remove(usize),
    /// Its grace is over.
    Reap,
    Treat(usize, Treatment),
    Hold(bool),
    Deliver,
    Pass(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let failure = prop_oneof![
        Just(FailureKind::Conflict),
        Just(FailureKind::NotFound),
        Just(FailureKind::TooManyRequests { retry_after: None }),
        Just(FailureKind::Unavailable),
        Just(FailureKind::Unknown),
        Just(FailureKind::Refused),
    ];
    let treatment = prop_oneof![
        8 => Just(Treatment::Works),
        3 => failure.prop_map(Treatment::Fails),
        1 => Just(Treatment::LosesAnswer),
        1 => Just(Treatment::DoesAndHangs),
        1 => Just(Treatment::Hangs),
    ];
    let op = prop_oneof![
        5 => (0..PODS, 0..4, 1..4_u32).prop_map(|(pod, priority, cores)| {
            Op::Create(pod, priority, cores)
        }),
        1 => (0..PODS).prop_map(Op::Remove),
        2 => Just(Op::Reap),
        12 => (any::<usize>(), treatment).prop_map(|(pick, how)| Op::Treat(pick, how)),
        1 => any::<bool>().prop_map(Op::Hold),
        3 => Just(Op::Deliver),
        3 => (0..20_000_u64).prop_map(Op::Pass),
    ];
    proptest::collection::vec(op, 1..120)
}

/// A world, and what is held against every new eviction.
struct Watchman {
    world: World,
    seen: usize,
    /// When each life was asked to go, and whether it may be again.
    asked: BTreeMap<String, (Duration, bool)>,
}

impl Watchman {
    fn apply(&mut self, op: &Op) {
        let world = &mut self.world;
        match op {
            Op::Create(number, priority, cores) => {
                world.create(&format!("p{number}"), *priority, cores * 1000, None);
            }
            Op::Remove(number) => self.remove(&format!("p{number}")),
            Op::Reap => {
                let mut going = world.pods.iter().filter(|(_, pod)| pod.deleting);
                if let Some(name) = going.next().map(|(name, _)| name.clone()) {
                    self.remove(&name);
                }
            }
            Op::Treat(pick, how) if !world.open.is_empty() => {
                let index = pick % world.open.len();
                self.forgive(index, *how);
                self.world.treat(index, *how);
            }
            Op::Treat(..) => {}
            Op::Hold(true) => world.holds_watch = true,
            Op::Hold(false) => world.release_watch(),
            Op::Deliver => world.deliver(),
            Op::Pass(millis) => world.pass(Duration::from_millis(*millis)),
        }
        self.look();
    }

    fn remove(&mut self, name: &str) {
        self.asked.remove(name);
        self.world.remove(name);
    }

    /// An eviction that failed, or whose answer is lost, may be asked for again.
    fn forgive(&mut self, index: usize, how: Treatment) {
        if let Command::Evict { pod, .. } = &self.world.open[index]
            && how != Treatment::Works
            && let Some((_, again)) = self.asked.get_mut(&*pod.key.name)
        {
            *again = true;
        }
    }

    fn look(&mut self) {
        let new = self.world.evictions[self.seen..].to_vec();
        self.seen = self.world.evictions.len();
        for (name, at) in new {
            if let Some((before, again)) = self.asked.insert(name.clone(), (at, false)) {
                // Ten seconds without a sight of it end the wait for the watch.
                let waited = at.saturating_sub(before) >= Duration::from_secs(10);
                assert!(again || waited, "{name} is asked to go twice");
            }
        }
    }
}

/// All faults end, and all that go are gone.
fn heal(world: &mut World) {
    world.release_watch();
    for _ in 0..30 {
        world.work();
        let going = world.pods.iter().filter(|(_, pod)| pod.deleting);
        let going: Vec<String> = going.map(|(name, _)| name.clone()).collect();
        for name in going {
            world.remove(&name);
        }
        world.pass_seconds(20);
    }
    world.work();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn everybody_is_bound_or_knows_why_not_and_nothing_stays_open(ops in ops()) {
        let world = World::new(NODES, CORES);
        let mut watchman = Watchman { world, seen: 0, asked: BTreeMap::new() };
        for op in &ops {
            watchman.apply(op);
        }
        let mut world = watchman.world;
        heal(&mut world);
        for (name, pod) in &world.pods {
            let knows = pod.message.starts_with("0/3 nodes are available");
            prop_assert!(pod.node.is_some() || knows, "{name}: {pod:?}");
        }
        // A pod that waits is not more important than one that it could take the place of.
        let waiting = world.pods.values().filter(|pod| pod.node.is_none());
        for pod in waiting.clone() {
            for node in &world.nodes {
                let below = world.pods.values().filter(|other| {
                    other.node.as_ref() == Some(node) && other.priority < pod.priority
                });
                let below: i64 = below.map(|other| i64::from(other.cpu)).sum();
                prop_assert!(world.free(node) + below < i64::from(pod.cpu), "{pod:?} on {node}");
            }
        }
        let in_flight = world.stats().in_flight;
        let open = (in_flight.evictions, in_flight.preemptors, in_flight.asides);
        prop_assert_eq!(open, (0, 0, 0));
        prop_assert_eq!((in_flight.nominations, in_flight.status), (0, 0));
    }

    #[test]
    fn nobody_goes_for_a_pod_that_has_room(ops in ops()) {
        let mut world = World::new(NODES, CORES);
        let (mut decided, mut told) = (0, 0);
        for op in &ops {
            if let Op::Create(number, priority, cores) = op {
                world.create(&format!("p{number}"), *priority, cores * 1000, None);
            }
            // The preemptor of a decision and what was free when its victims were asked.
            for name in &world.preemptors[decided..] {
                let Some(pod) = world.pods.get(name) else { continue };
                if world.stats().counters.evictions.in_memory > 0 {
                    // The room is that of a pod that was sent back for it.
                    continue;
                }
                let free = world.nodes.iter().map(|node| world.free_for(name, node)).max();
                prop_assert!(free < Some(i64::from(pod.cpu)), "{name} has room: {free:?}");
            }
            for (name, _) in &world.evictions[told..] {
                let above = world.pods.values().filter(|pod| pod.node.is_none());
                let highest = above.map(|pod| pod.priority).max();
                let victim = world.pods.get(name).map(|pod| pod.priority);
                prop_assert!(victim < highest, "{name}: {victim:?}, {highest:?}");
            }
            (decided, told) = (world.preemptors.len(), world.evictions.len());
            world.treat_all(Treatment::Works, |command| !evicts(command));
            if let Op::Treat(..) = op {
                world.treat_all(Treatment::Works, evicts);
            }
        }
    }
}
