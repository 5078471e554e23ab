//! Pods that find no node: what is said of them, how often, and what wakes them.

use plimsoll_apiserver::Verb;
use plimsoll_tests::flow::{REQUESTS_ONLY, Stage, node, pod};
use serde_json::Value;

const STATUS: &str = "pods/status";
const NO_CPU: &str = "0/2 nodes are available: 2 Insufficient cpu. \
    preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";

/// Two nodes of one CPU and a small pod on the first.
fn two_small_nodes() -> Stage {
    let stage = Stage::open();
    stage.add(node("a", "1"));
    stage.add(node("b", "1"));
    stage.add(pod("tiny").cpu("100m").on("a"));
    stage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_without_a_node_is_told_why_once_and_bound_when_one_comes() -> anyhow::Result<()> {
    let stage = two_small_nodes();
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("big").cpu("2"));

    let told = stage.until_told("big", "FailedScheduling").await;
    assert_eq!(
        (told.note.as_str(), told.kind.as_str()),
        (NO_CPU, "Warning")
    );
    stage
        .until("the condition says so", || {
            stage.condition("big")["message"] == NO_CPU
        })
        .await;
    let condition = stage.condition("big");
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&"False".into(), &"Unschedulable".into())
    );

    // Room comes, though not enough: another attempt with the same end.
    stage.delete_pod("tiny");
    stage
        .until("it is tried again", || {
            scheduler.decisions("big").len() == 2
        })
        .await;
    stage
        .until("the event counts two", || stage.told("big")[0].count == 2)
        .await;
    assert_eq!(
        stage.stats().writes_of(STATUS),
        1,
        "the condition is not written again"
    );
    assert_eq!(stage.told("big").len(), 1, "nor is a second event");

    stage.add(node("large", "4"));
    assert_eq!(stage.until_bound("big").await, "large");
    assert_eq!(stage.condition("big")["status"], "True");
    stage.until_told("big", "Scheduled").await;
    assert_eq!(stage.stats().writes_of(STATUS), 1);
    assert_eq!(stage.bindings_tried(), 1);
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reason_is_counted_by_node() -> anyhow::Result<()> {
    let stage = two_small_nodes();
    let cordoned = |node: &mut Value| node["spec"]["unschedulable"] = true.into();
    stage.store().edit("nodes", "", "b", cordoned)?;
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("big").cpu("2"));
    let told = stage.until_told("big", "FailedScheduling").await;
    let expected = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. \
        preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    assert_eq!(told.note, expected);
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_without_nodes_says_so_and_its_first_node_takes_the_pod() -> anyhow::Result<()> {
    let stage = Stage::open();
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("web").cpu("1"));
    let told = stage.until_told("web", "FailedScheduling").await;
    assert_eq!(told.note, "no nodes available to schedule pods");
    stage.add(node("a", "4"));
    assert_eq!(stage.until_bound("web").await, "a");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gated_pod_hears_nothing_of_us_until_its_gate_is_gone() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "4"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("gated").cpu("1").gated("example.com/quota"));
    stage.add(pod("free").cpu("1"));
    stage.until_told("free", "Scheduled").await;

    // Whoever is behind in the queue is done: the gated pod has had its chance.
    assert_eq!(
        (stage.node_of("gated"), stage.told("gated")),
        (None, vec![])
    );
    assert_eq!(
        stage.condition("gated")["reason"],
        "SchedulingGated",
        "the API server's own"
    );
    assert_eq!(stage.answers(Verb::Patch, STATUS, 200), 0);
    assert!(scheduler.decisions("gated").is_empty());
    scheduler
        .until_series("scheduler_pending_pods{queue=\"gated\"}", |pods| {
            pods == 1.0
        })
        .await;

    let opened = |pod: &mut Value| pod["spec"]["schedulingGates"] = Value::Null;
    stage.store().edit("pods", "default", "gated", opened)?;
    assert_eq!(stage.until_bound("gated").await, "a");
    assert_eq!(stage.condition("gated")["status"], "True");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_deleted_while_it_waits_is_forgotten() -> anyhow::Result<()> {
    let stage = two_small_nodes();
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("big").cpu("2"));
    stage.until_told("big", "FailedScheduling").await;
    let waiting = "scheduler_pending_pods{queue=\"unschedulable\"}";
    scheduler.until_series(waiting, |pods| pods == 1.0).await;
    stage.delete_pod("big");
    scheduler.until_series(waiting, |pods| pods == 0.0).await;

    stage.add(node("large", "4"));
    stage.add(pod("next").cpu("2"));
    assert_eq!(stage.until_bound("next").await, "large");
    assert_eq!(scheduler.decisions("big").len(), 1);
    assert_eq!(
        stage.bindings_tried(),
        1,
        "nobody tried to bind what is gone"
    );
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_that_could_not_be_written_is_written_later() -> anyhow::Result<()> {
    use plimsoll_apiserver::{Fault, Rule};

    let stage = two_small_nodes();
    // One try of ours is four requests.
    stage
        .faults()
        .add(Rule::new(Fault::internal_error()).resource(STATUS).times(4));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("big").cpu("2"));
    stage
        .until("the condition is there", || {
            stage.condition("big")["message"] == NO_CPU
        })
        .await;
    assert_eq!(stage.answers(Verb::Patch, STATUS, 200), 1);
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
