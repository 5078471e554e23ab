//! Plugins that look at the pods of all nodes.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::hold;
use crate::theme::{Theme, none};

fn node(dice: &mut Dice, _: &str) -> Value {
    let mut node =
        json!({"metadata": {"labels": dice.labels(80, &["zone", "rack"], &["1", "2", "3"])}});
    if dice.chance(25) {
        node["spec"] = json!({"taints": [{"key": "t", "value": "", "effect": "NoSchedule"}]});
    }
    node
}

fn selector(dice: &mut Dice) -> Value {
    match dice.below(5) {
        0 => json!({}),
        1 => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]}),
        2 => json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
        _ => json!({"matchLabels": {"app": dice.pick(&["x", "y"])}}),
    }
}

fn labels(dice: &mut Dice) -> Value {
    dice.labels(75, &["app", "tier"], &["x", "y"])
}

fn spreading(dice: &mut Dice) -> Value {
    let mut constraints = Vec::new();
    let keys = ["zone", "rack", "kubernetes.io/hostname"];
    for key in &keys[dice.below(3)..] {
        if !constraints.is_empty() && dice.chance(60) {
            continue;
        }
        let mut one = json!({
            "topologyKey": key, "maxSkew": 1 + dice.below(2), "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector(dice),
        });
        if dice.chance(30) {
            one["minDomains"] = (1 + dice.below(3)).into();
        }
        if dice.chance(30) {
            one["nodeTaintsPolicy"] = "Honor".into();
        }
        if dice.chance(20) {
            one["nodeAffinityPolicy"] = "Ignore".into();
        }
        if dice.chance(20) {
            one["matchLabelKeys"] = json!(["tier"]);
        }
        constraints.push(one);
    }
    let mut spec = json!({"topologySpreadConstraints": constraints});
    if dice.chance(25) {
        spec["nodeSelector"] = dice.labels(60, &["zone", "rack"], &["1", "2"]);
    }
    if dice.chance(25) {
        spec["tolerations"] = json!([{"key": "t", "operator": "Exists"}]);
    }
    json!({"metadata": {"labels": labels(dice)}, "spec": spec})
}

#[test]
fn pod_topology_spread() {
    hold(
        &Theme {
            plugin: "PodTopologySpread",
            args: "{defaultingType: List}",
            node,
            placed: |dice| json!({"metadata": {"labels": labels(dice)}}),
            own: spreading,
            objects: none,
            weights: [3, 4, 2, 0],
            present: 0,
            mutable: &[],
        },
        &[],
    );
}

fn term(dice: &mut Dice) -> Value {
    let mut term = json!({
        "topologyKey": dice.pick(&["zone", "rack", "kubernetes.io/hostname"]),
        "labelSelector": selector(dice),
    });
    match dice.below(4) {
        0 => term["namespaces"] = json!(["default", "far"]),
        1 => term["namespaceSelector"] = json!({"matchLabels": {"team": "a"}}),
        _ => {}
    }
    if dice.chance(15) {
        term["matchLabelKeys"] = json!(["tier"]);
    }
    if dice.chance(10) {
        term["mismatchLabelKeys"] = json!(["tier"]);
    }
    term
}

fn terms(dice: &mut Dice, percent: usize) -> Value {
    let terms: Vec<Value> = (0..2)
        .filter(|_| dice.chance(percent))
        .collect::<Vec<i32>>()
        .into_iter()
        .map(|_| term(dice))
        .collect();
    json!({"requiredDuringSchedulingIgnoredDuringExecution": terms})
}

fn social(dice: &mut Dice) -> Value {
    json!({
        "metadata": {"labels": labels(dice)},
        "spec": {"affinity": {"podAffinity": terms(dice, 45), "podAntiAffinity": terms(dice, 45)}},
    })
}

fn placed(dice: &mut Dice) -> Value {
    let mut pod = social(dice);
    pod["metadata"]["namespace"] = dice.pick(&["default", "default", "far"]).into();
    pod["spec"]["affinity"]["podAntiAffinity"] = terms(dice, 25);
    pod
}

#[test]
fn inter_pod_affinity() {
    hold(
        &Theme {
            plugin: "InterPodAffinity",
            args: "",
            node,
            placed,
            own: social,
            objects: |dice| {
                let namespace = |name: &str, team: &str| {
                    json!({
                        "apiVersion": "v1", "kind": "Namespace",
                        "metadata": {"name": name, "labels": {"team": team}},
                    })
                };
                vec![
                    namespace("default", dice.pick(&["a", "b"])),
                    namespace("far", dice.pick(&["a", "b"])),
                ]
            },
            weights: [3, 5, 2, 1],
            present: 100,
            mutable: &[("Namespace", "/metadata/labels")],
        },
        // No plugin of kube-scheduler can register for namespaces (framework/types.go,
        // `allResources`): it looks again after five minutes.
        &[
            "\"Namespace\" /metadata/labels",
            "\"Namespace\" gone",
            "\"Namespace\" added",
        ],
    );
}
