//! What a machine has: the denominator of load.
//!
//! Takes the node object and what the agent sees, gives amounts per resource; `None` where
//! neither knows. CPU and memory are the node's `status.capacity`, capped by what the
//! agent sees (a container's view of a machine may be smaller), CPU less what the
//! hypervisor steals. Bandwidth is the link speed that the node's annotation states, else
//! the one the agent sees; an annotation that cannot be read is a mistake to report, so
//! nothing stands in for it.

use plimsoll_framework::LoadResource;
use plimsoll_objects::Node;
use plimsoll_objects::bandwidth::LinkSpeed;

use crate::figures::{PerResource, amount};
use crate::options::MIN_UNSTOLEN;
use crate::sample::Machine;

/// What the node object says of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stated {
    cpu: Option<f64>,
    memory: Option<f64>,
    link: Link,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Link {
    /// As the agent sees it.
    #[default]
    Unstated,
    /// Bytes per second.
    Known(f64),
    /// Stated, but unreadable.
    Invalid,
}

// === impl Stated ===

impl Stated {
    /// What `node` says.
    pub(crate) fn of(node: &Node) -> Self {
        let capacity = &node.status.capacity;
        Self {
            cpu: positive(capacity.cpu as f64),
            memory: positive(capacity.memory as f64),
            link: match &node.link_speed {
                None => Link::Unstated,
                Some(LinkSpeed::Known(speed)) => Link::Known(*speed as f64),
                Some(LinkSpeed::Invalid(_)) => Link::Invalid,
            },
        }
    }

    /// The capacities, where the agent sees `machine` and the share `steal` of CPU time is
    /// stolen.
    pub(crate) fn with(&self, machine: &Machine, steal: f64) -> PerResource<Option<f64>> {
        let seen_cpu = machine
            .cpus
            .and_then(|cpus| positive(f64::from(cpus) * 1000.0));
        let seen_memory = machine.memory.and_then(|bytes| positive(bytes as f64));
        let unstolen = (1.0 - steal).clamp(MIN_UNSTOLEN, 1.0);
        let link = match self.link {
            Link::Known(speed) => positive(speed),
            Link::Unstated => machine.link.and_then(|speed| positive(speed as f64)),
            Link::Invalid => None,
        };
        LoadResource::ALL.map(|resource| match resource {
            LoadResource::Cpu => smaller(self.cpu, seen_cpu).map(|cpu| cpu * unstolen),
            LoadResource::Memory => smaller(self.memory, seen_memory),
            LoadResource::Rx | LoadResource::Tx => link,
        })
    }
}

fn smaller(stated: Option<f64>, seen: Option<f64>) -> Option<f64> {
    match (stated, seen) {
        (Some(stated), Some(seen)) => Some(stated.min(seen)),
        (one, other) => one.or(other),
    }
}

fn positive(value: f64) -> Option<f64> {
    amount(value).filter(|value| *value > 0.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_objects::bandwidth::LinkSpeed;

    use super::Stated;
    use crate::sample::Machine;
    use crate::world::node;

    const MACHINE: Machine = Machine {
        cpus: Some(4),
        memory: Some(1 << 30),
        link: Some(125),
    };

    #[test]
    fn capacity_is_capped_by_what_the_agent_sees() {
        let big = Stated::of(&node("n", 8_000, 8 << 30));
        let small = Stated::of(&node("n", 2_000, 1 << 20));
        let gib = f64::from(1 << 30);
        assert_eq!(big.with(&MACHINE, 0.0)[..2], [Some(4_000.0), Some(gib)]);
        assert_eq!(
            big.with(&Machine::default(), 0.0)[..2],
            [Some(8_000.0), Some(8.0 * gib)]
        );
        assert_eq!(
            small.with(&MACHINE, 0.0)[..2],
            [Some(2_000.0), Some(f64::from(1 << 20))]
        );
    }

    #[test]
    fn a_node_that_states_nothing_has_what_the_agent_sees() {
        let stated = Stated::of(&node("n", 0, 0));
        assert_eq!(stated.with(&MACHINE, 0.0)[0], Some(4_000.0));
        assert_eq!(stated.with(&Machine::default(), 0.0), [None; 4]);
    }

    #[test]
    fn stolen_time_is_no_capacity_but_never_all_of_it() {
        let stated = Stated::of(&node("n", 8_000, 1 << 30));
        assert_eq!(stated.with(&Machine::default(), 0.25)[0], Some(6_000.0));
        assert_eq!(stated.with(&Machine::default(), 1.0)[0], Some(800.0));
        assert_eq!(stated.with(&Machine::default(), -3.0)[0], Some(8_000.0));
    }

    #[test]
    fn the_annotation_comes_before_what_the_agent_sees_of_the_link() {
        let mut node = node("n", 1, 1);
        assert_eq!(Stated::of(&node).with(&MACHINE, 0.0)[2..], [Some(125.0); 2]);
        assert_eq!(
            Stated::of(&node).with(&Machine::default(), 0.0)[2..],
            [None; 2]
        );
        node.link_speed = Some(LinkSpeed::Known(250));
        assert_eq!(Stated::of(&node).with(&MACHINE, 0.0)[2..], [Some(250.0); 2]);
        node.link_speed = Some(LinkSpeed::Invalid(Arc::from("fast")));
        assert_eq!(Stated::of(&node).with(&MACHINE, 0.0)[2..], [None; 2]);
    }
}
