//! What a test stands on: a control plane, and the programs that are shipped, whose user has
//! the rights that the chart gives and no others.
//!
//! The programs are those of `PLIMSOLL_BIN_DIR`, or the release build of this checkout,
//! which is made first where it is missing.

mod agents;
mod audit;
mod bin;
mod extender;
mod objects;
mod recorder;
mod relay;
mod scheduler;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_tests::controlplane::{Controlplane, Issuer, Options, new_folder};
use plimsoll_tests::project_root;
use serde_json::Value;
use tokio::runtime::Runtime;

pub(crate) use self::audit::{Audit, Binding};
pub(crate) use self::bin::binary;
pub(crate) use self::extender::{Conduct, Extender};
pub(crate) use self::objects::{NODES, PODS, node, node_path, pod, pod_path};
pub(crate) use self::recorder::Recorder;
pub(crate) use self::relay::Relay;
pub(crate) use self::scheduler::{PROFILE, Scheduler, Setup, THEIRS};

/// The user that the scheduler is: the chart's service account.
pub(crate) const USER: &str = "system:serviceaccount:plimsoll:plimsoll-scheduler";

/// A control plane with the scheduler's rights in it.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) cluster: Controlplane,
    /// The programs.
    pub(crate) site: Site,
}

/// Where the programs run: their files and certificates.
#[derive(Debug)]
pub(crate) struct Site {
    folder: PathBuf,
    runtime: Runtime,
}

// === impl Rig ===

impl Rig {
    /// Starts a control plane and gives the scheduler's user its rights.
    pub(crate) fn start(options: &Options) -> anyhow::Result<Self> {
        let cluster = Controlplane::start(options)?;
        cluster.grant(USER, &chart_rules()?)?;
        let site = Site::new()?;
        Ok(Self { cluster, site })
    }

    /// Starts a scheduler against the control plane and waits until it knows the cluster.
    pub(crate) fn scheduler(&self, setup: &Setup) -> anyhow::Result<Scheduler> {
        let kubeconfig = self.cluster.kubeconfig(USER, &[])?;
        self.site.scheduler(setup, &kubeconfig)
    }

    /// The same with a relay in between.
    pub(crate) fn scheduler_via(&self, relay: &Relay) -> anyhow::Result<Scheduler> {
        let address = relay.address().to_string();
        let kubeconfig = self.cluster.kubeconfig_via(&address, USER)?;
        self.site.scheduler(&Setup::default(), &kubeconfig)
    }

    /// Creates nodes `n0`, `n1`, ... of so much CPU each.
    pub(crate) fn add_nodes(&self, count: usize, cpu: &str) -> anyhow::Result<()> {
        for index in 0..count {
            let api = self.cluster.api();
            api.create(NODES, &node(&format!("n{index}"), cpu))?;
        }
        Ok(())
    }

    /// Creates pods `{stem}-0`, ... from several hands at once.
    pub(crate) fn add_pods(&self, stem: &str, pods: &[Value]) -> anyhow::Result<()> {
        const HANDS: usize = 4;
        let api = self.cluster.api();
        std::thread::scope(|scope| {
            let hands: Vec<_> = (0..HANDS)
                .map(|hand| {
                    scope.spawn(move || -> anyhow::Result<()> {
                        for (index, pod) in pods.iter().enumerate().skip(hand).step_by(HANDS) {
                            let mut pod = pod.clone();
                            pod["metadata"]["name"] = format!("{stem}-{index}").into();
                            api.create(PODS, &pod)?;
                        }
                        Ok(())
                    })
                })
                .collect();
            for hand in hands {
                let done = hand.join().ok().context("a hand that creates pods died")?;
                done?;
            }
            Ok(())
        })
    }

    /// A pod as the API server has it.
    pub(crate) fn pod(&self, name: &str) -> anyhow::Result<Value> {
        self.cluster.api().get(&pod_path(name))
    }

    /// The newest event about a pod with this reason.
    pub(crate) fn event(&self, pod: &str, reason: &str) -> anyhow::Result<Option<Value>> {
        let path = "/apis/events.k8s.io/v1/namespaces/default/events";
        let list = self.cluster.api().get(path)?;
        let events = list["items"].as_array().context("no list")?;
        let found = events
            .iter()
            .filter(|event| event["regarding"]["name"] == pod && event["reason"] == reason)
            .max_by_key(|event| event["eventTime"].to_string());
        Ok(found.cloned())
    }

    /// The condition `PodScheduled` of a pod; `null` if it has none.
    pub(crate) fn condition(&self, pod: &str) -> anyhow::Result<Value> {
        let mut pod = self.pod(pod)?;
        let conditions = pod["status"]["conditions"].take();
        let conditions = conditions.as_array().cloned().unwrap_or_default();
        let found = conditions
            .into_iter()
            .find(|condition| condition["type"] == "PodScheduled");
        Ok(found.unwrap_or_default())
    }

    /// Ends all, and removes what was kept for a look after a failure.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        self.cluster.close()?;
        self.site.close()
    }
}

// === impl Site ===

impl Site {
    /// A new folder with the certificates of the telemetry port.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let folder = new_folder("rig")?;
        let issuer = Issuer::new("authority of the telemetry port")?;
        let file = |name| folder.join(name);
        fs::write(file("telemetry-ca.crt"), issuer.certificate())?;
        let server = issuer.server(&["127.0.0.1"])?;
        server.write(&file("telemetry.crt"), &file("telemetry.key"))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        Ok(Self { folder, runtime })
    }

    /// Runs something that needs a runtime.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes its files: the test has passed. What is dropped without this keeps its logs and
    /// says where they are.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        Ok(fs::remove_dir_all(&self.folder)?)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if self.folder.exists() {
            let folder = self.folder.display();
            // Where standard error is gone there is nobody to tell.
            drop(writeln!(io::stderr(), "logs of the programs: {folder}"));
        }
    }
}

/// The rights that the chart gives to the scheduler.
pub(crate) fn chart_rules() -> anyhow::Result<Value> {
    let path = project_root().join("deploy/helm/plimsoll/files/rbac-rules.yaml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(serde_saphyr::from_str(&text)?)
}
