//! Pods that left, against a scripted server.

use std::sync::Arc;

use plimsoll_objects::{ObjectKey, Uid};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Departures, departures};
use crate::metrics::Metrics;
use crate::script::{Reply, Script};

const POD: &str = "GET /api/v1/namespaces/ns/pods/web";

struct Run {
    departures: Departures,
    metrics: Metrics,
    _task: JoinSet<Result<(), crate::cluster::TaskError>>,
}

fn run(script: &Script) -> Run {
    let api = script.api();
    let metrics = api.metrics().clone();
    let (departures, inquest) = departures(api);
    let mut task = JoinSet::new();
    task.spawn(inquest.run(CancellationToken::new()));
    Run {
        departures,
        metrics,
        _task: task,
    }
}

fn pod(uid: &str, status: &Value) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "ns", "uid": uid},
        "spec": {"nodeName": "n1"},
        "status": status,
    })
}

fn pending() -> Value {
    pod("u1", &json!({"phase": "Pending"}))
}

fn refused() -> Value {
    json!({"phase": "Failed", "reason": "OutOfcpu"})
}

impl Run {
    fn note(&self, shown: &Value) {
        let key = ObjectKey::new("ns", "web");
        self.departures
            .note(&key, &Uid(Arc::from("u1")), &shown.to_string());
    }

    fn counted(&self, reason: &str) -> Option<String> {
        let series = format!("plimsoll_pods_refused_by_kubelet_total{{reason=\"{reason}\"}}");
        self.metrics.value(&series)
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_left_before_it_ran_is_looked_at_and_its_reason_counted() {
    let script = Script::default();
    script.on(POD, Reply::status(503, "not now"));
    script.on(POD, Reply::ok(&pod("u1", &refused())));
    script.on(POD, Reply::status(404, "gone"));
    let run = run(&script);
    run.note(&pending());
    run.note(&pending());
    script.asked(POD, 3).await;
    assert_eq!(run.counted("OutOfcpu").as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn another_life_of_the_name_and_another_end_do_not_count() {
    let script = Script::default();
    script.on(POD, Reply::ok(&pod("u2", &refused())));
    script.on(POD, Reply::ok(&pod("u1", &json!({"phase": "Succeeded"}))));
    script.on(POD, Reply::ok(&json!([])));
    let run = run(&script);
    for _ in 0..3 {
        run.note(&pending());
    }
    script.asked(POD, 3).await;
    assert_eq!(run.counted("OutOfcpu").as_deref(), Some("0"));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_ran_was_deleted_or_had_no_node_is_not_looked_at() {
    let script = Script::default();
    let run = run(&script);
    let mut deleted = pending();
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut waiting = pending();
    waiting["spec"] = Value::Null;
    for shown in [pod("u1", &json!({"phase": "Running"})), deleted, waiting] {
        run.note(&shown);
    }
    run.note(&json!(7));
    tokio::time::sleep(super::AGAIN).await;
    assert_eq!(script.seen_on(POD).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_reason_that_is_shown_counts_without_a_look() {
    let script = Script::default();
    let run = run(&script);
    run.note(&pod(
        "u1",
        &json!({"phase": "Failed", "reason": "OutOfpods"}),
    ));
    assert_eq!(run.counted("OutOfpods").as_deref(), Some("1"));
    assert_eq!(script.seen_on(POD).len(), 0);
}
