//! HTTP extenders: whose turn it is, who waits, who is let go, and orders to bind.

use plimsoll_core::{CommandId, Question, Reply};
use plimsoll_framework::test_util::{node, pod};

use crate::extender::{GPU, asked, gpu, kept, three, with};

#[test]
fn a_pod_that_an_extender_binds_is_bound_by_nobody_else() {
    let mut harness = with("- {urlPrefix: 'http://x', bindVerb: b}\n", &three()[..1]);
    harness.set_pod(&pod("p"));
    assert_eq!(asked(&harness), ["p 0 bind a"]);
    harness.reply(Reply::Bound);
    assert!(harness.binds().is_empty());
    let scheduled = "Scheduled: Successfully assigned default/p to a".to_owned();
    assert_eq!(harness.events(), [scheduled]);
    assert_eq!(harness.stats().cache.assumed, 1);
}

#[test]
fn a_binder_that_hangs_holds_up_no_other_binding() {
    let mut harness = with(
        &format!("- {{urlPrefix: 'http://x', bindVerb: b, {GPU}}}\n"),
        &[node("a").cpu("400").pods(500)],
    );
    for n in 0..200 {
        harness.set_pod(&gpu(&format!("g{n}")));
    }
    assert_eq!(harness.asks().len(), 32, "the others wait here");
    harness.set_pod(&pod("p"));
    assert_eq!(harness.bound(), ["p -> a"]);
    let first = harness.asks()[0].0;
    harness.reply_to(first, Ok(Reply::Bound));
    assert_eq!(harness.asks().len(), 33);
}

#[test]
fn what_waits_for_a_binder_goes_with_its_pod_its_node_and_its_age() {
    let lines = format!("- {{urlPrefix: 'http://x', bindVerb: b, {GPU}}}\n");
    let nodes = [node("a").cpu("400").pods(500), node("b").cpu("1").pods(1)];
    let mut harness = with(&lines, &nodes[..1]);
    for n in 0..34 {
        harness.set_pod(&gpu(&format!("g{n}")));
    }
    harness.pod_gone(&gpu("g32"));
    harness.pass_seconds(90);
    let first = harness.asks()[0].0;
    harness.reply_to(first, Ok(Reply::Bound));
    assert_eq!(harness.asks().len(), 32, "g33 was decided too long ago");
    assert_eq!(harness.stats().counters.binds.stale, 1);
    harness.node_gone("a");
    harness.set_node(&nodes[0]);
    harness.pass_seconds(20);
    assert_eq!(harness.asks().len(), 33, "it is decided anew");
    let gone = |(_, name, ..): &(CommandId, String, usize, Question)| name == "g32";
    assert!(!harness.asks().iter().any(gone));
}

/// QUE-A1 for extenders: one that hangs stalls nobody but its own pods.
#[test]
fn an_extender_that_hangs_holds_up_only_the_pods_that_it_wants_to_see() {
    let mut harness = with(
        &format!(
            "- {{urlPrefix: 'http://x', filterVerb: f, {GPU}}}\n\
             - {{urlPrefix: 'http://y', filterVerb: f, \
             managedResources: [{{name: example.com/nic}}]}}\n"
        ),
        &three(),
    );
    harness.set_pod(&gpu("g1"));
    harness.set_pod(&gpu("g2"));
    harness.set_pod(&gpu("both").request("example.com/nic", "1"));
    harness.set_pod(&pod("nic1").request("example.com/nic", "1"));
    harness.set_pod(&gpu("urgent").priority(9));
    harness.set_pod(&pod("plain"));
    assert_eq!(harness.binds().len(), 1, "plain");
    assert_eq!(
        asked(&harness),
        ["g1 0 filter a,b,c", "nic1 1 filter a,b,c"]
    );
    let in_flight = harness.stats().in_flight;
    assert_eq!((in_flight.asking, in_flight.asking_waiting), (2, 3));

    let asks = harness.asks();
    harness.reply_to(asks[0].0, Ok(kept(&["a"])));
    assert_eq!(asked(&harness)[2..], ["urgent 0 filter a,b,c"]);
    harness.reply(kept(&["a"]));
    assert_eq!(asked(&harness)[3..], ["g2 0 filter a,b,c"]);
    harness.reply(kept(&["a"]));
    assert_eq!(asked(&harness).len(), 4, "nic1 still has what both needs");
    harness.reply_to(asks[1].0, Ok(kept(&["a"])));
    assert_eq!(asked(&harness)[4..], ["both 0 filter a,b,c"]);
    harness.reply(kept(&["b"]));
    assert_eq!(asked(&harness)[5..], ["both 1 filter b"]);
    harness.reply(kept(&["b"]));
    assert_eq!(harness.stats().cache.assumed, 6);
}

#[test]
fn a_pod_that_needs_two_extenders_is_not_overtaken_without_end() {
    let mut harness = with(
        &format!(
            "- {{urlPrefix: 'http://x', filterVerb: f, {GPU}}}\n\
             - {{urlPrefix: 'http://y', filterVerb: f, \
             managedResources: [{{name: example.com/nic}}]}}\n"
        ),
        &[
            node("a").cpu("400").pods(1_000),
            node("b").cpu("400").pods(1_000),
        ],
    );
    harness.set_pod(&gpu("g"));
    harness.set_pod(&gpu("both").request("example.com/nic", "1"));
    for n in 0..100 {
        let before = harness.asks().len();
        harness.set_pod(&pod(&format!("n{n}")).request("example.com/nic", "1"));
        if harness.asks().len() > before {
            harness.reply(kept(&["a"]));
        }
    }
    assert_eq!(
        harness.asks().len(),
        1 + 16,
        "from then on y is kept free for it"
    );
    let first = harness.asks()[0].0;
    harness.reply_to(first, Ok(kept(&["a"])));
    assert_eq!(asked(&harness).pop().as_deref(), Some("both 0 filter a,b"));
}

#[test]
fn a_pod_that_goes_or_is_bound_while_it_is_asked_about_is_let_go() {
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &three());
    for name in ["gone", "taken", "last"] {
        harness.set_pod(&pod(name));
    }
    harness.pod_gone(&pod("gone"));
    let bound = pod("taken").merge(serde_json::json!({"spec": {"nodeName": "c"}}));
    assert_eq!(asked(&harness).len(), 2, "taken is next");
    harness.set_pod(&bound);
    assert_eq!(asked(&harness).len(), 3);
    let asks = harness.asks();
    harness.reply_to(asks[0].0, Ok(kept(&["a"])));
    harness.reply_to(asks[1].0, Ok(kept(&["a"])));
    assert_eq!(harness.stats().counters.late_answers, 2);
    harness.reply_to(asks[2].0, Ok(kept(&["a"])));
    assert_eq!(harness.bound(), ["last -> a"]);
    let in_flight = harness.stats().in_flight;
    assert_eq!((in_flight.asking, in_flight.asking_waiting), (0, 0));
    let out = harness.engine.dump().out;
    assert!(out.is_empty(), "{out:?}");
}

#[test]
fn an_update_of_a_pod_that_is_asked_about_does_not_queue_it_twice() {
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &three());
    harness.set_pod(&pod("p"));
    harness.set_pod(&pod("p").label("new", "yes"));
    assert_eq!(harness.asks().len(), 1);
    harness.reply(kept(&["a"]));
    assert_eq!(harness.bound(), ["p -> a"]);
}
