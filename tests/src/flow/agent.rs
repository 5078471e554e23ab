//! The real agent of one node over a source that stands still.

use std::net::SocketAddr;
use std::time::Duration;

use plimsoll_agent::app::{StreamOptions, run_with};
use plimsoll_agent::tasks;
use plimsoll_agent::usage::{Machine, NodeSample, Source};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Time between two samples: a second in production; here a twentieth of it, so that a test
/// need not wait.
const PERIOD: Duration = Duration::from_millis(50);
/// Memory of every machine.
const MEMORY: u64 = 64 << 30;
/// Memory in use on every machine.
const MEMORY_USED: u64 = 2 << 30;

/// A machine whose load never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    cpus: u32,
    millicores: f64,
    sample: NodeSample,
}

/// An agent that runs until it is killed or dropped.
#[derive(Debug)]
pub struct Agent {
    running: JoinSet<Result<(), tasks::Error>>,
}

// === impl Steady ===

impl Steady {
    /// A machine with so many CPUs and so much of them in use.
    pub fn new(cpus: u32, millicores: f64) -> Self {
        Self {
            cpus,
            millicores,
            sample: NodeSample::default(),
        }
    }
}

impl Source for Steady {
    fn machine(&self) -> Machine {
        Machine {
            cpus: Some(self.cpus),
            memory_bytes: Some(MEMORY),
            link_bytes_per_second: None,
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        self.sample = NodeSample {
            taken_at: at,
            interval: at.saturating_sub(self.sample.taken_at),
            cpu_millicores: Some(self.millicores),
            memory_bytes: Some(MEMORY_USED),
            ..NodeSample::default()
        };
        &self.sample
    }
}

// === impl Agent ===

impl Agent {
    /// Starts the agent of `node`, which streams to the telemetry port `scheduler`.
    ///
    /// # Panics
    /// Never: an address is a URL's host and port.
    pub fn start(node: &str, machine: Steady, scheduler: SocketAddr) -> Self {
        let target = format!("http://{scheduler}").parse().expect("a URL");
        let options = StreamOptions::new(node, vec![target], PERIOD);
        let mut running = JoinSet::new();
        running.spawn(run_with(machine, options, CancellationToken::new()));
        Self { running }
    }

    /// Ends it without a word to the scheduler.
    pub async fn kill(mut self) {
        self.running.shutdown().await;
    }
}
