//! The cluster and the pods that both schedulers are given: nodes that differ in everything,
//! and pods of every kind, as the API server has them.

use anyhow::Context;
use plimsoll_tests::controlplane::Api;
use serde_json::{Value, json};

use crate::rig::{NODES, PODS, node};

/// Pods in all.
const ALL: usize = 300;
/// Pods among them that no node takes.
pub(super) const NOWHERE: usize = 6;
/// Nodes: kube-scheduler looks at all of up to 100.
const SIZE: usize = 30;
/// Pods with a volume, each of its own.
const DISKS: usize = 10;
const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// Creates all but the pods; gives what the API server made of it.
pub(super) fn create_objects(api: &Api) -> anyhow::Result<Vec<Value>> {
    let mut made = vec![api.get("/api/v1/namespaces/default")?];
    for (name, value) in [("high", 1000), ("low", 10)] {
        let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": name}, "value": value});
        made.push(api.create(PRIORITIES, &class)?);
    }
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": "disk"}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer"});
    made.push(api.create(CLASSES, &class)?);
    for index in 0..SIZE {
        made.push(api.create(NODES, &machine(index))?);
    }
    for index in 0..DISKS {
        let (volume, claim) = disk(index);
        let volume = api.create(VOLUMES, &volume)?;
        let claim = api.create(CLAIMS, &claim)?;
        // What the volume controller would write.
        for (path, object) in [(VOLUMES, volume), (CLAIMS, claim)] {
            let name = object["metadata"]["name"].as_str().context("no name")?;
            let status = json!({"status": {"phase": "Bound"}});
            made.push(api.patch(&format!("{path}/{name}/status"), &status)?);
        }
    }
    Ok(made)
}

/// The pods, highest priority first, as the API server would store them.
pub(super) fn pods(api: &Api) -> anyhow::Result<Vec<Value>> {
    let mut random = fastrand::Rng::with_seed(6);
    let mut pods = Vec::new();
    for index in 0..ALL {
        let pod = api.create(&format!("{PODS}?dryRun=All"), &pod(index, &mut random))?;
        pods.push(pod);
    }
    pods.sort_by_key(|pod| std::cmp::Reverse(pod["spec"]["priority"].as_i64()));
    for pod in &mut pods {
        let meta = pod["metadata"].as_object_mut().context("no metadata")?;
        meta.retain(|field, _| matches!(field.as_str(), "name" | "namespace" | "labels"));
        pod["status"] = json!({"phase": "Pending"});
    }
    Ok(pods)
}

/// No two are alike: amounts differ, so that scores do.
fn machine(index: usize) -> Value {
    let mut node = node(&format!("n{index:02}"), &(8 + index).to_string());
    let memory = format!("{}Mi", 16_384 + 1_531 * ((index * 7) % SIZE));
    for amounts in ["capacity", "allocatable"] {
        node["status"][amounts]["memory"] = json!(memory);
    }
    let labels = &mut node["metadata"]["labels"];
    labels[ZONE] = json!(format!("z{}", index % 3));
    labels["disk"] = json!(if index.is_multiple_of(4) {
        "ssd"
    } else {
        "spinning"
    });
    let taint = |effect: &str| json!([{"key": "dedicated", "value": "db", "effect": effect}]);
    match index % 6 {
        2 => node["spec"] = json!({"taints": taint("NoSchedule")}),
        4 => node["spec"] = json!({"taints": taint("PreferNoSchedule")}),
        _ => {}
    }
    node
}

/// A volume that can be reached from one zone, and the claim it is bound to.
fn disk(index: usize) -> (Value, Value) {
    let (volume, claim) = (format!("disk-{index}"), format!("data-{index}"));
    let zone = json!({"key": ZONE, "operator": "In", "values": [format!("z{}", index % 3)]});
    let shape = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "disk"});
    let mut volume_spec = shape.clone();
    volume_spec["capacity"] = json!({"storage": "1Gi"});
    volume_spec["csi"] = json!({"driver": "disks.example.com", "volumeHandle": volume});
    volume_spec["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "namespace": "default", "name": claim});
    volume_spec["nodeAffinity"] =
        json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}});
    let mut claim_spec = shape;
    claim_spec["resources"] = json!({"requests": {"storage": "1Gi"}});
    claim_spec["volumeName"] = json!(volume);
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": volume}, "spec": volume_spec});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": claim_spec});
    (volume, claim)
}

fn pod(index: usize, random: &mut fastrand::Rng) -> Value {
    let (cpu, memory) = (random.u32(1..20) * 50, random.u32(1..30) * 64);
    let app = ["web", "db", "batch"][index % 3];
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("p{index:03}"), "labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": "registry.example/main:1",
            "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")}}}]},
    });
    if index % 7 == 3 {
        pod["spec"]["priorityClassName"] = json!(["high", "low"][index % 2]);
    }
    let spec = &mut pod["spec"];
    match index % 10 {
        1 => spec["nodeSelector"] = json!({"disk": "ssd"}),
        2 => {
            spec["tolerations"] = json!([{"key": "dedicated", "operator": "Equal",
                "value": "db", "effect": "NoSchedule"}]);
        }
        3 => spec["topologySpreadConstraints"] = spread(ZONE, "DoNotSchedule", app),
        4 => spec["topologySpreadConstraints"] = spread(HOST, "ScheduleAnyway", app),
        5 => spec["affinity"] = to_pods("podAffinity", ZONE, app),
        6 => spec["affinity"] = to_pods("podAntiAffinity", HOST, app),
        7 => {
            let port = 8000 + index % 4;
            spec["containers"][0]["ports"] = json!([{"containerPort": port, "hostPort": port}]);
        }
        8 => spec["affinity"] = to_nodes(index),
        9 if index / 10 < DISKS => {
            let claim = format!("data-{}", index / 10);
            spec["volumes"] = json!([{"name": "data",
                "persistentVolumeClaim": {"claimName": claim}}]);
        }
        _ => {}
    }
    if index % 50 == 20 {
        let disk = ["tape", "ssd"][index / 50 % 2];
        spec["nodeSelector"] = json!({"disk": disk});
        spec["containers"][0]["resources"]["requests"]["cpu"] = json!("60");
    }
    pod
}

fn spread(key: &str, otherwise: &str, app: &str) -> Value {
    json!([{"maxSkew": 2, "topologyKey": key, "whenUnsatisfiable": otherwise,
        "labelSelector": {"matchLabels": {"app": app}}}])
}

/// Wants to be with its like, or away from it: the first by need if it has any, the second
/// by preference.
fn to_pods(kind: &str, key: &str, app: &str) -> Value {
    let term = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}});
    let terms = match kind {
        "podAffinity" => json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]}),
        _ => json!({"preferredDuringSchedulingIgnoredDuringExecution":
            [{"weight": 60, "podAffinityTerm": term}]}),
    };
    json!({kind: terms})
}

fn to_nodes(index: usize) -> Value {
    let zone = format!("z{}", index / 10 % 3);
    json!({"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "spinning"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 40, "preference":
            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}}],
    }})
}
