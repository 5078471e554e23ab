//! Objects of other kinds: pods wait for them, take them, give them back.

use std::collections::BTreeMap;

use plimsoll_core::{Command, Event, FailureKind};
use plimsoll_framework::Effect;
use plimsoll_framework::test_util::{PodBuilder, node, pod};
use plimsoll_objects::{Object, ObjectKey, ObjectKind};
use proptest::prelude::*;
use serde_json::json;

use crate::fakes;
use crate::harness::{Harness, NO_RESCUE};

const KIND: ObjectKind = ObjectKind::PersistentVolumeClaim;

fn start() -> Harness {
    let harness = Harness::with(&format!("{NO_RESCUE} Claims"), "");
    harness.started(&[node("a").cpu("9"), node("b").cpu("9")])
}

fn claim(name: &str, version: u32) -> Object {
    let json = json!({"metadata": {
        "namespace": "default", "name": name, "resourceVersion": version.to_string()}});
    Object::decode(KIND, json.to_string().as_bytes()).expect("a claim")
}

fn with_claim(name: &str) -> PodBuilder {
    pod(name).cpu("1").label("claim", "c")
}

impl Harness {
    fn set_object(&mut self, object: Object) {
        self.step(Event::ObjectSet(object));
        self.settle();
    }

    fn object_gone(&mut self, name: &str) {
        let key = ObjectKey::new("default", name);
        self.step(Event::ObjectGone { kind: KIND, key });
        self.settle();
    }

    fn list_objects(&mut self, objects: Vec<Object>) {
        let kind = KIND;
        self.step(Event::ObjectsListed { kind, objects });
        self.settle();
    }
}

#[test]
fn a_pod_without_its_claim_waits_and_is_woken_by_it() {
    for listed in [false, true] {
        let mut harness = start();
        harness.set_pod(&with_claim("p"));
        assert_eq!(
            harness.last_message(),
            "0/2 nodes are available: no such claim."
        );
        harness.set_object(claim("other", 1));
        harness.pass_seconds(20);
        assert_eq!(harness.tries("p"), 1, "a claim that is not the pod's");
        if listed {
            harness.list_objects(vec![claim("other", 1), claim("c", 2)]);
        } else {
            harness.set_object(claim("c", 2));
        }
        assert_eq!(harness.bound().len(), 1);
    }
}

#[test]
fn a_pod_that_is_held_back_for_a_claim_is_let_go_by_it() {
    let mut harness = start();
    harness.set_pod(&pod("p").cpu("1").label("gate-claim", "c"));
    harness.pass_seconds(20);
    assert_eq!(harness.tries("p"), 0);
    harness.set_object(claim("c", 1));
    assert_eq!(harness.bound().len(), 1);
}

#[test]
fn what_a_list_does_not_name_is_gone() {
    let mut harness = start();
    harness.list_objects(vec![claim("c", 1), claim("d", 2)]);
    harness.list_objects(vec![claim("d", 2)]);
    harness.set_pod(&with_claim("p"));
    harness.set_pod(&with_claim("q").label("claim", "d"));
    assert_eq!(harness.bound().len(), 1);
    harness.object_gone("d");
    harness.set_pod(&with_claim("r").label("claim", "d"));
    assert_eq!((harness.tries("p"), harness.tries("r")), (1, 1));
    assert_eq!(harness.bound().len(), 1);
}

#[test]
fn an_object_that_says_the_same_again_or_goes_twice_tells_nobody_anything() {
    let mut harness = start();
    harness.set_pod(&with_claim("p"));
    harness.set_object(claim("other", 1));
    fakes::log();
    harness.set_object(claim("other", 1));
    harness.list_objects(vec![claim("other", 1)]);
    assert_eq!(fakes::log(), [""; 0]);
    harness.set_object(claim("other", 2));
    harness.object_gone("other");
    harness.object_gone("other");
    harness.list_objects(Vec::new());
    let name = r#"Some("default/other")"#;
    assert_eq!(
        fakes::log(),
        [
            format!("claim {name} -> {name}"),
            format!("claim {name} -> None")
        ]
    );
}

#[test]
fn a_claim_that_goes_while_its_pod_is_bound_is_missed_by_the_next_attempt() {
    let mut harness = start();
    harness.set_pod(&with_claim("p"));
    harness.set_object(claim("c", 1));
    harness.object_gone("c");
    harness.answer_bind("p", Err(FailureKind::Unavailable));
    harness.pass_seconds(20);
    assert_eq!(harness.tries("p"), 3);
    assert!(harness.last_message().contains("no such claim"));
    harness.set_object(claim("c", 2));
    harness.pass_seconds(20);
    assert_eq!((harness.tries("p"), harness.bound().len()), (4, 2));
}

/// `p` has the claim and is being bound to its node; `q` waits for the claim.
fn taken() -> Harness {
    let mut harness = start();
    harness.set_object(claim("c", 1));
    harness.set_pod(&with_claim("p").label("unreserve", "writes"));
    harness.set_pod(&with_claim("q"));
    assert!(harness.last_message().contains("claim is taken"));
    assert_eq!(harness.binds().len(), 1);
    harness
}

#[test]
fn what_a_pod_took_is_given_back_when_its_binding_fails() {
    let mut harness = taken();
    harness.answer_bind("p", Err(FailureKind::Unavailable));
    harness.pass_seconds(20);
    let bound = harness.binds();
    assert_eq!((bound.len(), bound[1].1.as_str()), (2, "q"));
    assert_eq!(harness.tries("p"), 2, "p came back and found it taken");
}

#[test]
fn what_a_pod_took_is_given_back_when_another_hand_binds_it_or_it_goes() {
    for goes in [false, true] {
        let mut harness = taken();
        let elsewhere = if harness.binds()[0].2 == "a" {
            "b"
        } else {
            "a"
        };
        if goes {
            harness.pod_gone(&with_claim("p"));
        } else {
            harness.set_pod(&with_claim("p").on(elsewhere));
        }
        harness.pass_seconds(5);
        assert_eq!(harness.binds().len(), 1, "a question is open");
        harness.answer_bind("p", Err(FailureKind::Conflict));
        harness.pass_seconds(20);
        assert_eq!(harness.binds().last().unwrap().1, "q");
    }
}

#[test]
fn what_a_bound_pod_took_stays_taken_until_a_newer_version_says_otherwise() {
    let mut harness = taken();
    harness.answer_bind("p", Ok(()));
    harness.list_objects(vec![claim("c", 1)]);
    harness.set_pod(&with_claim("r"));
    assert_eq!(harness.bound().len(), 1);
    harness.set_object(claim("c", 2));
    harness.pass_seconds(20);
    assert_eq!(harness.bound().len(), 2);
}

#[test]
fn a_reserve_that_turns_the_pod_down_gives_back_what_was_taken_before_it() {
    let plugins = NO_RESCUE.replace("Book Second", "Claims Book Second");
    let mut harness = Harness::with(&plugins, "").started(&[node("a").cpu("9")]);
    harness.set_object(claim("c", 1));
    harness.set_pod(&with_claim("p").label("reserve", "rejects"));
    assert_eq!(harness.bound(), [""; 0]);
    harness.set_pod(&with_claim("q"));
    assert_eq!(harness.bound(), ["q -> a"]);
}

#[test]
fn writes_of_what_is_given_back_are_commanded_and_their_answers_change_nothing() {
    for outcome in [Ok(()), Err(FailureKind::Conflict)] {
        let mut harness = taken();
        harness.answer_bind("p", Err(FailureKind::Refused));
        let writes = harness.effects();
        assert_eq!((writes.len(), writes[0].1.as_str()), (1, "p"));
        let tries = harness.tries("p");
        harness.answer(writes[0].0, outcome);
        assert_eq!(harness.tries("p"), tries);
        assert_eq!(harness.stats().counters.late_answers, 0);
        harness.answer(writes[0].0, outcome);
        assert_eq!(harness.stats().counters.late_answers, 1);
    }
}

#[test]
fn a_binding_that_waits_for_an_object_goes_on_when_it_comes() {
    let mut harness = start();
    harness.set_pod(&pod("p").cpu("1").label("pre-bind", "waits-for-claim"));
    assert_eq!(harness.bound(), [""; 0]);
    harness.set_object(claim("c", 1));
    assert_eq!(harness.bound().len(), 1);
}

#[test]
fn writes_of_a_retry_are_commanded() {
    let plugins = format!("{NO_RESCUE} Rescue Claims");
    let mut harness = Harness::with(&plugins, "").started(&[node("a").cpu("1")]);
    harness.set_pod(&with_claim("p").label("rescue", "retry"));
    let is_write = |command: &Command| {
        matches!(command, Command::Apply { effect: Effect::Write(write), .. }
            if write.key == ObjectKey::new("default", "c"))
    };
    assert_eq!(
        harness.said.iter().filter(|said| is_write(said)).count(),
        1,
        "{:?}",
        harness.said
    );
    harness.answer(harness.effects()[0].0, Ok(()));
    assert_eq!(harness.stats().counters.late_answers, 0);
    harness.pass_seconds(3);
    assert_eq!(harness.tries("p"), 2);
}

#[test]
fn a_promise_that_is_withdrawn_leaves_its_room_to_others() {
    let plugins = format!("{NO_RESCUE} Rescue");
    let mut harness = Harness::with(&plugins, "").started(&[node("a").cpu("1")]);
    let waits = pod("p").priority(5).cpu("1").label("needs", "gpu");
    harness.set_pod(&waits.label("rescue", "withdraw").nominated("a"));
    let last = harness.patches().pop().expect("a patch");
    assert!(last.1.ends_with("(nominated: none)"), "{}", last.1);
    harness.set_pod(&pod("q").cpu("1"));
    assert_eq!(harness.bound(), ["q -> a"]);
}

/// What the watch says of claims.
#[derive(Debug, Clone)]
enum Told {
    Set(u8),
    Gone(u8),
    Listed(Vec<u8>),
}

fn told() -> impl Strategy<Value = Vec<Told>> {
    let told = prop_oneof![
        3 => (0..4_u8).prop_map(Told::Set),
        2 => (0..4_u8).prop_map(Told::Gone),
        1 => prop::collection::vec(0..4_u8, 0..4).prop_map(Told::Listed),
    ];
    prop::collection::vec(told, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn claims_are_there_as_the_last_word_says(events in told()) {
        let mut harness = start();
        let mut known: BTreeMap<String, Object> = BTreeMap::new();
        for (version, event) in events.iter().enumerate() {
            let make = |number: &u8| {
                let name = format!("c{number}");
                let made = claim(&name, version as u32);
                (name, made)
            };
            match event {
                Told::Set(number) => {
                    let (name, made) = make(number);
                    known.insert(name, made.clone());
                    harness.set_object(made);
                }
                Told::Gone(number) => {
                    let name = make(number).0;
                    known.remove(&name);
                    harness.object_gone(&name);
                }
                Told::Listed(numbers) => {
                    known = numbers.iter().map(make).collect();
                    harness.list_objects(numbers.iter().map(|number| make(number).1).collect());
                }
            }
        }
        for number in 0..4 {
            let claim = format!("c{number}");
            harness.set_pod(&pod(&format!("p{number}")).cpu("1").label("claim", &claim));
            let bound = harness.binds().iter().any(|(_, pod, _)| *pod == format!("p{number}"));
            prop_assert_eq!(bound, known.contains_key(&claim), "{}", claim);
        }
    }
}
