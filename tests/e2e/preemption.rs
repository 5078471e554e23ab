//! Preemption on a real API server: who goes, who is nominated, who is spared.

use std::time::Duration;

use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use crate::rig::{Recorder, Rig, Setup, THEIRS, pod, pod_path};

const BOUND: Duration = Duration::from_secs(30);
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

#[test]
fn a_pod_of_a_higher_priority_gets_the_place_of_one_that_no_budget_guards() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(2, "2")?;
    let api = rig.cluster.api();
    let class = json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000,
    });
    api.create(PRIORITIES, &class)?;
    // Without its controller a budget allows nothing.
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "guard"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}},
    });
    api.create(BUDGETS, &budget)?;
    let mut recorder = Recorder::start(api)?;
    let scheduler = rig.scheduler(&Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    })?;
    for app in ["guarded", "plain"] {
        rig.add_pods(app, &[low(app)])?;
        recorder.until_bound(app, 1, BOUND)?;
    }
    let freed = rig.pod("plain-0")?["spec"]["nodeName"].take();

    let mut high = pod("plimsoll", "2");
    high["spec"]["priorityClassName"] = json!("high");
    rig.add_pods("high", &[high])?;
    until("one without a budget is asked to go", BOUND, || {
        let victim = rig.pod("plain-0");
        victim.is_ok_and(|pod| pod["metadata"]["deletionTimestamp"].is_string())
    })?;
    until("the other is promised its node", BOUND, || {
        let high = rig.pod("high-0");
        high.is_ok_and(|pod| pod["status"]["nominatedNodeName"] == freed)
    })?;
    check_told(&rig)?;
    let told = rig.condition("high-0")?;
    let message = told["message"].as_str().unwrap_or_default();
    let expected = "0/2 nodes are available: 2 Insufficient cpu.";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(recorder.bound("high"), 0, "its place is still in use");

    // The victim ends, as its kubelet would tell; a small one of no priority does not slip in.
    rig.add_pods("small", &[pod("plimsoll", "1")])?;
    api.delete(&pod_path("plain-0"))?;
    recorder.until_bound("high", 1, BOUND)?;
    assert_eq!(rig.pod("high-0")?["spec"]["nodeName"], freed);
    let guarded = rig.pod("guarded-0")?;
    assert!(guarded["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(recorder.bound("small"), 0);
    recorder.assert_sound();
    scheduler.stop()?;
    rig.close()
}

/// The victim says why it goes, in the words of kube-scheduler.
fn check_told(rig: &Rig) -> anyhow::Result<()> {
    let victim = rig.pod("plain-0")?;
    let conditions = victim["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let target = conditions.find(|condition| condition["type"] == "DisruptionTarget");
    let mut target = target.cloned().unwrap_or_default();
    assert!(target["lastTransitionTime"].take().is_string(), "{target}");
    let expected = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
        "message": "plimsoll: preempting to accommodate a higher priority pod",
        "observedGeneration": 1, "lastProbeTime": null, "lastTransitionTime": null,
    });
    assert_eq!(target, expected);
    until("its event is written", BOUND, || {
        let event = rig.event("plain-0", "Preempted");
        event.is_ok_and(|event| event.is_some())
    })?;
    let event = rig.event("plain-0", "Preempted")?.unwrap_or_default();
    let uid = rig.pod("high-0")?["metadata"]["uid"].take();
    let node = &victim["spec"]["nodeName"];
    let (uid, node) = (uid.as_str(), node.as_str());
    let note = format!(
        "Preempted by pod {} on node {}",
        uid.unwrap_or_default(),
        node.unwrap_or_default()
    );
    assert_eq!(event["note"], json!(note));
    assert_eq!(event["action"], json!("Preempting"));
    assert_eq!(event["type"], json!("Normal"));
    Ok(())
}

/// Fills a node, and takes its time to end.
fn low(app: &str) -> Value {
    let mut pod = pod("plimsoll", "2");
    pod["metadata"]["labels"] = json!({"app": app});
    pod["spec"]["terminationGracePeriodSeconds"] = json!(600);
    pod
}
