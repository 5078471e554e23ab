//! The API server fails while a pod is bound: whatever it does, the pod is bound, and once.

use std::time::Duration;

use plimsoll_apiserver::{Fault, Rule, Status, Verb};
use plimsoll_tests::flow::{REQUESTS_ONLY, Stage, node, pod};
use tokio::time::Instant;

const BINDING: &str = "pods/binding";

/// What it took to bind one pod.
struct Taken {
    /// Bindings asked for and answered.
    tries: u64,
    /// Of these, refused with 409.
    conflicts: u64,
    /// Times that the pod was told of a failure.
    failures: usize,
    /// Writes of its status.
    status_writes: u64,
    time: Duration,
}

fn on_binding(fault: Fault) -> Rule {
    Rule::new(fault).verb(Verb::Create).resource(BINDING)
}

/// Binds one pod to one of two nodes while these faults strike. The pod must be bound, by
/// exactly one binding.
async fn bind_despite(rules: impl IntoIterator<Item = Rule>) -> anyhow::Result<Taken> {
    let stage = Stage::open();
    stage.add(node("a", "4"));
    stage.add(node("b", "4"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    for rule in rules {
        stage.faults().add(rule);
    }
    let begun = Instant::now();
    stage.add(pod("web").cpu("1"));
    stage.until_bound("web").await;
    stage.until_told("web", "Scheduled").await;
    let time = begun.elapsed();

    assert_eq!(stage.bindings_made(), 1);
    assert_eq!(stage.condition("web")["status"], "True");
    // Its place is taken once: the next pod goes to the other node.
    let first = stage.node_of("web");
    stage.add(pod("next").cpu("1"));
    assert_ne!(Some(stage.until_bound("next").await), first);
    let tries = stage.bindings_tried() - 1;
    scheduler.stop().await?;

    let told = stage.told("web");
    let count = |reason| told.iter().filter(|told| told.reason == reason).count();
    assert_eq!(count("Scheduled"), 1);
    let taken = Taken {
        tries,
        conflicts: stage.answers(Verb::Create, BINDING, 409),
        failures: count("FailedScheduling"),
        status_writes: stage.stats().writes_of("pods/status"),
        time,
    };
    stage.close().await;
    Ok(taken)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_answered_500_is_looked_at_and_asked_again() -> anyhow::Result<()> {
    let taken = bind_despite([on_binding(Fault::internal_error()).times(1)]).await?;
    assert_eq!(
        (taken.tries, taken.failures, taken.status_writes),
        (2, 0, 0)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_answered_500_again_and_again_is_decided_anew() -> anyhow::Result<()> {
    let taken = bind_despite([on_binding(Fault::internal_error()).times(3)]).await?;
    assert_eq!(
        (taken.tries, taken.failures, taken.status_writes),
        (4, 1, 1)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_answered_429_is_asked_again_after_the_time_named() -> anyhow::Result<()> {
    let taken = bind_despite([on_binding(Fault::too_many_requests(1)).times(1)]).await?;
    assert_eq!(
        (taken.tries, taken.failures, taken.status_writes),
        (2, 0, 0)
    );
    assert!(taken.time >= Duration::from_secs(1), "{:?}", taken.time);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_answered_409_is_decided_anew_without_a_word() -> anyhow::Result<()> {
    let conflict = Status::conflict(BINDING, "web", "the object has been modified");
    let taken = bind_despite([on_binding(Fault::Answer(conflict)).times(1)]).await?;
    assert_eq!((taken.tries, taken.conflicts), (2, 1));
    assert_eq!((taken.failures, taken.status_writes), (0, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_that_was_done_and_whose_answer_was_lost_counts_as_done() -> anyhow::Result<()> {
    let taken = bind_despite([on_binding(Fault::LoseAnswer).times(1)]).await?;
    assert_eq!(
        (taken.tries, taken.failures, taken.status_writes),
        (1, 0, 0)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_watch_settles_a_lost_answer_when_the_pod_cannot_be_looked_at() -> anyhow::Result<()> {
    let blind = Rule::new(Fault::internal_error())
        .verb(Verb::Get)
        .resource("pods")
        .times(3);
    let taken = bind_despite([on_binding(Fault::LoseAnswer).times(1), blind]).await?;
    assert_eq!((taken.tries, taken.conflicts), (1, 0));
    assert_eq!((taken.failures, taken.status_writes), (0, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_that_hangs_is_given_up_and_asked_again() -> anyhow::Result<()> {
    let taken = bind_despite([on_binding(Fault::Hang).times(1)]).await?;
    assert_eq!((taken.failures, taken.status_writes), (0, 0));
    assert!(taken.time >= Duration::from_secs(10), "{:?}", taken.time);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_binding_is_waited_for() -> anyhow::Result<()> {
    let slow = Fault::Delay(Duration::from_millis(700));
    let taken = bind_despite([on_binding(slow).times(1)]).await?;
    assert_eq!(
        (taken.tries, taken.failures, taken.status_writes),
        (1, 0, 0)
    );
    Ok(())
}
