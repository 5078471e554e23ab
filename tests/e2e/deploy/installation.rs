//! The chart installed on a real control plane, and its two programs running as its pods
//! would: takes nothing, gives a cluster in which pods are bound by load.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::{Controlplane, Options, until};
use serde_json::{Value, json};

use super::container::{Account, Container, Surroundings};
use super::documents::Documents;
use super::helm::{NAMESPACE, RELEASE, chart, helm_ok};
use crate::rig::binary;

/// Whatever is waited for takes seconds.
pub(super) const BOUND: Duration = Duration::from_mins(1);
/// The node that this machine is.
pub(super) const NODE: &str = "this-machine";
/// The host by which agents call the scheduler.
const TELEMETRY: &str = "plimsoll-telemetry.plimsoll-system.svc";

/// A control plane with the chart.
#[derive(Debug)]
pub(super) struct Installation {
    pub(super) cluster: Controlplane,
    objects: Documents,
}

// === impl Installation ===

impl Installation {
    /// Installs the chart with its defaults; nothing of it runs yet.
    pub(super) fn new() -> anyhow::Result<Self> {
        let cluster = Controlplane::start(&Options::default())?;
        let chart = chart();
        let admin = cluster.admin_kubeconfig();
        helm_ok(
            Some(&admin),
            &[
                "install",
                RELEASE,
                &chart.to_string_lossy(),
                "--namespace",
                NAMESPACE,
                "--create-namespace",
            ],
        )?;
        let manifest = helm_ok(
            Some(&admin),
            &["get", "manifest", RELEASE, "--namespace", NAMESPACE],
        )?;
        let objects = Documents::read(&manifest)?;
        Ok(Self { cluster, objects })
    }

    /// Adds this machine as a node.
    pub(super) fn add_node(&self) -> anyhow::Result<()> {
        let amounts = json!({"cpu": "2", "memory": "8Gi", "pods": "500"});
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": NODE},
            "status": {"capacity": amounts, "allocatable": amounts,
                "conditions": [{"type": "Ready", "status": "True"}]},
        });
        self.cluster.api().create("/api/v1/nodes", &node)?;
        Ok(())
    }

    /// The scheduler as its pod runs it, with the account and the certificate of the chart.
    pub(super) fn scheduler(&self) -> anyhow::Result<Container> {
        let name = "plimsoll-scheduler";
        let workload = self.objects.get("Deployment", name)?;
        let account = &workload["spec"]["template"]["spec"]["serviceAccountName"];
        let account = account.as_str().context("no account")?;
        let token = self
            .cluster
            .kubectl(&["-n", NAMESPACE, "create", "token", account])?;
        ensure!(token.status.success(), "no token: {token:?}");
        let server = self.cluster.server();
        let (_, port) = server.rsplit_once(':').context("no port")?;
        let around = Surroundings {
            fields: BTreeMap::from([("metadata.name", "plimsoll-scheduler-0".to_owned())]),
            files: self.files()?,
            account: Some(Account {
                token: String::from_utf8(token.stdout)?.trim().to_owned(),
                authority: fs::read_to_string(self.cluster.folder().join("admin.ca.crt"))?,
                port: port.parse()?,
            }),
            ..Surroundings::default()
        };
        let mut container = Container::start(workload, &binary(name)?, &around)?;
        until("the scheduler is ready", BOUND, || {
            !container.is_running() || container.page(10259, "/readyz").is_some()
        })?;
        ensure!(container.is_running(), "it ended: {}", container.log());
        Ok(container)
    }

    /// The agent as its pod runs it on the host's network, so that it reaches the scheduler.
    pub(super) fn agent(&self) -> anyhow::Result<Container> {
        let around = Surroundings {
            hosts: vec![TELEMETRY.to_owned()],
            ..self.around_agent()?
        };
        let workload = self.objects.get("DaemonSet", "-agent")?;
        Container::start(workload, &binary("plimsoll-agent")?, &around)
    }

    /// The agent in a network of its own, as in a cluster, with the chart's arguments or others.
    pub(super) fn lonely_agent(&self, arguments: Option<&[&str]>) -> anyhow::Result<Container> {
        let around = Surroundings {
            own_network: true,
            ..self.around_agent()?
        };
        let workload = self.objects.get("DaemonSet", "-agent")?;
        Container::start_with(workload, &binary("plimsoll-agent")?, &around, arguments)
    }

    /// Creates a pod for Plimsoll.
    pub(super) fn add_pod(&self, name: &str) -> anyhow::Result<()> {
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"schedulerName": "plimsoll", "containers": [{"name": "main",
                "image": "registry.example/main:1", "resources": {"requests": {"cpu": "1m"}}}]},
        });
        self.cluster
            .api()
            .create("/api/v1/namespaces/default/pods", &pod)?;
        Ok(())
    }

    /// The node of a pod.
    pub(super) fn node_of(&self, pod: &str) -> Option<String> {
        let path = format!("/api/v1/namespaces/default/pods/{pod}");
        let pod = self.cluster.api().get(&path).ok()?;
        pod["spec"]["nodeName"].as_str().map(str::to_owned)
    }

    fn around_agent(&self) -> anyhow::Result<Surroundings> {
        Ok(Surroundings {
            fields: BTreeMap::from([("spec.nodeName", NODE.to_owned())]),
            files: self.files()?,
            ..Surroundings::default()
        })
    }

    /// All Secrets and `ConfigMaps` of the release, as the API server has them.
    fn files(&self) -> anyhow::Result<BTreeMap<(String, String), Vec<u8>>> {
        let mut files = BTreeMap::new();
        for kind in ["secrets", "configmaps"] {
            let path = format!("/api/v1/namespaces/{NAMESPACE}/{kind}");
            let objects = self.cluster.api().get(&path)?;
            for object in objects["items"].as_array().into_iter().flatten() {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                let data = object["data"].as_object().into_iter().flatten();
                for (key, content) in data {
                    let content = content.as_str().unwrap_or_default();
                    let content = match kind {
                        "secrets" => decode(content)?,
                        _ => content.as_bytes().to_vec(),
                    };
                    files.insert((name.to_owned(), key.clone()), content);
                }
            }
        }
        Ok(files)
    }

    /// An object of the release as it was rendered.
    pub(super) fn object(&self, kind: &str, name: &str) -> anyhow::Result<&Value> {
        self.objects.get(kind, name)
    }
}

/// Base64, as Secrets have it.
fn decode(text: &str) -> anyhow::Result<Vec<u8>> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter(|byte| *byte != b'=');
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in digits {
        let value = ALPHABET.iter().position(|known| *known == digit);
        bits = (bits << 6) | value.context("not base64")? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Ok(bytes)
}
