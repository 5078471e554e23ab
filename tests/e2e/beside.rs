//! Beside the real kube-scheduler: the same pods on the same nodes, one at a time, first to
//! it and then to Plimsoll.
//!
//! What both may choose from is known beforehand: the oracle (`tests/oracle`, which is
//! kube-scheduler's own plugins) places all pods one after the other, each on the first by
//! name of its top set. A pod that was placed by both is taken away and put where the oracle
//! has it, so that a tie that falls otherwise leaves the same cluster to the next pod.

mod mix;
mod preempt;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::{Options, until};
use plimsoll_tests::project_root;
use serde_json::{Value, json};

use crate::rig::{PODS, Rig, Setup, THEIRS, pod_path};

const BOUND: Duration = Duration::from_secs(30);

/// What became of a pod: its node, or why it has none.
type Fate = Result<String, String>;

/// What the oracle says of a pod.
#[derive(Debug)]
struct Expected {
    pod: String,
    /// Where it is from then on; `None` if nothing takes it.
    node: Option<String>,
    top: Vec<String>,
    message: String,
}

#[test]
fn three_hundred_mixed_pods_are_placed_where_kube_scheduler_places_them() -> anyhow::Result<()> {
    let rig = Rig::start(&Options {
        kube_scheduler: Some(String::new()),
        ..Options::default()
    })?;
    let objects = mix::create_objects(rig.cluster.api())?;
    let pods = mix::pods(rig.cluster.api())?;
    let expected = ask_the_oracle(&rig, &objects, &pods)?;
    assert_eq!(expected.len(), pods.len());
    let ours = rig.scheduler(&Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    })?;

    let (mut single, mut nowhere) = (0, 0);
    for expected in &expected {
        let mut pods = pods.iter();
        let pod = pods.find(|pod| pod["metadata"]["name"] == expected.pod.as_str());
        let pod = pod.with_context(|| format!("no pod {}", expected.pod))?;
        let by_theirs = place(&rig, pod, "default-scheduler")?;
        let by_ours = place(&rig, pod, "plimsoll")?;
        let Some(node) = &expected.node else {
            assert_eq!(by_theirs, Err(expected.message.clone()), "{expected:?}");
            assert_eq!(by_ours, by_theirs, "{expected:?}");
            nowhere += 1;
            continue;
        };
        for (name, fate) in [("kube-scheduler", &by_theirs), ("plimsoll", &by_ours)] {
            let is_best = fate.as_ref().is_ok_and(|node| expected.top.contains(node));
            assert!(is_best, "{name}: {fate:?}, but {expected:?}");
        }
        single += usize::from(expected.top.len() == 1);
        settle(&rig, pod, node)?;
    }
    assert_eq!(nowhere, mix::NOWHERE);
    let ties = expected.len() - nowhere - single;
    eprintln!("{single} pods by one best node, {ties} by one of several, {nowhere} nowhere");
    assert!(single > ties, "{single} by one best node, {ties} ties");
    ours.stop()?;
    rig.close()
}

/// Gives a pod to a scheduler, waits for its word, and takes the pod away again.
fn place(rig: &Rig, pod: &Value, scheduler: &str) -> anyhow::Result<Fate> {
    let api = rig.cluster.api();
    let mut pod = pod.clone();
    pod["spec"]["schedulerName"] = json!(scheduler);
    api.create(PODS, &pod)?;
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let mut fate = None;
    until(&format!("{scheduler} judges {name}"), BOUND, || {
        fate = rig.pod(name).ok().and_then(|pod| fate_of(&pod));
        fate.is_some()
    })?;
    api.delete(&pod_path(name))?;
    fate.context("no fate")
}

fn fate_of(pod: &Value) -> Option<Fate> {
    if let Some(node) = pod["spec"]["nodeName"].as_str() {
        return Some(Ok(node.to_owned()));
    }
    let conditions = pod["status"]["conditions"].as_array()?;
    let mut scheduled = conditions
        .iter()
        .filter(|one| one["type"] == "PodScheduled");
    let message = scheduled.next()?["message"].as_str()?;
    Some(Err(message.to_owned()))
}

/// Puts a pod on a node for good.
fn settle(rig: &Rig, pod: &Value, node: &str) -> anyhow::Result<()> {
    let mut pod = pod.clone();
    pod["spec"]["nodeName"] = json!(node);
    rig.cluster.api().create(PODS, &pod)?;
    Ok(())
}

/// What kube-scheduler's plugins make of the pods in turn.
fn ask_the_oracle(rig: &Rig, objects: &[Value], pods: &[Value]) -> anyhow::Result<Vec<Expected>> {
    let case = rig.site.folder().join("case.json");
    let text = json!({"objects": objects, "pending": pods}).to_string();
    std::fs::write(&case, text)?;
    let built = Command::new(project_root().join("tests/oracle/build")).output()?;
    ensure!(built.status.success(), "the oracle cannot be built");
    let oracle = String::from_utf8(built.stdout)?;
    let output = Command::new(oracle.trim())
        .arg("sequence")
        .arg(&case)
        .output()?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "oracle: {words}");
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let placements = answer["placements"].as_array().context("no placements")?;
    Ok(placements.iter().map(expected).collect())
}

fn expected(placement: &Value) -> Expected {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let node = placement["node"].as_str().map(str::to_owned);
    let top = placement["top"].as_array().into_iter().flatten();
    let mut top: Vec<String> = top.map(text).collect();
    // The only node that passes is taken without a score.
    if top.is_empty() {
        top.extend(node.clone());
    }
    Expected {
        pod: text(&placement["pod"]).replace("default/", ""),
        node,
        top,
        message: text(&placement["message"]),
    }
}
