//! WAT-A2: what lists that come again and again cost the scheduler in memory. Against the
//! embedded API server, which can say 410 on demand.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use plimsoll_apiserver::{ApiServer, Fault, Options, Rule, Verb};
use plimsoll_tests::controlplane::until;
use serde_json::{Value, json};

use crate::rig::{Scheduler, Setup, Site, node, pod};

const NODES: usize = 1_000;
const PODS: usize = 20_000;
const RELISTS: usize = 10;
/// Bytes of `managedFields` in each pod: a pod that several controllers have written to.
const FAT: usize = 4 * 1024;
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Memory that has not moved for so long is settled.
const SETTLED: Duration = Duration::from_millis(500);
const BOUND: Duration = Duration::from_mins(1);
const CACHED_PODS: &str = "scheduler_cache_size{type=\"pods\"}";

#[test]
fn wat_a2_ten_lists_of_twenty_thousand_pods_stay_under_twice_the_steady_memory()
-> anyhow::Result<()> {
    let site = Site::new()?;
    let server = site.block_on(async { ApiServer::start(Options::default()) })?;
    let store = server.store();
    for index in 0..NODES {
        store.create(node(&format!("n{index}"), "64"))?;
    }
    for index in 0..PODS {
        store.create(fat_pod(index))?;
    }
    let kubeconfig = site.folder().join("embedded.kubeconfig");
    fs::write(&kubeconfig, server.kubeconfig())?;
    let scheduler = site.scheduler(&Setup::default(), &kubeconfig)?;
    // On a machine that does other work memory can stand still before the list is whole.
    scheduler.until_series(CACHED_PODS, |pods| pods == PODS as f64)?;
    let steady = settled(&scheduler)?;

    let done = AtomicBool::new(false);
    let fewest = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&scheduler, &done));
        let relisted = (1..=RELISTS).try_for_each(|count| relist(&server, &scheduler, count));
        done.store(true, Ordering::SeqCst);
        relisted.and_then(|()| watching.join().expect("the watch does not panic"))
    })?;
    // Since the start: the first list counts, too.
    let peak = scheduler.process()?.peak_resident_bytes();
    let peak = peak.context("it has ended")?;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{PODS} pods, {NODES} nodes, {RELISTS} lists: steady {:.1} MiB, peak {:.1} MiB ({:.2} x)",
        mib(steady),
        mib(peak),
        peak as f64 / steady as f64
    );
    assert!(peak < 2 * steady, "peak {peak}, steady {steady}");
    assert_eq!(fewest, NODES as f64, "the cache was seen without nodes");
    scheduler.stop()?;
    site.block_on(server.shutdown());
    site.close()
}

/// Makes each watch end with 410 once, one after the other (the loss of one makes the other
/// begin again, which must not take its 410), and waits until all has been listed.
fn relist(server: &ApiServer, scheduler: &Scheduler, count: usize) -> anyhow::Result<()> {
    let faults = server.faults();
    for kind in ["nodes", "pods"] {
        let gone = Rule::new(Fault::expired()).verb(Verb::Watch);
        faults.add(gone.resource(kind).times(1));
        faults.close_watches(Some(kind));
        let relists = format!("plimsoll_cluster_relists_total{{kind=\"{kind}\"}}");
        scheduler.until_series(&relists, |relists| relists >= count as f64)?;
    }
    scheduler.until_series(CACHED_PODS, |pods| pods == PODS as f64)
}

/// Memory once it no longer moves.
fn settled(scheduler: &Scheduler) -> anyhow::Result<u64> {
    let process = scheduler.process()?;
    let mut last = 0;
    until("memory settles", BOUND, || {
        thread::sleep(SETTLED);
        let before = std::mem::replace(&mut last, process.resident_bytes().unwrap_or(0));
        before.abs_diff(last) < 1 << 20
    })?;
    Ok(last)
}

/// The fewest nodes that the cache was seen with until `done`.
fn watch(scheduler: &Scheduler, done: &AtomicBool) -> anyhow::Result<f64> {
    let mut fewest = f64::MAX;
    while !done.load(Ordering::SeqCst) {
        let nodes = scheduler.series("scheduler_cache_size{type=\"nodes\"}")?;
        fewest = fewest.min(nodes);
        thread::sleep(LOOK);
    }
    Ok(fewest)
}

/// A pod that runs, with what controllers have left in it.
fn fat_pod(index: usize) -> Value {
    let mut pod = pod("default-scheduler", "10m");
    let entry = json!({
        "manager": "controller", "operation": "Update", "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:annotations": {"f:filler": "x".repeat(FAT)}}},
    });
    pod["metadata"] = json!({"name": format!("pod-{index}"), "managedFields": [entry]});
    pod["spec"]["nodeName"] = json!(format!("n{}", index % NODES));
    pod["status"] = json!({"phase": "Running"});
    pod
}
