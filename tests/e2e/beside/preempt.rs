//! The same preemption done by kube-scheduler and by Plimsoll: what is left of the victims,
//! of the preemptor, and what people are told, field by field.

use std::time::Duration;

use anyhow::Context;
use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use crate::rig::{PODS, Rig, Setup, THEIRS, pod, pod_path};

const BOUND: Duration = Duration::from_secs(30);
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const SCHEDULERS: [&str; 2] = ["default-scheduler", "plimsoll"];
/// They run on the only node; `guarded` has a budget that is used up.
const VICTIMS: [&str; 3] = ["guarded", "one", "two"];

#[test]
fn a_preemption_leaves_the_same_as_one_of_kube_scheduler() -> anyhow::Result<()> {
    let rig = Rig::start(&Options {
        kube_scheduler: Some(String::new()),
        ..Options::default()
    })?;
    let api = rig.cluster.api();
    rig.add_nodes(1, "4")?;
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000});
    api.create(PRIORITIES, &class)?;
    // Without its controller a budget allows nothing.
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "guard"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}}});
    api.create(BUDGETS, &budget)?;
    let scheduler = rig.scheduler(&Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    })?;
    let [theirs, ours] = SCHEDULERS.map(|name| preempt(&rig, name));
    let (theirs, ours) = (theirs?, ours?);
    for (what, theirs) in theirs.as_object().context("no object")? {
        assert_eq!(&ours[what], theirs, "{what}: ours, theirs");
    }
    let told = |value: &Value| value["events"].as_array().map_or(0, Vec::len);
    assert!(told(&theirs) >= 6, "{theirs:#}");
    scheduler.stop()?;
    rig.close()
}

/// What is left of a preemption by one scheduler, without what must differ.
fn preempt(rig: &Rig, scheduler: &str) -> anyhow::Result<Value> {
    let api = rig.cluster.api();
    for name in VICTIMS {
        let mut victim = pod(scheduler, "1");
        victim["metadata"] = json!({"name": name, "labels": {"app": name}});
        victim["spec"]["terminationGracePeriodSeconds"] = json!(600);
        api.create(PODS, &victim)?;
        until("a victim runs", BOUND, || {
            rig.pod(name)
                .is_ok_and(|pod| pod["spec"]["nodeName"].is_string())
        })?;
    }
    let mut high = pod(scheduler, "3");
    high["metadata"]["name"] = json!("high");
    high["spec"]["priorityClassName"] = json!("high");
    api.create(PODS, &high)?;
    until("it is promised the node", BOUND, || {
        rig.pod("high")
            .is_ok_and(|pod| pod["status"]["nominatedNodeName"] == "n0")
    })?;
    for name in ["one", "two"] {
        until("a victim is put out and told so", BOUND, || {
            let is_going = |pod: Value| pod["metadata"]["deletionTimestamp"].is_string();
            let is_told = rig
                .event(name, "Preempted")
                .is_ok_and(|event| event.is_some());
            is_told && rig.pod(name).is_ok_and(is_going)
        })?;
    }
    let waiting = rig.pod("high")?;
    let [guarded, one, two] = VICTIMS.map(|name| rig.pod(name));
    let (guarded, one, two) = (guarded?, one?, two?);
    // They end.
    for name in ["one", "two"] {
        api.delete(&pod_path(name))?;
    }
    until("the preemptor is bound", BOUND, || {
        let is_told = rig
            .event("high", "Scheduled")
            .is_ok_and(|event| event.is_some());
        is_told
            && rig
                .pod("high")
                .is_ok_and(|pod| pod["spec"]["nodeName"] == "n0")
    })?;
    let bound = rig.pod("high")?;
    let uids = [&guarded, &one, &two, &bound].map(|pod| text(&pod["metadata"]["uid"]));
    let left = json!({
        "guarded": without_identity(guarded),
        "one": without_identity(one),
        "two": without_identity(two),
        "while it waits": without_identity(waiting),
        "once it is bound": without_identity(bound),
        "events": events(rig, &uids)?,
    });
    for name in ["guarded", "high"] {
        api.delete(&pod_path(name))?;
    }
    let mut left = left.to_string().replace(scheduler, "SCHEDULER");
    for (uid, name) in uids.iter().zip(VICTIMS.iter().chain(&["high"])) {
        left = left.replace(uid, &format!("uid of {name}"));
    }
    Ok(serde_json::from_str(&left)?)
}

/// A pod without times and versions.
fn without_identity(mut pod: Value) -> Value {
    let metadata = pod["metadata"].as_object_mut();
    if let Some(metadata) = metadata {
        metadata.retain(|field, _| !matches!(&**field, "managedFields" | "resourceVersion"));
    }
    without_times(&mut pod);
    pod
}

/// The events about the pods with these uids, but for those of the victims' own placement.
fn events(rig: &Rig, uids: &[String]) -> anyhow::Result<Vec<Value>> {
    let list = rig.cluster.api().get(EVENTS)?;
    let events = list["items"].as_array().context("no list")?.iter();
    let about = events.filter(|event| uids.contains(&text(&event["regarding"]["uid"])));
    let mut about: Vec<Value> = about.cloned().collect();
    for event in &mut about {
        let labels = event["metadata"]["labels"].take();
        event["metadata"] = json!({"namespace": event["metadata"]["namespace"], "labels": labels});
        let controller = text(&event["reportingController"]);
        let instance = text(&event["reportingInstance"]);
        event["reportingInstance"] = json!(instance.starts_with(&format!("{controller}-")));
        for object in ["regarding", "related"] {
            if let Some(object) = event[object].as_object_mut() {
                object.remove("resourceVersion");
            }
        }
        without_times(event);
    }
    about.sort_by_key(|event| (text(&event["reason"]), text(&event["regarding"]["name"])));
    Ok(about)
}

/// Puts a word in place of every time.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let is_time = name.ends_with("Time") || name.ends_with("Timestamp");
                if is_time && field.is_string() {
                    *field = json!("a time");
                } else {
                    without_times(field);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
