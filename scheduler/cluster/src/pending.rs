//! What is known of the status of pods that are not bound yet.
//!
//! Written by the watch of pods, read when a status is patched: the engine's command says
//! what the condition shall be, and this says whether that is a change of its `status`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use plimsoll_objects::{ConditionStatus, Pod, Uid};

/// Facts of the pods that wait. Some hundred bytes each, and only while they wait.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pods: Mutex<BTreeMap<Uid, Waiting>>,
}

/// What is known of one pod that waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// `metadata.generation`.
    pub(crate) generation: Option<i64>,
    /// The condition `PodScheduled` is there and `False`.
    pub(crate) told_false: bool,
}

// === impl Pending ===

impl Pending {
    /// A pod that waits was seen.
    pub(crate) fn note(&self, pod: &Pod, generation: Option<i64>) {
        let condition = pod.status.scheduled.as_ref();
        let is_false = condition.is_some_and(|known| known.status == ConditionStatus::False);
        let mut pods = self.pods.lock();
        let known = pods.entry(pod.uid().clone()).or_default();
        // A waiting pod is never told anything else; the watch may be behind our own patch.
        *known = Waiting {
            generation,
            told_false: known.told_false || is_false,
        };
    }

    /// A whole list was seen: what is not in it, or is bound, is forgotten.
    pub(crate) fn keep_only(&self, listed: &[Arc<Pod>]) {
        let waiting = listed.iter().filter(|pod| pod.spec.node_name.is_none());
        let uids: BTreeSet<&Uid> = waiting.map(|pod| pod.uid()).collect();
        self.pods.lock().retain(|uid, _| uids.contains(uid));
    }

    /// A pod is gone or bound.
    pub(crate) fn forget(&self, uid: &Uid) {
        self.pods.lock().remove(uid);
    }

    /// Our patch of the condition was accepted.
    pub(crate) fn told(&self, uid: &Uid) {
        if let Some(known) = self.pods.lock().get_mut(uid) {
            known.told_false = true;
        }
    }

    /// What is known of a pod; nothing of one that is bound, gone or not seen yet.
    pub(crate) fn get(&self, uid: &Uid) -> Waiting {
        self.pods.lock().get(uid).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_objects::{Pod, Uid, decode_pod};
    use serde_json::{Value, json};

    use super::{Pending, Waiting};

    fn pod(conditions: &Value) -> Pod {
        let pod = json!({
            "metadata": {"name": "a", "namespace": "ns", "uid": "u1"},
            "spec": {"containers": []},
            "status": {"conditions": conditions},
        });
        decode_pod(pod.to_string().as_bytes()).unwrap()
    }

    fn uid() -> Uid {
        Uid(Arc::from("u1"))
    }

    #[test]
    fn a_waiting_pod_is_known_with_its_generation_and_condition() {
        let pending = Pending::default();
        pending.note(&pod(&json!([])), Some(3));
        assert_eq!(
            pending.get(&uid()),
            Waiting {
                generation: Some(3),
                told_false: false
            }
        );
        pending.note(
            &pod(&json!([{"type": "PodScheduled", "status": "False"}])),
            Some(4),
        );
        assert_eq!(
            pending.get(&uid()),
            Waiting {
                generation: Some(4),
                told_false: true
            }
        );
    }

    #[test]
    fn a_watch_that_is_behind_our_patch_does_not_undo_it() {
        let pending = Pending::default();
        pending.note(&pod(&json!([])), None);
        pending.told(&uid());
        pending.note(&pod(&json!([])), None);
        assert!(pending.get(&uid()).told_false);
    }

    #[test]
    fn a_pod_that_is_gone_or_not_listed_is_forgotten() {
        let pending = Pending::default();
        pending.note(&pod(&json!([])), Some(1));
        pending.forget(&uid());
        assert_eq!(pending.get(&uid()), Waiting::default());
        pending.note(&pod(&json!([])), Some(1));
        pending.keep_only(&[Arc::new(pod(&json!([])))]);
        assert_eq!(pending.get(&uid()).generation, Some(1));
        pending.keep_only(&[]);
        assert_eq!(pending.get(&uid()), Waiting::default());
    }

    #[test]
    fn a_patch_of_a_pod_that_was_never_seen_leaves_nothing_behind() {
        let pending = Pending::default();
        pending.told(&uid());
        assert_eq!(pending.get(&uid()), Waiting::default());
    }
}
