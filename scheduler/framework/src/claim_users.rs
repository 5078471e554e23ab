//! How many pods use each persistent volume claim, kept up to date with the snapshot's nodes.
//!
//! Takes the pods with volumes of a node before and after a change, gives whether a claim is
//! in use (kube-scheduler `usedPVCSet`). A change of a node whose such pods stay costs a
//! comparison of pointers; one more pod costs a search by name per claim of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::{ObjectKey, Pod};

/// Pods by claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClaimUsers(BTreeMap<ObjectKey, u32>);

// === impl ClaimUsers ===

impl ClaimUsers {
    /// Whether some pod on a node names the claim.
    pub(crate) fn has(&self, claim: &ObjectKey) -> bool {
        self.0.contains_key(claim)
    }

    /// A node had the pods `old` and has `new`.
    pub(crate) fn replace(&mut self, old: &[Arc<Pod>], new: &[Arc<Pod>]) {
        let pairs = old.iter().zip(new);
        let same = pairs.take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        for claim in claims(&new[same..]) {
            let users = self.0.entry(claim).or_default();
            *users = users.saturating_add(1);
        }
        for claim in claims(&old[same..]) {
            self.remove(&claim);
        }
    }

    fn remove(&mut self, claim: &ObjectKey) {
        if let Some(users) = self.0.get_mut(claim) {
            *users -= 1;
            if *users == 0 {
                self.0.remove(claim);
            }
        }
    }
}

/// The claims that `pods` name, each as often as it is named.
fn claims(pods: &[Arc<Pod>]) -> impl Iterator<Item = ObjectKey> {
    pods.iter().flat_map(|pod| {
        let named = pod.volumes().iter().filter_map(|volume| volume.claim());
        named.map(|name| pod.claim_key(name))
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::ObjectKey;
    use serde_json::json;

    use crate::test_util::{PodBuilder, cluster, node, pod};
    use crate::{NodeId, Snapshot};

    fn with_claims(name: &str, claims: &[&str]) -> PodBuilder {
        let volumes = claims
            .iter()
            .map(|claim| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}));
        pod(name).merge(json!({"spec": {"volumes": volumes.collect::<Vec<_>>()}}))
    }

    fn used(snapshot: &Snapshot) -> Vec<&'static str> {
        let mut names = vec!["a", "b", "c"];
        names.retain(|name| snapshot.is_claim_used(&ObjectKey::new("default", name)));
        names
    }

    #[test]
    fn a_claim_is_in_use_until_the_last_pod_that_names_it_goes() {
        let pods = [
            with_claims("p", &["a", "b", "a"]).on("n1"),
            with_claims("q", &["b"]).on("n2"),
            pod("r").on("n2"),
        ];
        let mut snapshot = cluster([node("n1"), node("n2")]).pods(pods).snapshot();
        assert_eq!(used(&snapshot), ["a", "b"]);
        let mut first = snapshot.get(NodeId(0)).expect("n1").as_ref().clone();
        first.remove_pod(pod("p").build().uid());
        snapshot.set_node(first.into());
        assert_eq!(used(&snapshot), ["b"]);
        snapshot.clear_node(NodeId(1));
        assert_eq!(used(&snapshot), [""; 0]);
    }

    #[test]
    fn a_pod_that_comes_or_is_replaced_is_counted_once() {
        let mut snapshot = cluster([node("n1")])
            .pods([with_claims("p", &["a"]).on("n1")])
            .snapshot();
        let mut info = snapshot.get(NodeId(0)).expect("n1").as_ref().clone();
        info.add_pod(with_claims("q", &["a", "c"]).on("n1").arc());
        snapshot.set_node(info.clone().into());
        snapshot.set_node(info.clone().into());
        assert_eq!(used(&snapshot), ["a", "c"]);
        info.remove_pod(pod("p").build().uid());
        snapshot.set_node(info.clone().into());
        assert_eq!(used(&snapshot), ["a", "c"]);
        info.remove_pod(pod("q").build().uid());
        snapshot.set_node(info.into());
        assert_eq!(used(&snapshot), [""; 0]);
    }

    #[test]
    fn a_claim_of_another_namespace_is_another_claim() {
        let placed = with_claims("p", &["a"]).namespace("other").on("n1");
        let snapshot = cluster([node("n1")]).pods([placed]).snapshot();
        assert_eq!(used(&snapshot), [""; 0]);
        assert!(snapshot.is_claim_used(&ObjectKey::new("other", "a")));
    }
}
