//! Plugins that say everything they can say, in any order, to pods that come and go: the
//! engine comes to rest after each event, and no pod is lost.

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_core::{Command, CommandId, FailureKind};
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};
use proptest::prelude::*;

use crate::harness::{ALL, Harness};

const NODES: usize = 3;
/// Pod labels that make a plugin do something out of the ordinary.
const MOODS: [(&str, &str); 22] = [
    ("hold", "5"),
    ("hold", "0"),
    ("reserve", "rejects"),
    ("reserve", "error"),
    ("permit", "rejects"),
    ("permit", "pending"),
    ("permit", "error"),
    ("pre-bind", "annotates"),
    ("pre-bind", "waits"),
    ("pre-bind", "error"),
    ("bind", "annotates"),
    ("bind", "skips"),
    ("odd", "pre-filter-error"),
    ("odd", "pre-filter-rejects"),
    ("odd", "filter-error"),
    ("odd", "score-101"),
    ("not-before", "90"),
    ("not-before", "1"),
    ("only", "a"),
    ("rescue", "yes"),
    ("rescue", "retry"),
    ("gate-until", "1"),
];

#[derive(Debug, Clone)]
enum Op {
    Set(usize, bool),
    Gone(usize),
    Node(usize, bool),
    Answer(usize, Option<FailureKind>),
    Pass(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let failure = prop_oneof![
        Just(FailureKind::Conflict),
        Just(FailureKind::NotFound),
        Just(FailureKind::TooManyRequests {
            retry_after: Some(Duration::MAX)
        }),
        Just(FailureKind::Unavailable),
        Just(FailureKind::Unknown),
        Just(FailureKind::Refused),
    ];
    let op = prop_oneof![
        6 => (0..2 * MOODS.len(), any::<bool>()).prop_map(|(pod, gated)| Op::Set(pod, gated)),
        1 => (0..2 * MOODS.len()).prop_map(Op::Gone),
        2 => (0..NODES, any::<bool>()).prop_map(|(node, big)| Op::Node(node, big)),
        4 => (any::<usize>(), proptest::option::of(failure))
            .prop_map(|(pick, failure)| Op::Answer(pick, failure)),
        3 => (0..15_000_u64).prop_map(Op::Pass),
    ];
    proptest::collection::vec(op, 1..80)
}

/// Half of the pods ask for more than a small node has.
fn moody(number: usize, gated: bool) -> PodBuilder {
    let (label, value) = MOODS[number % MOODS.len()];
    let made = pod(&format!("p{number}"))
        .label(label, value)
        .priority((number % 3) as i32);
    let made = made.cpu(if number < MOODS.len() { "1" } else { "3" });
    if gated { made.gate("quota") } else { made }
}

fn place(number: usize, big: bool) -> NodeBuilder {
    node(["a", "b", "c"][number]).cpu(if big { "8" } else { "2" })
}

struct Mix {
    harness: Harness,
    alive: BTreeSet<usize>,
    open: Vec<CommandId>,
    seen: usize,
}

impl Mix {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Set(number, gated) => {
                self.alive.insert(*number);
                self.harness.set_pod(&moody(*number, *gated));
            }
            Op::Gone(number) => {
                self.alive.remove(number);
                self.harness.pod_gone(&moody(*number, false));
            }
            Op::Node(number, big) => self.harness.set_node(&place(*number, *big)),
            Op::Answer(pick, failure) => self.answer(*pick, failure.map_or(Ok(()), Err)),
            Op::Pass(millis) => self.harness.pass(Duration::from_millis(*millis)),
        }
        self.look();
    }

    fn answer(&mut self, pick: usize, outcome: Result<(), FailureKind>) {
        if !self.open.is_empty() {
            let id = self.open.remove(pick % self.open.len());
            self.harness.answer(id, outcome);
            self.look();
        }
    }

    fn look(&mut self) {
        for command in &self.harness.said[self.seen..] {
            if let Command::Bind { id, .. }
            | Command::Apply { id, .. }
            | Command::Evict { id, .. } = command
            {
                self.open.push(*id);
            }
        }
        self.seen = self.harness.said.len();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_pod_is_in_one_place_and_the_engine_comes_to_rest(ops in ops()) {
        let harness = Harness::with(ALL, "").started(&[place(0, true), place(1, false)]);
        let (alive, open) = (BTreeSet::new(), Vec::new());
        let mut mix = Mix { harness, alive, open, seen: 0 };
        for op in &ops {
            mix.apply(op);
        }
        while !mix.open.is_empty() {
            mix.answer(0, Ok(()));
        }
        let stats = mix.harness.stats();
        let queue = stats.queue;
        let queued = queue.active + queue.backoff + queue.unschedulable + queue.gated;
        prop_assert_eq!(queued + stats.cache.assumed, mix.alive.len(), "{:?}", stats);
        // An hour without news costs a look now and then, not a storm.
        let before = mix.harness.decisions().len();
        mix.harness.pass_seconds(3_600);
        let tries = mix.harness.decisions().len() - before;
        prop_assert!(tries <= 400 * mix.alive.len(), "{} pods, {tries} tries", mix.alive.len());
    }
}
