//! The whole scheduler of a flow, as the program runs it.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use plimsoll_core::Decision;
use plimsoll_framework::FieldError;
use plimsoll_scheduler::{App, AppOptions, ClientOptions, Decisions, Inspector};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::agent::{Agent, Steady};
use super::page::Page;
use super::profiles::SETTINGS;
use super::stage::{BOUND, LOOK};

/// CPUs of a machine whose agent a flow starts without saying more.
const CPUS: u32 = 8;

/// A scheduler that runs until it is stopped, killed or dropped.
#[derive(Debug)]
pub struct Scheduler {
    admin: SocketAddr,
    telemetry: Option<SocketAddr>,
    decisions: Decisions,
    inspector: Inspector,
    running: JoinSet<anyhow::Result<()>>,
    stop: DropGuard,
}

// === impl Scheduler ===

impl Scheduler {
    /// Starts a scheduler of these profiles against the API server at `address`; `settings`
    /// are added to those of every flow.
    ///
    /// # Panics
    /// The configuration does not load, or a port cannot be had.
    pub async fn start(address: &str, profiles: &str, settings: &str) -> Self {
        let options = options(address, profiles, settings).expect("the configuration loads");
        let stop = CancellationToken::new();
        let app = App::build(options, stop.clone())
            .await
            .expect("the scheduler is built");
        let (admin, telemetry) = (app.admin_address(), app.telemetry_address());
        let (decisions, inspector) = (app.decisions(), app.inspector());
        let mut running = JoinSet::new();
        running.spawn(app.run());
        Self {
            admin,
            telemetry,
            decisions,
            inspector,
            running,
            stop: stop.drop_guard(),
        }
    }

    /// Where agents connect.
    ///
    /// # Panics
    /// The telemetry port is closed.
    pub fn telemetry(&self) -> SocketAddr {
        self.telemetry.expect("the telemetry port is open")
    }

    /// Where health and metrics are.
    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// The agent of a node of 8 CPUs, so much of which is in use.
    pub fn agent(&self, node: &str, millicores: f64) -> Agent {
        Agent::start(node, Steady::new(CPUS, millicores), self.telemetry())
    }

    /// A page of the admin port.
    ///
    /// # Panics
    /// The port does not answer.
    pub async fn page(&self, path: &str) -> Page {
        Page::get(self.admin, path)
            .await
            .expect("the admin port answers")
    }

    /// What the admin port says to a POST with these header lines.
    ///
    /// # Panics
    /// The port does not answer.
    pub async fn post(&self, path: &str, headers: &str) -> Page {
        Page::post(self.admin, path, headers)
            .await
            .expect("the admin port answers")
    }

    /// The value of a series; 0 where it does not exist yet.
    pub async fn series(&self, name: &str) -> f64 {
        self.page("/metrics").await.series(name).unwrap_or(0.0)
    }

    /// Waits until a series has a value.
    ///
    /// # Panics
    /// It does not get there within [`BOUND`].
    pub async fn until_series(&self, name: &str, holds: impl Fn(f64) -> bool) {
        let looking = async {
            while !holds(self.series(name).await) {
                sleep(LOOK).await;
            }
        };
        let in_time = timeout(BOUND, looking).await.is_ok();
        assert!(
            in_time,
            "not within {BOUND:?}: {name} is {}",
            self.series(name).await
        );
    }

    /// Waits until a page of the admin port has this text.
    ///
    /// # Panics
    /// It does not within [`BOUND`].
    pub async fn until_page_has(&self, path: &str, text: &str) {
        let looking = async {
            while !self.page(path).await.text.contains(text) {
                sleep(LOOK).await;
            }
        };
        let in_time = timeout(BOUND, looking).await.is_ok();
        assert!(in_time, "not within {BOUND:?}: {text} on {path}");
    }

    /// Waits until nodes and pods have been listed.
    ///
    /// # Panics
    /// They are not within [`BOUND`].
    pub async fn until_ready(&self) {
        let looking = async {
            while self.page("/readyz").await.code != 200 {
                sleep(LOOK).await;
            }
        };
        assert!(
            timeout(BOUND, looking).await.is_ok(),
            "not ready within {BOUND:?}"
        );
    }

    /// Waits until the engine knows that so much of a node's CPU is in use.
    ///
    /// # Panics
    /// It does not within [`BOUND`].
    pub async fn until_measured(&self, node: &str, millicores: f64) {
        let looking = async {
            while self.measured(node).await != Some(millicores) {
                sleep(LOOK).await;
            }
        };
        let in_time = timeout(BOUND, looking).await.is_ok();
        let known = self.measured(node).await;
        assert!(
            in_time,
            "not within {BOUND:?}: {node} is known with {known:?}"
        );
    }

    /// Waits until the engine knows a node, or knows it no more.
    ///
    /// # Panics
    /// It does not within [`BOUND`].
    pub async fn until_node(&self, node: &str, is_known: bool) {
        let looking = async {
            while self.inspector.node_load(node).await.is_some() != is_known {
                sleep(LOOK).await;
            }
        };
        let in_time = timeout(BOUND, looking).await.is_ok();
        assert!(in_time, "not within {BOUND:?}: {node} known: {is_known}");
    }

    /// Starts agents, and waits until the engine knows what they measure, in millicores.
    pub async fn measured_nodes(&self, loads: &[(&str, f64)]) -> Vec<Agent> {
        let agents = loads
            .iter()
            .map(|(node, millicores)| self.agent(node, *millicores));
        let agents: Vec<Agent> = agents.collect();
        for (node, millicores) in loads {
            self.until_measured(node, *millicores).await;
        }
        agents
    }

    /// Every decision about a pod so far, oldest first.
    pub fn decisions(&self, pod: &str) -> Vec<Arc<Decision>> {
        let all = self.decisions.all().into_iter();
        all.filter(|decision| *decision.pod.key.name == *pod)
            .collect()
    }

    /// Ends it in good order.
    ///
    /// # Errors
    /// It had ended before, or a part of it failed or did not end in time.
    pub async fn stop(self) -> anyhow::Result<()> {
        let Self { stop, running, .. } = self;
        drop(stop);
        end_of(running).await
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// How it ended, or that it does not.
    pub async fn ended(self) -> anyhow::Result<()> {
        let Self { stop, running, .. } = self;
        let ended = end_of(running).await;
        drop(stop);
        ended
    }

    /// Ends it as a crash does: nothing is finished.
    pub async fn kill(mut self) {
        self.running.shutdown().await;
    }

    /// Measured CPU of a node in whole millicores, as the next decision would see it.
    async fn measured(&self, node: &str) -> Option<f64> {
        self.inspector
            .node_load(node)
            .await?
            .cpu
            .measured
            .map(f64::round)
    }
}

async fn end_of(mut running: JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    let ended = timeout(BOUND, running.join_next())
        .await
        .context("it does not end")?;
    ended
        .context("there is nothing to end")?
        .context("it panicked")?
}

fn options(address: &str, profiles: &str, settings: &str) -> anyhow::Result<AppOptions> {
    let registry = plimsoll_plugins::registry();
    let settings = format!("{SETTINGS}{settings}");
    let mut scheduler =
        plimsoll_config::load(profiles, &registry).map_err(|errors| all(&errors))?;
    // Who does not speak of it means one replica that has nobody to wait for.
    if !profiles.contains("leaderElection") {
        scheduler.leader_election.leader_elect = false;
    }
    Ok(AppOptions {
        access: ClientOptions::Address(address.to_owned()),
        scheduler,
        plimsoll: plimsoll_config::plimsoll::load(&settings).map_err(|errors| all(&errors))?,
        insecure_plaintext: true,
        load_on: true,
        node_load_metrics: false,
        instance: "flow".to_owned(),
    })
}

fn all(errors: &[FieldError]) -> anyhow::Error {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{}", lines.join("\n"))
}
