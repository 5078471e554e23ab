//! A simulated node's sampler: what the real agent's sampler is to `/proc`, this is to the
//! [`World`]. Everything after it (windows, stream, protocol) is the real agent.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_agent::usage::{Machine, NodeSample, Source};

use super::cast::{NODE_LINK, NODE_MEMORY, NODE_MILLICORES};
use super::clock::Clock;
use super::world::World;

/// Samples one node of the world.
#[derive(Debug)]
pub(crate) struct WorldSource {
    world: Arc<World>,
    node: usize,
    clock: Clock,
    sample: NodeSample,
    last: Option<Duration>,
}

// === impl WorldSource ===

impl WorldSource {
    /// A sampler of the node `node` of `world`.
    pub(crate) fn new(world: Arc<World>, node: usize, clock: Clock) -> Self {
        Self {
            world,
            node,
            clock,
            sample: NodeSample::default(),
            last: None,
        }
    }
}

impl Source for WorldSource {
    fn machine(&self) -> Machine {
        Machine {
            cpus: Some((NODE_MILLICORES / 1000.0) as u32),
            memory_bytes: Some(NODE_MEMORY as u64),
            link_bytes_per_second: Some(NODE_LINK as u64),
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        let carried = self.world.carried(self.node, self.clock.now());
        self.sample = NodeSample {
            taken_at: at,
            interval: self
                .last
                .map_or(Duration::ZERO, |last| at.saturating_sub(last)),
            cpu_millicores: Some(carried.cpu),
            memory_bytes: Some(carried.memory as u64),
            rx_bytes_per_second: Some(carried.network),
            tx_bytes_per_second: Some(carried.network),
            link_bytes_per_second: Some(NODE_LINK as u64),
            ..NodeSample::default()
        };
        self.last = Some(at);
        &self.sample
    }
}
