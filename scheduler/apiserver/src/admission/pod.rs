//! Pods: defaults beyond plain values, the conditions a new pod starts with, and what may not change.

use serde_json::{Value, json};

use super::{container, names, qos, tolerations};
use crate::{json, status::Cause};

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
            "lastTransitionTime": null,
        });
        json::set_default(status, "conditions", json!([condition]));
    }
}

/// Checks a pod as it shall be stored.
pub(super) fn check(pod: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if json::list(pod, &["spec", "containers"]).is_empty() {
        causes.push(Cause::required("spec.containers", ""));
    }
    let mut seen = Vec::new();
    for list in CONTAINER_LISTS {
        for (at, container) in json::list(pod, &["spec", list]).iter().enumerate() {
            let field = |name| format!("spec.{list}[{at}].{name}");
            match json::text(container, &["name"]) {
                None => causes.push(Cause::required(&field("name"), "")),
                Some(name) if seen.contains(&name) => {
                    causes.push(Cause::duplicate(&field("name"), name));
                }
                Some(name) => {
                    causes.extend(names::check_label(&field("name"), name));
                    seen.push(name);
                }
            }
            if json::text(container, &["image"]).is_none() {
                causes.push(Cause::required(&field("image"), ""));
            }
        }
    }
    let gated = !json::list(pod, &["spec", "schedulingGates"]).is_empty();
    if gated && json::text(pod, &["spec", "nodeName"]).is_some() {
        let why = "cannot be set until all schedulingGates have been cleared";
        causes.push(Cause::forbidden("spec.nodeName", why));
    }
    causes
}

/// Checks what an update of a pod may not change: its node, its scheduler, and gates it did not have.
pub(super) fn check_update(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for field in ["nodeName", "schedulerName", "priority", "restartPolicy"] {
        if json::at(old, &["spec", field]) != json::at(new, &["spec", field]) {
            let why = format!(
                "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative): {field} differs"
            );
            causes.push(Cause::forbidden("spec", &why));
        }
    }
    let before = json::list(old, &["spec", "schedulingGates"]);
    let after = json::list(new, &["spec", "schedulingGates"]);
    if after.iter().any(|gate| !before.contains(gate)) {
        let why = "only deletion is allowed, but found new scheduling gates";
        causes.push(Cause::forbidden("spec.schedulingGates", why));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(causes: &[Cause]) -> Vec<String> {
        causes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pod_without_containers_names_or_images_is_refused() {
        assert_eq!(
            messages(&check(&json!({}))),
            ["spec.containers: Required value"]
        );
        let pod = json!({"spec": {"containers": [{"name": "a"}, {"name": "a", "image": "i"}, {"image": "i"}]}});
        assert_eq!(
            messages(&check(&pod)),
            [
                "spec.containers[0].image: Required value",
                "spec.containers[1].name: Duplicate value: \"a\"",
                "spec.containers[2].name: Required value",
            ]
        );
    }

    #[test]
    fn a_gated_pod_starts_with_the_condition_that_says_so() {
        let mut pod = json!({"spec": {"schedulingGates": [{"name": "g"}], "containers": []}});
        fill(&mut pod);
        let condition = &pod["status"]["conditions"][0];
        assert_eq!(condition["reason"], "SchedulingGated");
        assert_eq!(condition["status"], "False");
    }

    #[test]
    fn gates_may_go_and_may_not_come_and_the_node_stays() {
        let pod = |node: &str, gates: Value| json!({"spec": {"nodeName": node, "schedulingGates": gates}});
        let gated = pod("", json!([{"name": "g"}]));
        assert!(check_update(&gated, &pod("", json!([]))).is_empty());
        assert_eq!(check_update(&pod("", json!([])), &gated).len(), 1);
        assert_eq!(
            check_update(&pod("a", json!([])), &pod("b", json!([]))).len(),
            1
        );
    }
}
