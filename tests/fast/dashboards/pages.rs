//! The real metrics pages of a scheduler and an agent to which everything has happened that
//! they count only once it has: series that have never been touched have no line.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use plimsoll_agent::app::{Options, StreamOptions, run};
use plimsoll_agent::usage::{Machine, NodeSample, Source};
use plimsoll_apiserver::{Fault, Rule, Verb};
use plimsoll_config::plimsoll::{PlimsollConfig, TlsFiles};
use plimsoll_scheduler::{App, AppOptions, ClientOptions};
use plimsoll_tests::flow::{BOUND, PLIMSOLL, Page, Stage, Steady, node, pod};
use rcgen::{CertificateParams, KeyPair};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Far more than any machine can do: refused, and counted.
const ABSURD_MILLICORES: f64 = 1e9;

/// The page of a scheduler with a certificate, agents, pods, and trouble with its watches.
pub(super) async fn of_scheduler() -> anyhow::Result<String> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    stage.add(node("b", "8"));
    let scheduler = stage.scheduler(PLIMSOLL).await;
    let _agents = scheduler.measured_nodes(&[("a", 1000.0)]).await;
    let absurd = Steady::new(1, ABSURD_MILLICORES);
    let _absurd = plimsoll_tests::flow::Agent::start("b", absurd, scheduler.telemetry());
    stage.add(pod("web").cpu("1"));
    stage.until_told("web", "Scheduled").await;
    // The next watch of pods hears that its version is forgotten.
    let expired = Rule::new(Fault::expired())
        .verb(Verb::Watch)
        .resource("pods");
    stage.faults().add(expired.times(1));
    stage.faults().close_watches(None);
    for series in [
        "plimsoll_cluster_relists_total{kind=\"pods\"}",
        "plimsoll_ingest_refused_total{what=\"figure\",reason=\"above_capacity\"}",
    ] {
        scheduler.until_series(series, |value| value >= 1.0).await;
    }
    let refused = |pod: &mut serde_json::Value| {
        pod["status"]["phase"] = "Failed".into();
        pod["status"]["reason"] = "OutOfcpu".into();
    };
    stage.store().edit("pods", "default", "web", refused)?;
    let series = "plimsoll_pods_refused_by_kubelet_total{reason=\"OutOfcpu\"}";
    scheduler.until_series(series, |value| value >= 1.0).await;
    let page = scheduler.page("/metrics").await.text;
    scheduler.stop().await?;
    let with_certificate = of_scheduler_with_certificate(&stage.address()).await?;
    stage.close().await;
    Ok(format!("{page}{with_certificate}"))
}

async fn of_scheduler_with_certificate(api_server: &str) -> anyhow::Result<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])?.self_signed(&key)?;
    let cert_file = folder.join("dashboards.crt");
    let key_file = folder.join("dashboards.key");
    fs::write(&cert_file, certificate.pem())?;
    fs::write(&key_file, key.serialize_pem())?;
    let registry = plimsoll_plugins::registry();
    let loaded = plimsoll_config::load(PLIMSOLL, &registry);
    let anywhere = "127.0.0.1:0".parse()?;
    let options = AppOptions {
        access: ClientOptions::Address(api_server.to_owned()),
        scheduler: loaded.map_err(|errors| anyhow::anyhow!("{errors:?}"))?,
        plimsoll: PlimsollConfig {
            telemetry_listen: anywhere,
            admin_listen: anywhere,
            telemetry_tls: Some(TlsFiles {
                cert: cert_file,
                key: key_file,
            }),
            ..PlimsollConfig::default()
        },
        insecure_plaintext: false,
        load_on: true,
        node_load_metrics: false,
        instance: "dashboards".to_owned(),
    };
    let app = App::build(options, CancellationToken::new()).await?;
    let admin = app.admin_address();
    let mut running = JoinSet::new();
    running.spawn(app.run());
    let mut page = Page::get(admin, "/metrics").await?;
    let looking = async {
        while !["not_after", "leader_election_master_status{"]
            .iter()
            .all(|part| page.text.contains(part))
        {
            sleep(LOOK).await;
            page = Page::get(admin, "/metrics").await?;
        }
        anyhow::Ok(())
    };
    timeout(BOUND, looking).await.context("no certificate")??;
    running.shutdown().await;
    Ok(page.text)
}

/// The page of an agent that measures everything and whose scheduler does not answer.
pub(super) async fn of_agent() -> anyhow::Result<String> {
    let free = || TcpListener::bind("127.0.0.1:0")?.local_addr();
    let (listen, nobody) = (free()?, free()?);
    let target = format!("http://{nobody}").parse()?;
    let stream = StreamOptions::new("a", vec![target], Duration::from_millis(50));
    let mut running = JoinSet::new();
    running.spawn(run(Full::default(), Options { stream, listen }));
    let mut page = None;
    let looking = async {
        let is_whole = |page: &Page| {
            ["_reconnects_total{", "_node_cpu_cores{"]
                .iter()
                .all(|part| page.text.contains(part))
        };
        while !page.as_ref().is_some_and(is_whole) {
            sleep(LOOK).await;
            page = Page::get(listen, "/metrics").await.ok();
        }
    };
    let in_time = timeout(BOUND, looking).await;
    running.shutdown().await;
    let page = page.map(|page| page.text).unwrap_or_default();
    in_time.with_context(|| page.clone())?;
    Ok(page)
}

/// A machine of which everything can be measured.
#[derive(Debug, Clone, Default)]
struct Full(NodeSample);

impl Source for Full {
    fn machine(&self) -> Machine {
        Machine {
            cpus: Some(4),
            memory_bytes: Some(8 << 30),
            link_bytes_per_second: Some(1 << 30),
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        self.0 = NodeSample {
            taken_at: at,
            interval: at.saturating_sub(self.0.taken_at),
            cpu_millicores: Some(1000.0),
            memory_bytes: Some(1 << 30),
            rx_bytes_per_second: Some(1e6),
            tx_bytes_per_second: Some(1e6),
            steal: Some(0.0),
            link_bytes_per_second: Some(1 << 30),
            ..NodeSample::default()
        };
        &self.0
    }
}
