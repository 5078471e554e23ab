//! A scheduler that is killed while pods come.

use std::thread;
use std::time::Duration;

use plimsoll_tests::controlplane::Options;

use crate::rig::{PODS, Recorder, Rig, Setup, pod};

/// Pods of one burst, which fill the nodes to the last millicore: a pod that is counted twice
/// or never again finds the others without a place.
const BURST: usize = 500;
const NODE_COUNT: usize = 10;
const NODE_CPU: &str = "5";
const POD_CPU: &str = "100m";
/// The scheduler is killed once so many pods of a burst have a node: drawn once, at random.
const KILLED_AT: [usize; 10] = [217, 38, 401, 1, 154, 333, 89, 266, 12, 375];
/// What a burst may take, with the restart.
const BOUND: Duration = Duration::from_secs(90);

#[test]
fn a_scheduler_killed_ten_times_in_mid_burst_loses_no_pod_and_binds_none_twice()
-> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(NODE_COUNT, NODE_CPU)?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let mut scheduler = rig.scheduler(&Setup::default())?;
    let pods = vec![pod("plimsoll", POD_CPU); BURST];
    for (round, killed_at) in KILLED_AT.into_iter().enumerate() {
        let stem = format!("burst-{round}");
        let before = thread::scope(|scope| {
            let coming = scope.spawn(|| rig.add_pods(&stem, &pods));
            recorder.until_bound(&stem, killed_at, BOUND)?;
            scheduler.kill()?;
            let before = recorder.bound(&stem);
            scheduler.start()?;
            coming.join().expect("the pods come")?;
            anyhow::Ok(before)
        })?;
        recorder.until_bound(&stem, BURST, BOUND)?;
        assert!(
            before < BURST,
            "round {round}: the burst was over before the kill"
        );
        recorder.assert_sound();
        // One whose asker was killed meanwhile may count under another code.
        let (made, pods) = (bindings_made(&rig)?, BURST * (round + 1));
        assert!(
            made <= pods,
            "round {round}: {made} bindings of {pods} pods"
        );

        scheduler.until_ready()?;
        rig.cluster.api().delete(PODS)?;
        scheduler.until_series("scheduler_cache_size{type=\"pods\"}", |pods| pods == 0.0)?;
    }
    scheduler.stop()?;
    rig.close()
}

/// Bindings that the API server has made since its start.
fn bindings_made(rig: &Rig) -> anyhow::Result<usize> {
    let page = rig.cluster.api().get("/metrics")?;
    let lines = page.as_str().unwrap_or_default().lines();
    let bindings = lines.filter(|line| {
        ["subresource=\"binding\"", "verb=\"POST\"", "code=\"201\""]
            .iter()
            .all(|label| line.contains(label))
            && line.starts_with("apiserver_request_total{")
    });
    Ok(bindings
        .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
        .sum())
}
