//! The scheduler as it is shipped, started from files, watched through its admin port.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::{Process, Signal, free_port, until};
use plimsoll_tests::flow::Page;
use tokio::runtime::Handle;

use super::{Site, binary};

/// A profile that judges by measured load, named `plimsoll`.
pub(crate) const PROFILE: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: plimsoll
  plugins:
    multiPoint:
      enabled:
      - name: ActualLoadScore
        weight: 30
";

/// A profile with kube-scheduler's plugins, named `plimsoll`.
pub(crate) const THEIRS: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: plimsoll
";

/// What a scheduler may take to start, to end, or to show something on its pages.
const BOUND: Duration = Duration::from_secs(30);

/// What a scheduler is made of.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// Of its files and log.
    pub(crate) name: String,
    /// A `KubeSchedulerConfiguration`.
    pub(crate) profiles: String,
}

/// A scheduler that runs, or can be run again.
#[derive(Debug)]
pub(crate) struct Scheduler {
    admin: SocketAddr,
    telemetry: SocketAddr,
    arguments: Vec<String>,
    log: PathBuf,
    runtime: Handle,
    process: Option<Process>,
}

// === impl Setup ===

impl Default for Setup {
    fn default() -> Self {
        Self {
            name: "scheduler".to_owned(),
            profiles: PROFILE.to_owned(),
        }
    }
}

// === impl Site ===

impl Site {
    /// Starts a scheduler and waits until it knows the cluster.
    pub(crate) fn scheduler(&self, setup: &Setup, kubeconfig: &Path) -> anyhow::Result<Scheduler> {
        let file = |kind: &str| self.folder.join(format!("{}-{kind}", setup.name));
        let admin = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let telemetry = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let folder = self.folder.display();
        let settings = format!(
            "apiVersion: plimsoll.dev/v1alpha1\nkind: PlimsollConfiguration\n\
             telemetry:\n  listen: '{telemetry}'\n  tls: {{certFile: '{folder}/telemetry.crt', \
             keyFile: '{folder}/telemetry.key'}}\nadmin: {{listen: '{admin}'}}\n"
        );
        let (profiles_path, settings_path) = (file("profiles.yaml"), file("settings.yaml"));
        fs::write(&profiles_path, &setup.profiles)?;
        fs::write(&settings_path, settings)?;
        let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let arguments = vec![
            flag("kubeconfig", kubeconfig),
            flag("config", &profiles_path),
            flag("plimsoll-config", &settings_path),
            format!("--instance={}", setup.name),
        ];
        let mut scheduler = Scheduler {
            admin,
            telemetry,
            arguments,
            log: file("log"),
            runtime: self.runtime.handle().clone(),
            process: None,
        };
        scheduler.start()?;
        scheduler.until_ready()?;
        Ok(scheduler)
    }
}

// === impl Scheduler ===

impl Scheduler {
    /// Starts it, also again after it has been killed; does not wait.
    pub(crate) fn start(&mut self) -> anyhow::Result<()> {
        let mut command = Command::new(binary("plimsoll-scheduler")?);
        command.args(&self.arguments);
        self.process = Some(Process::start(command, &self.log)?);
        Ok(())
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        let process = self.process.take().context("it does not run")?;
        process.end(Signal::Kill, BOUND)
    }

    /// Waits for its own end, and gives its exit status; `None` if a signal ended it.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<i32>> {
        let process = self.process.take().context("it does not run")?;
        process.ended(BOUND)
    }

    /// Its process.
    pub(crate) fn process(&self) -> anyhow::Result<&Process> {
        self.process.as_ref().context("it does not run")
    }

    /// What it has logged, over all its lives.
    pub(crate) fn log(&self) -> anyhow::Result<String> {
        Ok(fs::read_to_string(&self.log)?)
    }

    /// Ends it in good order; it must not have asked for anything that it has no right to.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.has_asked_within_its_rights()?;
        self.stop_after_restart()
    }

    /// It was never answered 403 so far.
    pub(crate) fn has_asked_within_its_rights(&self) -> anyhow::Result<()> {
        let page = self.page("/metrics")?;
        let mut lines = page.text.lines();
        let refused = lines.find(|line| line.contains("code=\"403\""));
        ensure!(refused.is_none(), "without the right: {refused:?}");
        Ok(())
    }

    /// Ends it in good order, where the API server was started anew meanwhile: until that has
    /// read its own roles it answers 403 to everybody, so rights are looked at before.
    pub(crate) fn stop_after_restart(mut self) -> anyhow::Result<()> {
        let process = self.process.take().context("it does not run")?;
        process.end(Signal::Terminate, BOUND)
    }

    /// Where agents connect.
    pub(crate) fn telemetry(&self) -> SocketAddr {
        self.telemetry
    }

    /// A page of the admin port.
    pub(crate) fn page(&self, path: &str) -> anyhow::Result<Page> {
        self.runtime.block_on(Page::get(self.admin, path))
    }

    /// The value of a series; 0 where it does not exist yet.
    pub(crate) fn series(&self, name: &str) -> anyhow::Result<f64> {
        Ok(self.page("/metrics")?.series(name).unwrap_or(0.0))
    }

    /// Waits until a series has a value, and says which it has if it does not.
    pub(crate) fn until_series(
        &self,
        name: &str,
        holds: impl Fn(f64) -> bool,
    ) -> anyhow::Result<()> {
        let mut last = None;
        let reached = until(name, BOUND, || {
            last = self.series(name).ok();
            last.is_some_and(&holds)
        });
        reached.with_context(|| format!("it is {last:?}"))
    }

    /// Waits until nodes and pods have been listed.
    pub(crate) fn until_ready(&self) -> anyhow::Result<()> {
        let is_ready = || self.page("/readyz").is_ok_and(|page| page.code == 200);
        until("the scheduler is ready", BOUND, is_ready)
            .with_context(|| format!("log: {}", self.log.display()))
    }

    /// Share `quantile` of a histogram's observations is at most this; the upper end of a
    /// bucket, `None` without observations.
    pub(crate) fn quantile(&self, histogram: &str, quantile: f64) -> anyhow::Result<Option<f64>> {
        let page = self.page("/metrics")?;
        let opening = format!("{histogram}_bucket{{le=\"");
        let buckets: Vec<(f64, f64)> = page
            .text
            .lines()
            .filter_map(|line| line.strip_prefix(&opening)?.split_once("\"} "))
            .filter_map(|(bound, count)| {
                let bound = bound.replace("+Inf", "inf");
                Some((bound.parse().ok()?, count.parse().ok()?))
            })
            .collect();
        let all = buckets.last().map_or(0.0, |(_, count)| *count);
        let found = buckets.iter().find(|(_, count)| *count >= all * quantile);
        Ok(found.filter(|_| all > 0.0).map(|(bound, _)| *bound))
    }
}
