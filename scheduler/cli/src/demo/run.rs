//! One telling of the story: a fresh API server, a scheduler, an agent per node.
//!
//! Takes a policy, gives a [`RunReport`] and the newest sample of the real node. Everything
//! it starts ends before it returns.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_agent::app::{StreamOptions, run_with};
use plimsoll_agent::sample::{HostRoot, NodeSampler};
use plimsoll_agent::stream::Target;
use plimsoll_agent::usage::Source;
use plimsoll_apiserver::ApiServer;
use plimsoll_scheduler::{App, Decisions};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::cast::{self, REAL_NODE, Workload};
use super::clock::Clock;
use super::objects;
use super::outcome;
use super::policy::Policy;
use super::report::{RealSample, RunReport};
use super::source::WorldSource;
use super::view::View;
use super::world::World;

/// Time between two samples of every agent: as in production.
const PERIOD: Duration = Duration::from_secs(1);
/// Time for the agents to connect and send their first samples.
const WARM_UP: Duration = Duration::from_secs(4);
/// Replicas that arrive together: a rolling update of a large Deployment.
const WAVE: usize = 5;
/// Time between two waves.
const BETWEEN_WAVES: Duration = Duration::from_millis(700);
/// Time for the placed pods to start and reach their full load.
const SETTLE: Duration = Duration::from_secs(10);
/// Time within which every replica must have been tried.
const TRIED_WITHIN: Duration = Duration::from_secs(20);
/// How often the story looks at what was placed, and redraws.
const LOOK: Duration = Duration::from_millis(100);

/// What a run needs.
pub(crate) struct Run<'a> {
    policy: Policy,
    view: &'a View,
    clock: Clock,
    world: Arc<World>,
    server: ApiServer,
    decisions: Decisions,
}

/// How long a run takes, if all goes well.
pub(crate) fn length() -> Duration {
    let waves = cast::REPLICAS.div_ceil(WAVE) as u32;
    WARM_UP + BETWEEN_WAVES * waves + SETTLE
}

/// Tells the story once.
///
/// # Errors
/// Something could not be started, or a part of it died.
pub(crate) async fn run(
    policy: Policy,
    view: &View,
) -> anyhow::Result<(RunReport, Option<RealSample>)> {
    view.stage(policy.name(), "setting the stage");
    let server = ApiServer::start(plimsoll_apiserver::Options::default())
        .context("the embedded API server cannot start")?;
    let world = Arc::new(World::new(cast::simulated_nodes()));
    let sampler = NodeSampler::open(HostRoot::default(), PERIOD);
    build_stage(&server, &world, &sampler)?;

    let stop = CancellationToken::new();
    let app = App::build(
        policy.options(format!("http://{}", server.address()))?,
        stop.child_token(),
    )
    .await
    .context("the scheduler cannot start")?;
    let telemetry = format!(
        "http://{}",
        app.telemetry_address().context("no telemetry port")?
    );
    let (decisions, inspector) = (app.decisions(), app.inspector());
    let clock = Clock::start();
    let mut parts = JoinSet::new();
    parts.spawn(async move { app.run().await });
    parts.spawn(agent(
        sampler,
        REAL_NODE.to_owned(),
        telemetry.parse()?,
        stop.child_token(),
    ));
    for (index, role) in world.nodes().iter().enumerate() {
        let source = WorldSource::new(Arc::clone(&world), index, clock);
        parts.spawn(agent(
            source,
            role.name.clone(),
            telemetry.parse()?,
            stop.child_token(),
        ));
    }

    let run = Run {
        policy,
        view,
        clock,
        world,
        server,
        decisions,
    };
    let told = tokio::select! {
        told = run.tell() => told,
        early = parts.join_next() => Err(early_end(early)),
    };
    let real = inspector.node_load(REAL_NODE).await;
    let real = real.as_ref().and_then(outcome::real_sample);
    stop.cancel();
    while parts.join_next().await.is_some() {}
    let report = told.and_then(|()| outcome::report(&run.state(real), policy))?;
    run.server.shutdown().await;
    Ok((report, real))
}

// === impl Run ===

impl Run<'_> {
    async fn tell(&self) -> anyhow::Result<()> {
        self.wait(WARM_UP, "agents connect").await?;
        for wave in objects::replicas(&cast::arriving()).chunks(WAVE) {
            self.create(wave)?;
            self.wait(BETWEEN_WAVES, "replicas arrive").await?;
        }
        self.create(&objects::replicas(&cast::unplaceable()))?;
        self.wait_until_tried().await?;
        self.wait(SETTLE, "placed pods start").await
    }

    fn create(&self, pods: &[Value]) -> anyhow::Result<()> {
        for pod in pods {
            self.server
                .store()
                .create(pod.clone())
                .context("a pod cannot be created")?;
        }
        Ok(())
    }

    async fn wait(&self, time: Duration, stage: &str) -> anyhow::Result<()> {
        self.view.stage(self.policy.name(), stage);
        let until = self.clock.now() + time;
        while self.clock.now() < until {
            sleep(LOOK).await;
            self.look()?;
        }
        Ok(())
    }

    async fn wait_until_tried(&self) -> anyhow::Result<()> {
        self.view
            .stage(self.policy.name(), "the last pods are tried");
        let until = self.clock.now() + TRIED_WITHIN;
        loop {
            self.look()?;
            let untried = outcome::untried(&self.server.store().list("pods", None)?);
            if untried == 0 {
                return Ok(());
            }
            if self.clock.now() >= until {
                bail!("{untried} pods were not tried within {TRIED_WITHIN:?}");
            }
            sleep(LOOK).await;
        }
    }

    /// Lets the world follow the bindings, and redraws.
    fn look(&self) -> anyhow::Result<()> {
        let now = self.clock.now();
        let web = cast::arriving();
        for pod in self.server.store().list("pods", Some(web.namespace))? {
            let pod = pod.value();
            let (name, node) = (&pod["metadata"]["name"], &pod["spec"]["nodeName"]);
            if let (Some(name), Some(node)) = (name.as_str(), node.as_str())
                && belongs_to(&pod, &web)
            {
                self.world.place(name, node, &web, now);
            }
        }
        self.view.show(now, length(), &self.loads(now));
        Ok(())
    }

    fn loads(&self, now: Duration) -> Vec<(String, f64)> {
        let load = |index| self.world.demand(index, now).cpu / cast::NODE_MILLICORES;
        let nodes = self.world.nodes().iter().enumerate();
        nodes
            .map(|(index, role)| (role.name.clone(), load(index)))
            .collect()
    }

    fn state(&self, real: Option<RealSample>) -> outcome::State<'_> {
        outcome::State {
            world: &self.world,
            store: self.server.store(),
            stats: self.server.stats(),
            decisions: &self.decisions,
            ended: self.clock.now(),
            real,
        }
    }
}

/// Whether the pod is one of the workload's.
pub(crate) fn belongs_to(pod: &Value, workload: &Workload) -> bool {
    pod["metadata"]["namespace"] == workload.namespace
        && pod["metadata"]["labels"]["app"] == workload.name
}

async fn agent(
    source: impl Source,
    node_name: String,
    scheduler: Target,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let options = StreamOptions::new(node_name, vec![scheduler], PERIOD);
    run_with(source, options, stop)
        .await
        .context("an agent died")
}

fn build_stage(server: &ApiServer, world: &World, sampler: &NodeSampler) -> anyhow::Result<()> {
    let machine = sampler.machine();
    let cores = machine
        .cpus
        .context("this machine's CPUs cannot be counted")?;
    let memory = machine
        .memory_bytes
        .context("this machine's memory cannot be read")?;
    let mut all = objects::namespaces();
    all.push(objects::node(
        REAL_NODE,
        f64::from(cores) * 1000.0,
        memory as f64,
    ));
    for role in world.nodes() {
        all.push(objects::simulated_node(role));
        all.extend(objects::tenants(role));
    }
    for object in all {
        server
            .store()
            .create(object)
            .context("the stage cannot be set")?;
    }
    Ok(())
}

fn early_end(ended: Option<Result<anyhow::Result<()>, tokio::task::JoinError>>) -> anyhow::Error {
    match ended {
        Some(Ok(Err(cause))) => cause,
        Some(Err(cause)) => anyhow::Error::new(cause).context("a part of the demo panicked"),
        Some(Ok(Ok(()))) | None => anyhow::anyhow!("a part of the demo ended by itself"),
    }
}
