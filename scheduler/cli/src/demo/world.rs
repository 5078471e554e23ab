//! The simulated nodes as they really are: load follows the pods placed on them, plus what
//! no request shows.
//!
//! Takes placements, gives what a node demands and carries at an instant. Demand may exceed
//! capacity; what an agent can measure does not.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;

use super::cast::{NODE_MEMORY, NODE_MILLICORES, NodeRole, Workload};

/// Time from binding to the first work of a container (image is there already).
const START_DELAY: Duration = Duration::from_secs(1);
/// Time in which a starting pod's use rises to its full height.
const RAMP: Duration = Duration::from_secs(2);
/// Memory that the system itself holds, as a share of the node's.
const SYSTEM_MEMORY: f64 = 0.06;
/// Bytes on the wire per second and millicore of a serving pod, each way.
const BYTES_PER_MILLICORE: f64 = 20_000.0;

/// All simulated nodes and what was placed on them.
#[derive(Debug)]
pub(crate) struct World {
    nodes: Vec<NodeRole>,
    placed: Mutex<BTreeMap<String, Placed>>,
}

/// What a node carries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Carried {
    /// Millicores.
    pub(crate) cpu: f64,
    /// Bytes.
    pub(crate) memory: f64,
    /// Bytes per second, each way.
    pub(crate) network: f64,
}

#[derive(Debug, Clone, Copy)]
struct Placed {
    node: usize,
    at: Duration,
    millicores: f64,
    memory: f64,
}

// === impl World ===

impl World {
    /// The cast before anything arrives.
    pub(crate) fn new(nodes: Vec<NodeRole>) -> Self {
        Self {
            nodes,
            placed: Mutex::new(BTreeMap::new()),
        }
    }

    /// The nodes.
    pub(crate) fn nodes(&self) -> &[NodeRole] {
        &self.nodes
    }

    /// A pod of `workload` was bound to the node `node` at `at`; said again, it changes
    /// nothing.
    pub(crate) fn place(&self, pod: &str, node: &str, workload: &Workload, at: Duration) {
        let Some(node) = self.nodes.iter().position(|role| role.name == node) else {
            return;
        };
        self.placed.lock().entry(pod.to_owned()).or_insert(Placed {
            node,
            at,
            millicores: workload.use_millicores,
            memory: workload.use_memory,
        });
    }

    /// What the node wants to carry at `at`.
    pub(crate) fn demand(&self, node: usize, at: Duration) -> Carried {
        let Some(role) = self.nodes.get(node) else {
            return Carried {
                cpu: 0.0,
                memory: 0.0,
                network: 0.0,
            };
        };
        let mut pods_cpu = 0.0;
        let mut memory = SYSTEM_MEMORY * NODE_MEMORY;
        for tenant in &role.tenants {
            pods_cpu += tenant.count as f64 * tenant.use_millicores;
            memory += tenant.count as f64 * tenant.use_memory;
        }
        for placed in self
            .placed
            .lock()
            .values()
            .filter(|placed| placed.node == node)
        {
            let share = ramped(at.saturating_sub(placed.at));
            pods_cpu += share * placed.millicores;
            memory += share * placed.memory;
        }
        Carried {
            cpu: role.hidden.at(at) * NODE_MILLICORES + pods_cpu,
            memory,
            network: pods_cpu * BYTES_PER_MILLICORE,
        }
    }

    /// What an agent can measure: no more than the machine has.
    pub(crate) fn carried(&self, node: usize, at: Duration) -> Carried {
        let demand = self.demand(node, at);
        Carried {
            cpu: demand.cpu.min(NODE_MILLICORES),
            ..demand
        }
    }
}

fn ramped(age: Duration) -> f64 {
    let running = age.saturating_sub(START_DELAY);
    (running.as_secs_f64() / RAMP.as_secs_f64()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::cast::{HOT, arriving, simulated_nodes};

    const LATER: Duration = Duration::from_secs(30);

    fn ratio(world: &World, node: usize) -> f64 {
        world.demand(node, LATER).cpu / NODE_MILLICORES
    }

    #[test]
    fn no_node_is_hot_before_the_story_begins() {
        let world = World::new(simulated_nodes());
        for node in 0..world.nodes().len() {
            for second in 0..40 {
                let demand = world.demand(node, Duration::from_secs(second));
                assert!(demand.cpu / NODE_MILLICORES < HOT, "{node} at {second}s");
            }
        }
    }

    #[test]
    fn one_replica_more_makes_a_busy_node_hot_and_an_honest_one_not() {
        let world = World::new(simulated_nodes());
        world.place("a", "node-01", &arriving(), Duration::ZERO);
        world.place("b", "node-09", &arriving(), Duration::ZERO);
        assert!(ratio(&world, 0) > HOT);
        assert!(ratio(&world, 8) < 0.5);
    }

    #[test]
    fn a_pod_uses_nothing_before_it_starts_and_is_placed_once() {
        let world = World::new(simulated_nodes());
        let before = world.demand(0, LATER).cpu;
        world.place("a", "node-01", &arriving(), LATER);
        world.place("a", "node-02", &arriving(), LATER);
        assert_eq!(world.demand(0, LATER).cpu, before);
        let full = world.demand(0, LATER + Duration::from_secs(20)).cpu;
        assert!((full - before - arriving().use_millicores).abs() < 200.0);
    }

    #[test]
    fn an_agent_never_measures_more_than_the_machine_has() {
        let world = World::new(simulated_nodes());
        for pod in ["a", "b", "c", "d", "e", "f"] {
            world.place(pod, "node-01", &arriving(), Duration::ZERO);
        }
        assert!(world.demand(0, LATER).cpu > NODE_MILLICORES);
        assert_eq!(world.carried(0, LATER).cpu, NODE_MILLICORES);
    }
}
