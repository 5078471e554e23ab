//! What people read about a pod: the same words as from kube-scheduler.

use std::time::Duration;

use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use crate::rig::{NODES, PODS, Rig, Setup, THEIRS, node, pod};

const BOUND: Duration = Duration::from_secs(30);
const SCHEDULERS: [&str; 2] = ["default-scheduler", "plimsoll"];

/// Two nodes that take pods, one that is cordoned, one with a taint.
fn nodes() -> [Value; 4] {
    let [free, labelled, mut cordoned, mut tainted] =
        ["free", "labelled", "cordoned", "tainted"].map(|name| node(name, "2"));
    let mut labelled: Value = labelled;
    labelled["metadata"]["labels"]["disk"] = json!("ssd");
    cordoned["spec"]["unschedulable"] = json!(true);
    cordoned["spec"]["taints"] =
        json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
    tainted["spec"]["taints"] =
        json!([{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]);
    [free, labelled, cordoned, tainted]
}

/// Pods, each with the reason of the event that it gets.
fn cases() -> Vec<(&'static str, &'static str, Value)> {
    let of = |cpu: &str, spec: Value| {
        let mut pod = pod("", cpu);
        for (field, value) in spec.as_object().into_iter().flatten() {
            pod["spec"][field] = value.clone();
        }
        pod
    };
    let memory = json!({"requests": {"cpu": "3", "memory": "100Gi"}});
    let mut greedy = pod("", "3");
    greedy["spec"]["containers"][0]["resources"] = memory;
    let tolerant = json!([{"operator": "Exists"}]);
    vec![
        ("fits", "Scheduled", of("100m", json!({}))),
        ("too-large", "FailedScheduling", of("100", json!({}))),
        ("greedy", "FailedScheduling", greedy),
        (
            "nowhere",
            "FailedScheduling",
            of("100m", json!({"nodeSelector": {"disk": "tape"}})),
        ),
        (
            "labelled-but-large",
            "FailedScheduling",
            of("3", json!({"nodeSelector": {"disk": "ssd"}})),
        ),
        (
            "tolerant-but-large",
            "FailedScheduling",
            of("3", json!({"tolerations": tolerant})),
        ),
    ]
}

#[test]
fn events_and_conditions_read_as_those_of_kube_scheduler() -> anyhow::Result<()> {
    let options = Options {
        kube_scheduler: Some(String::new()),
        ..Options::default()
    };
    let rig = Rig::start(&options)?;
    let setup = Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    };
    let scheduler = rig.scheduler(&setup)?;
    for node in nodes() {
        rig.cluster.api().create(NODES, &node)?;
    }
    scheduler.until_series("scheduler_cache_size{type=\"nodes\"}", |nodes| nodes == 4.0)?;
    for (case, reason, pod) in cases() {
        let told = SCHEDULERS.map(|name| told(&rig, case, name, reason, &pod));
        let [theirs, ours] = told;
        let (theirs, ours) = (theirs?, ours?);
        assert_eq!(ours, theirs, "{case}: ours, theirs");
        let reason = ours["event"]["reason"].clone();
        assert_eq!(reason, reason_of(case), "{case}");
    }
    scheduler.stop()?;
    rig.close()
}

fn reason_of(case: &str) -> &'static str {
    if case == "fits" {
        "Scheduled"
    } else {
        "FailedScheduling"
    }
}

/// What one scheduler says of a pod, without what must differ: names, times, identities.
fn told(
    rig: &Rig,
    case: &str,
    scheduler: &str,
    reason: &str,
    pod: &Value,
) -> anyhow::Result<Value> {
    let name = format!("{scheduler}-{case}");
    let mut pod = pod.clone();
    pod["metadata"]["name"] = json!(name);
    pod["spec"]["schedulerName"] = json!(scheduler);
    rig.cluster.api().create(PODS, &pod)?;
    until(&format!("{name} is told {reason}"), BOUND, || {
        let has_event = rig.event(&name, reason).is_ok_and(|event| event.is_some());
        has_event
            && rig
                .condition(&name)
                .is_ok_and(|condition| !condition.is_null())
    })?;
    let (event, condition) = (rig.event(&name, reason)?, rig.condition(&name)?);
    let pod = rig.pod(&name)?;
    let node = pod["spec"]["nodeName"].as_str().unwrap_or("no-node");
    let text = json!({
        "event": without_identity(event.unwrap_or_default()),
        "condition": without_times(condition),
        "phase": pod["status"]["phase"],
        "nominated": pod["status"]["nominatedNodeName"],
    })
    .to_string();
    rig.cluster.api().delete(&crate::rig::pod_path(&name))?;
    let text = text.replace(&name, "POD").replace(node, "NODE");
    Ok(serde_json::from_str(&text.replace(scheduler, "SCHEDULER"))?)
}

/// An event with the fields that it has, and the values that must not differ.
fn without_identity(mut event: Value) -> Value {
    event["metadata"] = json!({"namespace": event["metadata"]["namespace"]});
    let instance = event["reportingInstance"].as_str().unwrap_or_default();
    let controller = event["reportingController"].as_str().unwrap_or_default();
    event["reportingInstance"] = json!(instance.starts_with(&format!("{controller}-")));
    event["eventTime"] = json!(event["eventTime"].is_string());
    event["series"] = json!(null);
    event["regarding"]["uid"] = json!(event["regarding"]["uid"].is_string());
    event["regarding"]["resourceVersion"] = json!(null);
    event
}

fn without_times(mut condition: Value) -> Value {
    for time in ["lastProbeTime", "lastTransitionTime"] {
        condition[time] = json!(condition[time].is_string());
    }
    condition
}
