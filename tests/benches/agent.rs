//! The agent's own cost on this machine at 1 Hz, without pods and with 110 of them read each
//! ten seconds, beside sysinfo reading the same, and beside Debian's prometheus-node-exporter
//! scraped at 1 Hz where it is installed. The pods are cgroups of this machine where they can
//! be made, else files of the same form.
//!
//! `cargo bench -p plimsoll-tests --bench agent`

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use plimsoll_ingest::Ingest;
use plimsoll_ingest::tls::Door;
use plimsoll_tests::{Measured, project_root};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Time before the measurement.
const WARM_UP: Duration = Duration::from_secs(5);
/// Time that is measured.
const MEASURED: Duration = Duration::from_secs(30);
/// As many as a kubelet takes by default.
const PODS: usize = 110;
/// The argument that makes this program sysinfo at 1 Hz.
const SYSINFO: &str = "--sysinfo";
/// Longest wait for a scraped page.
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(5);

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == SYSINFO) {
        return Ok(sysinfo_at_1_hz()?);
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "agent: {} s at 1 Hz on this machine",
        MEASURED.as_secs()
    )?;
    writeln!(
        out,
        "{:<44} {:>12} {:>10} {:>9}",
        "", "CPU us/s", "of a core", "RSS MiB"
    )?;
    row(
        &mut out,
        "plimsoll-agent, streaming (bar 0.100 %, 12 MB)",
        &agent(None)?,
    )?;
    let pods = Pods::make()?;
    let name = format!("and {PODS} pods, {}", pods.kind);
    row(&mut out, &name, &agent(pods.sys.as_deref())?)?;
    drop(pods);
    row(&mut out, "sysinfo: CPU, memory, networks", &sysinfo()?)?;
    match node_exporter()? {
        Some(cost) => row(&mut out, "prometheus-node-exporter, scraped", &cost)?,
        None => writeln!(
            out,
            "prometheus-node-exporter is not installed (apt-get install prometheus-node-exporter)"
        )?,
    }
    Ok(())
}

struct Cost {
    cpu: Duration,
    memory: u64,
}

fn row(out: &mut impl Write, name: &str, cost: &Cost) -> std::io::Result<()> {
    let share = cost.cpu.as_secs_f64() / MEASURED.as_secs_f64();
    let mib = cost.memory as f64 / 1_048_576.0;
    writeln!(
        out,
        "{name:<44} {:>12.0} {:>8.3} % {mib:>9.1}",
        share * 1e6,
        share * 100.0
    )
}

fn measure(
    process: &Measured,
    mut each_second: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Cost> {
    let mut wait = |time: Duration| -> anyhow::Result<()> {
        for _ in 0..time.as_secs() {
            each_second()?;
            std::thread::sleep(Duration::from_secs(1));
        }
        Ok(())
    };
    wait(WARM_UP)?;
    let before = process.cpu().context("the process has ended")?;
    wait(MEASURED)?;
    let cpu = process
        .cpu()
        .context("the process has ended")?
        .saturating_sub(before);
    Ok(Cost {
        cpu,
        memory: process.resident_bytes().context("the process has ended")?,
    })
}

/// The agent, reading `sys` in place of the machine's own if there is one.
fn agent(sys: Option<&Path>) -> anyhow::Result<Cost> {
    let binary = release_binary("plimsoll-agent")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let stop = CancellationToken::new();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let scheduler = format!("http://{}", listener.local_addr()?);
    let origin = Instant::now();
    let ingest = Arc::new(Ingest::new());
    let serving = plimsoll_ingest::serve(
        listener,
        Arc::clone(&ingest),
        Door::Plaintext,
        move || origin.elapsed(),
        stop.clone(),
    );
    let server = runtime.spawn(serving);
    let process = Measured::start(
        Command::new(binary)
            .args([
                "run",
                "--node-name",
                "bench",
                "--insecure-plaintext",
                "--listen",
                "127.0.0.1:0",
            ])
            .args(["--scheduler", &scheduler])
            .arg("--sys")
            .arg(sys.unwrap_or(Path::new("/sys")))
            .stderr(Stdio::null()),
    )?;
    let cost = measure(&process, || Ok(()))?;
    anyhow::ensure!(!ingest.drain().is_empty(), "the agent streamed nothing");
    drop(process);
    stop.cancel();
    runtime.block_on(server)??;
    Ok(cost)
}

/// Groups as a kubelet makes them, old enough to be read each ten seconds only.
struct Pods {
    kind: &'static str,
    /// The innermost first.
    folders: Vec<PathBuf>,
    /// The tree to read them in, if it is not the machine's.
    sys: Option<PathBuf>,
}

impl Pods {
    fn make() -> anyhow::Result<Self> {
        let cgroup = Path::new("/sys/fs/cgroup");
        let (kind, roots) = if cgroup.join("cgroup.controllers").exists() {
            ("cgroup v2", vec![cgroup.to_owned()])
        } else {
            let roots = ["cpuacct", "memory"].map(|name| cgroup.join(name));
            ("cgroup v1", roots.to_vec())
        };
        let mut pods = Self {
            kind,
            folders: Vec::new(),
            sys: None,
        };
        if pods.make_below(&roots).is_err() {
            pods.remove();
            pods.kind = "files";
            pods.make_files()?;
        }
        // A new group is young: it would be read each second.
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(24);
        for folder in &pods.folders {
            File::open(folder)?.set_modified(long_ago)?;
        }
        Ok(pods)
    }

    fn make_below(&mut self, roots: &[PathBuf]) -> std::io::Result<()> {
        let name = format!("plimsoll-bench-{}", std::process::id());
        for root in roots {
            let mut folder = root.clone();
            for step in [&*name, "kubepods", "burstable"] {
                folder.push(step);
                self.make_folder(folder.clone())?;
            }
            for pod in 0..PODS {
                let pod = folder.join(format!("pod0c0a6f2e-7b1d-4e0a-9d55-{pod:012x}"));
                self.make_folder(pod)?;
            }
        }
        Ok(())
    }

    fn make_folder(&mut self, folder: PathBuf) -> std::io::Result<()> {
        fs::create_dir(&folder)?;
        self.folders.insert(0, folder);
        Ok(())
    }

    /// A tree in memory with the machine's own links and CPUs.
    fn make_files(&mut self) -> anyhow::Result<()> {
        let name = format!("plimsoll-bench-{}", std::process::id());
        let sys = Path::new("/dev/shm").join(name);
        let cgroup = sys.join("fs/cgroup");
        fs::create_dir_all(&cgroup)?;
        self.sys = Some(sys.clone());
        for shared in ["class", "devices"] {
            symlink(Path::new("/sys").join(shared), sys.join(shared))?;
        }
        fs::write(cgroup.join("cgroup.controllers"), "cpu memory\n")?;
        self.make_below(&[cgroup])?;
        for folder in &self.folders {
            fs::write(folder.join("cpu.stat"), "usage_usec 1000000\n")?;
            fs::write(folder.join("memory.current"), "1048576\n")?;
            fs::write(folder.join("memory.stat"), "inactive_file 0\n")?;
            fs::write(folder.join("cgroup.events"), "populated 1\n")?;
        }
        Ok(())
    }

    fn remove(&mut self) {
        for folder in self.folders.drain(..) {
            // What cannot be removed is left for the operator of the machine.
            drop(fs::remove_dir(folder));
        }
        if let Some(sys) = self.sys.take() {
            drop(fs::remove_dir_all(sys));
        }
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        self.remove();
    }
}

fn sysinfo() -> anyhow::Result<Cost> {
    let process = Measured::start(Command::new(std::env::current_exe()?).arg(SYSINFO))?;
    measure(&process, || Ok(()))
}

fn sysinfo_at_1_hz() -> std::io::Result<()> {
    let failed = |_| std::io::Error::other("sysinfo cannot read this system");
    let mut system = sysinfo::System::new().map_err(failed)?;
    let mut networks = sysinfo::Networks::new_with_refreshed_list().map_err(failed)?;
    for _ in 0..(WARM_UP + MEASURED).as_secs() * 2 {
        system.refresh_cpu_usage();
        system.refresh_memory();
        networks.refresh(true);
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

fn node_exporter() -> anyhow::Result<Option<Cost>> {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let started = Measured::start(
        Command::new("prometheus-node-exporter")
            .arg(format!("--web.listen-address={address}"))
            .stderr(Stdio::null()),
    );
    let process = match started {
        Ok(process) => process,
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(problem.into()),
    };
    std::thread::sleep(Duration::from_secs(1));
    measure(&process, || scrape(address)).map(Some)
}

fn scrape(address: SocketAddr) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(address).context("node-exporter does not listen")?;
    stream.set_read_timeout(Some(SCRAPE_TIMEOUT))?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut page = Vec::new();
    stream.read_to_end(&mut page)?;
    anyhow::ensure!(page.len() > 1000, "node-exporter gave no page");
    Ok(())
}

fn release_binary(package: &str) -> anyhow::Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "-p", package])
        .current_dir(project_root())
        .status()?;
    anyhow::ensure!(status.success(), "{package} does not build");
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(project_root().join("Cargo.toml"))
        .no_deps()
        .exec()?;
    Ok(metadata
        .target_directory
        .join("release")
        .join(package)
        .into_std_path_buf())
}
