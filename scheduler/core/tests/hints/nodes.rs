//! Plugins that look at one node at a time.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::hold;
use crate::theme::{Theme, none, plain_node, plain_pod};

/// A theme in which all is plain.
const PLAIN: Theme = Theme {
    plugin: "",
    args: "",
    node: plain_node,
    placed: plain_pod,
    own: plain_pod,
    objects: none,
    weights: [5, 3, 2, 2],
    present: 60,
    mutable: &[],
};

fn tolerations(dice: &mut Dice, keys: &[&str]) -> Value {
    let mut list = Vec::new();
    for key in keys {
        if dice.chance(30) {
            let effect = dice.pick(&["", "NoSchedule", "NoExecute"]);
            let operator = dice.pick(&["Exists", "Equal"]);
            let mut one = json!({"key": key, "operator": operator, "effect": effect});
            if operator == "Equal" {
                one["value"] = dice.pick(&["", "x"]).into();
            }
            list.push(one);
        }
    }
    list.into()
}

fn tolerating(dice: &mut Dice) -> Value {
    json!({"spec": {"tolerations": tolerations(dice, &["a", "b", "node.kubernetes.io/unschedulable"])}})
}

#[test]
fn node_unschedulable() {
    hold(
        &Theme {
            plugin: "NodeUnschedulable",
            node: |dice, _| json!({"spec": {"unschedulable": dice.chance(75)}}),
            own: tolerating,
            ..PLAIN
        },
        &[],
    );
}

#[test]
fn taint_toleration() {
    let node = |dice: &mut Dice, _: &str| {
        let mut taints = Vec::new();
        for key in ["a", "b"] {
            if dice.chance(60) {
                let effect = dice.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule"]);
                taints.push(json!({"key": key, "value": dice.pick(&["", "x"]), "effect": effect}));
            }
        }
        json!({"spec": {"taints": taints}})
    };
    hold(
        &Theme {
            plugin: "TaintToleration",
            node,
            own: tolerating,
            ..PLAIN
        },
        &[],
    );
}

fn labelled(dice: &mut Dice, _: &str) -> Value {
    json!({"metadata": {"labels": dice.labels(60, &["a", "b"], &["1", "2", "3"])}})
}

fn expression(dice: &mut Dice) -> Value {
    let key = dice.pick(&["a", "b"]);
    match dice.below(5) {
        0 => json!({"key": key, "operator": "Exists"}),
        1 => json!({"key": key, "operator": "DoesNotExist"}),
        2 => json!({"key": key, "operator": "NotIn", "values": ["1", "2"]}),
        3 => json!({"key": key, "operator": "Gt", "values": [dice.pick(&["1", "2"])]}),
        _ => json!({"key": key, "operator": "In", "values": [dice.pick(&["1", "2", "3"])]}),
    }
}

fn choosy(dice: &mut Dice) -> Value {
    let mut terms = Vec::new();
    for _ in 0..=dice.below(2) {
        let mut term = json!({"matchExpressions": [expression(dice), expression(dice)]});
        if dice.chance(20) {
            let names = [dice.pick(&["n0", "n6", "n7"])];
            term["matchFields"] =
                json!([{"key": "metadata.name", "operator": "In", "values": names}]);
        }
        terms.push(term);
    }
    let required = json!({"nodeSelectorTerms": terms});
    let mut spec = json!({});
    if dice.chance(80) {
        spec["affinity"] =
            json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
    }
    if dice.chance(40) {
        spec["nodeSelector"] = dice.labels(50, &["a", "b"], &["1", "2"]);
    }
    json!({"spec": spec})
}

#[test]
fn node_affinity() {
    let theme = Theme {
        plugin: "NodeAffinity",
        node: labelled,
        own: choosy,
        ..PLAIN
    };
    hold(&theme, &[]);
    let args = "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
                [{matchExpressions: [{key: a, operator: Exists}]}]}}}";
    hold(&Theme { args, ..theme }, &[]);
}

fn with_ports(dice: &mut Dice) -> Value {
    let mut ports = Vec::new();
    for _ in 0..=dice.below(2) {
        ports.push(json!({
            "containerPort": 80, "hostPort": dice.pick(&[80, 81, 82]),
            "protocol": dice.pick(&["TCP", "TCP", "UDP"]),
            "hostIP": dice.pick(&["", "10.0.0.1", "0.0.0.0"]),
        }));
    }
    json!({"spec": {"containers": [{"name": "main", "resources": {}, "ports": ports}]}})
}

#[test]
fn node_ports() {
    hold(
        &Theme {
            plugin: "NodePorts",
            placed: with_ports,
            own: with_ports,
            ..PLAIN
        },
        &[],
    );
}

fn amounts(dice: &mut Dice, most: usize) -> Value {
    let mut amounts = json!({});
    for name in [
        "cpu",
        "memory",
        "ephemeral-storage",
        "example.com/x",
        "example.com/gpu",
    ] {
        if dice.chance(55) {
            amounts[name] = dice.below(most).to_string().into();
        }
    }
    amounts
}

fn asking(dice: &mut Dice) -> Value {
    json!({"spec": {"containers": [{"name": "main", "resources": {"requests": amounts(dice, 5)}}]}})
}

fn offering(dice: &mut Dice, _: &str) -> Value {
    let mut offers = amounts(dice, 9);
    offers["pods"] = dice.pick(&["1", "2", "110"]).into();
    json!({"status": {"allocatable": offers}})
}

#[test]
fn node_resources_fit() {
    let theme = Theme {
        plugin: "NodeResourcesFit",
        node: offering,
        placed: asking,
        own: asking,
        ..PLAIN
    };
    hold(&theme, &[]);
    let args = "{ignoredResources: [example.com/x], ignoredResourceGroups: [other.example.com]}";
    hold(&Theme { args, ..theme }, &[]);
}

/// A class of devices that stands behind the extended resource.
fn classes(dice: &mut Dice) -> Vec<Value> {
    let mut class = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {},
    });
    if dice.chance(60) {
        class["spec"]["extendedResourceName"] = "example.com/gpu".into();
    }
    vec![class]
}

#[test]
fn node_resources_fit_with_devices_behind_a_resource() {
    hold(
        &Theme {
            plugin: "NodeResourcesFit",
            node: offering,
            own: asking,
            objects: classes,
            mutable: &[("DeviceClass", "/spec/extendedResourceName")],
            ..PLAIN
        },
        &[],
    );
}

#[test]
fn node_declared_features() {
    let node = |dice: &mut Dice, _: &str| {
        let names = [
            "RestartAllContainersOnContainerExits",
            "UserNamespacesHostNetworkSupport",
        ];
        let names: Vec<&str> = names.into_iter().filter(|_| dice.chance(40)).collect();
        json!({"status": {"declaredFeatures": names}})
    };
    let own = |dice: &mut Dice| {
        let mut spec = json!({});
        if dice.chance(50) {
            spec["hostNetwork"] = true.into();
            spec["hostUsers"] = false.into();
        }
        let rules = json!([{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]);
        let rules = if dice.chance(50) { rules } else { Value::Null };
        spec["containers"] =
            json!([{"name": "main", "resources": {}, "restartPolicyRules": rules}]);
        json!({"spec": spec})
    };
    hold(
        &Theme {
            plugin: "NodeDeclaredFeatures",
            node,
            own,
            ..PLAIN
        },
        &[],
    );
}

#[test]
fn scheduling_gates() {
    let own = |dice: &mut Dice| {
        let gates = [json!({"name": "a"}), json!({"name": "b"})];
        json!({"spec": {"schedulingGates": gates[..=dice.below(2)]}})
    };
    hold(
        &Theme {
            plugin: "SchedulingGates",
            own,
            ..PLAIN
        },
        &[],
    );
}
