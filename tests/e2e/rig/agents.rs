//! Agents: the one that is shipped, which measures this machine, and simulated ones over
//! sources that stand still, in this process.

use std::process::Command;
use std::time::Duration;

use plimsoll_agent::app::{StreamOptions, run_with};
use plimsoll_agent::stream::TlsOptions;
use plimsoll_agent::tasks;
use plimsoll_tests::controlplane::{Process, free_port};
use plimsoll_tests::flow::Steady;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Scheduler, Site, binary};

/// Time between two samples, as in production.
const PERIOD: Duration = Duration::from_secs(1);
/// CPUs of a simulated machine.
const CPUS: u32 = 8;

/// Simulated agents, which end when this is dropped.
#[derive(Debug)]
pub(crate) struct Simulated {
    /// They run for as long as this is held.
    _running: JoinSet<Result<(), tasks::Error>>,
}

// === impl Site ===

impl Site {
    /// The agent that is shipped, as the agent of `node`, on this machine.
    pub(crate) fn agent(&self, node: &str, scheduler: &Scheduler) -> anyhow::Result<Process> {
        let mut command = Command::new(binary("plimsoll-agent")?);
        command
            .args(["run", "--node-name", node])
            .arg(format!("--scheduler=https://{}", scheduler.telemetry()))
            .arg(format!("--tls-ca={}", self.authority().display()))
            .arg(format!("--listen=127.0.0.1:{}", free_port()?));
        Process::start(command, &self.folder.join(format!("agent-{node}.log")))
    }

    /// Simulated agents of nodes of 8 CPUs, so many millicores of each in use.
    pub(crate) fn simulate(
        &self,
        loads: &[(&str, f64)],
        scheduler: &Scheduler,
    ) -> anyhow::Result<Simulated> {
        let mut running = JoinSet::new();
        for (node, millicores) in loads {
            let target = format!("https://{}", scheduler.telemetry()).parse()?;
            let mut options = StreamOptions::new(*node, vec![target], PERIOD);
            options.tls = Some(TlsOptions {
                ca: self.authority(),
                server_name: None,
            });
            let source = Steady::new(CPUS, *millicores);
            let run = run_with(source, options, CancellationToken::new());
            running.spawn_on(run, self.runtime.handle());
        }
        Ok(Simulated { _running: running })
    }

    fn authority(&self) -> std::path::PathBuf {
        self.folder.join("telemetry-ca.crt")
    }
}
