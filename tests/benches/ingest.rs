//! The telemetry server under many agents at 1 Hz, each on a connection of its own, without
//! and with TLS: samples per second, CPU per sample, memory per stream. The server is a process
//! of its own, on one thread.
//!
//! `cargo bench -p plimsoll-tests --bench ingest`

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_agent::app::{StreamOptions, run_with};
use plimsoll_agent::stream::{Target, TlsOptions};
use plimsoll_agent::usage::{Machine, NodeSample, Source};
use plimsoll_ingest::Ingest;
use plimsoll_ingest::tls::{Certificate, Door, Files};
use plimsoll_tests::Measured;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Agents in each row.
const STREAMS: [usize; 3] = [100, 300, 1000];
/// Descriptors that either process needs: one for each connection, and a few.
const DESCRIPTORS: u64 = 4096;
/// Agents for which the last lines extrapolate.
const FLEET: f64 = 15_000.0;
/// Time for connections to open and windows to fill.
const WARM_UP: Duration = Duration::from_secs(5);
/// Time that is measured.
const MEASURED: Duration = Duration::from_secs(10);
/// The argument that makes this program the server.
const SERVE: &str = "--serve";

/// The folder of the certificates follows; without it the server speaks plain text.
const TLS: &str = "--tls";

fn main() -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: limit
            .maximum
            .map_or(Some(DESCRIPTORS), |most| Some(DESCRIPTORS.min(most))),
        maximum: limit.maximum,
    };
    if limit.current.is_some_and(|current| current < DESCRIPTORS) {
        setrlimit(Resource::Nofile, wanted)?;
    }
    if std::env::args().any(|argument| argument == SERVE) {
        return runtime()?.block_on(serve());
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "ingest: agents at 1 Hz over loopback, server in a process of its own"
    )?;
    writeln!(
        out,
        "{:>8} {:>5} {:>10} {:>14} {:>14} {:>12}",
        "streams", "TLS", "samples/s", "CPU us/sample", "of a core", "KiB/stream"
    )?;
    let folder = Folder::new()?;
    let plain = STREAMS.map(|streams| (streams, false));
    let mut last = None;
    for (streams, is_secure) in plain.into_iter().chain([(1000, true)]) {
        let tls = is_secure.then_some(&folder);
        let row = runtime()?.block_on(measure(streams, tls))?;
        let per_sample = row.cpu.as_secs_f64() * 1e6 / row.samples;
        let core = row.cpu.as_secs_f64() / MEASURED.as_secs_f64();
        let kib = row.memory / 1024.0 / streams as f64;
        let rate = row.samples / MEASURED.as_secs_f64();
        writeln!(
            out,
            "{streams:>8} {is_secure:>5} {rate:>10.0} {per_sample:>14.1} {core:>14.4} {kib:>12.1}"
        )?;
        last = Some((per_sample, kib));
    }
    if let Some((per_sample, kib)) = last {
        writeln!(
            out,
            "15,000 agents by the row with TLS: {per_sample:.1} us x 15,000/s = {:.3} core, {kib:.1} KiB x \
             15,000 = {:.0} MiB",
            per_sample * FLEET / 1e6,
            kib * FLEET / 1024.0,
        )?;
    }
    Ok(())
}

struct Row {
    cpu: Duration,
    memory: f64,
    samples: f64,
}

/// Certificates in a folder that is gone with the bench.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("plimsoll-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        let folder = Self(path);
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let leaf = CertificateParams::new(["127.0.0.1".to_owned()])?;
        let leaf = leaf.signed_by(&key, &authority)?;
        std::fs::write(folder.authority(), authority.pem())?;
        let files = files(&folder.0);
        std::fs::write(files.cert, leaf.pem())?;
        std::fs::write(files.key, key.serialize_pem())?;
        Ok(folder)
    }

    fn authority(&self) -> PathBuf {
        self.0.join("ca.crt")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn files(folder: &Path) -> Files {
    Files {
        cert: folder.join("tls.crt"),
        key: folder.join("tls.key"),
    }
}

async fn measure(streams: usize, tls: Option<&Folder>) -> anyhow::Result<Row> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command
        .arg(SERVE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(folder) = tls {
        command.arg(TLS).arg(&folder.0);
    }
    let mut server = Measured::start(&mut command)?;
    let output = server
        .child()
        .stdout
        .take()
        .ok_or_else(|| anyhow::anyhow!("no pipe"))?;
    let mut address = String::new();
    BufReader::new(output).read_line(&mut address)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let target: Target = format!("{scheme}://{}", address.trim()).parse()?;
    let empty = server.resident_bytes().unwrap_or_default();

    let stop = CancellationToken::new();
    let mut agents = JoinSet::new();
    for index in 0..streams {
        let name = format!("node-{index}");
        let options = StreamOptions {
            tls: tls.map(|folder| TlsOptions {
                ca: folder.authority(),
                server_name: None,
            }),
            ..StreamOptions::new(name, vec![target.clone()], Duration::from_secs(1))
        };
        agents.spawn(run_with(Steady::default(), options, stop.clone()));
    }
    sleep(WARM_UP).await;
    let before = server.cpu().unwrap_or_default();
    sleep(MEASURED).await;
    let cpu = server.cpu().unwrap_or_default().saturating_sub(before);
    let memory = server
        .resident_bytes()
        .unwrap_or_default()
        .saturating_sub(empty) as f64;
    stop.cancel();
    while agents.join_next().await.is_some() {}
    Ok(Row {
        cpu,
        memory,
        samples: streams as f64 * MEASURED.as_secs_f64(),
    })
}

/// Serves until standard input closes.
async fn serve() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let stop = CancellationToken::new();
    let end = stop.clone();
    let input = std::thread::spawn(move || {
        let mut rest = Vec::new();
        let read = std::io::stdin().read_to_end(&mut rest);
        end.cancel();
        read
    });
    let ingest = Arc::new(Ingest::new());
    let origin = Instant::now();
    let folder = std::env::args()
        .skip_while(|argument| argument != TLS)
        .nth(1);
    let door = match folder {
        Some(folder) => Door::Tls(Certificate::load(files(Path::new(&folder)))?),
        None => Door::Plaintext,
    };
    let drained = Arc::clone(&ingest);
    let drain = async {
        loop {
            drained.changed().await;
            std::hint::black_box(drained.drain());
        }
    };
    tokio::select! {
        served = plimsoll_ingest::serve(listener, ingest, door, move || origin.elapsed(), stop) => served?,
        () = drain => {}
    }
    drop(input.join());
    Ok(())
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// A node whose figures do not change: the cost is the stream's.
#[derive(Debug, Default)]
struct Steady {
    sample: NodeSample,
}

// === impl Steady ===

impl Source for Steady {
    fn machine(&self) -> Machine {
        Machine {
            cpus: Some(4),
            memory_bytes: Some(1 << 34),
            link_bytes_per_second: None,
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        self.sample = NodeSample {
            taken_at: at,
            interval: Duration::from_secs(1),
            cpu_millicores: Some(1234.0),
            memory_bytes: Some(1 << 33),
            rx_bytes_per_second: Some(1e6),
            tx_bytes_per_second: Some(2e6),
            ..NodeSample::default()
        };
        &self.sample
    }
}
