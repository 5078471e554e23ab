//! Pods and nodes as the API server wrote them, for extenders that want to see them whole.
//!
//! Written by the watches, read when an extender is asked. Kept only as far as the
//! configured extenders need it, without `managedFields`, as kube-scheduler has them; some
//! 10 kB a node, 5 kB a pod.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use plimsoll_config::Extender;
use plimsoll_objects::{Node, Pod, Uid};
use serde_json::value::RawValue;

/// One object as JSON.
pub(crate) type Original = Arc<RawValue>;

/// What is worth keeping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Keeps {
    /// Nodes.
    pub(crate) nodes: bool,
    /// Pods without a node.
    pub(crate) waiting_pods: bool,
    /// Pods with one: they may be victims.
    pub(crate) bound_pods: bool,
}

/// The objects that are kept.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    keeps: Keeps,
    nodes: Mutex<BTreeMap<Arc<str>, Original>>,
    pods: Mutex<BTreeMap<Uid, Original>>,
}

// === impl Keeps ===

impl Keeps {
    /// What `extenders` need.
    pub(crate) fn of(extenders: &[Extender]) -> Self {
        let mut keeps = Self::default();
        for extender in extenders {
            let looks = extender.filter_verb.is_some() || extender.prioritize_verb.is_some();
            let preempts = extender.preempt_verb.is_some();
            keeps.nodes |= looks && !extender.node_cache_capable;
            keeps.waiting_pods |= looks || preempts;
            keeps.bound_pods |= preempts && !extender.node_cache_capable;
        }
        keeps
    }
}

// === impl Originals ===

impl Originals {
    pub(crate) fn new(keeps: Keeps) -> Self {
        Self {
            keeps,
            ..Self::default()
        }
    }

    /// A node was shown.
    pub(crate) fn note_node(&self, node: &Node, json: &[u8]) {
        if self.keeps.nodes
            && let Some(original) = without_managed_fields(json)
        {
            let name = Arc::clone(&node.meta.key.name);
            self.nodes.lock().insert(name, original);
        }
    }

    /// A pod was shown.
    pub(crate) fn note_pod(&self, pod: &Pod, json: &[u8]) {
        let is_kept = match pod.spec.node_name {
            None => self.keeps.waiting_pods,
            Some(_) => self.keeps.bound_pods,
        };
        if !is_kept {
            self.forget_pod(pod.uid());
        } else if let Some(original) = without_managed_fields(json) {
            self.pods.lock().insert(pod.uid().clone(), original);
        }
    }

    /// A whole list of nodes was shown: others are gone.
    pub(crate) fn keep_only_nodes(&self, listed: &[Arc<Node>]) {
        let names: BTreeSet<&Arc<str>> = listed.iter().map(|node| &node.meta.key.name).collect();
        self.nodes.lock().retain(|name, _| names.contains(name));
    }

    /// A whole list of pods was shown: others are gone.
    pub(crate) fn keep_only_pods(&self, listed: &[Arc<Pod>]) {
        let uids: BTreeSet<&Uid> = listed.iter().map(|pod| pod.uid()).collect();
        self.pods.lock().retain(|uid, _| uids.contains(uid));
    }

    pub(crate) fn forget_node(&self, name: &str) {
        self.nodes.lock().remove(name);
    }

    pub(crate) fn forget_pod(&self, uid: &Uid) {
        self.pods.lock().remove(uid);
    }

    pub(super) fn pod(&self, uid: &Uid) -> Option<Original> {
        self.pods.lock().get(uid).map(Arc::clone)
    }

    /// Those of `names` that are known, in that order.
    pub(super) fn nodes(&self, names: &[Arc<str>]) -> Vec<Original> {
        let nodes = self.nodes.lock();
        let known = names.iter().filter_map(|name| nodes.get(name));
        known.map(Arc::clone).collect()
    }
}

/// The object without its type and without who wrote which field, as typed Go values are
/// written. `None` if it is none.
fn without_managed_fields(json: &[u8]) -> Option<Original> {
    type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;
    let mut fields: Fields<'_> = serde_json::from_slice(json).ok()?;
    fields.remove("apiVersion");
    fields.remove("kind");
    let meta = match fields.get("metadata") {
        None => None,
        Some(meta) => {
            let mut meta: Fields<'_> = serde_json::from_str(meta.get()).ok()?;
            meta.remove("managedFields");
            Some(serde_json::value::to_raw_value(&meta).ok()?)
        }
    };
    if let Some(meta) = &meta {
        fields.insert(Cow::Borrowed("metadata"), meta);
    }
    let whole = serde_json::value::to_raw_value(&fields).ok()?;
    Some(Arc::from(whole))
}

#[cfg(test)]
mod tests {
    use plimsoll_config::Extender;
    use plimsoll_objects::decode_pod;
    use serde_json::{Value, json};

    use super::{Keeps, Originals};
    use crate::extender::tests::extender;

    fn pod(node: Option<&str>) -> Vec<u8> {
        let pod = json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "a", "namespace": "ns", "uid": "u",
                "managedFields": [{"manager": "kubectl"}], "labels": {"x": "ä"}},
            "spec": {"containers": [], "nodeName": node, "unknownToUs": 1}});
        pod.to_string().into_bytes()
    }

    /// What an extender with these verbs needs; with names in place of nodes or without.
    fn keeps(verbs: &str, by_name: bool) -> Keeps {
        let verb = |name: &str| verbs.contains(name).then(|| name.to_owned());
        Keeps::of(&[Extender {
            filter_verb: verb("filter"),
            preempt_verb: verb("preempt"),
            bind_verb: verb("bind"),
            node_cache_capable: by_name,
            ..extender("http://x")
        }])
    }

    #[test]
    fn what_no_extender_wants_to_see_is_not_kept() {
        let named = [
            ("bind", false, (false, false, false)),
            ("filter", false, (true, true, false)),
            ("filter", true, (false, true, false)),
            ("preempt", false, (false, true, true)),
            ("preempt", true, (false, true, false)),
        ];
        for (verbs, by_name, expected) in named {
            let keeps = keeps(verbs, by_name);
            let kept = (keeps.nodes, keeps.waiting_pods, keeps.bound_pods);
            assert_eq!(kept, expected, "{verbs} {by_name}");
        }
        let originals = Originals::new(Keeps::of(&[]));
        let decoded = decode_pod(&pod(None)).unwrap();
        originals.note_pod(&decoded, &pod(None));
        assert!(originals.pod(decoded.uid()).is_none());
    }

    #[test]
    fn a_pod_is_kept_whole_but_for_who_wrote_it_until_it_is_bound() {
        let originals = Originals::new(keeps("filter", false));
        let decoded = decode_pod(&pod(None)).unwrap();
        originals.note_pod(&decoded, &pod(None));
        let kept: Value =
            serde_json::from_str(originals.pod(decoded.uid()).unwrap().get()).unwrap();
        let expected = json!({"metadata": {"name": "a", "namespace": "ns", "uid": "u",
            "labels": {"x": "ä"}},
            "spec": {"containers": [], "nodeName": null, "unknownToUs": 1}});
        assert_eq!(kept, expected);
        let bound = decode_pod(&pod(Some("n"))).unwrap();
        originals.note_pod(&bound, &pod(Some("n")));
        assert!(originals.pod(decoded.uid()).is_none());
    }
}
