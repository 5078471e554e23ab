//! The life of a release, and `docs/install.md` followed from top to bottom: what it says is
//! what is run.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::{
    Controlplane, Options, Process, Signal, new_folder, programs, until,
};
use plimsoll_tests::project_root;
use serde_json::{Value, json};

use super::documents::Documents;
use super::helm::{NAMESPACE, RELEASE, chart, helm_ok, program};
use super::installation::{BOUND, Installation, NODE};
use crate::rig::binary;

/// More than any command of the page takes that ends by itself.
const LIMIT: &str = "180s";
const SECRET: &str = "/api/v1/namespaces/plimsoll-system/secrets/plimsoll-telemetry-tls";

#[test]
fn the_certificate_outlives_upgrades_and_nothing_outlives_the_release() -> anyhow::Result<()> {
    let installation = Installation::new()?;
    let api = installation.cluster.api();
    let admin = installation.cluster.admin_kubeconfig();
    let made = api.get(SECRET)?["data"].clone();
    let chart = chart();
    let chart = chart.to_string_lossy();
    let in_namespace = ["--namespace", NAMESPACE];
    let upgrade = ["upgrade", RELEASE, &chart, "--set", "scheduler.log=debug"];
    helm_ok(Some(&admin), &[&upgrade[..], &in_namespace].concat())?;
    assert_eq!(api.get(SECRET)?["data"], made, "it is kept");
    api.delete(SECRET)?;
    helm_ok(Some(&admin), &[&upgrade[..], &in_namespace].concat())?;
    assert_ne!(api.get(SECRET)?["data"], made, "it is made anew on demand");

    // The rights of the account are those of the chart's list, and no others.
    let account = "system:serviceaccount:plimsoll-system:plimsoll-scheduler";
    let can = |verb: &str, resource: &str| -> anyhow::Result<bool> {
        let asked = ["auth", "can-i", verb, resource, "--as", account, "-A"];
        Ok(installation.cluster.kubectl(&asked)?.status.success())
    };
    // `delete` is preemption.
    assert!(can("watch", "nodes")? && can("list", "pods")? && can("delete", "pods")?);
    assert!(!can("patch", "pods")? && !can("update", "pods")? && !can("get", "secrets")?);
    assert!(!can("delete", "nodes")? && !can("delete", "persistentvolumeclaims")?);
    let agent = "system:serviceaccount:plimsoll-system:plimsoll-agent";
    let listed = ["auth", "can-i", "list", "pods", "--as", agent, "-A"];
    assert!(!installation.cluster.kubectl(&listed)?.status.success());
    assert!(
        installation
            .object("ServiceAccount", "plimsoll-agent")
            .is_ok()
    );

    helm_ok(
        Some(&admin),
        &["uninstall", RELEASE, "--namespace", NAMESPACE],
    )?;
    let role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/plimsoll-system:plimsoll-scheduler";
    assert!(!api.is_ok(SECRET) && !api.is_ok(role));
    Ok(())
}

#[test]
fn the_way_with_helm_of_the_install_page_works_as_it_stands() -> anyhow::Result<()> {
    let guide = Guide::new("With Helm")?;
    let cluster = &guide.cluster;
    guide.run("Install")?;
    let api = cluster.api();
    let deployment = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/plimsoll-scheduler");
    let image = &api.get(&deployment)?["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "REGISTRY/plimsoll-scheduler:0.1.0");
    guide.run("Upgrade, uninstall")?;
    assert!(!api.is_ok(&deployment));
    Ok(())
}

#[test]
fn the_way_without_helm_of_the_install_page_works_as_it_stands() -> anyhow::Result<()> {
    let guide = Guide::new("Without Helm")?;
    let amounts = json!({"cpu": "2", "memory": "8Gi", "pods": "10"});
    guide.cluster.api().create(
        "/api/v1/nodes",
        &json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE},
            "status": {"capacity": amounts, "allocatable": amounts,
                "conditions": [{"type": "Ready", "status": "True"}]},
        }),
    )?;
    guide.run("Rights")?;
    guide.run("Certificate")?;
    let running = guide.start("Run")?;
    assert_eq!(running.len(), 2, "a scheduler and an agent");
    let seen = |said: &str| {
        said.starts_with("ok")
            && said.contains("plimsoll_ingest_streams 1\n")
            && said.contains("plimsoll_load_nodes{state=\"reporting\"} 1\n")
            && said.contains(NODE)
            && said.contains("Scheduled")
    };
    let mut said = String::new();
    let verified = until("the page's commands show a placed pod", BOUND, || {
        said = guide
            .run("Verify")
            .unwrap_or_else(|problem| format!("{problem:#}"));
        seen(&said)
    });
    let logs = || {
        running
            .iter()
            .map(|process| fs::read_to_string(process.log()).unwrap_or_default())
    };
    verified.with_context(|| format!("{said}\n{}", logs().collect::<String>()))?;
    for process in running {
        process.end(Signal::Terminate, BOUND)?;
    }
    Ok(())
}

#[test]
fn the_example_gives_the_rights_of_the_chart() -> anyhow::Result<()> {
    let root = project_root();
    let example = fs::read_to_string(root.join("deploy/examples/scheduler-rbac.yaml"))?;
    let rules = fs::read_to_string(root.join("deploy/helm/plimsoll/files/rbac-rules.yaml"))?;
    let rules: Value = serde_saphyr::from_str(&rules)?;
    let example = Documents::read(&example)?;
    assert_eq!(example.get("ClusterRole", "")?["rules"], rules);
    Ok(())
}

/// One half of the page, and a cluster to follow it on.
struct Guide {
    cluster: Controlplane,
    /// The working folder: what the page calls by relative paths is there.
    folder: PathBuf,
    text: String,
}

// === impl Guide ===

impl Guide {
    fn new(half: &str) -> anyhow::Result<Self> {
        let page = fs::read_to_string(project_root().join("docs/install.md"))?;
        let text = section(&page, "## ", half)?.to_owned();
        let folder = new_folder("install")?;
        let programs_folder = folder.join("bin");
        fs::create_dir_all(&programs_folder)?;
        let kubectl = programs()?.join("kubectl");
        for (name, path) in [
            ("kubectl", kubectl),
            ("helm", program()?.to_owned()),
            ("plimsoll-scheduler", binary("plimsoll-scheduler")?),
            ("plimsoll-agent", binary("plimsoll-agent")?),
        ] {
            std::os::unix::fs::symlink(path, programs_folder.join(name))?;
        }
        let deploy = project_root().canonicalize()?.join("deploy");
        std::os::unix::fs::symlink(deploy, folder.join("deploy"))?;
        // Deployments and the end of namespaces are kube-controller-manager's.
        let options = Options {
            controller_manager: true,
            ..Options::default()
        };
        let cluster = Controlplane::start(&options)?;
        Ok(Self {
            cluster,
            folder,
            text,
        })
    }

    /// Runs every command of a chapter, which must succeed; gives what they say.
    fn run(&self, chapter: &str) -> anyhow::Result<String> {
        let mut said = String::new();
        for block in blocks(section(&self.text, "### ", chapter)?) {
            let script = format!("set -eu\n{block}");
            let output = self
                .command(&["timeout", LIMIT, "bash", "-c", &script])
                .output()?;
            let words = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "{block}: {words}");
            write!(said, "{}", String::from_utf8_lossy(&output.stdout))?;
        }
        Ok(said)
    }

    /// Starts every command of a chapter, which go on running.
    fn start(&self, chapter: &str) -> anyhow::Result<Vec<Process>> {
        let blocks = blocks(section(&self.text, "### ", chapter)?);
        let mut running = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let script = format!("exec {}", block.replace("NODE", NODE));
            let command = self.command(&["bash", "-c", &script]);
            let log = self.folder.join(format!("{chapter}-{index}.log"));
            running.push(Process::start(command, &log)?);
        }
        Ok(running)
    }

    fn command(&self, words: &[&str]) -> Command {
        let own = self.folder.join("bin");
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", own.display());
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.folder);
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.folder);
        command
            .env("KUBECONFIG", self.cluster.admin_kubeconfig())
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Guide {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            drop(fs::remove_dir_all(Path::new(&self.folder)));
        }
    }
}

/// The text below a heading, to the next one of its level or above.
fn section<'a>(page: &'a str, level: &str, heading: &str) -> anyhow::Result<&'a str> {
    let start = format!("\n{level}{heading}\n");
    let (_, rest) = page
        .split_once(&start)
        .with_context(|| format!("no heading {heading}"))?;
    let end = rest.find(&format!("\n{level}")).unwrap_or(rest.len());
    let higher = rest.find("\n## ").unwrap_or(rest.len());
    Ok(&rest[..end.min(higher)])
}

/// The commands of a text: its blocks of the language `sh`.
fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("```").skip(1).step_by(2);
    let commands = parts.filter_map(|part| part.strip_prefix("sh\n"));
    commands.map(str::to_owned).collect()
}
