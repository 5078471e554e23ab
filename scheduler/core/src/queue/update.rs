//! A pod that waits was changed: new object in place, and perhaps a reason to wake it
//! (kube-scheduler `PriorityQueue.Update`, `framework.PodSchedulingPropertiesChange`).

use std::sync::Arc;

use plimsoll_framework::Actions;
use plimsoll_objects::{Pod, PodClaims};

use super::groups::GroupId;
use super::item::Place;
use super::{Happening, Incoming, Moment, Queue};
use crate::meta::says_same;
use crate::profile::ProfileIx;

impl Queue {
    /// Follows a change of a pod that waits here or is out for an attempt.
    pub(crate) fn update(&mut self, old: Option<&Arc<Pod>>, new: &Arc<Pod>, at: Moment<'_>) {
        let Some(slot) = self.index.get(new.uid()).copied() else {
            for happening in changes(old, new) {
                self.in_flight.record(&happening);
            }
            return;
        };
        if let Some(profile) = self.leaves_group(slot, new, at) {
            self.remove(new.uid(), at);
            return self.add(Arc::clone(new), profile, at);
        }
        let place = self.item(slot).map_or(Place::Out, |item| item.place);
        if matches!(place, Place::Active | Place::Backoff | Place::FullBackoff) {
            // The order may have changed with the object.
            self.leave(slot);
            self.replace(slot, new);
            self.put(slot, place);
            return;
        }
        self.replace(slot, new);
        let changes = changes(old, new);
        let is_group = self.item(slot).is_some_and(|item| item.group.is_some());
        if let Some(happening) = changes
            .first()
            .filter(|_| is_group && place == Place::Gated)
        {
            // Its size may have changed.
            self.leave(slot);
            return self.look_again(slot, place, Incoming::Event(happening.event), at);
        }
        for happening in changes {
            let still_waits = self.item(slot).is_some_and(|item| item.place == place);
            if still_waits {
                let listeners = self.profiles.listeners(happening.event);
                self.consider(slot, &happening, &listeners, at);
            }
        }
    }

    /// The profile of the entity in `slot`, if its pod is `new` now and another group's.
    fn leaves_group(&self, slot: u32, new: &Pod, at: Moment<'_>) -> Option<ProfileIx> {
        let item = self.item(slot)?;
        let id = self.group_of(new, item.profile, at.catalog);
        (id != item.group.as_ref().map(GroupId::whole)).then_some(item.profile)
    }

    fn replace(&mut self, slot: u32, new: &Arc<Pod>) {
        let Some(item) = self.item_mut(slot) else {
            return;
        };
        for queued in item
            .pods_mut()
            .iter_mut()
            .filter(|queued| queued.pod.uid() == new.uid())
        {
            queued.pod = Arc::clone(new);
        }
    }
}

/// What a change of a waiting pod may mean for itself: one entry per property, the general
/// one if only others changed, none if only its status did (our own writes).
fn changes(old: Option<&Arc<Pod>>, new: &Arc<Pod>) -> Vec<Happening> {
    let Some(before) = old else { return Vec::new() };
    if same_but_for_status(before, new) {
        return Vec::new();
    }
    let mut actions = pod_actions(before, new);
    if actions.is_empty() {
        actions.push(Actions::UPDATE);
    }
    actions
        .into_iter()
        .map(|action| Happening::target(action, old, new))
        .collect()
}

/// The properties of a pod that scheduling reads and that differ.
pub(crate) fn pod_actions(old: &Pod, new: &Pod) -> Vec<Actions> {
    let (was, is) = (&old.spec.requests.placed, &new.spec.requests.placed);
    let names = || {
        let scalars = was.scalar.keys().chain(is.scalar.keys());
        scalars
            .map(|name| &**name)
            .chain(["cpu", "memory", "ephemeral-storage"])
    };
    let less = |name: &str| is.get(name).unwrap_or(0) < was.get(name).unwrap_or(0);
    let more = |name: &str| is.get(name).unwrap_or(0) > was.get(name).unwrap_or(0);
    let ungated = !old.spec.scheduling_gates.is_empty() && new.spec.scheduling_gates.is_empty();
    let found = [
        (
            old.meta.labels != new.meta.labels,
            Actions::UPDATE_POD_LABEL,
        ),
        (names().any(less), Actions::UPDATE_POD_SCALE_DOWN),
        (names().any(more), Actions::UPDATE_POD_SCALE_UP),
        (ungated, Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED),
        (
            old.spec.tolerations != new.spec.tolerations,
            Actions::UPDATE_POD_TOLERATION,
        ),
        (
            claim_names_changed(old, new),
            Actions::UPDATE_POD_GENERATED_RESOURCE_CLAIM,
        ),
    ];
    found
        .into_iter()
        .filter(|(changed, _)| *changed)
        .map(|(_, action)| action)
        .collect()
}

/// Whether a claim that is made for the pod got its name. On a node nobody asks any more,
/// and a pod there is kept without its claims.
fn claim_names_changed(old: &Pod, new: &Pod) -> bool {
    let claims = |pod| claims(pod).map_or(&[][..], |found| &*found.claims);
    new.spec.node_name.is_none() && claims(old) != claims(new)
}

fn claims(pod: &Pod) -> Option<&PodClaims> {
    pod.spec.constraints.as_deref()?.claims.as_deref()
}

fn same_but_for_status(old: &Pod, new: &Pod) -> bool {
    old.spec == new.spec && says_same(&old.meta, &new.meta)
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::Actions;
    use plimsoll_framework::test_util::{PodBuilder, pod};
    use plimsoll_objects::TaintEffect;
    use serde_json::json;

    use super::pod_actions;

    fn told(old: &PodBuilder, new: &PodBuilder) -> Vec<Actions> {
        pod_actions(&old.build(), &new.build())
    }

    #[test]
    fn each_property_of_a_pod_that_scheduling_reads_is_told_by_itself() {
        let plain = pod("p").cpu("2").request("example.com/a", "1");
        let more = plain.clone().request("example.com/b", "1");
        let cases = [
            (plain.clone().label("a", "b"), Actions::UPDATE_POD_LABEL),
            (plain.clone().cpu("1"), Actions::UPDATE_POD_SCALE_DOWN),
            (more, Actions::UPDATE_POD_SCALE_UP),
            (
                plain.clone().toleration("a", "", TaintEffect::NoExecute),
                Actions::UPDATE_POD_TOLERATION,
            ),
        ];
        for (new, action) in cases {
            assert_eq!(told(&plain, &new), [action], "{new:?}");
        }
        let gated = plain.clone().gate("a").gate("b");
        assert!(told(&gated, &plain.clone().gate("b")).is_empty());
        assert_eq!(
            told(&gated, &plain),
            [Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED]
        );
    }

    #[test]
    fn a_claim_made_for_a_pod_is_news_when_it_has_its_name() {
        let waits = pod("p").merge(json!({"spec": {"resourceClaims": [
            {"name": "gpu", "resourceClaimTemplateName": "t"},
        ]}}));
        let named = waits
            .clone()
            .merge(json!({"status": {"resourceClaimStatuses": [
                {"name": "gpu", "resourceClaimName": "p-gpu-1"},
            ]}}));
        assert_eq!(
            told(&waits, &named),
            [Actions::UPDATE_POD_GENERATED_RESOURCE_CLAIM]
        );
        assert!(told(&named, &named.clone().on("n")).is_empty());
    }
}
