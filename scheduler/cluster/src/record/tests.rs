//! The writer of events against a scripted server.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::{PodEvent, PodRef};
use plimsoll_objects::{ObjectKey, Uid};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Recorder, Scribe};
use crate::call::Api;
use crate::metrics::Metrics;
use crate::script::{Reply, Script};

const EVENTS: &str = "POST /apis/events.k8s.io/v1/namespaces/ns/events";

struct Run {
    recorder: Recorder,
    metrics: Metrics,
    busy: watch::Sender<bool>,
    stop: CancellationToken,
    task: JoinSet<Result<(), crate::cluster::TaskError>>,
}

fn run(script: &Script, per_second: u32) -> Run {
    let metrics = Metrics::default();
    let recorder = Recorder::new("host-1".to_owned(), metrics.clone());
    let (busy, yields_to) = watch::channel(false);
    let api = Api::new(script.client(), metrics.clone());
    let stop = CancellationToken::new();
    let mut task = JoinSet::new();
    task.spawn(Scribe::new(recorder.clone(), api, per_second, yields_to).run(stop.clone()));
    Run {
        recorder,
        metrics,
        busy,
        stop,
        task,
    }
}

impl Run {
    fn count(&self, result: &str) -> Option<String> {
        self.metrics.value(&format!(
            r#"plimsoll_cluster_events_total{{result="{result}"}}"#
        ))
    }

    /// Says stop and waits for the end.
    async fn end(mut self) -> Metrics {
        self.stop.cancel();
        assert!(matches!(self.task.join_next().await, Some(Ok(Ok(())))));
        self.metrics
    }
}

fn event(pod: &str, warning: bool) -> PodEvent {
    PodEvent {
        pod: PodRef {
            key: ObjectKey::new("ns", pod),
            uid: Uid(Arc::from("u1")),
        },
        scheduler_name: Arc::from("plimsoll"),
        warning,
        reason: if warning {
            "FailedScheduling"
        } else {
            "Scheduled"
        },
        action: if warning { "Scheduling" } else { "Binding" },
        note: "Successfully assigned ns/web to n1".to_owned(),
    }
}

fn created() -> Reply {
    Reply::Answer(201, Vec::new(), "{}".to_owned())
}

#[tokio::test(start_paused = true)]
async fn an_event_has_every_field_that_the_api_asks_for() {
    let script = Script::default();
    script.on(EVENTS, created());
    let run = run(&script, 10);
    run.recorder.push(event("web", false));
    let mut body = script.asked(EVENTS, 1).await.remove(0).body;
    let time = body["eventTime"].take();
    let time = time.as_str().unwrap();
    assert!(
        time.len() == 27 && time.ends_with('Z'),
        "{time} is no MicroTime"
    );
    let name = body["metadata"]["name"].take();
    assert!(name.as_str().unwrap().starts_with("web."), "{name}");
    let expected = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": null, "namespace": "ns"},
        "eventTime": null,
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "note": "Successfully assigned ns/web to n1",
        "reportingController": "plimsoll",
        "reportingInstance": "plimsoll-host-1",
        "regarding": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": "web", "uid": "u1",
        },
    });
    assert_eq!(body, expected);
}

#[tokio::test(start_paused = true)]
async fn a_warning_that_repeats_is_patched_into_a_series() {
    let script = Script::default();
    script.on(EVENTS, created());
    let run = run(&script, 10);
    run.recorder.push(event("web", true));
    let first = script.asked(EVENTS, 1).await.remove(0);
    run.recorder.push(event("web", true));
    let name = first.body["metadata"]["name"].as_str().unwrap().to_owned();
    let patch = format!("PATCH /apis/events.k8s.io/v1/namespaces/ns/events/{name}");
    let second = script.asked(&patch, 1).await.remove(0);
    assert_eq!(second.body["series"]["count"], json!(2));
    assert!(second.body["series"]["lastObservedTime"].is_string());
    assert_eq!(
        (
            run.count("written").as_deref(),
            run.count("aggregated").as_deref()
        ),
        (Some("1"), Some("1"))
    );
}

#[tokio::test(start_paused = true)]
async fn events_are_written_at_their_rate_after_a_burst() {
    let script = Script::default();
    for _ in 0..30 {
        script.on(EVENTS, created());
    }
    let run = run(&script, 10);
    for n in 0..30 {
        run.recorder.push(event(&format!("web-{n}"), false));
    }
    let seen = script.asked(EVENTS, 30).await;
    let took = (seen[29].at - seen[0].at).as_secs_f64();
    assert!(
        (1.9..2.2).contains(&took),
        "10 at once, 20 at 10 per second: {took} s"
    );
}

#[tokio::test(start_paused = true)]
async fn events_yield_to_bindings_but_never_stop() {
    let script = Script::default();
    for _ in 0..6 {
        script.on(EVENTS, created());
    }
    let run = run(&script, 100);
    run.busy.send_replace(true);
    for n in 0..5 {
        run.recorder.push(event(&format!("web-{n}"), false));
    }
    let seen = script.asked(EVENTS, 4).await;
    let took = seen[3].at - seen[0].at;
    assert!(
        took >= Duration::from_millis(750),
        "three more took {took:?}"
    );
    run.busy.send_replace(false);
    let seen = script.asked(EVENTS, 5).await;
    assert_eq!(
        seen[4].at, seen[3].at,
        "free at once when the bindings are done"
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_left_alone_for_as_long_as_it_asks() {
    let script = Script::default();
    script.on(
        EVENTS,
        Reply::Answer(429, vec![("retry-after", "5")], String::new()),
    );
    script.on(EVENTS, created());
    let run = run(&script, 10);
    run.recorder.push(event("web", false));
    let seen = script.asked(EVENTS, 2).await;
    assert!(seen[1].at - seen[0].at >= Duration::from_secs(5));
    assert_eq!(seen[0].body, seen[1].body);
    let metrics = run.end().await;
    assert_eq!(
        metrics.value(r#"plimsoll_cluster_events_total{result="failed"}"#),
        None
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_an_hour_gets_half_a_minute() {
    let script = Script::default();
    script.on(
        EVENTS,
        Reply::Answer(429, vec![("retry-after", "3600")], String::new()),
    );
    let run = run(&script, 10);
    run.recorder.push(event("web", false));
    let seen = script.asked(EVENTS, 2).await;
    assert_eq!((seen[1].at - seen[0].at).as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_answer_was_lost_is_not_written_twice() {
    let script = Script::default();
    script
        .on(EVENTS, Reply::Cut)
        .on(EVENTS, Reply::status(409, "already exists"));
    let run = run(&script, 10);
    run.recorder.push(event("web", false));
    let seen = script.asked(EVENTS, 2).await;
    assert_eq!(
        seen[0].body["metadata"]["name"],
        seen[1].body["metadata"]["name"]
    );
    let metrics = run.end().await;
    let written = metrics.value(r#"plimsoll_cluster_events_total{result="written"}"#);
    assert_eq!(written.as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn an_event_is_given_up_after_three_failures_or_one_refusal() {
    let script = Script::default();
    for _ in 0..3 {
        script.on(EVENTS, Reply::status(500, "no"));
    }
    script
        .on(EVENTS, Reply::status(403, "forbidden"))
        .on(EVENTS, created());
    let run = run(&script, 10);
    for pod in ["a", "b", "c"] {
        run.recorder.push(event(pod, true));
        let asked = if pod == "a" {
            3
        } else {
            script.seen().len() + 1
        };
        script.asked(EVENTS, asked).await;
    }
    let metrics = run.end().await;
    let failed = metrics.value(r#"plimsoll_cluster_events_total{result="failed"}"#);
    assert_eq!((failed.as_deref(), script.seen().len()), (Some("2"), 5));
}

#[tokio::test(start_paused = true)]
async fn what_waits_at_the_end_is_written_if_it_is_quick() {
    let script = Script::default();
    script.on(EVENTS, created()).on(EVENTS, created());
    let run = run(&script, 10);
    for pod in ["a", "b", "c"] {
        run.recorder.push(event(pod, false));
    }
    // The third is never answered: the end does not wait for it for ever.
    run.end().await;
    assert_eq!(script.seen().len(), 3);
}
