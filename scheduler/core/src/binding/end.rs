//! How bindings end: bound, given up, turned down, lost.

use std::sync::Arc;

use plimsoll_framework::{Actions, CycleState, ObjectWrite, Rejection};
use plimsoll_objects::{Object, Pod, Uid};

use super::Reserved;
use crate::command::{PodEvent, PodRef};
use crate::cycle::{Failed, message, setback_of};
use crate::engine::Engine;
use crate::queue::{Happening, Scope, moment};
use crate::runtime::Framework;
use crate::timing::Timing;

impl Engine {
    /// The pod is bound. It stays assumed until the watch shows it.
    pub(super) fn bound(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.remove(uid) else {
            return;
        };
        let group = binding.group;
        let Reserved {
            item,
            pod,
            mut state,
            over,
            assumed: _,
        } = binding.reserved;
        self.queue.done(uid);
        let at = moment(self.now, &self.snapshot);
        self.queue.member_bound(&pod, item.profile, at);
        self.counters.binds.bound += 1;
        if let Some(counts) = self.attempts.get_mut(item.profile.index()) {
            counts.scheduled += 1;
        }
        self.time_attempt(&item, "scheduled");
        for queued in item.pods() {
            let since = item.ready_since.unwrap_or(queued.first_queued_at);
            self.probe.keep(Timing::Scheduled {
                attempts: queued.attempts,
                waited: self.now.mono.saturating_sub(since),
            });
        }
        let framework = self.profiles.get(item.profile);
        let node = pod.spec.node_name.clone().unwrap_or_default();
        self.outbox.record(PodEvent {
            pod: PodRef::of(&pod),
            scheduler_name: Arc::clone(&framework.scheduler_name),
            warning: false,
            reason: "Scheduled",
            action: "Binding",
            note: message::note(&format!("Successfully assigned {} to {node}", pod.key())),
        });
        if let Some(reason) = over {
            // An event of its own: the text of `Scheduled` stays kube-scheduler's.
            self.outbox.record(PodEvent {
                pod: PodRef::of(&pod),
                scheduler_name: Arc::clone(&framework.scheduler_name),
                warning: true,
                reason: "LoadCapExceeded",
                action: "Binding",
                note: message::note(&format!("placed on {node} over its soft cap: {reason}")),
            });
        }
        framework.post_bind(&pod, &mut state, &node, &self.probe);
        self.left_group(group, uid);
    }

    /// A plugin turns the pod down, or fails, after its node was reserved.
    pub(super) fn turn_down(&mut self, uid: &Uid, rejection: &Rejection) {
        if self.bindings.is_of_group(uid) {
            let failed = self.failed_in_group(uid, rejection);
            self.fail_group(uid, failed, true);
        } else if let Some(mut binding) = self.bindings.remove(uid) {
            self.undo(&mut binding.reserved);
            self.turned_down(binding.reserved, rejection);
        }
    }

    /// The same, within the cycle that chose the node. Nobody has seen the pod there, so
    /// nobody is told that it left: two such pods would wake each other without end.
    pub(crate) fn turned_down_at_once(&mut self, mut reserved: Reserved, rejection: &Rejection) {
        self.take_back(&mut reserved);
        self.turned_down(reserved, rejection);
    }

    fn turned_down(&mut self, reserved: Reserved, rejection: &Rejection) {
        let framework = self.profiles.get(reserved.item.profile);
        let setback = setback_of(framework, rejection);
        self.attempt_failed(reserved.item, Failed::by_one(rejection, setback));
    }

    /// The pod cannot be bound now: unreserved and decided anew after a rest.
    pub(super) fn give_up(&mut self, uid: &Uid, message: String) {
        if self.bindings.is_of_group(uid) {
            self.fail_group(uid, Failed::error(message), true);
            return;
        }
        let Some(mut binding) = self.bindings.remove(uid) else {
            return;
        };
        self.undo(&mut binding.reserved);
        self.attempt_failed(binding.reserved.item, Failed::error(message));
    }

    /// The API server knows better (409, 404): the pod has a node, is another one, or is
    /// gone. Nothing is written about it; if the watch still shows it without a node, it is
    /// looked at again after a rest, and by then the watch has caught up.
    pub(super) fn lost(&mut self, uid: &Uid) {
        let Some(mut binding) = self.bindings.remove(uid) else {
            return;
        };
        self.undo(&mut binding.reserved);
        self.retry_silently(binding.reserved.item);
        self.left_group(binding.group, uid);
    }

    /// The pod is gone, or is being deleted: nothing is left to bind.
    pub(super) fn pod_went_away(&mut self, uid: &Uid) {
        let Some(mut binding) = self.bindings.remove(uid) else {
            return;
        };
        self.counters.binds.pod_gone += 1;
        self.undo(&mut binding.reserved);
        self.queue.done(uid);
        self.left_group(binding.group, uid);
    }

    /// Another hand gave the pod its node; the cache has it there already.
    pub(super) fn bound_elsewhere(&mut self, uid: &Uid) {
        let Some(mut binding) = self.bindings.remove(uid) else {
            return;
        };
        self.counters.binds.bound_elsewhere += 1;
        self.undo(&mut binding.reserved);
        self.queue.done(uid);
        self.left_group(binding.group, uid);
    }

    /// Takes the pod back and wakes pods that may now fit: also where its place is another one
    /// by now, what it had reserved is free again (kube-scheduler
    /// `handleBindingCycleError`).
    pub(super) fn undo(&mut self, reserved: &mut Reserved) {
        self.take_back(reserved);
        let freed = Happening::assigned(Actions::DELETE, Some(&reserved.pod), None);
        let others = Scope::Except(reserved.uid().clone());
        self.announce(&freed.within(others));
    }

    /// Gives back what the pod has reserved, the last plugin first, and its place on the
    /// node, unless the watch has confirmed it meanwhile.
    pub(crate) fn take_back(&mut self, reserved: &mut Reserved) {
        let profiles = Arc::clone(&self.profiles);
        let framework = profiles.get(reserved.item.profile);
        let assumed = std::mem::take(&mut reserved.assumed);
        let writes = self.let_go(framework, &reserved.pod, &mut reserved.state, assumed);
        self.write_aside(&reserved.pod, writes);
        self.cache.forget(reserved.uid(), self.now);
    }

    /// Ends every reservation of a pod, the last plugin first; gives what is to be written.
    pub(crate) fn let_go(
        &mut self,
        framework: &Framework,
        pod: &Pod,
        state: &mut CycleState,
        assumed: Vec<Object>,
    ) -> Vec<ObjectWrite> {
        let node = pod.spec.node_name.as_deref().unwrap_or_default();
        let writes = framework.unreserve(pod, state, node);
        for object in assumed {
            self.snapshot.catalog_mut().restore(object);
        }
        writes
    }
}
