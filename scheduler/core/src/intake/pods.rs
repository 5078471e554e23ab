//! Pods: set, gone, listed anew.

use std::sync::Arc;

use plimsoll_framework::{Actions, ClusterEvent, EventResource};
use plimsoll_objects::{ObjectKey, Pod, Uid};

use crate::cache::Confirmed;
use crate::engine::Engine;
use crate::queue::{Happening, Scope, moment, pod_actions};

impl Engine {
    /// A whole list: what it does not name is gone, the rest is set.
    pub(super) fn pods_listed(&mut self, pods: &[Arc<Pod>]) {
        self.counters.relists += u64::from(self.pods_listed);
        self.pods_listed = true;
        self.status.saw_all();
        for pod in self.watched.absent_from(pods) {
            self.pod_gone(pod.key(), pod.uid());
        }
        for pod in pods {
            self.pod_set(pod);
        }
    }

    pub(super) fn pod_set(&mut self, pod: &Arc<Pod>) {
        if pod.is_deleting() {
            self.victim_seen(pod.uid(), false);
        }
        self.status
            .saw(pod.uid(), pod.status.nominated_node.as_ref());
        if let Some(gone) = self.watched.earlier_life(pod) {
            // Its deletion was lost on the way.
            self.life_ended(&gone);
        }
        if pod.is_terminal() {
            return self.pod_gone(pod.key(), pod.uid());
        }
        if let Some(node) = &pod.spec.node_name {
            self.watched.set(pod);
            return self.has_node(pod, node);
        }
        // Another scheduler's pod matters once it has a node.
        let Some(profile) = self.profiles.index_of(&pod.spec.scheduler_name) else {
            return;
        };
        let old = self.watched.set(pod);
        if self.cache.contains_pod(pod.uid()) {
            return self.is_assumed_still(old.as_ref(), pod);
        }
        self.nominator.follow(old.as_deref(), pod);
        if let Some(old) = old.as_ref().filter(|old| nomination_changed(old, pod)) {
            self.promise_ended(old);
        }
        if self.queue.contains(pod.uid()) || self.consults.hold(pod.uid()) {
            self.queue
                .update(old.as_ref(), pod, moment(self.now, &self.snapshot));
            if old.as_ref() != Some(pod) {
                self.taken_in(of_waiting_pod(Actions::UPDATE));
            }
        } else {
            self.queue
                .add(Arc::clone(pod), profile, moment(self.now, &self.snapshot));
            self.taken_in(of_waiting_pod(Actions::ADD));
        }
    }

    pub(super) fn pod_gone(&mut self, key: &ObjectKey, uid: &Uid) {
        match self.watched.remove(key, uid) {
            Some(pod) => self.life_ended(&pod),
            // Never shown without a node, or another scheduler's, or gone already.
            None => self.forget_pod(uid),
        }
    }

    fn life_ended(&mut self, pod: &Arc<Pod>) {
        self.forget_pod(pod.uid());
        if let Some((_, node)) = self.nominator.remove(pod.uid()) {
            self.promise_of_ended(pod, node);
        }
    }

    fn forget_pod(&mut self, uid: &Uid) {
        self.victim_seen(uid, true);
        self.needs_no_room(uid);
        self.status.saw_none(uid);
        if self.queue.remove(uid, moment(self.now, &self.snapshot)) {
            self.taken_in(of_waiting_pod(Actions::DELETE));
        }
        self.queue.member_gone(uid);
        self.consults.drop_pod(uid);
        self.status.withdraw(uid);
        self.binding_pod_gone(uid);
        if self.cache.is_assumed(uid) && self.bindings.is_binding(uid) {
            // A question is open: the pod keeps its place until it is answered.
            return;
        }
        self.queue.done(uid);
        if let Some(gone) = self.cache.remove_pod(uid, self.now) {
            self.announce(&Happening::assigned(Actions::DELETE, Some(&gone), None));
        }
    }

    /// The pod has a node: ours, or by another hand.
    fn has_node(&mut self, pod: &Arc<Pod>, node: &Arc<str>) {
        let uid = pod.uid();
        let at = moment(self.now, &self.snapshot);
        self.queue.remove(uid, at);
        if self.consults.drop_pod(uid) {
            self.queue.done(uid);
        }
        if let Some(profile) = self.profiles.index_of(&pod.spec.scheduler_name) {
            self.queue.member_bound(pod, profile, at);
        }
        self.status.withdraw(uid);
        self.status.saw_none(uid);
        self.needs_no_room(uid);
        let confirmed = self.cache.confirm(pod, self.now);
        self.promise_used(pod, node);
        self.binding_confirmed(uid, node);
        let added = Happening::assigned(Actions::ADD, None, Some(pod));
        match confirmed {
            Confirmed::New | Confirmed::Assumed => self.announce(&added),
            Confirmed::Moved { old } => {
                self.counters.moved += 1;
                self.announce(&Happening::assigned(Actions::DELETE, Some(&old), None));
                self.announce(&added);
            }
            Confirmed::Known { old } => {
                for actions in pod_actions(&old, pod) {
                    self.announce(&Happening::assigned(actions, Some(&old), Some(pod)));
                }
            }
        }
    }

    /// The watch shows a pod without a node that has one by our decision: it lags behind,
    /// or the pod is still being bound.
    fn is_assumed_still(&mut self, old: Option<&Arc<Pod>>, pod: &Arc<Pod>) {
        self.queue
            .update(old, pod, moment(self.now, &self.snapshot));
        if pod.is_deleting() {
            // The API server would refuse the binding.
            self.binding_pod_gone(pod.uid());
        } else {
            self.binding_pod_back(pod.uid());
        }
    }

    /// The pod, which may have been promised a node, goes to `node`: the room on another one
    /// is free.
    pub(crate) fn promise_used(&mut self, pod: &Pod, node: &Arc<str>) {
        let promised = self.nominator.remove(pod.uid());
        if let Some((_, other)) = promised.filter(|(_, promised)| promised != node) {
            self.promise_of_ended(pod, other);
        }
    }

    /// The promise that the pod had is taken back before the API server knows.
    pub(crate) fn promise_lost(&mut self, pod: &Pod) {
        if let Some((_, node)) = self.nominator.remove(pod.uid()) {
            self.promise_of_ended(pod, node);
        }
    }

    /// As if the API server knew of the promise, which it may not yet.
    fn promise_of_ended(&mut self, pod: &Pod, node: Arc<str>) {
        let mut promised = pod.clone();
        promised.status.nominated_node = Some(node);
        self.promise_ended(&Arc::new(promised));
    }

    /// Pods that had to leave room for `pod`, which names the node it was promised, may fit
    /// now: those of at most its priority.
    fn promise_ended(&mut self, pod: &Arc<Pod>) {
        let freed = Happening::assigned(Actions::DELETE, Some(pod), None);
        self.announce(&freed.within(Scope::AtMost(pod.spec.priority)));
    }
}

/// As in kube-scheduler without its `PodGroup`s, nobody but the pod is told.
fn of_waiting_pod(actions: Actions) -> ClusterEvent {
    ClusterEvent::new(EventResource::UnscheduledPod, actions)
}

/// Whether the node that `old` was promised is promised to it no more.
fn nomination_changed(old: &Pod, new: &Pod) -> bool {
    let before = old.status.nominated_node.as_ref();
    before.is_some() && before != new.status.nominated_node.as_ref()
}
