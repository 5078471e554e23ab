//! What wakes a pod that found no node for its constraints.

use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::{Labels, Node, Pod};

use super::constraint::Constraint;
use crate::hints::when;

/// Pods that are counted come, go or change; the pod itself does; nodes do.
pub(super) fn events() -> Vec<ClusterEvent> {
    let of_pods = Actions::ADD | Actions::UPDATE_POD_LABEL | Actions::DELETE;
    let of_itself = Actions::UPDATE_POD_TOLERATION | Actions::UPDATE_POD_LABEL;
    let of_nodes =
        Actions::ADD | Actions::DELETE | Actions::UPDATE_NODE_LABEL | Actions::UPDATE_NODE_TAINT;
    vec![
        ClusterEvent::new(EventResource::AssignedPod, of_pods),
        ClusterEvent::new(EventResource::TargetPod, of_itself),
        ClusterEvent::new(EventResource::Node, of_nodes),
    ]
}

/// Whether `change` may help `pod`, whose hard constraints are `hard`'s.
pub(super) fn hint(
    pod: &Pod,
    event: ClusterEvent,
    change: &Change<'_>,
    hard: impl Fn(&Pod) -> Result<Vec<Constraint>, String>,
) -> Hint {
    match change {
        Change::Pod { old, new } if event.resource == EventResource::TargetPod => {
            match (old, new) {
                (Some(old), Some(new)) if new.uid() == pod.uid() => {
                    judged(hard(new), |constraints| own_change(old, new, constraints))
                }
                (_, Some(new)) if new.uid() != pod.uid() => Hint::Skip,
                _ => Hint::Queue,
            }
        }
        Change::Pod { old, new } => {
            if [old, new]
                .into_iter()
                .flatten()
                .any(|other| !concerns(other, pod))
            {
                return Hint::Skip;
            }
            judged(hard(pod), |constraints| {
                let matches = |other: &Pod| any_matches(constraints, &other.meta.labels);
                match (old, new) {
                    (Some(old), Some(new)) => label_change(old, new, constraints),
                    (Some(other), None) | (None, Some(other)) => matches(other),
                    (None, None) => true,
                }
            })
        }
        Change::Node { old, new } => judged(hard(pod), |constraints| {
            node_change(*old, *new, constraints)
        }),
        Change::Object { .. } | Change::Load { .. } | Change::None => Hint::Queue,
    }
}

/// Wakes if `helps`, or if the constraints have a mistake.
fn judged(
    constraints: Result<Vec<Constraint>, String>,
    helps: impl FnOnce(&[Constraint]) -> bool,
) -> Hint {
    when(constraints.map_or(true, |constraints| helps(&constraints)))
}

/// Whether `other` has a node, or is to have one, and is of the namespace of `pod`.
fn concerns(other: &Pod, pod: &Pod) -> bool {
    let is_placed = other.spec.node_name.is_some() || other.status.nominated_node.is_some();
    is_placed && other.meta.key.namespace == pod.meta.key.namespace
}

fn own_change(old: &Pod, new: &Pod, constraints: &[Constraint]) -> bool {
    let tolerates_more = old.spec.tolerations != new.spec.tolerations
        && constraints.iter().any(|one| one.honors_taints);
    tolerates_more || label_change(old, new, constraints)
}

/// Whether a constraint matches one of them and not the other.
fn label_change(old: &Pod, new: &Pod, constraints: &[Constraint]) -> bool {
    let (old, new) = (&old.meta.labels, &new.meta.labels);
    let mut selectors = constraints.iter().map(|one| &one.selector);
    old != new && selectors.any(|selector| selector.matches(old) != selector.matches(new))
}

fn any_matches(constraints: &[Constraint], labels: &Labels) -> bool {
    constraints.iter().any(|one| one.selector.matches(labels))
}

fn node_change(old: Option<&Node>, new: Option<&Node>, constraints: &[Constraint]) -> bool {
    let has_keys = |node: &Node| {
        let mut keys = constraints.iter().map(|one| &one.key);
        keys.all(|key| node.meta.labels.contains_key(key))
    };
    match (old, new) {
        (Some(old), Some(new)) if has_keys(old) == has_keys(new) => {
            let value = |node: &Node, key: &str| node.meta.labels.get(key).cloned();
            let mut keys = constraints.iter().map(|one| &one.key);
            has_keys(new)
                && (keys.any(|key| value(old, key) != value(new, key)) || old.taints != new.taints)
        }
        (Some(_), Some(_)) | (None, None) => true,
        (Some(node), None) | (None, Some(node)) => has_keys(node),
    }
}
