//! Many pods at once: all bound, each once, and the API server is not flooded.

use std::time::Duration;

use plimsoll_apiserver::{Fault, FaultId, Rule, Verb};
use plimsoll_tests::flow::{REQUESTS_ONLY, Stage, node, pod};
use tokio::time::{sleep, timeout};

const BINDING: &str = "pods/binding";
/// Pods and nodes of the large burst.
const PODS: usize = 500;
const NODES: usize = 50;
/// What a binding takes at the API server, so that requests pile up there.
const SERVICE: Duration = Duration::from_millis(40);
/// Binding requests at a time at most: the default of `binding.maxInFlight`.
const MOST_IN_FLIGHT: u64 = 32;
/// Binding requests at a time that are always allowed (`binding.minInFlight`).
const LEAST_IN_FLIGHT: u64 = 4;

/// A cluster whose bindings take a time.
fn slow_stage(nodes: usize, service: Duration) -> (Stage, FaultId) {
    let stage = Stage::open();
    for index in 0..nodes {
        stage.add(node(&format!("node-{index}"), "16"));
    }
    let slow = Rule::new(Fault::Delay(service))
        .verb(Verb::Create)
        .resource(BINDING);
    let slow = stage.faults().add(slow);
    (stage, slow)
}

fn add_pods(stage: &Stage, pods: usize) {
    for index in 0..pods {
        stage.add(pod(&format!("web-{index}")).cpu("100m"));
    }
}

/// Binding requests that the API server has and has not answered, if it can be told exactly
/// at this moment.
fn in_flight(stage: &Stage, slow: FaultId) -> Option<u64> {
    let come = stage.faults().hits(slow);
    let answered = stage.bindings_tried();
    (stage.faults().hits(slow) == come).then(|| come.saturating_sub(answered))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_pods_are_bound_once_and_few_at_a_time() -> anyhow::Result<()> {
    let (stage, slow) = slow_stage(NODES, SERVICE);
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    add_pods(&stage, PODS);
    let mut most = 0;
    let watching = async {
        loop {
            most = most.max(in_flight(&stage, slow).unwrap_or(0));
            sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        () = stage.until_all_bound() => {}
        () = watching => {}
    }
    assert!(
        (LEAST_IN_FLIGHT + 1..=MOST_IN_FLIGHT).contains(&most),
        "{most} in flight"
    );
    assert_eq!(
        (stage.bindings_made(), stage.bindings_tried()),
        (PODS as u64, PODS as u64)
    );
    assert_eq!(stage.stats().writes_of("pods/status"), 0);
    let nodes: Vec<_> = (0..PODS)
        .map(|pod| stage.node_of(&format!("web-{pod}")))
        .collect();
    for index in 0..NODES {
        let name = format!("node-{index}");
        let pods = nodes
            .iter()
            .filter(|node| node.as_ref() == Some(&name))
            .count();
        // A pod is half a point of score: nodes that differ by two are alike.
        assert!(pods.abs_diff(PODS / NODES) <= 3, "{pods} pods on {name}");
    }
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

/// Pods of the bursts that are broken off.
const BROKEN: usize = 200;
/// Of these, bound before the break.
const BEFORE: u64 = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_in_mid_burst_loses_nothing_and_leaves_nothing_half_done() -> anyhow::Result<()>
{
    let (stage, slow) = slow_stage(4, Duration::from_millis(20));
    let first = stage.scheduler(REQUESTS_ONLY).await;
    add_pods(&stage, BROKEN);
    stage
        .until("some are bound", || stage.bindings_made() >= BEFORE)
        .await;
    first.stop().await?;
    let (done, asked) = (stage.bindings_made(), stage.faults().hits(slow));
    assert_eq!(done, asked, "what was asked for was waited for");
    assert!(done < BROKEN as u64, "the burst was over before the stop");

    let second = stage.scheduler(REQUESTS_ONLY).await;
    stage.until_all_bound().await;
    assert_eq!(
        (stage.bindings_made(), stage.bindings_tried()),
        (BROKEN as u64, BROKEN as u64)
    );
    second.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_in_mid_burst_loses_no_pod_and_binds_none_twice() -> anyhow::Result<()> {
    let (stage, _) = slow_stage(4, Duration::from_millis(20));
    let first = stage.scheduler(REQUESTS_ONLY).await;
    add_pods(&stage, BROKEN);
    stage
        .until("some are bound", || stage.bindings_made() >= BEFORE)
        .await;
    first.kill().await;
    assert!(
        stage.bindings_made() < BROKEN as u64,
        "the burst was over before the crash"
    );

    let second = stage.scheduler(REQUESTS_ONLY).await;
    stage.until_all_bound().await;
    assert_eq!(stage.bindings_made(), BROKEN as u64);
    second.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_schedulers_at_once_bind_no_pod_twice_and_lose_none() -> anyhow::Result<()> {
    let (stage, _) = slow_stage(4, Duration::from_millis(5));
    let one = stage.scheduler(REQUESTS_ONLY).await;
    let other = stage.scheduler(REQUESTS_ONLY).await;
    add_pods(&stage, BROKEN);
    stage.until_all_bound().await;
    assert_eq!(stage.bindings_made(), BROKEN as u64);
    // Both count every pod once, whoever bound it.
    for scheduler in [&one, &other] {
        let pods = "scheduler_cache_size{type=\"pods\"}";
        scheduler
            .until_series(pods, |pods| pods == BROKEN as f64)
            .await;
        let assumed = "scheduler_cache_size{type=\"assumed_pods\"}";
        scheduler.until_series(assumed, |pods| pods == 0.0).await;
    }
    timeout(Duration::from_secs(20), async {
        tokio::try_join!(one.stop(), other.stop())
    })
    .await??;
    stage.close().await;
    Ok(())
}
