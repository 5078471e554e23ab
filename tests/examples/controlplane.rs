//! A real control plane that lives until ctrl-c: prints how to use it, takes the names of more
//! programs (`kube-scheduler`, `kube-controller-manager`).

use std::io::Write;

use plimsoll_tests::controlplane::{Controlplane, Options, programs};

fn main() -> anyhow::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let has = |program: &str| wanted.iter().any(|name| name == program);
    let cluster = Controlplane::start(&Options {
        kube_scheduler: has("kube-scheduler").then(String::new),
        controller_manager: has("kube-controller-manager"),
        ..Options::default()
    })?;
    let mut out = std::io::stdout().lock();
    let kubeconfig = cluster.admin_kubeconfig();
    writeln!(out, "export KUBECONFIG={}", kubeconfig.display())?;
    writeln!(out, "export PATH={}:$PATH", programs()?.display())?;
    writeln!(
        out,
        "# ctrl-c ends it; logs: {}",
        cluster.folder().display()
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(tokio::signal::ctrl_c())?;
    cluster.close()
}
