//! Victims and nodes are those that the rules name, read word by word on small clusters.
//!
//! The model tries every set of pods that could go. Rules: pods are spared in order, those
//! whose budget would be overdrawn first, of them the most important first; of the nodes the
//! one where the fewest budgets are overdrawn, then by the victims' priorities, their number,
//! and the later start.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::test_util::{Cluster, PodBuilder, Scene, cluster, node, pod};
use plimsoll_framework::{NodeInfo, PostFilterOutcome};
use plimsoll_objects::Pod;
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::property::{ask, takes};

/// By name: the label that a pod falls under it for, how many may go, who is let go already.
const BUDGETS: [(&str, &str, usize, &str); 4] = [
    ("all", "shop", 2, ""),
    ("database", "db", 0, "n0-0"),
    ("strict", "web", 0, ""),
    ("web", "web", 1, "n1-1"),
];

/// A running pod.
#[derive(Debug, Clone)]
struct Runs {
    priority: i32,
    cpu: u32,
    labels: (bool, bool, bool),
    /// Minutes.
    started: Option<u8>,
}

/// Which budgets there are, and the pods of each node.
#[derive(Debug, Clone)]
struct Plan {
    budgets: Vec<bool>,
    nodes: Vec<Vec<Runs>>,
}

/// What a node loses.
#[derive(Debug, PartialEq)]
struct Loss {
    node: String,
    victims: Vec<Arc<Pod>>,
    violations: usize,
}

fn plans() -> impl Strategy<Value = Plan> {
    let minutes = prop::option::weighted(0.8, 0..3_u8);
    let runs = (-1..2_i32, 0..4_u32, any::<(bool, bool, bool)>(), minutes);
    let runs = runs.prop_map(|(priority, cpu, labels, started)| Runs {
        priority,
        cpu,
        labels,
        started,
    });
    let pods = prop::collection::vec(runs, 1..7);
    let nodes = prop::collection::vec(pods, 1..5);
    let budgets = prop::collection::vec(any::<bool>(), BUDGETS.len());
    (budgets, nodes).prop_map(|(budgets, nodes)| Plan { budgets, nodes })
}

fn build(plan: &Plan) -> Cluster {
    let mut pods = Vec::new();
    for (node, on) in plan.nodes.iter().enumerate() {
        for (index, runs) in on.iter().enumerate() {
            pods.push(running(&format!("n{node}-{index}"), runs).on(&format!("n{node}")));
        }
    }
    let names = (0..plan.nodes.len()).map(|index| format!("n{index}"));
    cluster(names.map(|name| node(&name).cpu("6")))
        .pods(pods)
        .objects(budgets(plan).map(|(name, label, allowed, gone)| {
            let gone = if gone.is_empty() {
                json!({})
            } else {
                json!({gone: null})
            };
            json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"selector": {"matchLabels": {label: "yes"}}},
                "status": {"disruptionsAllowed": allowed, "disruptedPods": gone},
            })
        }))
}

fn budgets(plan: &Plan) -> impl Iterator<Item = (&'static str, &'static str, usize, &'static str)> {
    let chosen = BUDGETS.into_iter().zip(&plan.budgets);
    chosen
        .filter(|(_, is_there)| **is_there)
        .map(|(budget, _)| budget)
}

fn running(name: &str, runs: &Runs) -> PodBuilder {
    let mut made = pod(name).priority(runs.priority).cpu(&runs.cpu.to_string());
    let (web, shop, db) = runs.labels;
    for (label, has) in [("web", web), ("shop", shop), ("db", db)] {
        if has {
            made = made.label(label, "yes");
        }
    }
    match runs.started {
        Some(minute) => made.started(&format!("1970-01-01T00:0{minute}:00Z")),
        None => made,
    }
}

/// Of each node that turned the pod down and where it would help.
fn losses(plan: &Plan, scene: &Scene) -> Vec<Loss> {
    let nodes = scene.snapshot.nodes();
    let full = nodes.filter(|node| !takes(scene, node));
    full.filter_map(|node| loss(plan, scene, node)).collect()
}

fn loss(plan: &Plan, scene: &Scene, node: &NodeInfo) -> Option<Loss> {
    let priority = scene.pod.spec.priority;
    let below = node.pods.iter().filter(|pod| pod.spec.priority < priority);
    let mut below: Vec<Arc<Pod>> = below.map(Arc::clone).collect();
    below.sort_by(|a, b| importance(scene, a, b));
    let over = overdrawing(plan, &below);
    // The order in which they are spared.
    let part = |wanted: bool| {
        let pairs = below.iter().zip(&over);
        pairs
            .filter(move |(_, over)| **over == wanted)
            .map(|(pod, _)| pod)
    };
    let order: Vec<&Arc<Pod>> = part(true).chain(part(false)).collect();
    // Of all sets that make room, the one that spares the first as far as it can, then the
    // second, and so on.
    let sets = (0..1_u32 << order.len()).map(|set| {
        let spared = (0..order.len()).map(|index| set & (1 << index) != 0);
        spared.collect::<Vec<bool>>()
    });
    let best = sets
        .filter(|spared| takes(scene, &spare(node, &order, spared)))
        .max()?;
    let gone = order.iter().zip(&best).filter(|(_, spared)| !**spared);
    let mut victims: Vec<Arc<Pod>> = gone.map(|(pod, _)| Arc::clone(pod)).collect();
    let guarded = over.iter().filter(|over| **over).count();
    let violations = best[..guarded].iter().filter(|spared| !**spared).count();
    victims.sort_by(|a, b| importance(scene, a, b));
    Some(Loss {
        node: node.name().to_string(),
        victims,
        violations,
    })
}

/// The node without those of `order` that are not spared.
fn spare(node: &NodeInfo, order: &[&Arc<Pod>], spared: &[bool]) -> NodeInfo {
    let mut node = node.clone();
    for (pod, _) in order.iter().zip(spared).filter(|(_, spared)| !**spared) {
        node.remove_pod(pod.uid());
    }
    node
}

/// `Less` if `a` is the more important one: by priority, then by age; equals as they come.
fn importance(scene: &Scene, a: &Pod, b: &Pod) -> Ordering {
    let by_priority = b.spec.priority.cmp(&a.spec.priority);
    by_priority.then(started(scene, a).cmp(&started(scene, b)))
}

fn started(scene: &Scene, pod: &Pod) -> i128 {
    pod.status.started.unwrap_or(scene.now.wall).as_nanosecond()
}

/// Whether each of `pods` finds a budget of its own used up by those before it. A budget that
/// lets it go already is not asked; one after the first that is used up is not either.
fn overdrawing(plan: &Plan, pods: &[Arc<Pod>]) -> Vec<bool> {
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    let mut over = Vec::new();
    for pod in pods {
        let mut is_over = false;
        for (name, label, allowed, gone) in budgets(plan) {
            let counts = pod.meta.labels.contains_key(label) && *gone != *pod.key().name;
            if counts && !is_over {
                let used = used.entry(name).or_default();
                *used += 1;
                is_over = *used > allowed;
            }
        }
        over.push(is_over);
    }
    over
}

/// `Less` if less is lost with `a`.
fn harm(scene: &Scene, a: &Loss, b: &Loss) -> Ordering {
    let highest = |loss: &Loss| loss.victims.iter().map(|pod| pod.spec.priority).max();
    // As if the lowest priority that there is were 0.
    let sum = |loss: &Loss| {
        let weights = loss.victims.iter().map(|pod| i64::from(pod.spec.priority));
        weights.map(|weight| weight + (1 << 31)).sum::<i64>()
    };
    let start = |loss: &Loss| {
        let top = highest(loss);
        let mut of_top = loss
            .victims
            .iter()
            .filter(|pod| Some(pod.spec.priority) == top);
        let first = of_top.next().map(|pod| started(scene, pod));
        of_top.fold(first, |first, pod| first.min(Some(started(scene, pod))))
    };
    a.violations
        .cmp(&b.violations)
        .then(highest(a).cmp(&highest(b)))
        .then(sum(a).cmp(&sum(b)))
        .then(a.victims.len().cmp(&b.victims.len()))
        .then(start(b).cmp(&start(a)))
}

fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
    let mut names: Vec<&str> = pods.iter().map(|pod| &*pod.key().name).collect();
    names.sort_unstable();
    names
}

proptest! {
    // Ties up to the last rule are rare.
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn victims_and_node_are_those_that_the_rules_name(
        plan in plans(), priority in 0..3_i32, cpu in 1..7_u32,
    ) {
        let preemptor = pod("p").priority(priority).cpu(&cpu.to_string());
        let scene = build(&plan).scene(&preemptor);
        let expected = losses(&plan, &scene);
        let outcome = ask(&scene, &Value::Null).expect("nothing forbids it");
        let PostFilterOutcome::Nominate { node, victims, candidates, tied, .. } = outcome else {
            prop_assert_eq!(expected.len(), 0);
            return Ok(());
        };
        let name = |id| scene.snapshot.get(id).expect("a node").name().to_string();
        let found: Vec<_> = candidates
            .iter()
            .map(|one| (name(one.node), names(&one.victims), one.pdb_violations))
            .collect();
        let wanted: Vec<_> = expected
            .iter()
            .map(|loss| (loss.node.clone(), names(&loss.victims), loss.violations))
            .collect();
        prop_assert_eq!(found, wanted);
        let least = |a: &Loss| expected.iter().all(|b| harm(&scene, a, b).is_le());
        let best: Vec<&Loss> = expected.iter().filter(|loss| least(loss)).collect();
        let best_nodes: Vec<&str> = best.iter().map(|loss| &*loss.node).collect();
        let tied: Vec<String> = tied.into_iter().map(name).collect();
        prop_assert_eq!(tied, best_nodes.clone());
        prop_assert_eq!(name(node), best_nodes[0]);
        prop_assert_eq!(names(&victims), names(&best[0].victims));
        let highest_first = victims.windows(2).all(|pair| importance(&scene, &pair[0], &pair[1]).is_le());
        prop_assert_eq!(highest_first, true);
    }
}
