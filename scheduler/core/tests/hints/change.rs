//! One random change of a cluster, such as the API server allows: one property of one object.

use serde_json::Value;

use crate::dice::Dice;
use crate::theme::{Theme, dressed, named, placed_pod};
use crate::world::{World, name_of};

const NODE_ASPECTS: [&str; 6] = [
    "/metadata/labels",
    "/metadata/annotations",
    "/spec/taints",
    "/spec/unschedulable",
    "/status/allocatable",
    "/status/declaredFeatures",
];

/// All that may change of what a pod asks for (`ValidatePodResize`).
const CPU: &str = "/spec/containers/0/resources/requests/cpu";
const MEMORY: &str = "/spec/containers/0/resources/requests/memory";

const GATES: &str = "/spec/schedulingGates";
const TOLERATIONS: &str = "/spec/tolerations";

/// In place of a property: all that the draws of one object differ in.
pub(crate) const ALL: &str = "*";

/// Changes `world`; gives what was done, for people.
pub(crate) fn change(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    for _ in 0..20 {
        let before = world.clone();
        let told = match kind_of_change(dice, theme) {
            0 => node_change(dice, theme, world),
            1 => pod_change(dice, theme, world),
            2 => change_own(dice, theme, world),
            _ => change_object(dice, theme, world),
        };
        if *world != before {
            return told;
        }
    }
    "nothing".to_owned()
}

fn any_key<T>(dice: &mut Dice, of: &std::collections::BTreeMap<String, T>) -> Option<String> {
    let index = dice.below(of.len().max(1));
    of.keys().nth(index).cloned()
}

/// An index into the theme's weights.
fn kind_of_change(dice: &mut Dice, theme: &Theme) -> usize {
    let mut left = dice.below(theme.weights.iter().sum());
    let mut weights = theme.weights.iter();
    let found = weights.position(|weight| {
        let found = left < *weight;
        left = left.saturating_sub(*weight);
        found
    });
    found.expect("below their sum")
}

fn node_change(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    match dice.below(8) {
        0 => remove_node(dice, world),
        1 | 2 => add_node(dice, theme, world),
        _ => change_node(dice, theme, world),
    }
}

fn pod_change(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    match dice.below(4) {
        0 => add_pod(dice, theme, world),
        1 => change_pod(dice, theme, world),
        _ => remove_pod(dice, world),
    }
}

fn add_node(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    let name = format!("n{}", world.nodes.len() + 5);
    let node = named((theme.node)(dice, &name), &name);
    world.nodes.insert(name, node);
    "node added".into()
}

/// One property of a node becomes as that of another draw.
fn change_node(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    let Some(name) = any_key(dice, &world.nodes) else {
        return String::new();
    };
    let other = named((theme.node)(dice, &name), &name);
    let node = world.nodes.entry(name).or_default();
    let differs = |aspect: &&str| node.pointer(aspect) != other.pointer(aspect);
    let aspects: Vec<&str> = NODE_ASPECTS.into_iter().filter(differs).collect();
    if aspects.is_empty() {
        return String::new();
    }
    let aspect = dice.pick(&aspects);
    take_over(node, &other, aspect);
    format!("node {aspect}")
}

fn add_pod(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    let Some(node) = any_key(dice, &world.nodes) else {
        return String::new();
    };
    let name = format!("new{}", world.placed.len());
    let pod = placed_pod(dice, theme, &name, &node);
    world.placed.insert(name, pod);
    "pod added".into()
}

fn remove_pod(dice: &mut Dice, world: &mut World) -> String {
    if let Some(name) = any_key(dice, &world.placed) {
        world.placed.remove(&name);
    }
    "pod gone".into()
}

fn remove_node(dice: &mut Dice, world: &mut World) -> String {
    if let Some(name) = any_key(dice, &world.nodes) {
        let here = |pod: &Value| pod["spec"]["nodeName"] == name.as_str();
        world.placed.retain(|_, pod| !here(pod));
        world.nodes.remove(&name);
    }
    "node and its pods gone".into()
}

/// Labels of a pod on a node change, or its requests.
fn change_pod(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    let Some(name) = any_key(dice, &world.placed) else {
        return String::new();
    };
    let node = world.placed[&name]["spec"]["nodeName"].clone();
    let other = placed_pod(dice, theme, &name, node.as_str().unwrap_or_default());
    let aspect = dice.pick(&["/metadata/labels", CPU, MEMORY]);
    if let Some(pod) = world.placed.get_mut(&name) {
        take_over(pod, &other, aspect);
    }
    format!("pod {aspect}")
}

/// What may change of a pod that waits.
fn change_own(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    let other = dressed((theme.own)(dice), "own");
    let aspects = [
        "/metadata/labels",
        CPU,
        MEMORY,
        GATES,
        "/status/resourceClaimStatuses",
        TOLERATIONS,
    ];
    let list = |pod: &Value, at: &str| {
        pod.pointer(at)
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    };
    let differs = |aspect: &&str| match *aspect {
        GATES => list(&world.own, GATES) > 0,
        TOLERATIONS => list(&other, TOLERATIONS) > 0,
        _ => world.own.pointer(aspect) != other.pointer(aspect),
    };
    let aspects: Vec<&str> = aspects.into_iter().filter(differs).collect();
    if aspects.is_empty() {
        return String::new();
    }
    let aspect = dice.pick(&aspects);
    match aspect {
        // Gates only go, tolerations only come.
        GATES => {
            if let Some(gates) = world.own["spec"]["schedulingGates"].as_array_mut() {
                gates.pop();
            }
        }
        TOLERATIONS => {
            let more = other["spec"]["tolerations"].as_array().cloned();
            if let Some(list) = world.own["spec"]["tolerations"].as_array_mut() {
                list.extend(more.unwrap_or_default());
            }
        }
        _ => take_over(&mut world.own, &other, aspect),
    }
    format!("own {aspect}")
}

/// An object comes, goes or becomes what the API server lets it become.
fn change_object(dice: &mut Dice, theme: &Theme, world: &mut World) -> String {
    let drawn = (theme.objects)(dice);
    if drawn.is_empty() {
        return String::new();
    }
    let mut kinds: Vec<&Value> = drawn.iter().map(|json| &json["kind"]).collect();
    kinds.dedup();
    let kind = dice.pick(&kinds);
    let of_kind: Vec<&Value> = drawn.iter().filter(|json| json["kind"] == *kind).collect();
    let new = dice.pick(&of_kind).clone();
    let (kind, name) = (new["kind"].clone(), name_of(&new));
    let Some(old) = world.objects.get_mut(&name) else {
        world.insert(new);
        return format!("{kind} added");
    };
    if dice.chance(25) {
        world.objects.remove(&name);
        return format!("{kind} gone");
    }
    let aspects = theme.mutable.iter().filter(|(of, _)| kind == *of);
    let aspects: Vec<&str> = aspects.map(|(_, aspect)| *aspect).collect();
    if aspects.is_empty() {
        return String::new();
    }
    let aspect = dice.pick(&aspects);
    if aspect == ALL {
        *old = new;
    } else {
        take_over(old, &new, aspect);
    }
    format!("{kind} {aspect}")
}

/// Makes what is at `pointer` as it is in `other`.
fn take_over(json: &mut Value, other: &Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let Some(parent) = json.pointer_mut(parent).and_then(Value::as_object_mut) else {
        return;
    };
    match other.pointer(pointer) {
        Some(value) => parent.insert(key.to_owned(), value.clone()),
        None => parent.remove(key),
    };
}
