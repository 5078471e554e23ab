//! Health, readiness and metrics of the whole scheduler.

use plimsoll_apiserver::{Fault, Rule, Verb};
use plimsoll_tests::flow::{PLIMSOLL, Scheduler, Stage, node, pod};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_ready_once_nodes_and_pods_are_listed_and_healthy_before() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "4"));
    stage.add(pod("web").cpu("1"));
    let hold = |resource| Rule::new(Fault::Hang).verb(Verb::List).resource(resource);
    let (nodes, pods) = (
        stage.faults().add(hold("nodes")),
        stage.faults().add(hold("pods")),
    );
    let scheduler = Scheduler::start(&stage.address(), PLIMSOLL, "").await;
    stage.faults().struck(nodes, 1).await;
    stage.faults().struck(pods, 1).await;
    for (path, code) in [("/healthz", 200), ("/livez", 200), ("/readyz", 503)] {
        assert_eq!(scheduler.page(path).await.code, code, "{path}");
    }

    stage.faults().remove(pods);
    stage
        .until("pods are listed", || {
            stage.answers(Verb::List, "pods", 200) == 1
        })
        .await;
    assert_eq!(
        scheduler.page("/readyz").await.code,
        503,
        "pods without nodes are not enough"
    );
    assert!(
        scheduler.decisions("web").is_empty(),
        "nor is anything decided"
    );

    stage.faults().remove(nodes);
    scheduler.until_ready().await;
    assert_eq!(stage.until_bound("web").await, "a");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_metrics_tell_of_every_part() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    stage.add(node("b", "8"));
    let scheduler = stage.scheduler(PLIMSOLL).await;
    let _agents = scheduler
        .measured_nodes(&[("a", 1000.0), ("b", 3000.0)])
        .await;
    stage.add(pod("web").cpu("1"));
    stage.add(pod("huge").cpu("100"));
    stage.until_told("web", "Scheduled").await;
    stage.until_told("huge", "FailedScheduling").await;

    let attempts = |result: &str| {
        format!("scheduler_schedule_attempts_total{{result=\"{result}\",profile=\"plimsoll\"}}")
    };
    for (series, least) in [
        (attempts("scheduled"), 1.0),
        (attempts("unschedulable"), 1.0),
        (
            "scheduler_scheduling_algorithm_duration_seconds_count".to_owned(),
            2.0,
        ),
        ("plimsoll_decision_sample_age_seconds_count".to_owned(), 1.0),
        (
            "scheduler_pending_pods{queue=\"unschedulable\"}".to_owned(),
            1.0,
        ),
        ("scheduler_cache_size{type=\"nodes\"}".to_owned(), 2.0),
        ("plimsoll_ingest_connections".to_owned(), 2.0),
        ("plimsoll_ingest_streams".to_owned(), 2.0),
        ("plimsoll_ingest_nodes".to_owned(), 2.0),
        ("plimsoll_ingest_samples_total".to_owned(), 2.0),
        (
            "plimsoll_cluster_events_total{result=\"written\"}".to_owned(),
            2.0,
        ),
        (request("list", "nodes", 200), 1.0),
        (request("list", "pods", 200), 1.0),
        (request("create", "pods/binding", 201), 1.0),
        (request("patch", "pods/status", 200), 1.0),
    ] {
        scheduler
            .until_series(&series, |value| value >= least)
            .await;
    }
    // The sample that the pod was placed by was fresh.
    let page = scheduler.page("/metrics").await;
    let fresh = page.series("plimsoll_decision_sample_age_seconds_bucket{le=\"2.0\"}");
    assert_eq!(fresh, Some(1.0), "{}", page.text);
    assert!(page.text.ends_with("# EOF\n"));
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

fn request(verb: &str, resource: &str, code: u16) -> String {
    format!(
        "plimsoll_cluster_requests_total{{verb=\"{verb}\",resource=\"{resource}\",code=\"{code}\"}}"
    )
}
