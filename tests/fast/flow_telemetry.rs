//! Agents that die, come back, or talk nonsense, beside agents that do not.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_proto::telemetry::v1::agent_message::Body as Said;
use plimsoll_proto::telemetry::v1::kernel::Shape;
use plimsoll_proto::telemetry::v1::refusal::Reason;
use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::telemetry_client::TelemetryClient;
use plimsoll_proto::telemetry::v1::{
    AgentMessage, Figure, Hello, Kernel, Report, Resource, SchedulerMessage,
};
use plimsoll_tests::flow::{BOUND, PLIMSOLL, Scheduler, Stage, node, pod};
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Endpoint;

/// Reports that a stream may send beyond what is refused of them.
const IMPLAUSIBLE_IN_A_ROW: u64 = 16;

/// A stream that says what a test wants.
struct Stream {
    say: Sender<AgentMessage>,
    answers: Streaming<SchedulerMessage>,
}

// === impl Stream ===

impl Stream {
    async fn open(scheduler: SocketAddr) -> anyhow::Result<Self> {
        let channel_to = Endpoint::from_shared(format!("http://{scheduler}"))?
            .connect()
            .await?;
        let (say, said) = channel(64);
        let said = ReceiverStream::new(said);
        let answers = TelemetryClient::new(channel_to)
            .stream(said)
            .await?
            .into_inner();
        Ok(Self { say, answers })
    }

    async fn say(&self, body: Said) -> anyhow::Result<()> {
        Ok(self.say.send(AgentMessage { body: Some(body) }).await?)
    }

    /// Why the stream was ended.
    async fn refusal(&mut self) -> anyhow::Result<Reason> {
        loop {
            let answer = timeout(BOUND, self.answers.message()).await??;
            match answer
                .and_then(|answer| answer.body)
                .context("ended without a word")?
            {
                Body::Refusal(refusal) => return Ok(refusal.reason()),
                Body::Welcome(_) | Body::Ack(_) => {}
                Body::Drain(drain) => bail!("{drain:?}"),
            }
        }
    }
}

fn hello(node: &str) -> Said {
    Said::Hello(Hello {
        schema: 1,
        node_name: node.to_owned(),
        agent_version: "0.1.0".to_owned(),
        start_id: 7,
        period_ms: 1000,
        cpus: Some(8),
        memory_bytes: None,
        link_bytes_per_second: None,
    })
}

fn report(sequence: u64, millicores: f64) -> Said {
    Said::Report(Report {
        sequence,
        age_ms: 1,
        figures: vec![Figure {
            resource: Resource::Cpu.into(),
            kernel: Some(Kernel {
                shape: Some(Shape::EwmaTauMs(10_000)),
            }),
            value: millicores,
            window_age_ms: 60_000,
            samples: 60,
        }],
        ..Report::default()
    })
}

/// Two nodes of 8 CPUs.
async fn two_nodes() -> (Stage, Scheduler) {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    stage.add(node("b", "8"));
    let scheduler = stage.scheduler(PLIMSOLL).await;
    (stage, scheduler)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_killed_and_comes_back_is_believed_again() -> anyhow::Result<()> {
    let (stage, scheduler) = two_nodes().await;
    let _steady = scheduler.measured_nodes(&[("b", 3000.0)]).await;
    let hot = scheduler.agent("a", 7000.0);
    scheduler.until_measured("a", 7000.0).await;
    stage.add(pod("before").cpu("100m"));
    assert_eq!(stage.until_bound("before").await, "b");

    hot.kill().await;
    scheduler
        .until_series("plimsoll_ingest_streams", |streams| streams == 1.0)
        .await;
    stage.add(pod("between").cpu("100m"));
    assert_eq!(
        stage.until_bound("between").await,
        "b",
        "the last figure still counts"
    );

    let _cool = scheduler.measured_nodes(&[("a", 400.0)]).await;
    stage.add(pod("after").cpu("100m"));
    assert_eq!(stage.until_bound("after").await, "a");
    let decisions = scheduler.decisions("after");
    let chosen = &decisions[0].candidates[0];
    assert_eq!(
        (&*chosen.node, chosen.load.cpu.measured.map(f64::round)),
        ("a", Some(400.0))
    );
    assert!(
        chosen
            .load
            .sample_age
            .is_some_and(|age| age < Duration::from_secs(2))
    );
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_talks_nonsense_is_refused_counted_and_disturbs_nobody() -> anyhow::Result<()>
{
    let (stage, scheduler) = two_nodes().await;
    let _honest = scheduler
        .measured_nodes(&[("a", 7000.0), ("b", 400.0)])
        .await;
    let refused = |reason: &str| {
        format!("plimsoll_ingest_refused_total{{what=\"stream\",reason=\"{reason}\"}}")
    };

    // A report that comes before its name.
    let mut stream = Stream::open(scheduler.telemetry()).await?;
    stream.say(report(1, 1.0)).await?;
    assert_eq!(stream.refusal().await?, Reason::Protocol);

    // A second name, on a stream that has one.
    let mut stream = Stream::open(scheduler.telemetry()).await?;
    stream.say(hello("c")).await?;
    stream.say(hello("a")).await?;
    assert_eq!(stream.refusal().await?, Reason::Identity);

    // Figures that are no numbers.
    let mut stream = Stream::open(scheduler.telemetry()).await?;
    stream.say(hello("d")).await?;
    for sequence in 1..=IMPLAUSIBLE_IN_A_ROW {
        stream.say(report(sequence, f64::NAN)).await?;
    }
    assert_eq!(stream.refusal().await?, Reason::Implausible);

    for reason in ["protocol", "identity", "implausible"] {
        assert_eq!(scheduler.series(&refused(reason)).await, 1.0, "{reason}");
    }
    let figures = "plimsoll_ingest_refused_total{what=\"figure\",reason=\"not_finite\"}";
    assert_eq!(scheduler.series(figures).await, IMPLAUSIBLE_IN_A_ROW as f64);

    // The honest agents' streams live, and pods are placed by their figures.
    assert_eq!(
        scheduler.series("plimsoll_ingest_superseded_total").await,
        0.0
    );
    scheduler
        .until_series("plimsoll_ingest_streams", |streams| streams == 2.0)
        .await;
    stage.add(pod("web").cpu("200m"));
    assert_eq!(stage.until_bound("web").await, "b");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_an_agent_is_judged_by_its_requests_beside_those_with_one()
-> anyhow::Result<()> {
    let (stage, scheduler) = two_nodes().await;
    stage.add(pod("tenant").cpu("1").on("b"));
    let _only = scheduler.measured_nodes(&[("a", 7000.0)]).await;
    stage.add(pod("web").cpu("200m"));
    assert_eq!(
        stage.until_bound("web").await,
        "b",
        "staged roll-out: no agent is no penalty"
    );
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_of_a_node_that_is_not_there_yet_counts_once_the_node_comes() -> anyhow::Result<()>
{
    let (stage, scheduler) = two_nodes().await;
    let _early = scheduler.agent("late", 400.0);
    let _agents = scheduler
        .measured_nodes(&[("a", 7000.0), ("b", 6000.0)])
        .await;
    scheduler
        .until_series("plimsoll_ingest_nodes", |nodes| nodes == 3.0)
        .await;
    stage.add(node("late", "8"));
    scheduler.until_measured("late", 400.0).await;
    stage.add(pod("web").cpu("200m"));
    assert_eq!(stage.until_bound("web").await, "late");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
