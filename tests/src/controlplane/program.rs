//! The programs of one control plane and their flags: takes a folder and options, gives
//! commands that can be run again with the same address and data.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use super::Options;
use super::api::Api;
use super::build::programs;
use super::pki::Issuer;
use super::ports::free_port;

/// A program of a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// The store.
    Etcd,
    /// The API.
    ApiServer,
    /// Kubernetes' own scheduler.
    Scheduler,
    /// The controllers.
    ControllerManager,
}

/// What is fixed for the life of a control plane.
#[derive(Debug)]
pub(super) struct Plan {
    folder: PathBuf,
    bin: PathBuf,
    etcd: u16,
    etcd_peer: u16,
    api: u16,
    scheduler: Option<u16>,
    controllers: Option<u16>,
    flags: Vec<(Program, String)>,
}

// === impl Program ===

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::Scheduler => "kube-scheduler",
            Self::ControllerManager => "kube-controller-manager",
        })
    }
}

// === impl Plan ===

impl Plan {
    pub(super) fn new(folder: &Path, issuer: &Issuer, options: &Options) -> anyhow::Result<Self> {
        let plan = Self {
            folder: folder.to_owned(),
            bin: programs()?,
            etcd: free_port()?,
            etcd_peer: free_port()?,
            api: free_port()?,
            scheduler: options
                .kube_scheduler
                .as_ref()
                .map(|_| free_port())
                .transpose()?,
            controllers: options.controller_manager.then(free_port).transpose()?,
            flags: options.flags.clone(),
        };
        plan.write_keys(issuer)?;
        for (program, is_there) in [
            (Program::Scheduler, plan.scheduler.is_some()),
            (Program::ControllerManager, plan.controllers.is_some()),
        ] {
            if is_there {
                let identity = issuer.client(&format!("system:{program}"), &[])?;
                let server = format!("https://{}", plan.server());
                issuer.write_kubeconfig(&plan.kubeconfig(program), &server, &identity)?;
            }
        }
        if let Some(config) = &options.kube_scheduler {
            plan.write_scheduler_config(config)?;
        }
        Ok(plan)
    }

    /// Address of the API server.
    pub(super) fn server(&self) -> String {
        format!("127.0.0.1:{}", self.api)
    }

    /// In the order of their start.
    pub(super) fn programs(&self) -> Vec<Program> {
        let mut programs = vec![Program::Etcd, Program::ApiServer];
        programs.extend(self.controllers.map(|_| Program::ControllerManager));
        programs.extend(self.scheduler.map(|_| Program::Scheduler));
        programs
    }

    pub(super) fn command(&self, program: Program) -> anyhow::Result<Command> {
        let mut command = Command::new(self.bin.join(program.to_string()));
        match (program, self.scheduler, self.controllers) {
            (Program::Etcd, _, _) => command.args(self.etcd()),
            (Program::ApiServer, _, _) => command.args(self.api_server()),
            (Program::Scheduler, Some(port), _) => command.args(self.kube_scheduler(port)),
            (Program::ControllerManager, _, Some(port)) => {
                command.args(self.controller_manager(port))
            }
            _ => bail!("{program} is no part of this control plane"),
        };
        let flags = self.flags.iter().filter(|(of, _)| *of == program);
        command.args(flags.map(|(_, flag)| flag));
        Ok(command)
    }

    /// Whether a program can be used. etcd is asked by the API server only; kube-scheduler
    /// and the controllers serve TLS on ports of their own.
    pub(super) fn is_ready(&self, program: Program, api: &Api) -> bool {
        let (port, path) = match program {
            Program::Etcd => return std::net::TcpStream::connect(("127.0.0.1", self.etcd)).is_ok(),
            // The namespaces that the API server makes itself come a little after /readyz.
            Program::ApiServer => {
                let default = api.call("GET", "/api/v1/namespaces/default", None);
                return api.is_ok("/readyz") && default.is_ok_and(|answer| answer.code == 200);
            }
            Program::Scheduler => (self.scheduler, "/readyz"),
            Program::ControllerManager => (self.controllers, "/healthz"),
        };
        port.is_some_and(|port| api.at(&format!("127.0.0.1:{port}")).is_ok(path))
    }

    fn etcd(&self) -> Vec<String> {
        let client = format!("http://127.0.0.1:{}", self.etcd);
        let peer = format!("http://127.0.0.1:{}", self.etcd_peer);
        vec![
            "--name=test".to_owned(),
            format!("--data-dir={}", self.file("etcd")),
            "--log-level=warn".to_owned(),
            // A killed process keeps its data; only a crashed machine would not.
            "--unsafe-no-fsync".to_owned(),
            "--quota-backend-bytes=8589934592".to_owned(),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=test={peer}"),
        ]
    }

    fn api_server(&self) -> Vec<String> {
        // Without a kubelet nothing would take the taint of a new node off again, and without
        // controllers nothing would make the service account that pods are then given.
        let mut unwanted = vec!["TaintNodesByCondition"];
        if self.controllers.is_none() {
            unwanted.push("ServiceAccount");
        }
        vec![
            format!("--etcd-servers=http://127.0.0.1:{}", self.etcd),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.api),
            "--endpoint-reconciler-type=none".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
            format!("--tls-cert-file={}", self.file("server.crt")),
            format!("--tls-private-key-file={}", self.file("server.key")),
            format!("--client-ca-file={}", self.file("ca.crt")),
            "--authorization-mode=Node,RBAC".to_owned(),
            "--allow-privileged".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local".to_owned(),
            format!("--service-account-key-file={}", self.file("token.crt")),
            format!(
                "--service-account-signing-key-file={}",
                self.file("token.key")
            ),
            format!("--disable-admission-plugins={}", unwanted.join(",")),
        ]
    }

    fn kube_scheduler(&self, port: u16) -> Vec<String> {
        let mut flags = self.serving(port, Program::Scheduler);
        flags.push(format!("--config={}", self.file("kube-scheduler.yaml")));
        flags
    }

    fn controller_manager(&self, port: u16) -> Vec<String> {
        let mut flags = self.serving(port, Program::ControllerManager);
        let kubeconfig = self.kubeconfig(Program::ControllerManager);
        flags.extend([
            format!("--kubeconfig={}", kubeconfig.display()),
            "--leader-elect=false".to_owned(),
            "--controllers=*,-node-lifecycle-controller".to_owned(),
            "--use-service-account-credentials".to_owned(),
            format!("--root-ca-file={}", self.file("ca.crt")),
            format!(
                "--service-account-private-key-file={}",
                self.file("token.key")
            ),
            format!("--cluster-signing-cert-file={}", self.file("ca.crt")),
            format!("--cluster-signing-key-file={}", self.file("ca.key")),
        ]);
        flags
    }

    /// Health and metrics for anyone on the loopback.
    fn serving(&self, port: u16, program: Program) -> Vec<String> {
        let kubeconfig = self.kubeconfig(program);
        let kubeconfig = kubeconfig.display();
        vec![
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--tls-cert-file={}", self.file("server.crt")),
            format!("--tls-private-key-file={}", self.file("server.key")),
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics".to_owned(),
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
        ]
    }

    fn write_keys(&self, issuer: &Issuer) -> anyhow::Result<()> {
        let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"];
        let server = issuer.server(&names)?;
        server.write(&self.path("server.crt"), &self.path("server.key"))?;
        fs::write(self.path("ca.crt"), issuer.certificate())?;
        fs::write(self.path("ca.key"), issuer.key())?;
        let tokens = issuer.client("service-account-tokens", &[])?;
        tokens.write(&self.path("token.crt"), &self.path("token.key"))
    }

    fn write_scheduler_config(&self, config: &str) -> anyhow::Result<()> {
        let kubeconfig = self.kubeconfig(Program::Scheduler);
        let kubeconfig = kubeconfig.display();
        let config = match config.trim() {
            "" => "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration",
            given => given,
        };
        let text = format!(
            "{config}\nleaderElection: {{leaderElect: false}}\n\
             clientConnection: {{kubeconfig: '{kubeconfig}'}}\n"
        );
        Ok(fs::write(self.path("kube-scheduler.yaml"), text)?)
    }

    fn kubeconfig(&self, program: Program) -> PathBuf {
        self.path(&format!("{program}.kubeconfig"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn file(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}
