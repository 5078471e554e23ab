//! Checks what a plugin does after the verdict: when no node passes, and when the pod is
//! bound.

use std::sync::Arc;

use plimsoll_objects::Pod;
use serde_json::Value;

use super::rejection_text;
use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::handle::Handle;
use crate::node::{NodeId, NodeInfo};
use crate::plugin::{FilterOutcome, PostFilterOutcome};
use crate::rejection::Rejection;
use crate::spec::PluginSpec;
use crate::test_util::cluster::{Cluster, Scene};
use crate::test_util::pod::PodBuilder;
use crate::test_util::trial::Trial;

/// Runs `PostFilter` for `pod`, which no node of `cluster` can take: `Nominate n1, evict
/// [default/a]`, `Retry`, or the rejection.
///
/// A node passes if the pod's requests of cpu and memory fit beside the pods on it and the
/// plugin's own `Filter`, where it has one, lets it pass; the plugin may try that on edited
/// nodes as it may with the engine.
///
/// # Panics
/// The test is written wrongly (a node passes as it is), or the plugin has no `PostFilter`.
pub fn check_post_filter(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
) -> String {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let (cycle, mut state) = (scene.cycle(), CycleState::new());
    if let Err(rejection) = trial.pre_filter(&cycle, &mut state) {
        panic!(
            "PreFilter turns the pod down: {}",
            rejection_text(&rejection)
        );
    }
    let engine = Engine { trial: &trial };
    let verdicts: Vec<(NodeId, Rejection)> = scene
        .snapshot
        .nodes()
        .map(|node| match engine.filter(&cycle, &state, node) {
            Err(rejection) => (node.id, rejection),
            Ok(_) => panic!("node {} can take the pod as it is", node.name()),
        })
        .collect();
    let hook = trial
        .hooks
        .post_filter
        .as_ref()
        .expect("the plugin has a PostFilter hook");
    match hook.post_filter(&cycle, &state, &verdicts, &engine) {
        Ok(outcome) => outcome_text(&outcome, &scene),
        Err(rejection) => rejection_text(&rejection),
    }
}

/// Tells the plugin that `pod` is bound to `node`; gives the state as it leaves it, for the
/// test to look into.
///
/// # Panics
/// The test is written wrongly, or the plugin has no `PostBind`.
pub fn check_post_bind(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
    node: &str,
) -> CycleState {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let mut state = CycleState::new();
    if let Err(rejection) = trial.pre_filter(&scene.cycle(), &mut state) {
        panic!(
            "PreFilter turns the pod down: {}",
            rejection_text(&rejection)
        );
    }
    let hook = trial
        .hooks
        .post_bind
        .as_ref()
        .expect("the plugin has a PostBind hook");
    hook.post_bind(&scene.pod, &mut state, scene.node(node).name());
    state
}

/// The engine as a plugin that tries things out sees it, with one plugin and requests.
struct Engine<'a> {
    trial: &'a Trial,
}

impl Handle for Engine<'_> {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let (asked, has) = (&cycle.pod.spec.requests.filter, node.allocatable());
        let fits = |asked: i64, of: i64, taken: i64| asked <= of.saturating_sub(taken);
        if !fits(asked.cpu, has.cpu, node.requested.cpu) {
            return Err(Rejection::unschedulable("Insufficient cpu"));
        }
        if !fits(asked.memory, has.memory, node.requested.memory) {
            return Err(Rejection::unschedulable("Insufficient memory"));
        }
        self.trial.filter(cycle, state, node)
    }

    fn add_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection> {
        node.add_pod(Arc::clone(pod));
        let hook = self.trial.hooks.pre_filter.as_ref();
        hook.map_or(Ok(()), |hook| hook.add_pod(cycle, state, pod, node))
    }

    fn remove_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection> {
        node.remove_pod(pod.uid());
        let hook = self.trial.hooks.pre_filter.as_ref();
        hook.map_or(Ok(()), |hook| hook.remove_pod(cycle, state, pod, node))
    }
}

fn outcome_text(outcome: &PostFilterOutcome, scene: &Scene) -> String {
    match outcome {
        PostFilterOutcome::Nominate { node, victims, .. } => {
            let node = scene
                .snapshot
                .get(*node)
                .map(|node| node.name().to_string());
            let victims: Vec<String> = victims
                .iter()
                .map(|victim| victim.key().to_string())
                .collect();
            format!(
                "Nominate {}, evict [{}]",
                node.unwrap_or_default(),
                victims.join(", ")
            )
        }
        PostFilterOutcome::Retry { .. } => "Retry".to_owned(),
        PostFilterOutcome::Withdraw { .. } => "Withdraw".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{PostBind, PostFilter};
    use crate::spec::{Args, Depends, Hooks, Point};
    use crate::test_util::{cluster, node, pod};

    /// Evicts the first pod of the first node on which that helps; notes what was bound.
    struct Greedy;

    #[derive(Clone, PartialEq, Debug)]
    struct BoundTo(String);

    impl PostFilter for Greedy {
        fn post_filter(
            &self,
            cycle: &Cycle<'_>,
            state: &CycleState,
            verdicts: &[(NodeId, Rejection)],
            engine: &dyn Handle,
        ) -> Result<PostFilterOutcome, Rejection> {
            for (id, _) in verdicts {
                let mut node = NodeInfo::clone(cycle.snapshot.get(*id).unwrap());
                let Some(victim) = node.pods.first().cloned() else {
                    continue;
                };
                let mut state = state.clone();
                engine.remove_pod(cycle, &mut state, &victim, &mut node)?;
                if engine.filter(cycle, &state, &node).is_ok() {
                    let victims = vec![victim];
                    return Ok(PostFilterOutcome::Nominate {
                        node: *id,
                        victims,
                        reason: None,
                        candidates: Vec::new(),
                        tied: Vec::new(),
                    });
                }
            }
            Err(Rejection::unschedulable("no victim helps"))
        }
    }

    impl PostBind for Greedy {
        fn post_bind(&self, _pod: &Pod, state: &mut CycleState, node: &str) {
            state.insert(BoundTo(node.to_owned()));
        }
    }

    fn spec() -> PluginSpec {
        PluginSpec {
            name: "Greedy",
            points: &[Point::PostFilter, Point::PostBind],
            depends: Depends::Anything,
            decode_args: |_, _, _| Args::none(),
            build: |_| {
                let plugin = Arc::new(Greedy);
                Hooks::default()
                    .with_post_filter(&plugin)
                    .with_post_bind(&plugin)
            },
        }
    }

    fn two_full_nodes() -> Cluster {
        cluster([node("n1").cpu("2"), node("n2").cpu("4")]).pods([
            pod("small").cpu("2").on("n1"),
            pod("large").cpu("4").on("n2"),
        ])
    }

    #[test]
    fn a_victim_that_makes_room_is_named_with_its_node() {
        let check =
            |cpu| check_post_filter(&spec(), &Value::Null, &two_full_nodes(), &pod("p").cpu(cpu));
        assert_eq!(check("2"), "Nominate n1, evict [default/small]");
        assert_eq!(check("3"), "Nominate n2, evict [default/large]");
        assert_eq!(check("5"), "Unschedulable: no victim helps");
    }

    #[test]
    fn what_post_bind_leaves_can_be_looked_into() {
        let state = check_post_bind(&spec(), &Value::Null, &two_full_nodes(), &pod("p"), "n2");
        assert_eq!(state.get::<BoundTo>(), Some(&BoundTo("n2".to_owned())));
    }
}
