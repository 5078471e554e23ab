//! Cases of queueing and of its gauges, by their id: each whole, as in
//! `tests/fixtures/cases/que.md` and `ops.md`.

use std::time::Duration;

use plimsoll_core::{Event, QueueSizes};
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};
use plimsoll_objects::{Object, ObjectKey, ObjectKind};
use serde_json::json;

use crate::falls::measure;
use crate::harness::{Harness, NO_RESCUE};

const GANGS: &str = "Sort Gates Gang Fit Match Label Book Binder";
const CLAIM: ObjectKind = ObjectKind::PersistentVolumeClaim;

/// The node as a heartbeat of its kubelet leaves it.
fn heartbeat(beat: usize) -> NodeBuilder {
    let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady",
        "lastHeartbeatTime": format!("2026-01-31T12:00:{:02}Z", beat / 20)});
    let beaten = node("a").annotation("beat", &beat.to_string());
    beaten.merge(json!({"status": {"conditions": [ready]}}))
}

/// QUE-A1: of 200 pods that fit nowhere half are in gangs of ten, whose members must not wake
/// each other either.
#[test]
fn que_a1_hopeless_pods_and_gangs_of_a_high_priority_block_nobody() {
    let mut harness = Harness::with(GANGS, "").started(&[heartbeat(0)]);
    let hopeless = |name: &str| pod(name).priority(100).label("needs", "moon");
    for n in 0..100 {
        let gang = format!("g{}", n / 10);
        harness.set_pod(&hopeless(&format!("alone{n}")));
        let member = hopeless(&format!("member{n}")).label("gang", &gang);
        harness.set_pod(&member.label("gang-size", "10"));
    }
    harness.pass_seconds(20);
    let (tries, patches) = (harness.decisions().len(), harness.patches().len());
    assert!((110..=400).contains(&tries), "{tries}");
    for beat in 1..=400 {
        harness.set_node(&heartbeat(beat));
        harness.pass(Duration::from_millis(50));
    }
    assert_eq!(
        harness.decisions().len(),
        tries,
        "heartbeats change nothing"
    );
    assert_eq!(harness.patches().len(), patches);
    harness.set_pod(&pod("small"));
    assert_eq!(harness.bound(), ["small -> a"]);
    assert_eq!(harness.tries("small"), 1);
    harness.answer_bind("small", Ok(()));
    assert_eq!(waiting(&harness), 200);
}

/// QUE-A2: nothing but the measured load changes.
#[test]
fn que_a2_a_pod_kept_off_for_load_is_bound_with_the_first_sample_below_the_line() {
    let mut harness = Harness::with("Sort Heavy Binder", "").started(&[node("n1").cpu("10")]);
    measure(&mut harness, &[("n1", 0.9)], 5);
    harness.set_pod(&pod("p").cpu("1"));
    measure(&mut harness, &[("n1", 0.9)], 24);
    assert_eq!((harness.tries("p"), harness.bound().len()), (1, 0));
    let fell = harness.now;
    measure(&mut harness, &[("n1", 0.4)], 1);
    harness.pass_seconds(1);
    assert_eq!(harness.bound(), ["p -> n1"]);
    assert!(harness.now <= fell + Duration::from_secs(2));
}

/// QUE-A2: 50 pods that a full node and a hot one keep out, for five minutes, while the full
/// one goes up and down over the line each second.
#[test]
fn que_a2_a_node_that_flaps_around_the_line_makes_no_storm() {
    const PODS: usize = 50;
    let nodes = [node("flaps").cpu("10"), node("hot").cpu("10")];
    let mut harness = Harness::with("Sort Heavy Fit Binder", "").started(&nodes);
    harness.set_pod(&pod("full").cpu("10").on("flaps"));
    measure(&mut harness, &[("flaps", 0.82), ("hot", 0.95)], 3);
    for n in 0..PODS {
        harness.set_pod(&pod(&format!("p{n}")).cpu("1"));
    }
    for _ in 0..150 {
        measure(&mut harness, &[("flaps", 0.78), ("hot", 0.95)], 1);
        measure(&mut harness, &[("flaps", 0.82), ("hot", 0.95)], 1);
    }
    let tries = harness.decisions().len();
    // No more than the back-off of ten seconds would allow.
    assert!(tries <= PODS * (300 / 10 + 5), "{tries} tries");
}

fn waiting(harness: &Harness) -> usize {
    let queue = harness.stats().queue;
    queue.active + queue.backoff + queue.unschedulable + queue.gated
}

fn sizes(unschedulable: usize, gated: usize) -> QueueSizes {
    QueueSizes {
        unschedulable,
        gated,
        ..QueueSizes::default()
    }
}

fn claims() -> Harness {
    let plugins = format!("{NO_RESCUE} Claims");
    Harness::with(&plugins, "").started(&[node("a").cpu("1")])
}

impl Harness {
    fn claim_comes(&mut self) {
        let json =
            json!({"metadata": {"namespace": "default", "name": "c", "resourceVersion": "1"}});
        let claim = Object::decode(CLAIM, json.to_string().as_bytes()).expect("a claim");
        self.step(Event::ObjectSet(claim));
        self.settle();
    }

    fn claim_goes(&mut self) {
        let key = ObjectKey::new("default", "c");
        self.step(Event::ObjectGone { kind: CLAIM, key });
        self.settle();
    }
}

/// OPS-A2: each step of the case, and the gauges after it.
#[test]
fn ops_a2_gauges_follow_gates_and_deletions_step_by_step() {
    let mut harness = claims();
    harness.set_pod(&pod("p").cpu("2").gate("quota"));
    assert_eq!(harness.stats().queue, sizes(0, 1));
    harness.set_pod(&pod("p").cpu("2"));
    assert_eq!(harness.stats().queue, sizes(1, 0), "its gate is gone");
    harness.set_pod(&pod("q").gate("quota"));
    assert_eq!(harness.stats().queue, sizes(1, 1));
    harness.pod_gone(&pod("q"));
    assert_eq!(harness.stats().queue, sizes(1, 0));
    harness.pod_gone(&pod("p"));
    assert_eq!(harness.stats().queue, sizes(0, 0));
}

/// OPS-A2: a plugin holds back a pod that was tried before.
#[test]
fn ops_a2_a_pod_that_a_plugin_gates_later_moves_from_one_gauge_to_the_other() {
    let large = || pod("p").cpu("2").label("gate-claim", "c");
    let mut harness = claims();
    harness.claim_comes();
    harness.set_pod(&large());
    assert_eq!(harness.stats().queue, sizes(1, 0));
    harness.claim_goes();
    // A new node wakes it, and it is held back on its way.
    harness.set_node(&node("b").cpu("1"));
    harness.pass_seconds(20);
    assert_eq!(harness.stats().queue, sizes(0, 1));
    harness.claim_comes();
    harness.pass_seconds(20);
    assert_eq!(harness.stats().queue, sizes(1, 0));
    harness.claim_goes();
    harness.set_node(&node("c").cpu("1"));
    harness.pass_seconds(20);
    harness.pod_gone(&large());
    assert_eq!(harness.stats().queue, sizes(0, 0));
}

/// OPS-A2: 1,000 lives. After each step the gauges add up to the pods without a node.
#[test]
fn ops_a2_gauges_add_up_to_the_pods_that_wait_through_a_thousand_lives() {
    let kinds: [fn(PodBuilder) -> PodBuilder; 4] = [
        |pod| pod.cpu("2"),
        |pod| pod.gate("quota"),
        |pod| pod.cpu("2").label("gate-claim", "c"),
        |pod| pod.cpu("2").label("odd", "filter-error"),
    ];
    let mut harness = claims();
    let mut lives = std::collections::VecDeque::new();
    for life in 0..1_000 {
        let name = format!("p{life}");
        let made = kinds[life * 7 % 4](pod(&name));
        harness.set_pod(&made);
        lives.push_back(made);
        match life % 5 {
            0 => harness.claim_comes(),
            1 => harness.claim_goes(),
            2 => harness.pass_seconds(1),
            3 => harness.set_pod(&pod(&name).cpu("2")),
            _ => harness.set_node(&node("b").cpu("1").annotation("life", &name)),
        }
        if lives.len() > 20 {
            let oldest = lives.remove(life % 20).expect("one of twenty");
            harness.pod_gone(&oldest);
        }
        assert_eq!(waiting(&harness), lives.len(), "life {life}");
    }
    for life in lives {
        harness.pod_gone(&life);
    }
    assert_eq!(harness.stats().queue, sizes(0, 0));
}
