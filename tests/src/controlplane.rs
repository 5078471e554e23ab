//! A real Kubernetes control plane on this machine's loopback, for one test.
//!
//! [`Controlplane::start`] builds the programs if need be, makes keys and certificates, and
//! runs etcd and kube-apiserver (on request kube-scheduler and kube-controller-manager, too)
//! on free ports, with TLS, client certificates and RBAC. [`Controlplane::kubeconfig`] lets
//! any user in, [`Controlplane::kubectl`] runs kubectl as the administrator, [`Api`] speaks
//! to the API server directly. All ends when the value is dropped, or with the test.
//!
//! There is no kubelet: nodes are what their objects say, and pods that are bound stay
//! pending unless a test writes their status.

mod api;
mod build;
mod line;
mod pki;
mod ports;
mod process;
mod program;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

pub use self::api::{Answer, Api, Watch};
pub use self::build::programs;
pub use self::line::Line;
pub use self::pki::{Identity, Issuer};
pub use self::ports::free_port;
pub use self::process::{Process, Signal, Stopwatch, cpu_of, new_folder, until};
pub use self::program::Program;

use self::program::Plan;

/// Starting takes 4 s on two idle cores; a busy machine must not fail the test.
const READY: Duration = Duration::from_secs(90);
/// What a program may take to end after SIGTERM.
const END: Duration = Duration::from_secs(20);

/// What a control plane is made of, beside etcd and kube-apiserver.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// kube-scheduler, with this `KubeSchedulerConfiguration`, which must not name a
    /// kubeconfig; an empty text is kube-scheduler's default.
    pub kube_scheduler: Option<String>,
    /// kube-controller-manager, without the controllers that need a kubelet.
    pub controller_manager: bool,
    /// More flags: the last one wins.
    pub flags: Vec<(Program, String)>,
}

/// A control plane that runs.
#[derive(Debug)]
pub struct Controlplane {
    folder: PathBuf,
    plan: Plan,
    issuer: Issuer,
    api: Api,
    running: Vec<(Program, Process)>,
}

// === impl Controlplane ===

impl Controlplane {
    /// Starts a control plane in a new folder below the system's folder for temporary files.
    ///
    /// # Errors
    /// The programs cannot be built, or one of them does not start; says where its log is.
    pub fn start(options: &Options) -> anyhow::Result<Self> {
        let folder = new_folder("controlplane")?;
        let issuer = Issuer::new("kubernetes")?;
        let plan = Plan::new(&folder, &issuer, options)?;
        let admin = issuer.client("admin", &["system:masters"])?;
        let api = Api::new(plan.server(), &issuer.certificate(), &admin)?;
        let mut this = Self {
            folder,
            plan,
            issuer,
            api,
            running: Vec::new(),
        };
        let path = this.admin_kubeconfig();
        this.issuer
            .write_kubeconfig(&path, &this.server(), &admin)?;
        for program in this.plan.programs() {
            this.start_program(program)?;
        }
        Ok(this)
    }

    /// Where the API server is: `https://127.0.0.1:port`.
    pub fn server(&self) -> String {
        format!("https://{}", self.plan.server())
    }

    /// Where files of this control plane are: `PROGRAM.log`, keys, kubeconfigs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The API, as the administrator.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The API, as any user.
    ///
    /// # Errors
    /// A certificate cannot be made.
    pub fn api_as(&self, user: &str, groups: &[&str]) -> anyhow::Result<Api> {
        let identity = self.issuer.client(user, groups)?;
        Api::new(self.plan.server(), &self.issuer.certificate(), &identity)
    }

    /// The administrator's kubeconfig.
    pub fn admin_kubeconfig(&self) -> PathBuf {
        self.folder.join("admin.kubeconfig")
    }

    /// Writes a kubeconfig with a client certificate for a user of these groups, and gives
    /// its path. What the user may do is what RBAC says.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn kubeconfig(&self, user: &str, groups: &[&str]) -> anyhow::Result<PathBuf> {
        let name = user.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        let path = self.folder.join(format!("{name}.kubeconfig"));
        let identity = self.issuer.client(user, groups)?;
        self.issuer
            .write_kubeconfig(&path, &self.server(), &identity)?;
        Ok(path)
    }

    /// The same, with another address in place of the API server's: that of a relay in
    /// between, which must be on 127.0.0.1.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn kubeconfig_via(&self, address: &str, user: &str) -> anyhow::Result<PathBuf> {
        let path = self.folder.join("relay.kubeconfig");
        let identity = self.issuer.client(user, &[])?;
        let server = format!("https://{address}");
        self.issuer.write_kubeconfig(&path, &server, &identity)?;
        Ok(path)
    }

    /// Runs kubectl as the administrator and waits for its end.
    ///
    /// # Errors
    /// It cannot be started. An exit code other than 0 is no error.
    pub fn kubectl(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let mut command = kubectl(&self.admin_kubeconfig())?;
        command.args(arguments).stdin(Stdio::null());
        command.output().context("kubectl cannot be started")
    }

    /// Creates or changes objects, given as JSON, as `kubectl apply` does.
    ///
    /// # Errors
    /// kubectl's own words, if it fails.
    pub fn apply(&self, objects: &Value) -> anyhow::Result<()> {
        let path = self.folder.join("apply.json");
        fs::write(&path, objects.to_string())?;
        let path = path.to_string_lossy();
        let output = self.kubectl(&["apply", "-f", &path])?;
        let words = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl apply: {words}");
        Ok(())
    }

    /// Gives a user the rights of a list of RBAC `PolicyRule`s over the whole cluster, and no
    /// other rights.
    ///
    /// # Errors
    /// The API server refuses them.
    pub fn grant(&self, user: &str, rules: &Value) -> anyhow::Result<()> {
        let name = user.rsplit(':').next().unwrap_or(user);
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}, "rules": rules});
        self.api.create(&format!("{rbac}/clusterroles"), &role)?;
        let group = "rbac.authorization.k8s.io";
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}]});
        self.api
            .create(&format!("{rbac}/clusterrolebindings"), &binding)?;
        Ok(())
    }

    /// Starts a program of this control plane, again after [`Self::stop`] or [`Self::kill`]
    /// with the same address and data, and waits until it says that it is ready.
    ///
    /// # Errors
    /// It runs already, is no part of this control plane, or does not get ready.
    pub fn start_program(&mut self, program: Program) -> anyhow::Result<()> {
        let is_running = self.running.iter().any(|(known, _)| *known == program);
        ensure!(!is_running, "{program} runs already");
        let command = self.plan.command(program)?;
        let log = self.log(program);
        let mut process = Process::start_tied(command, &log)?;
        let is_ready = process.until(READY, || self.plan.is_ready(program, &self.api));
        if !is_ready {
            bail!("{program} does not get ready: {}", log.display());
        }
        self.running.push((program, process));
        Ok(())
    }

    /// Ends a program with SIGTERM.
    ///
    /// # Errors
    /// It does not run or does not end.
    pub fn stop(&mut self, program: Program) -> anyhow::Result<()> {
        self.take(program)?.end(Signal::Terminate, END)
    }

    /// Ends a program with SIGKILL.
    ///
    /// # Errors
    /// It does not run.
    pub fn kill(&mut self, program: Program) -> anyhow::Result<()> {
        self.take(program)?.end(Signal::Kill, END)
    }

    /// A running program.
    ///
    /// # Errors
    /// It does not run.
    pub fn process(&self, program: Program) -> anyhow::Result<&Process> {
        let mut running = self.running.iter();
        let found = running.find(|(known, _)| *known == program);
        Ok(&found.with_context(|| format!("{program} does not run"))?.1)
    }

    /// The log of a program.
    pub fn log(&self, program: Program) -> PathBuf {
        self.folder.join(format!("{program}.log"))
    }

    /// Ends it, and removes its folder: the test has passed. What is dropped without this
    /// keeps its logs and says where they are.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn close(mut self) -> anyhow::Result<()> {
        self.end();
        Ok(fs::remove_dir_all(&self.folder)?)
    }

    /// Kills what runs, newest first, and removes the data, which nobody reads.
    fn end(&mut self) {
        while let Some((_, process)) = self.running.pop() {
            drop(process);
        }
        drop(fs::remove_dir_all(self.folder.join("etcd")));
    }

    fn take(&mut self, program: Program) -> anyhow::Result<Process> {
        let mut running = self.running.iter();
        let at = running.position(|(known, _)| *known == program);
        let at = at.with_context(|| format!("{program} does not run"))?;
        Ok(self.running.remove(at).1)
    }
}

impl Drop for Controlplane {
    fn drop(&mut self) {
        self.end();
        if self.folder.exists() {
            let folder = self.folder.display();
            // Where standard error is gone there is nobody to tell.
            drop(writeln!(
                io::stderr(),
                "logs of the control plane: {folder}"
            ));
        }
    }
}

/// kubectl with a kubeconfig, without arguments: against any API server.
///
/// # Errors
/// The programs cannot be built.
pub fn kubectl(kubeconfig: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(programs()?.join("kubectl"));
    command.arg("--kubeconfig").arg(kubeconfig);
    Ok(command)
}
