//! Who would have to go, node by node, tried on copies.
//!
//! Takes nodes that turned the pod down, gives the least set of victims of each on which
//! that helps, and why the others do not; kube-scheduler `DryRunPreemption` and
//! `SelectVictimsOnNode`.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use plimsoll_framework::{
    Code, Cycle, CycleState, Handle, NodeId, NodeInfo, Preemption, Rejection,
};
use plimsoll_objects::Pod;

use super::budgets::{Budgets, Parts};
use super::{is_below, rank};

const NO_VICTIMS: &str = "No preemption victims found for incoming pod";

/// The pod, the cluster and the engine of one attempt.
pub(super) struct DryRun<'a> {
    pub(super) cycle: &'a Cycle<'a>,
    pub(super) state: &'a CycleState,
    pub(super) engine: &'a dyn Handle,
}

/// What the dry runs came to.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Nodes on which it helps, in the order looked at.
    pub(super) candidates: Vec<Preemption>,
    /// Why it does not on the others that were looked at.
    pub(super) rejected: Vec<Rejection>,
}

/// A copy of one node, edited step by step.
struct Trial<'a> {
    run: &'a DryRun<'a>,
    node: NodeInfo,
    state: CycleState,
}

// === impl DryRun ===

impl DryRun<'_> {
    /// Looks for `wanted` candidates among `nodes`, and on until one of them violates no
    /// budget. Where not all nodes are wanted it begins anywhere.
    pub(super) fn search(&self, nodes: &[NodeId], wanted: usize) -> Found {
        let start = if wanted < nodes.len() {
            self.draw(nodes.len())
        } else {
            0
        };
        let (before, from) = nodes.split_at(start);
        let mut budgets = Budgets::new(&self.cycle.snapshot.catalog().pod_disruption_budgets);
        let mut found = Found::default();
        let mut harmless = 0;
        for node in from.iter().chain(before) {
            let Some(node) = self.cycle.snapshot.get(*node) else {
                continue;
            };
            match self.try_on(node, &mut budgets) {
                Ok(candidate) => {
                    harmless += usize::from(candidate.pdb_violations == 0);
                    found.candidates.push(candidate);
                }
                Err(rejection) => found.rejected.push(rejection),
            }
            if harmless > 0 && found.candidates.len() >= wanted {
                break;
            }
        }
        found
    }

    /// A number below `bound` (not 0) that differs from pod to pod and from attempt to
    /// attempt, and that a replay of the same events gives again.
    fn draw(&self, bound: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        self.cycle.pod.uid().hash(&mut hasher);
        self.cycle.now.mono.hash(&mut hasher);
        (hasher.finish() % bound as u64) as usize
    }

    fn try_on(&self, node: &NodeInfo, budgets: &mut Budgets<'_>) -> Result<Preemption, Rejection> {
        let evictions = &self.cycle.snapshot.catalog().evictions;
        // `Differs:` one that the API server will not let go is no victim for a while;
        // kube-scheduler asks for it again and again.
        let below = node
            .pods
            .iter()
            .filter(|pod| is_below(pod, self.cycle.pod) && !evictions.is_spared(pod.uid()));
        let mut possible: Vec<Arc<Pod>> = below.map(Arc::clone).collect();
        if possible.is_empty() {
            return Err(Rejection::unresolvable(NO_VICTIMS));
        }
        let mut trial = Trial {
            run: self,
            node: node.clone(),
            state: self.state.clone(),
        };
        trial.merge_ports();
        for pod in &possible {
            trial.remove(pod)?;
        }
        trial.judge()?;
        rank::sort(&mut possible, self.cycle.now);
        let Parts { violating, allowed } = budgets.split(possible);
        let mixed = !violating.is_empty() && !allowed.is_empty();
        let mut victims = trial.reprieve(violating)?;
        let pdb_violations = victims.len();
        victims.extend(trial.reprieve(allowed)?);
        if mixed {
            rank::sort(&mut victims, self.cycle.now);
        }
        if victims.is_empty() {
            let name = node.name();
            let text = format!("expected at least one victim pod on node {name:?}");
            return Err(Rejection::error(text));
        }
        Ok(Preemption {
            node: node.id,
            victims,
            pdb_violations,
        })
    }
}

// === impl Trial ===

impl Trial<'_> {
    fn remove(&mut self, pod: &Arc<Pod>) -> Result<(), Rejection> {
        let (engine, cycle) = (self.run.engine, self.run.cycle);
        let removed = engine.remove_pod(cycle, &mut self.state, pod, &mut self.node);
        removed.map_err(as_fault)
    }

    fn add(&mut self, pod: &Arc<Pod>) -> Result<(), Rejection> {
        let (engine, cycle) = (self.run.engine, self.run.cycle);
        let added = engine.add_pod(cycle, &mut self.state, pod, &mut self.node);
        self.merge_ports();
        added.map_err(as_fault)
    }

    /// Two pods on one port of a node should not be. Where they are, kube-scheduler's dry run
    /// takes the port for free once one of them is gone, and so does this one.
    fn merge_ports(&mut self) {
        let ports = &mut self.node.used_ports;
        if ports.len() > 1 {
            ports.sort_unstable();
            ports.dedup();
        }
    }

    /// Whether the node takes the pod as it is now. Over a soft line it does: such a line
    /// never puts anybody out.
    fn judge(&self) -> Result<(), Rejection> {
        let (engine, cycle) = (self.run.engine, self.run.cycle);
        engine.filter(cycle, &self.state, &self.node).map(drop)
    }

    /// Puts each of `pods` back if the node still takes the pod then; gives those that have
    /// to stay out.
    fn reprieve(&mut self, pods: Vec<Arc<Pod>>) -> Result<Vec<Arc<Pod>>, Rejection> {
        let mut victims = Vec::new();
        for pod in pods {
            self.add(&pod)?;
            if self.judge().is_err() {
                self.remove(&pod)?;
                victims.push(pod);
            }
        }
        Ok(victims)
    }
}

/// A plugin that cannot follow an edit is an internal error whatever it says.
fn as_fault(rejection: Rejection) -> Rejection {
    Rejection {
        code: Code::Error,
        ..rejection
    }
}

// === impl Found ===

impl Found {
    /// All internal errors as one, each text once (apimachinery `Aggregate`).
    pub(super) fn fault(&self) -> Option<Rejection> {
        let faults = self.rejected.iter().filter(|found| !found.is_rejected());
        let mut seen = BTreeSet::new();
        let texts: Vec<String> = faults
            .map(Rejection::message)
            .filter(|text| seen.insert(text.clone()))
            .collect();
        match texts.as_slice() {
            [] => None,
            [only] => Some(Rejection::error(format!("preemption: {only}"))),
            several => {
                let text = several.join(", ");
                Some(Rejection::error(format!("preemption: [{text}]")))
            }
        }
    }
}
