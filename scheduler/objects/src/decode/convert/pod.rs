//! The wire's pod -> [`Pod`].
//!
//! Takes spec and status, gives them with requests summed and tolerations parsed.

use std::sync::Arc;

use super::constraints::{constraints, images};
use super::features::needs;
use super::{DecodeError, meta, optional, or, taint_effect, time, wire};
use crate::amounts::Amounts;
use crate::bandwidth::{self, DeclaredBandwidth};
use crate::intern::intern;
use crate::meta::{Labels, ObjectMeta};
use crate::pod::{Condition, ConditionStatus, Phase, Pod, PodSpec, PodStatus};
use crate::requests::{self, Container, PodAmounts, PodLevel};
use crate::resources::Requests;
use crate::taint::{Toleration, TolerationOperator};

/// Namespace of a pod that names none.
const DEFAULT_NAMESPACE: &str = "default";
/// Scheduler of a pod that names none (the API server's default).
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// A pod.
pub(in super::super) fn pod(wire: &wire::Pod<'_>) -> Result<Pod, DecodeError> {
    let (empty_spec, empty_status) = (wire::PodSpec::default(), wire::PodStatus::default());
    let spec = wire.spec.as_ref().unwrap_or(&empty_spec);
    let status = wire.status.as_ref().unwrap_or(&empty_status);
    let meta = meta(wire.metadata.as_ref(), DEFAULT_NAMESPACE)?;
    let requests = requests(spec, status)?;
    let started = time(status.start_time.as_ref(), || "status.startTime".to_owned())?;
    Ok(Pod {
        spec: pod_spec(spec, status, requests, &meta),
        status: PodStatus {
            phase: phase(&status.phase.0),
            reason: non_empty(&status.reason),
            nominated_node: non_empty(&status.nominated_node_name),
            started,
            scheduled: condition(status, "PodScheduled").map(to_condition),
            is_preempted: condition(status, "DisruptionTarget").is_some_and(by_a_scheduler),
        },
        meta,
    })
}

fn pod_spec(
    wire: &wire::PodSpec<'_>,
    status: &wire::PodStatus<'_>,
    requests: Requests,
    meta: &ObjectMeta,
) -> PodSpec {
    let containers = wire.init_containers.0.iter().chain(&wire.containers.0);
    PodSpec {
        node_name: non_empty(&wire.node_name),
        scheduler_name: intern(or(&wire.scheduler_name.0, DEFAULT_SCHEDULER)),
        priority: wire.priority.unwrap_or(0),
        never_preempts: wire.preemption_policy.0 == "Never",
        needs: needs(wire),
        scheduling_gates: wire
            .scheduling_gates
            .0
            .iter()
            .map(|gate| intern(&gate.name.0))
            .collect(),
        tolerations: wire.tolerations.0.iter().filter_map(toleration).collect(),
        container_names: containers
            .map(|container| intern(&container.name.0))
            .collect(),
        requests,
        bandwidth: declared_bandwidth(&meta.annotations),
        images: images(wire),
        constraints: constraints(wire, status, &meta.key.namespace),
    }
}

/// A toleration. One whose effect is unknown matches no taint and is dropped.
fn toleration(wire: &wire::Toleration<'_>) -> Option<Toleration> {
    let effect = match &*wire.effect.0 {
        "" => None,
        effect => Some(taint_effect(effect)?),
    };
    let operator = match &*wire.operator.0 {
        "" | "Equal" => TolerationOperator::Equal,
        "Exists" => TolerationOperator::Exists,
        other => TolerationOperator::Other(intern(other)),
    };
    Some(Toleration {
        key: intern(&wire.key.0),
        operator,
        value: intern(&wire.value.0),
        effect,
    })
}

fn declared_bandwidth(annotations: &Labels) -> DeclaredBandwidth {
    let declared = |key: &str| {
        annotations
            .get(key)
            .and_then(|text| bandwidth::bytes_per_sec(text))
    };
    DeclaredBandwidth {
        ingress: declared(bandwidth::INGRESS),
        egress: declared(bandwidth::EGRESS),
    }
}

fn requests(
    spec: &wire::PodSpec<'_>,
    status: &wire::PodStatus<'_>,
) -> Result<Requests, DecodeError> {
    let in_status = |e: DecodeError| e.under("status");
    let in_spec = |e: DecodeError| e.under("spec");
    let level = resources(spec.resources.as_ref()).map_err(in_spec)?;
    let resize = condition(status, "PodResizePending");
    let pod = PodAmounts {
        containers: containers(&spec.containers.0, status, "containers")?,
        init_containers: containers(&spec.init_containers.0, status, "initContainers")?,
        overhead: optional(spec.overhead.as_ref())
            .map_err(|e| in_spec(e.under("overhead")))?
            .unwrap_or_default(),
        pod_level: PodLevel {
            requests: level.0,
            limits: level.1,
        },
        resize_infeasible: resize.is_some_and(|c| c.reason.0 == "Infeasible"),
        reports_resources: status.resources.is_some(),
        actuated: actuated(status.resources.as_ref()).map_err(in_status)?,
        allocated: optional(status.allocated_resources.as_ref())
            .map_err(|e| in_status(e.under("allocatedResources")))?,
    };
    Ok(requests::summarise(&pod))
}

/// The containers of `spec.{field}` with what their statuses report.
fn containers<'a>(
    wire: &'a [wire::Container<'_>],
    status: &'a wire::PodStatus<'_>,
    field: &str,
) -> Result<Vec<Container<'a>>, DecodeError> {
    let mut all = Vec::with_capacity(wire.len());
    for (i, container) in wire.iter().enumerate() {
        let stated = resources(container.resources.as_ref());
        let (requests, limits) = stated.map_err(|e| e.under(&format!("spec.{field}[{i}]")))?;
        let (allocated, actuated) = reported(status, &container.name.0)?;
        let sidecar = container.restart_policy.0 == "Always";
        all.push(Container {
            sidecar,
            requests,
            limits,
            allocated,
            actuated,
        });
    }
    Ok(all)
}

/// Allocated and actuated requests of the container `name`.
fn reported<'a>(
    status: &'a wire::PodStatus<'_>,
    name: &str,
) -> Result<(Option<Amounts<'a>>, Option<Amounts<'a>>), DecodeError> {
    let lists = [
        ("containerStatuses", &status.container_statuses.0),
        ("initContainerStatuses", &status.init_container_statuses.0),
    ];
    for (field, list) in lists {
        let Some(i) = list.iter().position(|status| status.name.0 == name) else {
            continue;
        };
        let at = |e: DecodeError| e.under(&format!("status.{field}[{i}]"));
        let allocated = optional(list[i].allocated_resources.as_ref());
        let allocated = allocated.map_err(|e| at(e.under("allocatedResources")))?;
        return Ok((allocated, actuated(list[i].resources.as_ref()).map_err(at)?));
    }
    Ok((None, None))
}

/// Requests and limits; absent is empty.
fn resources<'a>(
    wire: Option<&'a wire::Resources<'_>>,
) -> Result<(Amounts<'a>, Amounts<'a>), DecodeError> {
    let Some(wire) = wire else {
        return Ok(Default::default());
    };
    let requests = optional(wire.requests.as_ref());
    let limits = optional(wire.limits.as_ref());
    Ok((
        requests
            .map_err(|e| e.under("resources.requests"))?
            .unwrap_or_default(),
        limits
            .map_err(|e| e.under("resources.limits"))?
            .unwrap_or_default(),
    ))
}

/// The requests in a status; absent stays absent.
fn actuated<'a>(wire: Option<&'a wire::Resources<'_>>) -> Result<Option<Amounts<'a>>, DecodeError> {
    let requests = optional(wire.and_then(|wire| wire.requests.as_ref()));
    requests.map_err(|e| e.under("resources.requests"))
}

/// The first condition of this type.
fn condition<'s, 'w>(
    status: &'s wire::PodStatus<'w>,
    kind: &str,
) -> Option<&'s wire::Condition<'w>> {
    status
        .conditions
        .0
        .iter()
        .find(|condition| condition.kind.0 == kind)
}

/// Whether the condition `DisruptionTarget` is that of a victim of preemption
/// (kube-scheduler `PodTerminatingByPreemption`).
fn by_a_scheduler(target: &wire::Condition<'_>) -> bool {
    target.status.0 == "True" && target.reason.0 == "PreemptionByScheduler"
}

fn to_condition(wire: &wire::Condition<'_>) -> Condition {
    Condition {
        status: match &*wire.status.0 {
            "True" => ConditionStatus::True,
            "False" => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        },
        reason: intern(&wire.reason.0),
        message: intern(&wire.message.0),
    }
}

/// A phase. One that this version does not know is `Unknown`: the pod holds its resources.
fn phase(text: &str) -> Phase {
    match text {
        "" | "Pending" => Phase::Pending,
        "Running" => Phase::Running,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        _ => Phase::Unknown,
    }
}

fn non_empty(text: &wire::Text<'_>) -> Option<Arc<str>> {
    (!text.0.is_empty()).then(|| intern(&text.0))
}
