//! What a big group costs while its members come: questions to `PreEnqueue`, counted.

use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::fakes;
use crate::harness::Harness;

const PLUGINS: &str = "Sort Gates Gang Fit Apart Label Book Second Hold Rescue Binder";
/// Members of a big group.
const BIG: usize = 300;

fn start() -> Harness {
    let harness = Harness::with(PLUGINS, "").started(&[node("a").cpu("1000")]);
    fakes::asked();
    harness
}

fn member(number: usize, size: usize) -> PodBuilder {
    pod(&format!("g{number}"))
        .cpu("1")
        .label("gang", "g")
        .label("gang-size", &size.to_string())
}

#[test]
fn a_group_that_is_too_small_asks_nothing_and_each_member_is_asked_about_once() {
    let mut harness = start();
    for number in 0..BIG - 1 {
        harness.set_pod(&member(number, BIG));
    }
    assert_eq!(fakes::asked(), 0);
    harness.set_pod(&member(BIG - 1, BIG));
    assert_eq!(fakes::asked(), BIG);
    harness.pass_seconds(10);
    assert_eq!(harness.decisions().len(), BIG);
    assert_eq!(fakes::asked(), 0);
}

/// The oldest member holds all back, or the newest does.
#[test]
fn of_a_group_that_a_member_holds_back_only_that_one_is_asked_about() {
    for gated in [0, 9] {
        let mut harness = start();
        for number in 0..10 {
            let made = member(number, 10);
            harness.set_pod(&if number == gated {
                made.gate("wait")
            } else {
                made
            });
        }
        fakes::asked();
        for number in 10..BIG {
            harness.set_pod(&member(number, 10));
        }
        assert_eq!(fakes::asked(), BIG - 10, "member {gated} holds");
        assert!(harness.decisions().is_empty());
        harness.set_pod(&member(gated, 10));
        assert_eq!(fakes::asked(), BIG, "all are, once it lets go");
        assert_eq!(harness.decisions().len(), BIG);
    }
}

#[test]
fn gates_that_go_one_by_one_cost_two_questions_each() {
    let mut harness = start();
    for number in 0..BIG {
        harness.set_pod(&member(number, BIG).gate("wait"));
    }
    fakes::asked();
    for number in 0..BIG {
        assert!(harness.decisions().is_empty());
        harness.set_pod(&member(number, BIG));
    }
    assert!(fakes::asked() <= 3 * BIG);
    assert_eq!(harness.decisions().len(), BIG);
}

/// After an error the group rests, so that all come while it does.
#[test]
fn who_joins_a_group_that_was_let_through_is_asked_about_alone() {
    let mut harness = start();
    harness.set_pod(&member(0, 2));
    harness.set_pod(&member(1, 2).label("permit", "error"));
    assert_eq!(harness.stats().queue.backoff, 2);
    fakes::asked();
    for number in 2..BIG {
        harness.set_pod(&member(number, 2));
    }
    assert_eq!(fakes::asked(), BIG - 2);
    assert_eq!(harness.stats().queue.backoff, BIG);
    // One that may not go on holds the others back as well.
    harness.set_pod(&member(BIG, 2).gate("wait"));
    let queue = harness.stats().queue;
    assert_eq!((queue.backoff, queue.gated), (0, BIG + 1));
    assert!(fakes::asked() <= 2);
    harness.set_pod(&member(BIG, 2));
    assert_eq!(harness.stats().queue.gated, 0);
}

#[test]
fn members_that_come_back_together_are_each_asked_about_once() {
    let mut harness = Harness::with(PLUGINS, "").started(&[node("a").cpu("2")]);
    for number in 0..BIG {
        harness.set_pod(&member(number, 2).gate("wait"));
    }
    for number in (0..BIG).rev() {
        fakes::asked();
        harness.set_pod(&member(number, 2));
    }
    // Two are placed, and the others, which the group can do without, wait on.
    assert_eq!(harness.bound().len(), 2);
    assert!(fakes::asked() <= 3 * BIG);
}
