//! One burst: takes a scheduler and a field, gives its figures.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::{Controlplane, Options, Program, Signal, Stopwatch};

use super::args::{Args, Kind};
use super::bindings::Bindings;
use super::contender::Contender;
use super::crowd::{self, NODES, PODS};
use super::sampler::Sampler;

/// All pods must be bound within this.
const BOUND: Duration = Duration::from_mins(3);
/// A scheduler that writes no event for so long has written them all.
const WRITTEN: Duration = Duration::from_secs(3);
/// Events are not waited for longer.
const WRITING: Duration = Duration::from_secs(40);
const END: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(500);
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Burst {
    pub(crate) contender: Contender,
    pub(crate) nodes: usize,
    pub(crate) kind: Kind,
    pub(crate) pods: usize,
}

/// What was measured. CPU in milliseconds per pod.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) pods_per_second: f64,
    /// Of the scheduler, from its start until its events are written.
    pub(crate) whole_ms: f64,
    /// Between the first and the last binding, as the next two.
    pub(crate) scheduler_ms: f64,
    pub(crate) server_ms: f64,
    pub(crate) etcd_ms: f64,
    pub(crate) peak_mib: f64,
    /// Answers 429 of the API server.
    pub(crate) refused: f64,
    pub(crate) events: f64,
    /// From the start of the process to the first binding, in seconds.
    pub(crate) first_s: f64,
    /// Cores that anything else used, the measuring process included.
    pub(crate) others: f64,
}

impl fmt::Display for Burst {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        write!(
            formatter,
            "{:<8} {kind:<7} {:>5}",
            self.contender, self.nodes
        )
    }
}

// === impl Burst ===

impl Burst {
    /// Runs it on a control plane of its own.
    ///
    /// # Errors
    /// Something does not start, or not all pods are bound.
    pub(crate) fn run(&self, args: &Args) -> anyhow::Result<Outcome> {
        let cluster = Controlplane::start(&Options::default())?;
        Contender::grant(&cluster)?;
        crowd::create(&cluster, NODES, self.nodes, crowd::node)?;
        crowd::create(&cluster, PODS, self.pods, |index| {
            crowd::pod(&format!("p{index}"), "default-scheduler", self.kind)
        })?;
        crowd::settle(&cluster)?;
        let outcome = self.measure(args, &cluster)?;
        cluster.close()?;
        Ok(outcome)
    }

    fn measure(&self, args: &Args, cluster: &Controlplane) -> anyhow::Result<Outcome> {
        let clock = Stopwatch::start();
        let bindings = Bindings::watch(cluster.api(), clock)?;
        let started = bindings.now();
        let scheduler = self.contender.start(args, cluster, "default-scheduler")?;
        let programs = [Program::ApiServer, Program::Etcd].map(|name| cluster.process(name));
        let [server, etcd] = programs;
        let processes = vec![scheduler.id(), server?.id(), etcd?.id()];
        let sampler = Sampler::start(processes, clock);
        let bound = bindings.until(self.pods, BOUND);
        let events = written(cluster, self.pods)?;
        let end = bindings.now();
        let curves = sampler.end()?;
        let peak = scheduler.peak_resident_bytes();
        ensure!(bound == self.pods, "{bound} of {} pods bound", self.pods);
        let (first, last) = bindings.span().context("no pod is bound")?;
        let (seconds, pods) = (
            last.saturating_sub(first).as_secs_f64(),
            self.pods as f64 - 1.0,
        );
        let per_pod = |index| curves.used(index, first, last) * 1000.0 / pods;
        let outcome = Outcome {
            pods_per_second: pods / seconds,
            whole_ms: curves.used(0, started, end) * 1000.0 / self.pods as f64,
            scheduler_ms: per_pod(0),
            server_ms: per_pod(1),
            etcd_ms: per_pod(2),
            peak_mib: peak.context("the scheduler has ended")? as f64 / f64::from(1 << 20),
            refused: refused(cluster)?,
            events,
            first_s: first.saturating_sub(started).as_secs_f64(),
            others: others(|index| curves.used(index, first, last)) / seconds,
        };
        scheduler.end(Signal::Terminate, END)?;
        Ok(outcome)
    }
}

/// What the machine did beside the three.
fn others(used: impl Fn(usize) -> f64) -> f64 {
    used(3) - used(0) - used(1) - used(2)
}

/// Waits until as many events are written as there are pods, or no more come; gives their
/// number.
fn written(cluster: &Controlplane, pods: usize) -> anyhow::Result<f64> {
    let clock = Stopwatch::start();
    let (mut count, mut news) = (0, Duration::ZERO);
    while count < pods
        && clock.elapsed() < WRITING
        && clock.elapsed().saturating_sub(news) < WRITTEN
    {
        std::thread::sleep(LOOK);
        let list = cluster.api().get(&format!("{EVENTS}?limit=1"))?;
        let left = list["metadata"]["remainingItemCount"].as_u64();
        let here = list["items"].as_array().map_or(0, Vec::len);
        let now = here + left.unwrap_or_default() as usize;
        if now > count {
            (count, news) = (now, clock.elapsed());
        }
    }
    Ok(count as f64)
}

/// Requests that the API server has answered 429 so far.
pub(crate) fn refused(cluster: &Controlplane) -> anyhow::Result<f64> {
    let page = cluster.api().get("/metrics")?;
    let page = page.as_str().context("no metrics")?;
    let series = page.lines().filter(|line| {
        line.starts_with("apiserver_request_total{") && line.contains("code=\"429\"")
    });
    let values = series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    Ok(values.fold(0.0, |sum, value| sum + value))
}
