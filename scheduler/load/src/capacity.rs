//! What a machine has: the denominator of load.
//!
//! Takes the node object and what the agent sees, gives amounts per resource; `None` where
//! neither knows. CPU and memory are the node's `status.capacity`, capped by what the
//! agent sees (a container's view of a machine may be smaller), CPU less what the
//! hypervisor steals. Bandwidth is the link speed that the node's annotation states, else
//! the one of its instance type by the operator's table, else the one the agent sees; an
//! annotation that cannot be read is a mistake to report, so nothing stands in for it. A
//! node whose pods bypass the kernel (SR-IOV, DPDK) may be excluded: what the kernel counts
//! there says nothing of its links.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::LoadResource;
use plimsoll_objects::Node;
use plimsoll_objects::bandwidth::LinkSpeed;

use crate::figures::{PerResource, amount};
use crate::options::MIN_UNSTOLEN;
use crate::sample::Machine;

/// Annotation of a node: `true` leaves its bandwidth out of every judgement.
pub const EXCLUDE_BANDWIDTH: &str = "plimsoll.dev/exclude-bandwidth";
/// Label of a node that the table of link speeds is read by.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// Link speeds in bytes per second by instance type.
pub(crate) type LinkSpeeds = BTreeMap<Arc<str>, u64>;

/// What the node object says of the machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stated {
    cpu: Option<f64>,
    memory: Option<f64>,
    link: Link,
    instance_type: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Link {
    /// By the table in bytes per second, or as the agent sees it.
    Unstated(Option<f64>),
    /// Bytes per second.
    Known(f64),
    /// Stated, but unreadable; not to be judged; or nothing is known of the node.
    #[default]
    Unknown,
}

// === impl Stated ===

impl Stated {
    /// What `node` says, and `table` of its instance type.
    pub(crate) fn of(node: &Node, table: &LinkSpeeds) -> Self {
        let capacity = &node.status.capacity;
        let exclude = node.meta.annotations.get(EXCLUDE_BANDWIDTH);
        let link = match &node.link_speed {
            _ if exclude.is_some_and(|value| &**value == "true") => Link::Unknown,
            None => Link::Unstated(None),
            Some(LinkSpeed::Known(speed)) => Link::Known(*speed as f64),
            Some(LinkSpeed::Invalid(_)) => Link::Unknown,
        };
        let mut stated = Self {
            cpu: positive(capacity.cpu as f64),
            memory: positive(capacity.memory as f64),
            link,
            instance_type: node.meta.labels.get(INSTANCE_TYPE).map(Arc::clone),
        };
        stated.look_up(table);
        stated
    }

    /// Takes the link speed of the instance type from `table`.
    pub(crate) fn look_up(&mut self, table: &LinkSpeeds) {
        if let Link::Unstated(by_type) = &mut self.link {
            let speed = self.instance_type.as_ref().and_then(|one| table.get(one));
            *by_type = speed.and_then(|speed| positive(*speed as f64));
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
            Link::Unstated(by_type) => by_type.or_else(|| positive(machine.link? as f64)),
            Link::Unknown => None,
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
mod tests;
