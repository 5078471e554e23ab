//! From sample to binding: pods are placed by what nodes really carry.

use plimsoll_apiserver::Verb;
use plimsoll_core::Outcome;
use plimsoll_tests::flow::{PLIMSOLL, REQUESTS_ONLY, Scheduler, Stage, TWO_PROFILES, node, pod};

/// A node that is busy beyond its requests, and an idle one that has more requests.
async fn busy_and_idle(profiles: &str) -> (Stage, Scheduler) {
    let stage = Stage::open();
    stage.add(node("busy", "8"));
    stage.add(node("idle", "8"));
    stage.add(pod("tenant").cpu("3").on("idle"));
    let scheduler = stage.scheduler(profiles).await;
    (stage, scheduler)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_goes_to_the_node_that_really_carries_less() -> anyhow::Result<()> {
    let (stage, scheduler) = busy_and_idle(PLIMSOLL).await;
    let _agents = scheduler
        .measured_nodes(&[("busy", 7000.0), ("idle", 400.0)])
        .await;

    stage.add(pod("web").cpu("200m"));
    assert_eq!(stage.until_bound("web").await, "idle");
    assert_eq!(stage.condition("web")["status"], "True");

    let told = stage.until_told("web", "Scheduled").await;
    assert_eq!(told.note, "Successfully assigned default/web to idle");
    assert_eq!(
        (told.kind.as_str(), told.by.as_str()),
        ("Normal", "plimsoll")
    );

    let decisions = scheduler.decisions("web");
    assert_eq!(decisions.len(), 1, "{decisions:?}");
    let measured: Vec<_> = decisions[0]
        .candidates
        .iter()
        .map(|candidate| {
            (
                &*candidate.node,
                candidate.load.cpu.measured.map(f64::round),
            )
        })
        .collect();
    assert_eq!(measured, [("idle", Some(400.0)), ("busy", Some(7000.0))]);
    scheduler
        .until_series("plimsoll_decision_sample_age_seconds_count", |n| n == 1.0)
        .await;
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_requests_alone_the_same_pod_goes_to_the_busy_node() -> anyhow::Result<()> {
    let (stage, scheduler) = busy_and_idle(REQUESTS_ONLY).await;
    let _agents = scheduler
        .measured_nodes(&[("busy", 7000.0), ("idle", 400.0)])
        .await;
    stage.add(pod("web").cpu("200m"));
    assert_eq!(stage.until_bound("web").await, "busy");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_never_goes_through_the_api_server() -> anyhow::Result<()> {
    let (stage, scheduler) = busy_and_idle(PLIMSOLL).await;
    let _agents = scheduler
        .measured_nodes(&[("busy", 7000.0), ("idle", 400.0)])
        .await;
    scheduler
        .until_series("plimsoll_ingest_samples_total", |samples| samples >= 40.0)
        .await;
    assert_eq!(stage.stats().writes(), []);

    stage.add(pod("web").cpu("200m"));
    stage.until_told("web", "Scheduled").await;
    let writes = stage.stats().writes();
    let writes: Vec<_> = writes
        .iter()
        .map(|it| (it.verb, it.resource.as_str(), it.count))
        .collect();
    let binding = (Verb::Create, "pods/binding", 1);
    let event = (Verb::Create, "events.events.k8s.io", 1);
    assert_eq!(writes, [event, binding], "one binding, one event");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

/// Pods of the burst.
const BURST: usize = 20;
/// What each is expected to use before it is measured: its request.
const EACH: f64 = 200.0;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bound_pod_counts_in_the_next_decision_without_a_new_sample() -> anyhow::Result<()> {
    let stage = Stage::open();
    let loads = [("a", 1000.0), ("b", 1200.0), ("c", 1400.0), ("d", 1600.0)];
    for (name, _) in loads {
        stage.add(node(name, "8"));
    }
    let scheduler = stage.scheduler(PLIMSOLL).await;
    let agents = scheduler.measured_nodes(&loads).await;
    for agent in agents {
        agent.kill().await;
    }
    scheduler
        .until_series("plimsoll_ingest_streams", |streams| streams == 0.0)
        .await;
    let samples = scheduler.series("plimsoll_ingest_samples_total").await;

    for index in 0..BURST {
        stage.add(pod(&format!("web-{index}")).cpu("200m"));
    }
    stage.until_all_bound().await;
    assert_eq!(
        scheduler.series("plimsoll_ingest_samples_total").await,
        samples
    );

    let mut decisions: Vec<_> = (0..BURST)
        .flat_map(|index| scheduler.decisions(&format!("web-{index}")))
        .collect();
    decisions.sort_by_key(|decision| decision.at);
    assert_eq!(decisions.len(), BURST);
    for (before, decision) in decisions.iter().enumerate() {
        assert!(
            matches!(decision.outcome, Outcome::Chosen { .. }),
            "{decision:?}"
        );
        let in_flight: f64 = decision
            .candidates
            .iter()
            .map(|candidate| candidate.load.cpu.in_flight)
            .sum();
        let expected = EACH * before as f64;
        let off = (in_flight - expected).abs();
        assert!(
            off <= 0.05 * expected + 1.0,
            "decision {before}: {in_flight} of {expected}"
        );
    }
    let on = |name| {
        let nodes = (0..BURST).map(|index| stage.node_of(&format!("web-{index}")));
        nodes.filter(|node| node.as_deref() == Some(name)).count()
    };
    let spread = loads.map(|(name, _)| on(name));
    assert!(
        spread.iter().all(|pods| (2..=9).contains(pods)),
        "a herd: {spread:?}"
    );
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_profile_places_its_own_pods_and_those_of_others_only_count() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("full", "4"));
    stage.add(node("half", "4"));
    stage.add(node("empty", "4"));
    stage.add(
        pod("foreign")
            .cpu("3500m")
            .by("default-scheduler")
            .on("full"),
    );
    stage.add(pod("tenant").cpu("2").on("half"));
    let scheduler = stage.scheduler(TWO_PROFILES).await;

    stage.add(pod("other").cpu("100m").by("default-scheduler"));
    stage.add(pod("packed").cpu("1").by("packer"));
    assert_eq!(
        stage.until_bound("packed").await,
        "half",
        "the fullest that has room"
    );
    stage.add(pod("spread").cpu("1"));
    assert_eq!(stage.until_bound("spread").await, "empty");

    assert_eq!(stage.until_told("packed", "Scheduled").await.by, "packer");
    assert_eq!(stage.until_told("spread", "Scheduled").await.by, "plimsoll");
    assert_eq!(stage.node_of("other"), None);
    assert_eq!(
        (stage.told("other"), stage.condition("other").is_null()),
        (vec![], true)
    );
    assert!(scheduler.decisions("other").is_empty());
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
