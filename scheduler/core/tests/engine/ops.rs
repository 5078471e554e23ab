//! Operators' cases: how many nodes are looked at, and that the decision says it; what a slow
//! cycle leaves behind; what a dump shows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_core::{EngineOptions, SLOW_CYCLE, Stopwatch, Timing};
use plimsoll_framework::test_util::{NodeBuilder, node, pod};

use crate::harness::{Harness, NO_RESCUE};

/// 300 nodes, of which the last is the best by far.
fn nodes() -> Vec<NodeBuilder> {
    let score = |n| if n == 299 { "9" } else { "0" };
    let nodes = (0..300).map(|n| node(&format!("n{n}")).label("score", score(n)));
    nodes.collect()
}

/// OPS-A3: unset all are scored and the best wins (kube-scheduler scores 144); 0 is
/// kube-scheduler's part; 100 is all; 5 is still 100 nodes. 101 is refused by the
/// configuration's own tests.
#[test]
fn ops_a3_the_decision_says_how_many_of_the_nodes_were_scored() {
    for (line, scored, wins) in [
        ("", 300, true),
        ("percentageOfNodesToScore: 100", 300, true),
        ("percentageOfNodesToScore: 0", 144, false),
        ("percentageOfNodesToScore: 5", 100, false),
    ] {
        let mut harness = Harness::with(NO_RESCUE, line).started(&nodes());
        harness.set_pod(&pod("p"));
        let decision = &harness.decisions()[0];
        let seen = (decision.feasible, decision.evaluated, decision.nodes);
        assert_eq!(seen, (scored, scored, 300), "{line}");
        assert_eq!(harness.bound() == ["p -> n299"], wins, "{line}");
    }
}

/// OPS-A3: the start goes round, so that of 50 pods each third looks at the best node.
#[test]
fn ops_a3_the_start_goes_round_all_nodes() {
    let mut harness = Harness::with(NO_RESCUE, "percentageOfNodesToScore: 5").started(&nodes());
    for n in 0..50 {
        harness.set_pod(&pod(&format!("p{n}")));
    }
    let decisions = harness.decisions();
    let best = decisions
        .iter()
        .filter(|decision| decision.candidates.iter().any(|one| &*one.node == "n299"))
        .count();
    assert_eq!((decisions.len(), best), (50, 16));
}

/// Each look at the clock is a quarter of a slow cycle after the one before.
fn crawling() -> Duration {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let looks = LOOKS.fetch_add(1, Ordering::Relaxed);
    Duration::from_millis(looks * SLOW_CYCLE.as_millis() as u64 / 4)
}

#[test]
fn a_slow_cycle_is_told_with_its_pod_and_others_are_placed_all_the_same() {
    let options = EngineOptions {
        stopwatch: Some(Stopwatch(crawling)),
        ..EngineOptions::default()
    };
    let mut harness = Harness::with_options(NO_RESCUE, "", options).started(&[node("a")]);
    harness.set_pod(&pod("p"));
    harness.set_pod(&pod("q"));
    let mut slow = Vec::new();
    let mut events = Vec::new();
    harness.engine.drain_timings(|timing| match timing {
        Timing::SlowCycle { pod, took } => {
            assert!(took >= SLOW_CYCLE);
            slow.push(pod.name.to_string());
        }
        Timing::Event { event, .. } => events.push(event.to_string()),
        _ => {}
    });
    assert_eq!(slow, ["p", "q"]);
    assert!(events.contains(&"NodeAdd".to_owned()), "{events:?}");
    assert!(
        events.contains(&"UnscheduledPodAdd".to_owned()),
        "{events:?}"
    );
    assert_eq!(harness.bound(), ["p -> a", "q -> a"]);
}

#[test]
fn a_dump_shows_nodes_with_their_pods_and_why_others_wait() {
    let mut harness = Harness::start(&[node("a").cpu("2")]);
    harness.set_pod(&pod("placed").cpu("1"));
    harness.set_pod(&pod("huge").cpu("64"));
    let dump = harness.engine.dump();
    let nodes = dump.nodes_text();
    assert!(nodes.contains("Node name: a\nDeleted: false\n"), "{nodes}");
    assert!(
        nodes.contains("Scheduled Pods(number: 1):\nname: placed,"),
        "{nodes}"
    );
    assert!(dump.summary_text().contains("unschedulablePods:1;"));
    let pods = dump.pods_text();
    assert!(
        pods.contains("queue: unschedulable, attempts: 1, because of: [Fit]"),
        "{pods}"
    );
}
