//! A container without a container runtime: takes a workload of the rendered chart and runs
//! its program as the chart says, with namespaces and mounts of this kernel.
//!
//! Arguments, environment, user, capabilities, volumes, mounts and the read-only root come
//! from the chart's objects, so that chart and test cannot drift. Not here: seccomp, resource
//! limits and the kubelet's probes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use plimsoll_tests::controlplane::{Process, new_folder};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Builds the root and becomes the program. The steps are those of a container runtime.
const SCRIPT: &str = include_str!("container.sh");

/// What the kubelet and the cluster know and the chart does not.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// Values of the downward API by field path.
    pub(super) fields: BTreeMap<&'static str, String>,
    /// Files of Secrets and `ConfigMaps`: object, key, content.
    pub(super) files: BTreeMap<(String, String), Vec<u8>>,
    /// The service account's token and the API server, if the pod mounts a token.
    pub(super) account: Option<Account>,
    /// Names that stand in `/etc/hosts`, all for the loopback.
    pub(super) hosts: Vec<String>,
    /// A network namespace of its own, with nothing but a loopback.
    pub(super) own_network: bool,
}

/// What a pod with a token finds.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) token: String,
    pub(super) authority: String,
    pub(super) port: u16,
}

/// A program that runs as its container would.
#[derive(Debug)]
pub(super) struct Container {
    process: Process,
    folder: PathBuf,
}

// === impl Container ===

impl Container {
    /// Starts the only container of a workload, `program` in place of its image's.
    pub(super) fn start(
        workload: &Value,
        program: &Path,
        around: &Surroundings,
    ) -> anyhow::Result<Self> {
        Self::start_with(workload, program, around, None)
    }

    /// The same with other arguments than the chart's.
    pub(super) fn start_with(
        workload: &Value,
        program: &Path,
        around: &Surroundings,
        arguments: Option<&[&str]>,
    ) -> anyhow::Result<Self> {
        ensure!(
            rustix::process::geteuid().is_root(),
            "these tests make namespaces and mounts: run them as root"
        );
        let pod = &workload["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let folder = new_folder("container")?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        write_volumes(&folder, pod, around)?;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--ipc", "--uts", "--fork"]);
        if around.own_network {
            command.arg("--net");
        }
        command.args(["bash", "-c", SCRIPT, "container"]);
        command.arg(&folder).arg(program);
        command.args(confinement(pod, container)?);
        command.arg("--");
        command.args(mounts(pod, container)?);
        command.arg("--");
        match arguments {
            Some(arguments) => command.args(arguments),
            None => command.args(words(&container["args"])?),
        };
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs(environment(container, around)?);
        let process = Process::start(command, &folder.join("log"))?;
        Ok(Self { process, folder })
    }

    /// The program's number, as the host sees it; `None` until it is up.
    pub(super) fn program(&self) -> Option<u32> {
        let id = self.process.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
        let child: u32 = children.split_whitespace().next()?.parse().ok()?;
        let command = fs::read_to_string(format!("/proc/{child}/comm")).ok()?;
        command.starts_with("plimsoll").then_some(child)
    }

    /// Whether it runs still.
    pub(super) fn is_running(&mut self) -> bool {
        self.process.is_running()
    }

    /// All it said so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.process.log()).unwrap_or_default()
    }

    /// One page of a port, fetched from inside its network namespace; `None` if nobody answers.
    pub(super) fn page(&self, port: u16, path: &str) -> Option<String> {
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port} && printf 'GET {path} HTTP/1.1\\r\\nHost: l\\r\\n\
             Connection: close\\r\\n\\r\\n' >&3 && cat <&3"
        );
        let mut command = Command::new("nsenter");
        command
            .arg("--net")
            .arg("--target")
            .arg(self.program()?.to_string());
        command.args(["timeout", "5", "bash", "-c", &script]);
        let output = command.output().ok()?;
        let answer = String::from_utf8(output.stdout).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.contains(" 200 ").then(|| body.to_owned())
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // The change of its user has cut it loose from its parent: it is ended by its own number.
        let program = self.program().and_then(|id| i32::try_from(id).ok());
        if let Some(program) = program.and_then(Pid::from_raw) {
            kill_process(program, Signal::KILL).ok();
        }
        if !std::thread::panicking() {
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

/// Flags of `setpriv` that are the pod's and the container's `securityContext`.
fn confinement(pod: &Value, container: &Value) -> anyhow::Result<Vec<String>> {
    let of_pod = &pod["securityContext"];
    let own = &container["securityContext"];
    ensure!(of_pod["runAsNonRoot"] == true, "the pod may run as root");
    ensure!(
        own["readOnlyRootFilesystem"] == true,
        "the root can be written"
    );
    ensure!(own["allowPrivilegeEscalation"] == false, "rights can grow");
    let dropped = serde_json::json!({"drop": ["ALL"]});
    ensure!(own["capabilities"] == dropped, "capabilities are kept");
    ensure!(
        of_pod["seccompProfile"]["type"] == "RuntimeDefault",
        "no seccomp"
    );
    for shared in ["hostNetwork", "hostPID", "hostIPC"] {
        ensure!(pod[shared].is_null(), "{shared}");
    }
    let user = of_pod["runAsUser"].as_u64().context("no runAsUser")?;
    let group = of_pod["runAsGroup"].as_u64().context("no runAsGroup")?;
    let groups = match of_pod["fsGroup"].as_u64() {
        Some(group) => format!("--groups={group}"),
        None => "--clear-groups".to_owned(),
    };
    Ok(vec![
        format!("--reuid={user}"),
        format!("--regid={group}"),
        groups,
        "--no-new-privs".to_owned(),
        "--inh-caps=-all".to_owned(),
        "--ambient-caps=-all".to_owned(),
        "--bounding-set=-all".to_owned(),
    ])
}

/// Mounts as `host:PATH:PLACE` (a folder of the host) or `files:NAME:PLACE` (written before).
fn mounts(pod: &Value, container: &Value) -> anyhow::Result<Vec<String>> {
    let mut mounts = Vec::new();
    for mount in list(&container["volumeMounts"]) {
        ensure!(mount["readOnly"] == true, "{mount}: can be written");
        let name = text(&mount["name"])?;
        let place = text(&mount["mountPath"])?;
        let volume = volume(pod, name)?;
        if volume["hostPath"].is_object() {
            ensure!(mount["mountPropagation"] == "HostToContainer", "{mount}");
            mounts.push(format!(
                "host:{}:{place}",
                text(&volume["hostPath"]["path"])?
            ));
        } else {
            mounts.push(format!("files:{name}:{place}"));
        }
    }
    if pod["automountServiceAccountToken"] == true {
        let place = "/var/run/secrets/kubernetes.io/serviceaccount";
        mounts.push(format!("files:token:{place}"));
    }
    Ok(mounts)
}

fn volume<'a>(pod: &'a Value, name: &str) -> anyhow::Result<&'a Value> {
    let mut volumes = list(&pod["volumes"]);
    let found = volumes.find(|volume| volume["name"] == name);
    found.with_context(|| format!("no volume {name}"))
}

/// Writes what Secrets, `ConfigMaps` and the account bring, below `files/` of the folder.
fn write_volumes(folder: &Path, pod: &Value, around: &Surroundings) -> anyhow::Result<()> {
    let files = folder.join("files");
    for volume in list(&pod["volumes"]) {
        let folder = files.join(text(&volume["name"])?);
        let (object, items) = match (&volume["secret"], &volume["configMap"]) {
            (Value::Object(secret), _) => (&secret["secretName"], secret.get("items")),
            (_, Value::Object(map)) => (&map["name"], map.get("items")),
            _ => continue,
        };
        fs::create_dir_all(&folder)?;
        let object = text(object)?;
        for ((of, key), content) in &around.files {
            let wanted = items.is_none_or(|items| list(items).any(|item| item["key"] == **key));
            if of == object && wanted {
                fs::write(folder.join(key), content)?;
            }
        }
    }
    if let Some(account) = &around.account {
        let folder = files.join("token");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("token"), &account.token)?;
        fs::write(folder.join("ca.crt"), &account.authority)?;
        fs::write(folder.join("namespace"), super::helm::NAMESPACE)?;
    }
    let hosts: Vec<_> = around
        .hosts
        .iter()
        .map(|name| format!("127.0.0.1 {name}\n"))
        .collect();
    fs::create_dir_all(&files)?;
    fs::write(
        files.join("hosts"),
        format!("127.0.0.1 localhost\n{}", hosts.concat()),
    )?;
    Ok(())
}

fn environment(container: &Value, around: &Surroundings) -> anyhow::Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for variable in list(&container["env"]) {
        let value = match variable["valueFrom"]["fieldRef"]["fieldPath"].as_str() {
            Some(field) => around.fields.get(field).cloned(),
            None => variable["value"].as_str().map(str::to_owned),
        };
        let Some(value) = value else {
            bail!("{variable}: nothing is known of it");
        };
        variables.push((text(&variable["name"])?.to_owned(), value));
    }
    if let Some(account) = &around.account {
        variables.push(("KUBERNETES_SERVICE_HOST".to_owned(), "127.0.0.1".to_owned()));
        variables.push((
            "KUBERNETES_SERVICE_PORT".to_owned(),
            account.port.to_string(),
        ));
    }
    Ok(variables)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn words(value: &Value) -> anyhow::Result<Vec<&str>> {
    list(value).map(text).collect()
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value
        .as_str()
        .with_context(|| format!("{value} is not text"))
}
