//! The telemetry server over real loopback sockets, with a client that says what it is told.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_ingest::tls::Door;
use plimsoll_ingest::{Error, Ingest, serve};
use plimsoll_proto::telemetry::v1::agent_message::Body as Said;
use plimsoll_proto::telemetry::v1::kernel::Shape;
use plimsoll_proto::telemetry::v1::refusal::Reason;
use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::telemetry_client::TelemetryClient;
use plimsoll_proto::telemetry::v1::{
    AgentMessage, Figure, Hello, Kernel, Report, Resource, SchedulerMessage,
};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

struct Server {
    ingest: Arc<Ingest>,
    registry: Registry,
    address: std::net::SocketAddr,
    shutdown: CancellationToken,
    running: JoinSet<Result<(), Error>>,
}

async fn running() -> Server {
    let ingest = Arc::new(Ingest::new());
    let mut registry = Registry::default();
    ingest.register(&mut registry);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    // An engine that has run for an hour.
    let start = Instant::now();
    let clock = move || Duration::from_hours(1) + start.elapsed();
    let mut running = JoinSet::new();
    running.spawn(serve(
        listener,
        Arc::clone(&ingest),
        Door::Plaintext,
        clock,
        shutdown.clone(),
    ));
    Server {
        ingest,
        registry,
        address,
        shutdown,
        running,
    }
}

impl Server {
    async fn dial(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        endpoint.connect().await.unwrap()
    }

    async fn open(&self) -> Call {
        Call::on(self.dial().await).await
    }

    fn metrics(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        text
    }

    #[track_caller]
    fn counts(&self, line: &str) {
        let text = self.metrics();
        assert!(
            text.lines().any(|found| found == line),
            "no {line:?} in {text}"
        );
    }
}

/// One stream of a client.
struct Call {
    say: mpsc::Sender<AgentMessage>,
    answers: Streaming<SchedulerMessage>,
}

impl Call {
    async fn on(channel: Channel) -> Self {
        let (say, said) = mpsc::channel(64);
        let mut client = TelemetryClient::new(channel);
        let answers = client
            .stream(ReceiverStream::new(said))
            .await
            .unwrap()
            .into_inner();
        Self { say, answers }
    }

    async fn say(&self, body: Said) {
        self.say
            .send(AgentMessage { body: Some(body) })
            .await
            .unwrap();
    }

    async fn answer(&mut self) -> Option<Body> {
        self.answers
            .message()
            .await
            .unwrap()
            .map(|message| message.body.unwrap())
    }

    async fn welcomed(&mut self, node: &str, start_id: u64) {
        self.say(hello(node, start_id)).await;
        let answer = self.answer().await;
        assert!(matches!(answer, Some(Body::Welcome(_))), "{answer:?}");
    }

    async fn refused(&mut self) -> Reason {
        match self.answer().await {
            Some(Body::Refusal(refusal)) => {
                assert_eq!(self.answer().await, None, "a refusal ends the stream");
                refusal.reason()
            }
            other => panic!("{other:?}"),
        }
    }
}

fn hello(node: &str, start_id: u64) -> Said {
    Said::Hello(Hello {
        schema: 1,
        node_name: node.to_owned(),
        agent_version: "0.1.0".to_owned(),
        start_id,
        period_ms: 1000,
        cpus: Some(4),
        memory_bytes: Some(1 << 30),
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
            window_age_ms: 1000,
            samples: 1,
        }],
        pods: Vec::new(),
        steal: None,
        untrusted: String::new(),
        link_bytes_per_second: None,
        sent_ms: None,
    })
}

#[tokio::test]
async fn reports_are_answered_and_the_engine_drains_the_newest() {
    let server = running().await;
    let mut call = server.open().await;
    call.welcomed("a", 1).await;
    for sequence in 1..=8 {
        call.say(report(sequence, 100.0)).await;
    }
    let Some(Body::Ack(ack)) = call.answer().await else {
        panic!("no answer")
    };
    assert_eq!(ack.sequence, 8);

    server.ingest.changed().await;
    let samples = server.ingest.drain();
    assert_eq!(samples.len(), 1);
    assert_eq!((&*samples[0].node, samples[0].sequence), ("a", 8));
    assert!(samples[0].arrived >= Duration::from_hours(1));
    server.counts("plimsoll_ingest_samples_total 8");
    server.counts("plimsoll_ingest_overwritten_total 7");
    server.counts("plimsoll_ingest_streams 1");
    server.counts("plimsoll_ingest_connections 1");
}

#[tokio::test]
async fn a_second_node_name_on_one_connection_is_refused_on_any_stream() {
    let server = running().await;
    let channel = server.dial().await;
    let mut first = Call::on(channel.clone()).await;
    first.welcomed("a", 1).await;
    drop(first.say);
    assert_eq!(first.answers.message().await.unwrap(), None);

    let mut second = Call::on(channel).await;
    second.say(hello("b", 1)).await;
    assert_eq!(second.refused().await, Reason::Identity);
    server.counts("plimsoll_ingest_refused_total{what=\"stream\",reason=\"identity\"} 1");

    let mut other = server.open().await;
    other.welcomed("b", 1).await;
}

#[tokio::test]
async fn a_newer_start_on_another_connection_ends_the_older_stream_at_once() {
    let server = running().await;
    let mut old = server.open().await;
    old.welcomed("a", 1).await;
    let mut new = server.open().await;
    new.welcomed("a", 2).await;
    assert_eq!(old.refused().await, Reason::Superseded);
    server.counts("plimsoll_ingest_superseded_total 1");
    new.say(report(1, 100.0)).await;
    server.ingest.changed().await;
    assert_eq!(server.ingest.drain()[0].start_id, 2);
}

#[tokio::test]
async fn sixteen_implausible_reports_in_a_row_end_the_stream() {
    let server = running().await;
    let mut call = server.open().await;
    call.welcomed("a", 1).await;
    for sequence in 1..=16 {
        call.say(report(sequence, f64::NAN)).await;
    }
    let Some(Body::Ack(_)) = call.answer().await else {
        panic!("no answer")
    };
    assert_eq!(call.refused().await, Reason::Implausible);
    server.counts("plimsoll_ingest_refused_total{what=\"figure\",reason=\"not_finite\"} 16");
    server.counts("plimsoll_ingest_refused_total{what=\"stream\",reason=\"implausible\"} 1");
}

#[tokio::test]
async fn a_message_over_the_limit_ends_its_stream_and_no_other() {
    let server = running().await;
    let mut other = server.open().await;
    other.welcomed("a", 1).await;
    let mut call = server.open().await;
    call.welcomed("b", 1).await;
    let Said::Report(mut large) = report(1, 1.0) else {
        panic!("no report")
    };
    large.untrusted = "x".repeat(64 * 1024);
    call.say(Said::Report(large)).await;
    assert!(call.answers.message().await.is_err());
    server.counts("plimsoll_ingest_refused_total{what=\"stream\",reason=\"malformed\"} 1");
    other.say(report(1, 100.0)).await;
    server.ingest.changed().await;
    assert_eq!(server.ingest.drain().len(), 1);
}

#[tokio::test]
async fn at_shutdown_agents_are_asked_to_come_back_later_and_the_server_ends() {
    let mut server = running().await;
    let mut call = server.open().await;
    call.welcomed("a", 1).await;
    server.shutdown.cancel();
    let Some(Body::Drain(drain)) = call.answer().await else {
        panic!("no drain")
    };
    assert!(drain.min_delay_ms < drain.max_delay_ms);
    assert_eq!(call.answer().await, None);
    server.running.join_next().await.unwrap().unwrap().unwrap();
    server.counts("plimsoll_ingest_streams 0");
    server.counts("plimsoll_ingest_connections 0");
    assert!(
        TcpStream::connect(server.address).await.is_err(),
        "the port is free"
    );
}

// The paused clock jumps over each wait once all tasks wait.
#[tokio::test(start_paused = true)]
async fn a_connection_that_names_no_node_is_closed() {
    let server = running().await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    let mut said = Vec::new();
    let before = Instant::now();
    let ended = silent.read_to_end(&mut said).await;
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    assert!(
        before.elapsed() < Duration::from_mins(1),
        "{:?}",
        before.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_hangs_does_not_hold_the_end_of_the_server_up() {
    let mut server = running().await;
    let _silent = TcpStream::connect(server.address).await.unwrap();
    tokio::task::yield_now().await;
    server.shutdown.cancel();
    server.running.join_next().await.unwrap().unwrap().unwrap();
}
