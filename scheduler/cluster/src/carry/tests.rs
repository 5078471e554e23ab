//! The carrier against a scripted server.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_core::{
    Command, CommandId, Decision, Event, Failure, FailureKind, Outcome, PodEvent, PodRef,
    ScheduledFalse,
};
use plimsoll_framework::PodEstimate;
use plimsoll_objects::{ObjectKey, Uid};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Carrier, Ports, Writer};
use crate::cluster::TaskError;
use crate::metrics::Metrics;
use crate::record::Recorder;
use crate::script::{Reply, Script};

const GRACE: Duration = Duration::from_secs(5);

struct Run {
    commands: Sender<Command>,
    events: Receiver<Event>,
    decided: Arc<Mutex<Vec<Decision>>>,
    metrics: Metrics,
    stop: CancellationToken,
    done: CancellationToken,
    task: JoinSet<Result<(), TaskError>>,
}

fn run(script: &Script, binding_lane: usize) -> Run {
    let (commands, commanded) = channel(4);
    let (told, events) = channel(1);
    let decided = Arc::<Mutex<Vec<Decision>>>::default();
    let sink = Arc::clone(&decided);
    let metrics = Metrics::default();
    let ports = Ports {
        commands: commanded,
        asks: channel(1).0,
        events: told,
        decided: Box::new(move |decision| sink.lock().push(*decision)),
        recorder: Recorder::new("host".to_owned(), metrics.clone()),
    };
    let writer = Writer {
        api: script.api(),
        pending: Arc::default(),
    };
    let (stop, done) = (CancellationToken::new(), CancellationToken::new());
    let carrier = Carrier::new(writer, ports, (binding_lane, 1), watch::channel(false).0);
    let mut task = JoinSet::new();
    task.spawn(carrier.run(stop.clone(), GRACE, done.clone().drop_guard()));
    Run {
        commands,
        events,
        decided,
        metrics,
        stop,
        done,
        task,
    }
}

impl Run {
    async fn completed(&mut self) -> (u64, Result<(), FailureKind>) {
        match self.events.recv().await {
            Some(Event::Completed { id, outcome }) => {
                (id.0, outcome.map_err(|Failure { kind, .. }| kind))
            }
            other => panic!("not completed: {other:?}"),
        }
    }

    async fn ended(&mut self) -> Result<(), TaskError> {
        self.task
            .join_next()
            .await
            .expect("one task")
            .expect("no panic")
    }
}

fn pod(name: &str) -> PodRef {
    PodRef {
        key: ObjectKey::new("ns", name),
        uid: Uid(Arc::from(name)),
    }
}

fn bind(id: u64, name: &str) -> Command {
    Command::Bind {
        id: CommandId(id),
        pod: pod(name),
        node: Arc::from("n1"),
    }
}

fn fail(id: u64, name: &str) -> Command {
    let condition = ScheduledFalse {
        reason: "Unschedulable",
        message: String::new(),
    };
    let (pod, condition) = (pod(name), Some(condition));
    Command::PatchStatus {
        id: CommandId(id),
        pod,
        condition,
        nominated_node: None,
    }
}

fn binding(name: &str) -> String {
    format!("POST /api/v1/namespaces/ns/pods/{name}/binding")
}

fn created() -> Reply {
    Reply::Answer(201, Vec::new(), "{}".to_owned())
}

fn decision() -> Decision {
    Decision {
        pod: pod("a"),
        scheduler_name: Arc::from("plimsoll"),
        attempt: 1,
        at: Duration::ZERO,
        waited: Duration::ZERO,
        outcome: Outcome::Failed {
            message: String::new(),
        },
        estimate: PodEstimate::default(),
        nodes: 1,
        evaluated: 1,
        feasible: 0,
        candidates: Vec::new(),
        rejections: Vec::new(),
        over: None,
    }
}

#[tokio::test(start_paused = true)]
async fn each_command_with_an_id_is_answered_once() {
    let script = Script::default();
    script
        .on(&binding("a"), created())
        .on(&binding("b"), Reply::status(404, "gone"));
    script.on(
        "PATCH /api/v1/namespaces/ns/pods/c/status",
        Reply::ok(&json!({})),
    );
    let mut run = run(&script, 8);
    for command in [bind(1, "a"), bind(2, "b"), fail(3, "c")] {
        run.commands.send(command).await.unwrap();
    }
    let mut answers = [
        run.completed().await,
        run.completed().await,
        run.completed().await,
    ];
    answers.sort_unstable_by_key(|(id, _)| *id);
    assert_eq!(
        answers,
        [(1, Ok(())), (2, Err(FailureKind::NotFound)), (3, Ok(()))]
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_bindings_are_in_flight_than_their_lane_holds() {
    let script = Script::default();
    let run = run(&script, 2);
    for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
        run.commands.send(bind(id, name)).await.unwrap();
    }
    script.asked(&binding("b"), 1).await;
    tokio::task::yield_now().await;
    assert!(script.seen_on(&binding("c")).is_empty());
    let third = script.asked(&binding("c"), 1).await.remove(0);
    let first = script.seen_on(&binding("a")).remove(0);
    assert!(
        third.at - first.at >= Duration::from_secs(10),
        "after the first has timed out"
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_engine_never_stops_the_taking_of_commands() {
    let script = Script::default();
    let mut run = run(&script, 8);
    for id in 0..100 {
        script.on(&binding(&id.to_string()), created());
        // The channel holds four, and no event is taken: all the rest is taken in here.
        run.commands.send(bind(id, &id.to_string())).await.unwrap();
    }
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(run.completed().await.0);
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<u64>>());
}

#[tokio::test(start_paused = true)]
async fn decisions_and_events_go_to_their_takers() {
    let script = Script::default();
    let mut run = run(&script, 8);
    run.commands
        .send(Command::Decided(Box::new(decision())))
        .await
        .unwrap();
    for _ in 0..2 {
        let event = PodEvent {
            pod: pod("a"),
            scheduler_name: Arc::from("plimsoll"),
            warning: true,
            reason: "FailedScheduling",
            action: "Scheduling",
            note: String::new(),
        };
        run.commands
            .send(Command::RecordEvent(event))
            .await
            .unwrap();
    }
    let (last, _) = channel(1);
    drop(std::mem::replace(&mut run.commands, last));
    assert_eq!(run.ended().await, Ok(()));
    assert_eq!(*run.decided.lock(), [decision()]);
    let aggregated = run
        .metrics
        .value(r#"plimsoll_cluster_events_total{result="aggregated"}"#);
    assert_eq!(aggregated.as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_before_the_end_is_still_bound() {
    let script = Script::default();
    for name in ["a", "b", "c"] {
        script.on(&binding(name), created());
    }
    let mut run = run(&script, 1);
    for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
        run.commands.send(bind(id, name)).await.unwrap();
    }
    run.stop.cancel();
    let (last, _) = channel(1);
    drop(std::mem::replace(&mut run.commands, last));
    for id in 1..=3 {
        assert_eq!(run.completed().await, (id, Ok(())));
    }
    assert_eq!(run.ended().await, Ok(()));
    assert!(run.done.is_cancelled(), "who follows is told");
}

#[tokio::test(start_paused = true)]
async fn the_end_does_not_wait_longer_than_its_grace() {
    let script = Script::default();
    let mut run = run(&script, 1);
    run.commands.send(bind(1, "never-answered")).await.unwrap();
    script.asked(&binding("never-answered"), 1).await;
    let begin = Instant::now();
    run.stop.cancel();
    assert_eq!(run.ended().await, Ok(()));
    assert_eq!(begin.elapsed().as_secs(), GRACE.as_secs());
    assert!(run.done.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn without_an_engine_bindings_are_finished_and_the_task_ends_with_an_error() {
    let script = Script::default();
    script
        .on(&binding("a"), created())
        .on(&binding("b"), created());
    let mut run = run(&script, 1);
    let (_, none) = channel(1);
    drop(std::mem::replace(&mut run.events, none));
    run.commands.send(bind(1, "a")).await.unwrap();
    run.commands.send(bind(2, "b")).await.unwrap();
    assert_eq!(run.ended().await, Err(TaskError::EngineGone));
    assert_eq!(script.seen_on(&binding("b")).len(), 1);
}
