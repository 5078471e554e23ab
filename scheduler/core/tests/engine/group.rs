//! Groups: placed together or not at all (cases GANG-A1 to A3, with a test plugin).

use plimsoll_core::{Command, FailureKind, Outcome};
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};

use crate::fakes;
use crate::harness::Harness;

const PLUGINS: &str = "Sort Gates Gang Fit Apart Label Book Second Hold Rescue Binder";

fn start(nodes: &[NodeBuilder]) -> Harness {
    Harness::with(PLUGINS, "").started(nodes)
}

fn member(gang: &str, number: usize, size: usize) -> PodBuilder {
    pod(&format!("{gang}{number}"))
        .cpu("1")
        .label("gang", gang)
        .label("gang-size", &size.to_string())
}

fn create(harness: &mut Harness, gang: &str, size: usize) {
    for number in 0..size {
        harness.set_pod(&member(gang, number, size));
    }
}

/// Nothing but these pods waits, and nothing is held.
fn assert_at_rest(harness: &Harness, waiting: usize) {
    let stats = harness.stats();
    let queue = stats.queue;
    let queued = queue.active + queue.backoff + queue.unschedulable + queue.gated;
    assert_eq!((queued, stats.cache.assumed), (waiting, 0), "{stats:?}");
    assert_eq!(stats.in_flight.permit, 0, "{stats:?}");
}

#[test]
fn the_members_are_bound_together_once_all_have_come() {
    let mut harness = start(&[node("a").cpu("4")]);
    for number in 0..3 {
        harness.set_pod(&member("g", number, 4));
        assert!(harness.bound().is_empty());
    }
    harness.set_pod(&member("g", 3, 4));
    assert_eq!(
        harness.bound(),
        ["g0 -> a", "g1 -> a", "g2 -> a", "g3 -> a"]
    );
}

#[test]
fn a_group_waits_with_a_message_and_stalls_nobody() {
    let mut harness = start(&[node("a").cpu("4")]);
    harness.set_pod(&member("g", 0, 8));
    harness.set_pod(&member("g", 1, 8));
    harness.set_pod(&pod("alone").cpu("1"));
    assert_eq!(harness.bound(), ["alone -> a"]);
    assert!(harness.patches().is_empty(), "members may still be coming");
    harness.pass_seconds(2);
    let texts: Vec<String> = harness
        .patches()
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    assert_eq!(
        texts,
        [
            "g0 Unschedulable: group default/g has 2 of 8",
            "g1 Unschedulable: group default/g has 2 of 8",
        ]
    );
    assert_eq!(harness.stats().queue.gated, 2);
    harness.pass_seconds(3_600);
    assert_eq!(harness.patches().len(), 2, "told once");
    harness.pod_gone(&member("g", 1, 8));
    harness.pass_seconds(2);
    let (_, last) = harness.patches().pop().expect("told anew");
    assert_eq!(last, "g0 Unschedulable: group default/g has 1 of 8");
}

#[test]
fn gang_a1_no_member_is_bound_while_one_cannot_fit() {
    let nodes = [node("n1").cpu("4"), node("n2").cpu("4")];
    let mut harness = start(&nodes);
    let solo = pod("solo").cpu("3").on("n1");
    harness.set_pod(&solo);
    for number in 0..2 {
        harness.set_pod(&member("g", number, 2).cpu("3"));
    }
    harness.pass_seconds(60);
    assert!(harness.bound().is_empty());
    assert_eq!(
        harness.last_message(),
        "group default/g: member g1: 0/2 nodes are available: 2 Insufficient cpu."
    );
    assert_at_rest(&harness, 2);
    harness.pod_gone(&solo);
    harness.pass_seconds(30);
    let mut bound = harness.bound();
    bound.sort_unstable_by_key(|text| text[..2].to_owned());
    assert_eq!(bound.len(), 2, "{bound:?}");
}

#[test]
fn gang_a2_two_groups_never_hold_halves() {
    let nodes: Vec<NodeBuilder> = (1..=4).map(|n| node(&format!("n{n}")).cpu("4")).collect();
    let mut harness = start(&nodes);
    for number in 0..4 {
        harness.set_pod(&member("a", number, 4).cpu("3"));
        harness.set_pod(&member("b", number, 4).cpu("3"));
    }
    assert_eq!(harness.bound().len(), 4);
    assert!(harness.bound().iter().all(|text| text.starts_with('a')));
    for number in 0..4 {
        harness.answer_bind(&format!("a{number}"), Ok(()));
    }
    for (_, pod, node) in harness.binds() {
        let number = pod[1..].parse().expect("a number");
        harness.set_pod(&member("a", number, 4).cpu("3").on(&node));
    }
    harness.pass_seconds(60);
    assert_at_rest(&harness, 4);
    for number in 0..4 {
        harness.pod_gone(&member("a", number, 4));
    }
    harness.pass_seconds(30);
    assert_eq!(harness.bound().len(), 8, "the loser starts");
}

#[test]
fn gang_a3_a_lost_member_of_a_running_group_is_bound_at_once() {
    let mut harness = start(&[node("a").cpu("9")]);
    for number in 0..5 {
        harness.set_pod(&member("g", number, 6).on("a"));
    }
    harness.set_pod(&member("g", 5, 6));
    assert_eq!(harness.bound(), ["g5 -> a"]);
    let mut harness = start(&[node("a").cpu("9")]);
    for number in 0..4 {
        harness.set_pod(&member("g", number, 6).on("a"));
    }
    harness.set_pod(&member("g", 4, 6));
    assert!(harness.bound().is_empty());
    harness.set_pod(&member("g", 5, 6));
    assert_eq!(harness.bound(), ["g4 -> a", "g5 -> a"]);
}

#[test]
fn every_plugin_sees_earlier_members_on_their_nodes() {
    let mut harness = start(&[node("a").cpu("9"), node("b").cpu("9")]);
    for number in 0..2 {
        harness.set_pod(&member("g", number, 2).label("apart", "x"));
    }
    let nodes: Vec<String> = harness
        .binds()
        .into_iter()
        .map(|(_, _, node)| node)
        .collect();
    assert!(nodes == ["a", "b"] || nodes == ["b", "a"], "{nodes:?}");
    for number in 0..3 {
        harness.set_pod(&member("h", number, 3).label("apart", "y"));
    }
    assert_eq!(
        harness.bound().len(),
        2,
        "three do not go on two nodes apart"
    );
    assert!(harness.last_message().contains("member h2: 0/2"));
}

#[test]
fn a_group_goes_where_its_members_would_one_by_one_and_costs_as_much() {
    let nodes: Vec<NodeBuilder> = (0..7).map(|n| node(&format!("n{n}")).cpu("5")).collect();
    let run = |grouped: bool| {
        let mut harness = start(&nodes);
        fakes::log();
        for number in 0..30 {
            let mut one = pod(&format!("g{number}")).cpu("1");
            one = one.label("apart", &(number % 9).to_string());
            if grouped {
                one = one.label("gang", "g").label("gang-size", "30");
            }
            harness.set_pod(&one);
        }
        let judged = fakes::log();
        let mut places = Vec::new();
        for decision in harness.decisions() {
            if let Outcome::Chosen { node, .. } = decision.outcome {
                places.push(format!("{} -> {node}", decision.pod.key.name));
            }
        }
        (places, judged)
    };
    let (together, one_by_one) = (run(true), run(false));
    assert_eq!(together.0.len(), 30);
    assert_eq!(together.0, one_by_one.0);
    let judged = |log: &[String]| log.iter().filter(|line| line.starts_with("judged")).count();
    assert_eq!(judged(&together.1), judged(&one_by_one.1));
}

#[test]
fn members_that_the_group_can_do_without_wait_on() {
    let mut harness = start(&[node("a").cpu("2")]);
    harness.set_pod(&member("g", 0, 2));
    harness.set_node(&node("a").cpu("0"));
    harness.set_pod(&member("g", 1, 2));
    harness.set_pod(&member("g", 2, 2));
    assert!(harness.bound().is_empty());
    harness.set_node(&node("a").cpu("2"));
    harness.pass_seconds(30);
    assert_eq!(harness.bound(), ["g0 -> a", "g1 -> a"]);
    assert_eq!(harness.stats().cache.assumed, 2);
}

#[test]
fn a_group_never_preempts_but_a_lone_member_may() {
    let mut harness = start(&[node("a").cpu("1")]);
    fakes::log();
    create(&mut harness, "g", 2);
    assert!(!fakes::log().iter().any(|line| line.starts_with("rescue")));
    harness.set_pod(&member("h", 0, 1).cpu("2"));
    assert!(fakes::log().iter().any(|line| line.starts_with("rescue")));
}

#[test]
fn what_a_plugin_holds_is_given_back_when_a_later_member_fails() {
    for (label, value) in [
        ("reserve", "rejects"),
        ("permit", "rejects"),
        ("pre-bind", "error"),
    ] {
        let mut harness = start(&[node("a").cpu("9")]);
        harness.set_pod(&member("g", 0, 3));
        harness.set_pod(&member("g", 1, 3));
        fakes::log();
        harness.set_pod(&member("g", 2, 3).label(label, value));
        harness.pass_seconds(1);
        let log = fakes::log();
        let count = |word: &str| log.iter().filter(|line| line.contains(word)).count();
        let kept = count("Book reserve") as i64 - count("Book unreserve") as i64;
        assert!(harness.bound().is_empty(), "{label}");
        assert!(kept <= 0, "{label}: {log:?}");
        assert_at_rest(&harness, 3);
    }
}

#[test]
fn none_is_bound_before_all_are_permitted_and_a_time_out_frees_all() {
    let mut harness = start(&[node("a").cpu("9")]);
    harness.set_pod(&member("g", 0, 3));
    harness.set_pod(&member("g", 1, 3).label("hold", "30"));
    harness.set_pod(&member("g", 2, 3));
    assert_eq!(
        (harness.bound().len(), harness.stats().in_flight.permit),
        (0, 3)
    );
    harness.pass_seconds(29);
    assert_eq!(harness.stats().cache.assumed, 3);
    harness.pass_seconds(2);
    assert!(harness.bound().is_empty());
    let told = "group default/g: member g1: 0/1 nodes are available: 1 rejected due to timeout \
                after waiting 30s at plugin Hold.";
    assert!(
        harness.events().iter().any(|text| text.contains(told)),
        "{:?}",
        harness.events()
    );
}

#[test]
fn a_member_that_is_deleted_in_mid_wait_takes_the_others_back() {
    let mut harness = start(&[node("a").cpu("9")]);
    harness.set_pod(&member("g", 0, 3));
    harness.set_pod(&member("g", 1, 3).label("hold", "30"));
    harness.set_pod(&member("g", 2, 3));
    harness.pod_gone(&member("g", 2, 3));
    assert_at_rest(&harness, 2);
    harness.pass_seconds(2);
    let (_, last) = harness.patches().pop().expect("told");
    // Its node was told to others while it waited.
    let expected = "group default/g has 2 of 3 (nominated: none)";
    assert!(last.ends_with(expected), "{last}");
}

#[test]
fn a_node_that_goes_in_mid_wait_takes_all_back() {
    let mut harness = start(&[node("a").cpu("2"), node("b").cpu("2")]);
    for number in 0..3 {
        let made = member("g", number, 3);
        harness.set_pod(&if number == 2 {
            made.label("hold", "30")
        } else {
            made
        });
    }
    assert_eq!(harness.stats().cache.assumed, 3);
    harness.node_gone("a");
    harness.pass_seconds(5);
    assert_at_rest(&harness, 3);
}

#[test]
fn a_member_that_is_refused_late_comes_back_as_a_lost_one() {
    let mut harness = start(&[node("a").cpu("9")]);
    create(&mut harness, "g", 3);
    harness.answer_bind("g0", Ok(()));
    harness.answer_bind("g1", Err(FailureKind::Refused));
    harness.pass_seconds(5);
    assert_eq!(
        harness.bound().len(),
        3,
        "the third is not bound yet: two of three"
    );
    harness.answer_bind("g2", Ok(()));
    harness.pass_seconds(5);
    assert_eq!(harness.bound()[3..], ["g1 -> a"]);
}

#[test]
fn members_that_are_put_out_before_they_are_bound_all_go_back_and_none_is_deleted() {
    let mut harness = start(&[node("a").cpu("2")]);
    for number in 0..2 {
        harness.set_pod(&member("g", number, 2).label("hold", "60"));
    }
    assert_eq!(harness.stats().cache.assumed, 2);
    harness.set_pod(&pod("p").cpu("2").priority(9).label("rescue", "yes"));
    let evicts = |command: &Command| matches!(command, Command::Evict { .. });
    assert!(!harness.said.iter().any(evicts), "{:?}", harness.said);
    harness.pass_seconds(5);
    assert_eq!(harness.bound(), ["p -> a"]);
}
