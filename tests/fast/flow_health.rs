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

    for (series, least) in of_attempts().into_iter().chain(of_parts()) {
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

/// What is told of the two attempts, and the least value.
fn of_attempts() -> Vec<(String, f64)> {
    let attempts = |result: &str| {
        format!("scheduler_schedule_attempts_total{{result=\"{result}\",profile=\"plimsoll\"}}")
    };
    vec![
        (attempts("scheduled"), 1.0),
        (attempts("unschedulable"), 1.0),
        (
            "scheduler_scheduling_algorithm_duration_seconds_count".to_owned(),
            1.0,
        ),
        (attempt_duration("scheduled"), 1.0),
        (attempt_duration("unschedulable"), 1.0),
        (point("PreFilter", "Success"), 2.0),
        (point("Filter", "Success"), 2.0),
        (point("Score", "Success"), 1.0),
        (point("Bind", "Success"), 1.0),
        (
            "scheduler_plugin_execution_duration_seconds_count{plugin=\"NodeResourcesFit\",\
             extension_point=\"PreFilter\",status=\"Success\"}"
                .to_owned(),
            1.0,
        ),
        (
            "scheduler_plugin_evaluation_total{plugin=\"NodeResourcesFit\",\
             extension_point=\"Filter\",profile=\"plimsoll\"}"
                .to_owned(),
            4.0,
        ),
        (
            "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"}".to_owned(),
            1.0,
        ),
        ("scheduler_pod_scheduling_attempts_count".to_owned(), 1.0),
        (
            "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"plimsoll\"}"
                .to_owned(),
            1.0,
        ),
    ]
}

/// What every other part tells, and the least value.
fn of_parts() -> Vec<(String, f64)> {
    vec![
        ("plimsoll_load_enabled".to_owned(), 1.0),
        ("plimsoll_load_nodes{state=\"reporting\"}".to_owned(), 2.0),
        ("process_resident_memory_bytes".to_owned(), 1e6),
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
    ]
}

fn attempt_duration(result: &str) -> String {
    format!(
        "scheduler_scheduling_attempt_duration_seconds_count{{result=\"{result}\",\
         profile=\"plimsoll\"}}"
    )
}

fn point(point: &str, status: &str) -> String {
    format!(
        "scheduler_framework_extension_point_duration_seconds_count{{extension_point=\"{point}\",\
         status=\"{status}\",profile=\"plimsoll\"}}"
    )
}

fn request(verb: &str, resource: &str, code: u16) -> String {
    format!(
        "plimsoll_cluster_requests_total{{verb=\"{verb}\",resource=\"{resource}\",code=\"{code}\"}}"
    )
}
