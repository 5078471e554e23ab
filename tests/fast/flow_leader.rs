//! Replicas of one scheduler: one leads, the others stand by and take over.

use std::time::Duration;

use plimsoll_apiserver::Verb;
use plimsoll_tests::flow::{PLIMSOLL, Scheduler, Stage, node, pod};
use serde_json::{Value, json};
use tokio::time::timeout;

/// A lease that is short enough for a test and long enough for a busy machine.
const LEASE: &str = "
leaderElection:
  leaseDuration: 6s
  renewDeadline: 5s
  retryPeriod: 500ms
  resourceNamespace: default
  resourceName: lock
";
const MASTER: &str = "leader_election_master_status{name=\"lock\"}";
/// A candidate looks again after 1 to 2.2 retry periods; twice that on a busy machine.
const SOON: Duration = Duration::from_millis(2200);

fn profiles() -> String {
    format!("{PLIMSOLL}{LEASE}")
}

fn lease(stage: &Stage) -> Value {
    let lease = stage.store().get("leases", "default", "lock");
    lease.map_or(Value::Null, |lease| lease.value())
}

fn told_of_the_lease(stage: &Stage) -> Vec<String> {
    let events = stage
        .store()
        .list("events", None)
        .expect("events are known");
    let mut events: Vec<Value> = events.iter().map(|event| event.value()).collect();
    events.retain(|event| event["involvedObject"]["kind"] == "Lease");
    events.sort_by_key(|event| event["eventTime"].to_string());
    let note = |event: &Value| {
        let words = event["message"].as_str().unwrap_or_default();
        let (_, what) = words.split_once(' ').unwrap_or_default();
        what.to_owned()
    };
    events.iter().map(note).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_replica_stands_by_warm_and_takes_over_when_the_first_ends() -> anyhow::Result<()>
{
    let stage = Stage::open();
    stage.add(node("a", "8"));
    stage.add(node("b", "8"));
    let first = stage.scheduler(&profiles()).await;
    first.until_series(MASTER, |leads| leads == 1.0).await;
    // Ready, alive, and with the load of every node, while it waits.
    let second = stage.scheduler(&profiles()).await;
    assert_eq!(second.page("/livez").await.code, 200);
    let _agents = second.measured_nodes(&[("a", 6000.0), ("b", 100.0)]).await;
    stage.add(pod("one").cpu("1"));
    stage.until_bound("one").await;
    stage.add(pod("huge").cpu("100"));
    stage.until_told("huge", "FailedScheduling").await;
    assert_eq!(second.series(MASTER).await, 0.0);
    assert!(second.decisions("one").is_empty() && second.decisions("huge").is_empty());

    first.stop().await?;
    second.until_series(MASTER, |leads| leads == 1.0).await;
    stage.add(pod("two").cpu("1"));
    assert_eq!(
        stage.until_bound("two").await,
        "b",
        "by load that it had before"
    );
    assert!(second.decisions("one").is_empty());
    assert_eq!((stage.bindings_made(), stage.bindings_tried()), (2, 2));
    assert_eq!(lease(&stage)["spec"]["leaseTransitions"], 1);
    second.stop().await?;
    assert_eq!(lease(&stage)["spec"]["holderIdentity"], "");
    let words = [
        "became leader",
        "stopped leading",
        "became leader",
        "stopped leading",
    ];
    assert_eq!(told_of_the_lease(&stage), words);
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_ends_in_good_order_is_followed_within_a_pause_of_the_next()
-> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let first = stage.scheduler(&profiles()).await;
    first.until_series(MASTER, |leads| leads == 1.0).await;
    let second = stage.scheduler(&profiles()).await;
    first.stop().await?;
    let leads = second.until_series(MASTER, |leads| leads == 1.0);
    timeout(SOON, leads).await?;
    second.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_somebody_gives_to_another_ends_the_leader_with_an_error() -> anyhow::Result<()>
{
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler: Scheduler = stage.scheduler(&profiles()).await;
    stage.add(pod("one").cpu("1"));
    stage.until_bound("one").await;
    let edited = stage.store().edit("leases", "default", "lock", |lease| {
        lease["spec"]["holderIdentity"] = json!("somebody");
    });
    edited.expect("the lease is there");
    let problem = scheduler.ended().await.expect_err("it has lost the lease");
    assert_eq!(
        format!("{problem:#}"),
        "task leader election: the lease is lost"
    );
    assert_eq!(lease(&stage)["spec"]["holderIdentity"], "somebody");
    stage.add(pod("two").cpu("1"));
    assert_eq!(stage.bindings_made(), 1);
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_lease_is_deleted_or_emptied_goes_on() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler = stage.scheduler(&profiles()).await;
    scheduler.until_series(MASTER, |leads| leads == 1.0).await;
    let holder = lease(&stage)["spec"]["holderIdentity"].clone();
    stage
        .store()
        .delete("leases", "default", "lock")
        .expect("it is there");
    stage
        .until("the lease is made anew", || {
            lease(&stage)["spec"]["holderIdentity"] == holder
        })
        .await;
    assert!(stage.answers(Verb::Create, "leases.coordination.k8s.io", 201) == 2);
    let emptied = stage.store().edit("leases", "default", "lock", |lease| {
        lease["spec"] = json!({"leaseDurationSeconds": 1});
    });
    emptied.expect("it is there");
    stage
        .until("the lease is taken again", || {
            lease(&stage)["spec"]["holderIdentity"] == holder
        })
        .await;
    stage.add(pod("one").cpu("1"));
    stage.until_bound("one").await;
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
