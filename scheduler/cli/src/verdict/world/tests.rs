//! Cases that make no sense, and small ones that do.

use serde_json::{Value, json};

use super::World;
use crate::verdict::case::Case;

fn mistake(case: Case) -> String {
    World::new(case, true)
        .err()
        .map_or_else(String::new, |problem| format!("{problem:#}"))
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "2", "pods": "10"}}})
}

fn pod(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn cpu(amount: &str) -> Value {
    json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": amount}}}]})
}

#[test]
fn mistakes_name_the_object_they_are_in() {
    let case = Case {
        objects: vec![
            node("n1"),
            json!({"apiVersion": "v1", "kind": "Node", "spec": 1}),
        ],
        ..Case::default()
    };
    assert!(mistake(case).starts_with("objects[1]: "));
    let case = Case {
        pending: vec![pod("a", &json!({"containrs": []}))],
        ..Case::default()
    };
    assert_eq!(
        mistake(case),
        "pending[0] (a): unknown field \"spec.containrs\""
    );
    let case = Case {
        nominated: vec![node("n1")],
        ..Case::default()
    };
    assert_eq!(
        mistake(case),
        "nominated[0] (n1): expected a Pod, found v1 Node"
    );
}

#[test]
fn a_wrong_configuration_is_refused_with_its_paths() {
    let config = |value: Value| Case {
        config: value.as_object().cloned().unwrap_or_default(),
        ..Case::default()
    };
    assert_eq!(mistake(config(json!({"parallelism": 3}))), "");
    let text = mistake(config(json!({"parallelism": 0})));
    assert!(text.starts_with("config: parallelism: "), "{text}");
    let extender = json!({"urlPrefix": "http://x", "filterVerb": "f", "weight": 1});
    let text = mistake(config(json!({"extenders": [extender]})));
    assert_eq!(text, "config: extenders: a case has none");
}

#[test]
fn a_pod_for_another_scheduler_is_a_mistake() {
    let case = Case {
        objects: vec![node("n1")],
        pending: vec![pod("a", &json!({"schedulerName": "other"}))],
        ..Case::default()
    };
    let mut world = World::new(case, true).expect("a case");
    let (place, pod) = world.pending().remove(0);
    let text = world
        .judge(&place, &pod)
        .expect_err("no profile")
        .to_string();
    assert_eq!(
        text,
        "pending[0] (a): no profile has the schedulerName \"other\""
    );
}

#[test]
fn each_pod_is_judged_alone_and_placed_after_those_before_it() {
    let case = Case {
        objects: vec![node("n1"), node("n2")],
        pending: vec![
            pod("a", &cpu("2")),
            pod("b", &cpu("2")),
            pod("c", &cpu("1")),
        ],
        ..Case::default()
    };
    let mut world = World::new(case, true).expect("a case");
    let pending = world.pending();
    let verdicts: Vec<usize> = pending
        .iter()
        .map(|(place, pod)| world.judge(place, pod).expect("a verdict").feasible)
        .collect();
    assert_eq!(verdicts, [2, 2, 2]);
    let placed = pending.iter().map(|(place, pod)| {
        let placement = world.place(place, pod).expect("a verdict");
        placement.node.map(|node| node.to_string())
    });
    let placed: Vec<Option<String>> = placed.collect();
    assert_eq!(placed, [Some("n1".to_owned()), Some("n2".to_owned()), None]);
}
