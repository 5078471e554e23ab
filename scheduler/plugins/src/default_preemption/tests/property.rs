//! Victims are legal and as few as possible, whatever the cluster.

use std::sync::Arc;

use plimsoll_framework::test_util::{Cluster, PodBuilder, Scene, Trial, cluster, node, pod};
use plimsoll_framework::{
    Cycle, CycleState, FilterOutcome, Handle, NodeId, NodeInfo, PostFilterOutcome, Preemption,
    Rejection,
};
use plimsoll_objects::Pod;
use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::Value;

use super::{budget, spec};

/// Judges nodes by cpu and by ports.
struct ByHand;

impl Handle for ByHand {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let free = node.allocatable().cpu - node.requested.cpu;
        if cycle.pod.spec.requests.filter.cpu > free {
            return Err(Rejection::unschedulable("Insufficient cpu"));
        }
        let asked = cycle.pod.host_ports();
        if asked.iter().any(|port| node.used_ports.contains(port)) {
            return Err(Rejection::unschedulable("no free ports"));
        }
        Ok(FilterOutcome::Pass)
    }

    fn add_pod(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection> {
        node.add_pod(Arc::clone(pod));
        Ok(())
    }

    fn remove_pod(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection> {
        node.remove_pod(pod.uid());
        Ok(())
    }
}

/// What the plugin does for the pod of `scene`, which no node takes.
pub(super) fn ask(scene: &Scene, args: &Value) -> Result<PostFilterOutcome, Rejection> {
    let (cycle, state) = (scene.cycle(), CycleState::new());
    let verdicts: Vec<(NodeId, Rejection)> = scene
        .snapshot
        .nodes()
        .filter_map(|node| Some((node.id, ByHand.filter(&cycle, &state, node).err()?)))
        .collect();
    let trial = Trial::new(&spec(), args);
    let hook = trial.hooks.post_filter.as_ref().expect("it has one");
    hook.post_filter(&cycle, &state, &verdicts, &ByHand)
}

/// The text with which a promise is taken back.
pub(super) fn withdrawn(cluster: &Cluster, pod: &PodBuilder) -> String {
    match ask(&cluster.scene(pod), &Value::Null) {
        Ok(PostFilterOutcome::Withdraw { reason }) => reason.unwrap_or_default().into_owned(),
        other => panic!("not withdrawn: {other:?}"),
    }
}

/// The names of the nodes that are as good as the best, and of all candidates.
pub(super) fn names(cluster: &Cluster, pod: &PodBuilder, args: &Value) -> [Vec<String>; 2] {
    let scene = cluster.scene(pod);
    let Ok(PostFilterOutcome::Nominate {
        tied, candidates, ..
    }) = ask(&scene, args)
    else {
        panic!("no node is named");
    };
    let name = |id: NodeId| {
        let node = scene.snapshot.get(id).expect("a node of the scene");
        node.name().to_string()
    };
    [
        tied.into_iter().map(name).collect(),
        candidates.iter().map(|one| name(one.node)).collect(),
    ]
}

/// Per node: priority, cpu and budget of each pod.
fn clusters() -> impl Strategy<Value = Vec<Vec<(i32, u32, u8)>>> {
    let pods = prop::collection::vec((0..12_i32, 0..4_u32, 0..3_u8), 0..6);
    prop::collection::vec(pods, 1..5)
}

fn build(nodes: &[Vec<(i32, u32, u8)>]) -> Cluster {
    let names: Vec<String> = (0..nodes.len()).map(|index| format!("n{index}")).collect();
    let mut pods = Vec::new();
    for (name, on) in names.iter().zip(nodes) {
        for (index, (priority, cpu, app)) in on.iter().enumerate() {
            let pod = pod(&format!("{name}-{index}")).priority(*priority);
            let labelled = pod.label("app", &format!("app-{app}"));
            pods.push(labelled.cpu(&cpu.to_string()).on(name));
        }
    }
    let budgets = [budget("none", "app-0", 0), budget("one", "app-1", 1)];
    cluster(names.iter().map(|name| node(name).cpu("6")))
        .pods(pods)
        .objects(budgets)
}

/// The node without the victims of the candidate.
fn without(scene: &Scene, candidate: &Preemption) -> NodeInfo {
    let node = scene.snapshot.get(candidate.node).expect("a node");
    let mut node = NodeInfo::clone(node);
    for victim in &candidate.victims {
        let gone = node.remove_pod(victim.uid());
        assert!(gone.is_some(), "a victim is on the node");
    }
    node
}

pub(super) fn takes(scene: &Scene, node: &NodeInfo) -> bool {
    let judged = ByHand.filter(&scene.cycle(), &CycleState::new(), node);
    judged.is_ok()
}

/// How many of the victims no order could let go within their budgets.
fn surely_over(victims: &[Arc<Pod>]) -> usize {
    let of = |app: &str| {
        let labels = victims.iter().filter_map(|pod| pod.meta.labels.get("app"));
        labels.filter(|label| &***label == app).count()
    };
    of("app-0") + of("app-1").saturating_sub(1)
}

proptest! {
    #[test]
    fn victims_are_legal_and_none_is_one_too_many(
        nodes in clusters(), priority in 0..14_i32, cpu in 1..7_u32,
    ) {
        let preemptor = pod("p").priority(priority).cpu(&cpu.to_string());
        let scene = build(&nodes).scene(&preemptor);
        let outcome = ask(&scene, &Value::Null).expect("nothing forbids it");
        let PostFilterOutcome::Nominate { node, victims, candidates, tied, .. } = outcome else {
            return Ok(());
        };
        for candidate in &candidates {
            prop_assert!(!candidate.victims.is_empty());
            for victim in &candidate.victims {
                prop_assert!(victim.spec.priority < priority);
            }
            let node = without(&scene, candidate);
            prop_assert!(takes(&scene, &node), "the victims make room");
            for victim in &candidate.victims {
                let mut node = node.clone();
                node.add_pod(Arc::clone(victim));
                prop_assert!(!takes(&scene, &node), "{} goes for nothing", victim.key());
            }
            prop_assert!(surely_over(&candidate.victims) <= candidate.pdb_violations);
            prop_assert!(candidate.pdb_violations <= candidate.victims.len());
        }
        let chosen = candidates.iter().find(|one| one.node == node).expect("a candidate");
        prop_assert_eq!(&chosen.victims, &victims);
        prop_assert!(tied.contains(&node));
        let fewest = candidates.iter().map(|one| one.pdb_violations).min();
        prop_assert_eq!(Some(chosen.pdb_violations), fewest);
    }

    #[test]
    fn a_node_is_found_wherever_all_lower_pods_together_make_room(
        nodes in clusters(), priority in 0..14_i32, cpu in 1..7_u32,
    ) {
        let preemptor = pod("p").priority(priority).cpu(&cpu.to_string());
        let scene = build(&nodes).scene(&preemptor);
        let helps = |node: &NodeInfo| {
            let below = node.pods.iter().filter(|pod| pod.spec.priority < priority);
            let candidate = Preemption {
                node: node.id,
                victims: below.map(Arc::clone).collect(),
                pdb_violations: 0,
            };
            !takes(&scene, node) && !candidate.victims.is_empty()
                && takes(&scene, &without(&scene, &candidate))
        };
        let expected: Vec<NodeId> = scene
            .snapshot
            .nodes()
            .filter(|node| helps(node))
            .map(|node| node.id)
            .collect();
        let found = match ask(&scene, &Value::Null).expect("nothing forbids it") {
            PostFilterOutcome::Nominate { candidates, .. } => {
                candidates.iter().map(|one| one.node).collect()
            }
            _ => Vec::new(),
        };
        prop_assert_eq!(found, expected);
    }
}
