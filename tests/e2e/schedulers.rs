//! Several schedulers in one cluster: each takes its own pods, and one that was raced by
//! another loses nothing by it.

use std::time::Duration;

use plimsoll_tests::controlplane::Options;
use serde_json::json;

use crate::rig::{NODES, PODS, Recorder, Rig, Setup, node, pod, pod_path};

const BOUND: Duration = Duration::from_mins(1);
/// Pods of each scheduler.
const EACH: usize = 100;

#[test]
fn two_schedulers_side_by_side_take_each_their_own_pods() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(4, "8")?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let schedulers = ["blue", "green"].map(|name| {
        rig.scheduler(&Setup {
            name: name.to_owned(),
            profiles: crate::rig::PROFILE.replace("plimsoll", name),
        })
    });
    let [blue, green] = schedulers;
    let (blue, green) = (blue?, green?);
    for name in ["blue", "green", "nobody"] {
        rig.add_pods(name, &vec![pod(name, "100m"); EACH])?;
    }
    recorder.until_bound("blue", EACH, BOUND)?;
    recorder.until_bound("green", EACH, BOUND)?;
    assert_eq!(recorder.bound("nobody"), 0);
    recorder.assert_sound();
    for (name, scheduler) in [("blue", &blue), ("green", &green)] {
        // Counted when the answer has come: the watch may show the pod before that.
        let made = "plimsoll_bindings_total{outcome=\"bound\"}";
        scheduler.until_series(made, |bindings| bindings == EACH as f64)?;
        let conflicts = scheduler.series("plimsoll_bindings_total{outcome=\"conflict\"}")?;
        assert_eq!(conflicts, 0.0, "{name} wanted another's pod");
        // The other's pods count on their nodes all the same.
        let known = "scheduler_cache_size{type=\"pods\"}";
        scheduler.until_series(known, |pods| pods == 2.0 * EACH as f64)?;
        let by = format!("{name}-0");
        let event = rig.event(&by, "Scheduled")?.unwrap_or_default();
        assert_eq!(event["reportingController"], name);
    }
    blue.stop()?;
    green.stop()?;
    rig.close()
}

#[test]
fn a_pod_that_a_kubelet_refuses_gives_its_room_back_and_is_counted() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.cluster.api().create(NODES, &node("n0", "2"))?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup::default())?;
    for (reason, resource) in [("OutOfcpu", "cpu"), ("OutOfmemory", "memory")] {
        let (first, second) = (format!("first-{resource}"), format!("second-{resource}"));
        rig.add_pods(&first, &[pod("plimsoll", "2")])?;
        recorder.until_bound(&first, 1, BOUND)?;
        rig.add_pods(&second, &[pod("plimsoll", "2")])?;
        let waits = "scheduler_pending_pods{queue=\"unschedulable\"}";
        scheduler.until_series(waits, |pods| pods == 1.0)?;

        // What a kubelet writes when a foreign scheduler was quicker.
        let message = format!("Pod was rejected: Node didn't have enough resource: {resource}");
        let status = json!({"status": {
            "phase": "Failed", "reason": reason, "message": message}});
        let path = pod_path(&format!("{first}-0"));
        let api = rig.cluster.api();
        api.patch(&format!("{path}/status"), &status)?;
        recorder.until_bound(&second, 1, BOUND)?;
        let counted = format!("plimsoll_pods_refused_by_kubelet_total{{reason=\"{reason}\"}}");
        scheduler.until_series(&counted, |pods| pods == 1.0)?;
        recorder.assert_sound();
        api.delete(PODS)?;
        scheduler.until_series("scheduler_cache_size{type=\"pods\"}", |pods| pods == 0.0)?;
    }
    scheduler.stop()?;
    rig.close()
}
