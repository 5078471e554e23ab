//! Builders for this crate's tests: pods, nodes, samples.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::Now;
use plimsoll_kernel::Kernel;
use plimsoll_objects::{
    Labels, Node, NodeStatus, ObjectKey, ObjectMeta, Phase, Pod, PodSpec, PodStatus, Resources, Uid,
};

use crate::sample::{Figure, Machine, Meter, PodSample, Sample};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const EWMA: Kernel = Kernel::Ewma {
    tau: Duration::from_secs(10),
};

fn meta(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        key: ObjectKey::new(namespace, name),
        uid: Uid(Arc::from(name)),
        resource_version: Arc::from(""),
        labels: Labels::new(),
        annotations: Labels::new(),
        controller: None,
        created: None,
        deleted: None,
    }
}

/// A pending pod; its uid is its name.
pub(crate) fn pod(name: &str, millicores: i64) -> Pod {
    let mut spec = PodSpec::default();
    spec.requests.placed.cpu = millicores;
    Pod {
        meta: meta("default", name),
        spec,
        status: PodStatus::default(),
    }
}

/// The same pod, running.
pub(crate) fn running(mut pod: Pod) -> Pod {
    pod.status.phase = Phase::Running;
    pod
}

/// A node of this capacity.
pub(crate) fn node(name: &str, millicores: i64, memory: i64) -> Node {
    let capacity = Resources {
        cpu: millicores,
        memory,
        ..Resources::default()
    };
    Node {
        meta: meta("", name),
        unschedulable: false,
        taints: Vec::new(),
        status: NodeStatus {
            allocatable: capacity.clone(),
            capacity,
            images: Vec::new(),
            declared_features: Box::default(),
        },
        link_speed: None,
    }
}

/// A figure whose window is long.
pub(crate) fn figure(meter: Meter, kernel: Kernel, value: f64) -> Figure {
    Figure {
        meter,
        kernel,
        value,
        window: 1_000 * SECOND,
        samples: 1_000,
    }
}

/// A sample of CPU taken (and arrived) at `taken`.
pub(crate) fn sample(node: &str, taken: Duration, millicores: f64) -> Sample {
    Sample {
        node: Arc::from(node),
        start_id: 1,
        sequence: taken.as_millis() as u64,
        arrived: taken,
        age: Duration::ZERO,
        period: SECOND,
        machine: Machine::default(),
        steal: None,
        untrusted: None,
        figures: vec![figure(Meter::Cpu, EWMA, millicores)],
        pods: Vec::new(),
    }
}

/// A report of a pod's CPU.
pub(crate) fn pod_sample(uid: &str, age: Duration, millicores: f64) -> PodSample {
    let mut figure = figure(Meter::Cpu, EWMA, millicores);
    figure.window = age;
    PodSample {
        uid: Arc::from(uid),
        age,
        behind: Duration::ZERO,
        figures: vec![figure],
        ended: false,
    }
}

/// The instant `seconds` after the clock began.
pub(crate) fn at(seconds: u64) -> Now {
    Now::at(Duration::from_secs(seconds))
}
