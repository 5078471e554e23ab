//! Pods that ask for a thousand things at once, with every default plugin: they are judged
//! like any other, in one try, and wait for what they lack.

use std::collections::BTreeMap;

use plimsoll_config::SchedulerConfig;
use serde_json::{Value, json};

use crate::theme::{dressed, named};
use crate::world::{Life, World};

const MANY: usize = 1_000;

/// A node with a thousand taints and labels, one pod on it, and `own` that waits.
fn world(own: Value) -> World {
    let numbers = || 0..MANY;
    let taints =
        numbers().map(|number| json!({"key": format!("t{number}"), "effect": "NoSchedule"}));
    let labels = numbers().map(|number| (format!("l{number}"), Value::from("x")));
    let labels: serde_json::Map<String, Value> = labels.collect();
    let node = json!({
        "metadata": {"labels": labels},
        "spec": {"taints": taints.collect::<Value>()},
    });
    let mut guest = dressed(json!({"metadata": {"labels": {"app": "x"}}}), "guest");
    guest["spec"]["nodeName"] = "n".into();
    let mut own = dressed(own, "own");
    if own["spec"]["tolerations"] == json!([]) {
        own["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    }
    World {
        nodes: BTreeMap::from([("n".to_owned(), named(node, "n"))]),
        placed: BTreeMap::from([("guest".to_owned(), guest)]),
        objects: BTreeMap::new(),
        own,
    }
}

fn default_config() -> SchedulerConfig {
    let text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    plimsoll_config::load(text, &plimsoll_plugins::registry()).expect("a right file")
}

/// Whether the pod is placed; it is tried once, and not again for what does not help it.
fn is_placed(own: Value) -> bool {
    let (config, world) = (default_config(), world(own));
    let mut life = Life::start(&config, &world);
    let mut after = world.clone();
    let node = after.nodes.get_mut("n").expect("the node");
    node["metadata"]["annotations"] = json!({"heartbeat": "1"});
    life.take(world.changes(&after));
    assert_eq!(life.tries(), 1);
    assert_ne!(life.is_placed(), life.sleeps());
    life.is_placed()
}

/// `count` of what `make` makes.
fn many(count: usize, make: impl Fn(usize) -> Value) -> Value {
    (0..count).map(make).collect()
}

#[test]
fn a_thousand_tolerations_count_each() {
    let tolerates = |count| {
        let list = many(
            count,
            |number| json!({"key": format!("t{number}"), "operator": "Exists"}),
        );
        json!({"spec": {"tolerations": list}})
    };
    assert!(is_placed(tolerates(MANY)));
    assert!(!is_placed(tolerates(MANY - 1)));
}

#[test]
fn one_of_a_thousand_terms_of_node_affinity_is_enough() {
    let wants = |helps: usize| {
        let terms = many(MANY, |number| {
            let value = if number == helps { "x" } else { "y" };
            json!({"matchExpressions": [{"key": format!("l{number}"), "operator": "In", "values": [value]}]})
        });
        let required = json!({"nodeSelectorTerms": terms});
        json!({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}})
    };
    assert!(is_placed(wants(MANY - 1)));
    assert!(!is_placed(wants(MANY)));
}

#[test]
fn a_thousand_terms_of_pod_affinity_count_each() {
    let wants = |kind: &str, odd: &str| {
        let terms = many(MANY, |number| {
            let app = if number == MANY - 1 { odd } else { "x" };
            let app = if kind == "podAntiAffinity" && app == "x" {
                "nobody"
            } else {
                app
            };
            json!({"topologyKey": format!("l{number}"), "labelSelector": {"matchLabels": {"app": app}}})
        });
        json!({"spec": {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}})
    };
    assert!(is_placed(wants("podAffinity", "x")));
    assert!(!is_placed(wants("podAffinity", "other")));
    assert!(is_placed(wants("podAntiAffinity", "other")));
    let mut meets = wants("podAntiAffinity", "other");
    let terms = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let terms = meets.pointer_mut(terms).expect("the terms");
    terms[MANY - 1]["labelSelector"]["matchLabels"]["app"] = "x".into();
    assert!(!is_placed(meets));
}

#[test]
fn a_thousand_spread_constraints_count_each() {
    let spreads = |last: &str| {
        let constraints = many(MANY, |number| {
            let key = if number == MANY - 1 {
                last.to_owned()
            } else {
                format!("l{number}")
            };
            json!({
                "topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "x"}},
            })
        });
        json!({"metadata": {"labels": {"app": "x"}}, "spec": {"topologySpreadConstraints": constraints}})
    };
    assert!(is_placed(spreads("l999")));
    assert!(!is_placed(spreads("nowhere")));
}

#[test]
fn a_thousand_host_ports_count_each() {
    let ports = |first: usize| {
        let ports = many(
            MANY,
            |number| json!({"containerPort": 80, "hostPort": first + number}),
        );
        json!({"spec": {"containers": [{"name": "main", "resources": {}, "ports": ports}]}})
    };
    assert!(is_placed(ports(1_000)));
    let mut held = world(ports(1_000));
    let port = json!([{"name": "main", "resources": {}, "ports": [{"containerPort": 80, "hostPort": 1_999}]}]);
    held.placed.get_mut("guest").expect("the guest")["spec"]["containers"] = port;
    assert!(!Life::start(&default_config(), &held).is_placed());
}
