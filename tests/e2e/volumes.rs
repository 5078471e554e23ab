//! Volumes on a real API server, whose volume controller completes what the scheduler begins.

use std::time::Duration;

use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use crate::rig::{Recorder, Rig, Setup, THEIRS, pod};

/// The volume controller may look again as late as each 15 s.
const BOUND: Duration = Duration::from_secs(90);
const ACCOUNT: &str = "/api/v1/namespaces/default/serviceaccounts/default";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const SELECTED: &str = "volume.kubernetes.io/selected-node";

#[test]
fn a_pod_waits_for_its_volume_and_is_bound_where_that_can_be_reached() -> anyhow::Result<()> {
    let rig = Rig::start(&Options {
        controller_manager: true,
        ..Options::default()
    })?;
    rig.add_nodes(3, "8")?;
    let api = rig.cluster.api();
    until("pods get a service account", BOUND, || api.is_ok(ACCOUNT))?;
    for (name, provisioner) in [
        ("local", "kubernetes.io/no-provisioner"),
        ("made", "disks.example.com"),
    ] {
        api.create(CLASSES, &class(name, provisioner))?;
    }
    let mut recorder = Recorder::start(api)?;
    let scheduler = rig.scheduler(&Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    })?;

    // A volume that is there, on one node.
    let local = json!({"local": {"path": "/mnt/disk"}, "nodeAffinity": {"required": {
        "nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]},
        ]}],
    }}});
    api.create(VOLUMES, &volume("disk", "local", &local))?;
    api.create(CLAIMS, &claim("static", "local"))?;
    rig.add_pods("static", &[with_claim("static")])?;
    recorder.until_bound("static", 1, BOUND)?;
    assert_eq!(rig.pod("static-0")?["spec"]["nodeName"], "n1");
    assert_is_bound(&rig, "static", "disk")?;

    // A volume that is made once a node is chosen: the test is its provisioner.
    api.create(CLAIMS, &claim("dynamic", "made"))?;
    rig.add_pods("dynamic", &[with_claim("dynamic")])?;
    let path = format!("{CLAIMS}/dynamic");
    let chosen =
        || Ok::<_, anyhow::Error>(api.get(&path)?["metadata"]["annotations"][SELECTED].take());
    until("a node is chosen for the claim", BOUND, || {
        chosen().is_ok_and(|node| node.is_string())
    })?;
    assert_eq!(recorder.bound("dynamic"), 0, "its volume is not there");
    let uid = api.get(&path)?["metadata"]["uid"].take();
    let made = json!({
        "csi": {"driver": "disks.example.com", "volumeHandle": "disk-7"},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "namespace": "default", "name": "dynamic", "uid": uid},
    });
    api.create(VOLUMES, &volume("made", "made", &made))?;
    recorder.until_bound("dynamic", 1, BOUND)?;
    assert_eq!(rig.pod("dynamic-0")?["spec"]["nodeName"], chosen()?);
    assert_is_bound(&rig, "dynamic", "made")?;
    recorder.assert_sound();
    scheduler.stop()?;
    rig.close()
}

fn assert_is_bound(rig: &Rig, claim: &str, volume: &str) -> anyhow::Result<()> {
    let claim = rig.cluster.api().get(&format!("{CLAIMS}/{claim}"))?;
    assert_eq!(claim["spec"]["volumeName"], volume);
    assert_eq!(claim["status"]["phase"], "Bound");
    Ok(())
}

fn class(name: &str, provisioner: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    })
}

fn volume(name: &str, class: &str, more: &Value) -> Value {
    let mut volume = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class,
        },
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        volume["spec"][field] = value.clone();
    }
    volume
}

fn claim(name: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": class,
        },
    })
}

fn with_claim(claim: &str) -> Value {
    let mut pod = pod("plimsoll", "100m");
    pod["spec"]["volumes"] =
        json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
    pod
}
