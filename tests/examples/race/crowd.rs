//! Nodes and pods: takes a control plane, creates thousands of objects from several hands.

use std::time::Duration;

use anyhow::Context;
use plimsoll_tests::controlplane::{Controlplane, Program, until};
use serde_json::{Value, json};

use super::args::Kind;

/// The collection of nodes.
pub(crate) const NODES: &str = "/api/v1/nodes";
/// The collection of pods.
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
/// Connections that create at once.
const HANDS: usize = 8;
/// A quiet control plane uses less CPU than this in [`LOOK`].
const QUIET: Duration = Duration::from_millis(30);
const LOOK: Duration = Duration::from_millis(500);
/// A control plane that does not get quiet is used all the same.
const PATIENCE: Duration = Duration::from_secs(15);

/// Creates `count` objects in a collection.
pub(crate) fn create(
    cluster: &Controlplane,
    path: &str,
    count: usize,
    object: impl Fn(usize) -> Value + Sync,
) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let object = &object;
        let hands: Vec<_> = (0..HANDS)
            .map(|hand| {
                scope.spawn(move || -> anyhow::Result<()> {
                    let mut line = cluster.api().line()?;
                    for index in (hand..count).step_by(HANDS) {
                        line.create(path, &object(index).to_string())?;
                    }
                    Ok(())
                })
            })
            .collect();
        for hand in hands {
            hand.join().ok().context("a hand that creates died")??;
        }
        Ok(())
    })
}

/// Waits until etcd and the API server have nothing to do.
pub(crate) fn settle(cluster: &Controlplane) -> anyhow::Result<()> {
    let used = || -> anyhow::Result<Duration> {
        let etcd = cluster.process(Program::Etcd)?.cpu();
        let server = cluster.process(Program::ApiServer)?.cpu();
        Ok(etcd.unwrap_or_default() + server.unwrap_or_default())
    };
    let mut before = used()?;
    let quiet = until("the control plane is quiet", PATIENCE, || {
        std::thread::sleep(LOOK);
        let now = used().unwrap_or(before);
        let is_quiet = now.saturating_sub(before) < QUIET;
        before = now;
        is_quiet
    });
    drop(quiet);
    Ok(())
}

/// A node of 32 CPUs in one of three zones.
pub(crate) fn node(index: usize) -> Value {
    let amounts = json!({"cpu": "32", "memory": "256Gi", "pods": "110"});
    let (name, zone) = (format!("n{index}"), format!("z{}", index % 3));
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}},
        "status": {"capacity": amounts, "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

/// A pod that waits for the scheduler of this name.
pub(crate) fn pod(name: &str, scheduler: &str, kind: Kind) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "race"}},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "main", "image": "registry.example/main:1",
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}],
        },
    });
    if kind == Kind::Spread {
        let over = |key: &str| {
            json!({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "race"}}})
        };
        pod["spec"]["topologySpreadConstraints"] = json!([
            over("topology.kubernetes.io/zone"),
            over("kubernetes.io/hostname")
        ]);
    }
    pod
}
