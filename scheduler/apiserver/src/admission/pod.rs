//! Pods: defaults beyond plain values, and the conditions a new pod starts with.

use serde_json::{Value, json};

use super::{container, qos, tolerations};
use crate::{clock, json};

/// What `kubectl` and schedulers read of a pod that is held back by gates.
const GATED_MESSAGE: &str = "Scheduling is blocked due to non-empty scheduling gates";

/// The lists of a pod's containers.
const CONTAINER_LISTS: [&str; 2] = ["initContainers", "containers"];

/// Fills in the defaults of a new pod.
pub(super) fn fill(pod: &mut Value) {
    let spec = json::section(pod, "spec");
    json::set_default(spec, "securityContext", json!({}));
    tolerations::fill(spec);
    let host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in CONTAINER_LISTS {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            container::fill(container, host_network);
        }
    }
    let gated = !json::list(pod, &["spec", "schedulingGates"]).is_empty();
    let class = qos::class(pod);
    let status = json::section(pod, "status");
    json::set_default(status, "qosClass", class);
    if gated {
        let condition = json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": GATED_MESSAGE,
            "lastProbeTime": null,
            "lastTransitionTime": clock::stamp(clock::now()),
        });
        json::set_default(status, "conditions", json!([condition]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gated_pod_starts_with_the_condition_that_says_so() {
        let mut pod = json!({"spec": {"schedulingGates": [{"name": "g"}], "containers": []}});
        fill(&mut pod);
        let condition = &pod["status"]["conditions"][0];
        assert_eq!(condition["reason"], "SchedulingGated");
        assert_eq!(condition["status"], "False");
    }
}
