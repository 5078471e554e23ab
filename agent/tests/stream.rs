//! A whole agent with a made-up source against a scheduler that the test plays, over real
//! loopback sockets. Samples come each 5 ms, so that a test takes a fraction of a second.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_agent::app::{StreamOptions, run_with};
use plimsoll_agent::stream::Resolver;
use plimsoll_agent::tasks;
use plimsoll_agent::usage::{Machine, NodeSample, PodTable, PodUsage, Source};
use plimsoll_proto::telemetry::v1::agent_message::Body as Said;
use plimsoll_proto::telemetry::v1::refusal::Reason;
use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::telemetry_server::{Telemetry, TelemetryServer};
use plimsoll_proto::telemetry::v1::{
    Ack, AgentMessage, Drain, Hello, Refusal, Report, SchedulerMessage, Welcome,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

const PERIOD: Duration = Duration::from_millis(5);
/// Far beyond what any step of these tests takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A node that uses one core, and says how often it was asked.
struct Steady {
    sample: NodeSample,
    taken: watch::Sender<u64>,
}

impl Source for Steady {
    fn machine(&self) -> Machine {
        Machine {
            cpus: Some(4),
            ..Machine::default()
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        self.sample = NodeSample {
            taken_at: at,
            interval: at.saturating_sub(self.sample.taken_at),
            cpu_millicores: Some(1000.0),
            ..NodeSample::default()
        };
        self.taken.send_modify(|taken| *taken += 1);
        &self.sample
    }

    fn pods(&mut self, at: Duration) -> Option<PodTable> {
        let pod = |uid: &str| PodUsage {
            uid: Arc::from(uid),
            taken_at: at,
            age: at,
            figures: Vec::new(),
            ended: false,
        };
        Some(["x", "y"].map(pod).into())
    }
}

/// Hands each call to the test.
struct Played {
    calls: mpsc::Sender<Call>,
}

/// One call of an agent, for the test to read and answer.
struct Call {
    from: SocketAddr,
    said: Streaming<AgentMessage>,
    answer: mpsc::Sender<Result<SchedulerMessage, Status>>,
}

#[tonic::async_trait]
impl Telemetry for Played {
    type StreamStream = ReceiverStream<Result<SchedulerMessage, Status>>;

    async fn stream(
        &self,
        request: Request<Streaming<AgentMessage>>,
    ) -> Result<Response<Self::StreamStream>, Status> {
        let (answer, answers) = mpsc::channel(64);
        let from = request.remote_addr().unwrap();
        let call = Call {
            from,
            said: request.into_inner(),
            answer,
        };
        self.calls
            .send(call)
            .await
            .map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(ReceiverStream::new(answers)))
    }
}

impl Call {
    async fn hear(&mut self) -> Said {
        let message = timeout(PATIENCE, self.said.message())
            .await
            .unwrap()
            .unwrap();
        message.unwrap().body.unwrap()
    }

    async fn hello(&mut self) -> Hello {
        match self.hear().await {
            Said::Hello(hello) => hello,
            other => panic!("{other:?}"),
        }
    }

    async fn report(&mut self) -> Report {
        match self.hear().await {
            Said::Report(report) => report,
            other => panic!("{other:?}"),
        }
    }

    async fn say(&self, body: Body) {
        let message = SchedulerMessage { body: Some(body) };
        self.answer.send(Ok(message)).await.unwrap();
    }

    async fn welcome(&mut self) -> Hello {
        let hello = self.hello().await;
        self.say(Body::Welcome(Welcome {
            schema: 1,
            interval_ms: 0,
        }))
        .await;
        hello
    }
}

/// A scheduler at an address, until it is dropped.
struct Scheduler {
    calls: mpsc::Receiver<Call>,
    address: SocketAddr,
    running: JoinSet<()>,
}

impl Scheduler {
    async fn at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, calls) = mpsc::channel(8);
        let service = TelemetryServer::new(Played { calls: sender });
        let mut running = JoinSet::new();
        running.spawn(async move {
            let connections = TcpListenerStream::new(listener);
            Server::builder()
                .serve_with_incoming(service, connections)
                .await
                .unwrap();
        });
        Self {
            calls,
            address,
            running,
        }
    }

    async fn stop(mut self) {
        self.running.shutdown().await;
    }

    async fn call(&mut self) -> Call {
        timeout(PATIENCE, self.calls.recv()).await.unwrap().unwrap()
    }
}

/// An agent that runs until the test ends.
struct Agent {
    taken: watch::Receiver<u64>,
    shutdown: CancellationToken,
    running: JoinSet<Result<(), tasks::Error>>,
}

fn agent_of(scheduler: SocketAddr) -> Agent {
    let target = format!("http://{scheduler}").parse().unwrap();
    agent_with(StreamOptions::new("a", vec![target], PERIOD))
}

fn agent_with(options: StreamOptions) -> Agent {
    let taken = watch::Sender::new(0);
    let (counted, shutdown) = (taken.subscribe(), CancellationToken::new());
    let source = Steady {
        sample: NodeSample::default(),
        taken,
    };
    let mut running = JoinSet::new();
    running.spawn(run_with(source, options, shutdown.clone()));
    Agent {
        taken: counted,
        shutdown,
        running,
    }
}

impl Agent {
    /// Waits until the agent took this many samples more.
    async fn samples(&mut self, more: u64) -> u64 {
        let until = *self.taken.borrow() + more;
        let reached = self.taken.wait_for(|taken| *taken >= until);
        *timeout(PATIENCE, reached).await.unwrap().unwrap()
    }
}

async fn pair() -> (Scheduler, Agent) {
    let scheduler = Scheduler::at("127.0.0.1:0".parse().unwrap()).await;
    let agent = agent_of(scheduler.address);
    (scheduler, agent)
}

#[tokio::test]
async fn an_agent_says_who_it_is_and_then_what_its_node_carries() {
    let (mut scheduler, mut agent) = pair().await;
    let mut call = scheduler.call().await;
    let hello = call.welcome().await;
    assert_eq!(
        (hello.schema, hello.node_name.as_str(), hello.cpus),
        (1, "a", Some(4))
    );
    assert_eq!((hello.period_ms, hello.memory_bytes), (5, None));

    let (first, second) = (call.report().await, call.report().await);
    assert!(second.sequence > first.sequence);
    assert!(
        first.figures.iter().any(|figure| figure.value == 1000.0),
        "{first:?}"
    );
    assert!(first.sent_ms.is_some());

    agent.shutdown.cancel();
    timeout(PATIENCE, agent.running.join_next())
        .await
        .unwrap()
        .unwrap()
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_scheduler_that_stalls_finds_sixteen_reports_and_then_the_newest() {
    let (mut scheduler, mut agent) = pair().await;
    let mut call = scheduler.call().await;
    call.welcome().await;
    // It reads nothing and answers nothing, for a hundred periods.
    agent.samples(100).await;

    let mut backlog = Vec::new();
    for _ in 0..16 {
        backlog.push(call.report().await.sequence);
    }
    let taken = agent.samples(20).await;
    call.say(Body::Ack(Ack {
        sequence: backlog[15],
    }))
    .await;
    let next = call.report().await;
    assert!(
        next.sequence >= taken,
        "{} after {taken} samples",
        next.sequence
    );
    assert!(next.age_ms < 1000, "{next:?}");
}

#[tokio::test]
async fn the_stream_comes_back_after_the_scheduler_restarts() {
    let (mut scheduler, _agent) = pair().await;
    let mut call = scheduler.call().await;
    let before = call.welcome().await;
    let last = call.report().await.sequence;
    let address = scheduler.address;
    drop(call);
    scheduler.stop().await;

    let mut scheduler = Scheduler::at(address).await;
    let mut call = scheduler.call().await;
    let after = call.welcome().await;
    assert_eq!(after.start_id, before.start_id, "the same start speaks");
    assert!(call.report().await.sequence > last, "no report is repeated");
}

#[tokio::test]
async fn after_a_refusal_or_a_drain_the_agent_tries_again() {
    let (mut scheduler, _agent) = pair().await;
    let mut refused = scheduler.call().await;
    refused.hello().await;
    let refusal = Refusal {
        reason: Reason::Superseded.into(),
        detail: "another".to_owned(),
    };
    refused.say(Body::Refusal(refusal)).await;

    let mut drained = scheduler.call().await;
    drained.welcome().await;
    drained.report().await;
    drained
        .say(Body::Drain(Drain {
            min_delay_ms: 1,
            max_delay_ms: 10,
        }))
        .await;

    let mut call = scheduler.call().await;
    call.welcome().await;
    call.report().await;
}

#[tokio::test]
async fn an_agent_that_starts_before_its_scheduler_finds_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut agent = agent_of(address);
    agent.samples(3).await;

    let mut scheduler = Scheduler::at(address).await;
    scheduler.call().await.welcome().await;
}

#[tokio::test]
async fn thirty_nodes_in_one_process_speak_each_on_a_connection_of_its_own() {
    let mut scheduler = Scheduler::at("127.0.0.1:0".parse().unwrap()).await;
    let agents: Vec<_> = (0..30).map(|_| agent_of(scheduler.address)).collect();
    let (mut starts, mut connections) = (BTreeSet::new(), BTreeSet::new());
    for _ in &agents {
        let mut call = scheduler.call().await;
        starts.insert(call.welcome().await.start_id);
        call.report().await;
        connections.insert(call.from);
    }
    assert_eq!((starts.len(), connections.len()), (30, 30));
}

#[tokio::test]
async fn every_address_of_a_name_has_a_stream_that_misses_nothing_of_the_other() {
    let mut one = Scheduler::at("127.0.0.1:0".parse().unwrap()).await;
    let mut two = Scheduler::at("127.0.0.1:0".parse().unwrap()).await;
    let addresses = vec![one.address, two.address];
    let resolver = Resolver::new(move |_, _| {
        let addresses = addresses.clone();
        async move { Ok(addresses) }
    });
    let target = "http://plimsoll".parse().unwrap();
    let _agent = agent_with(StreamOptions {
        resolver,
        ..StreamOptions::new("a", vec![target], PERIOD)
    });
    let (mut first, mut second) = (one.call().await, two.call().await);
    let (hello, other) = (first.welcome().await, second.welcome().await);
    assert_eq!(hello, other);
    let (mut to_one, mut to_two) = (BTreeSet::new(), BTreeSet::new());
    for sequence in 1..=16 {
        to_one.insert(first.report().await.sequence);
        first.say(Body::Ack(Ack { sequence })).await;
        to_two.insert(second.report().await.sequence);
    }
    assert!(
        to_one.intersection(&to_two).count() > 0,
        "{to_one:?} {to_two:?}"
    );
}

#[tokio::test]
async fn pods_are_named_once_on_each_stream() {
    let (mut scheduler, _agent) = pair().await;
    for _ in 0..2 {
        let mut call = scheduler.call().await;
        call.welcome().await;
        for names in [["x", "y"], ["", ""]] {
            let pods = call.report().await.pods;
            let said: Vec<_> = pods.iter().map(|pod| (pod.index, &*pod.uid)).collect();
            assert_eq!(said, [(1, names[0]), (2, names[1])]);
        }
        // The next stream knows nothing of this one.
        call.say(Body::Drain(Drain {
            min_delay_ms: 1,
            max_delay_ms: 2,
        }))
        .await;
    }
}
