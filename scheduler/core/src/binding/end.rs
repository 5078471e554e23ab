//! How bindings end: bound, given up, turned down, lost.

use std::sync::Arc;

use plimsoll_framework::{Actions, Rejection};
use plimsoll_objects::Uid;

use super::Reserved;
use crate::command::{PodEvent, PodRef};
use crate::cycle::{Failed, message, setback_of};
use crate::engine::Engine;
use crate::queue::{Happening, Scope};

impl Engine {
    /// The pod is bound. It stays assumed until the watch shows it.
    pub(super) fn bound(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.remove(uid) else {
            return;
        };
        let Reserved {
            item,
            pod,
            mut state,
            over,
        } = binding.reserved;
        self.queue.done(uid);
        self.counters.binds.bound += 1;
        if let Some(counts) = self.attempts.get_mut(item.profile.index()) {
            counts.scheduled += 1;
        }
        let framework = self.profiles.get(item.profile);
        let node = pod.spec.node_name.clone().unwrap_or_default();
        let assigned = format!("Successfully assigned {} to {node}", pod.key());
        let note = over.map_or_else(
            || assigned.clone(),
            |reason| format!("{assigned}, over a soft limit as no node is under it: {reason}"),
        );
        self.outbox.record(PodEvent {
            pod: PodRef::of(&pod),
            scheduler_name: Arc::clone(&framework.scheduler_name),
            warning: false,
            reason: "Scheduled",
            action: "Binding",
            note: message::note(&note),
        });
        framework.post_bind(&pod, &mut state, &node);
    }

    /// A plugin turns the pod down, or fails, after its node was reserved.
    pub(super) fn turn_down(&mut self, uid: &Uid, rejection: &Rejection) {
        if let Some(binding) = self.bindings.remove(uid) {
            self.turned_down(binding.reserved, rejection);
        }
    }

    /// The same, for a pod that has not begun to bind.
    pub(crate) fn turned_down(&mut self, mut reserved: Reserved, rejection: &Rejection) {
        self.undo(&mut reserved);
        let framework = self.profiles.get(reserved.item.profile);
        let setback = setback_of(framework, rejection);
        self.attempt_failed(reserved.item, Failed::by_one(rejection, setback));
    }

    /// The pod cannot be bound now: unreserved and decided anew after a rest.
    pub(super) fn give_up(&mut self, uid: &Uid, message: String) {
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
    }

    /// The pod is gone, or is being deleted: nothing is left to bind.
    pub(super) fn pod_went_away(&mut self, uid: &Uid) {
        let Some(mut binding) = self.bindings.remove(uid) else {
            return;
        };
        self.counters.binds.pod_gone += 1;
        self.undo(&mut binding.reserved);
        self.queue.done(uid);
    }

    /// Another hand gave the pod its node; the cache has it there already.
    pub(super) fn bound_elsewhere(&mut self, uid: &Uid) {
        let Some(mut binding) = self.bindings.remove(uid) else {
            return;
        };
        self.counters.binds.bound_elsewhere += 1;
        self.undo(&mut binding.reserved);
        self.queue.done(uid);
    }

    /// Gives back what the pod has reserved, the last plugin first, and wakes pods that may
    /// now fit.
    fn undo(&mut self, reserved: &mut Reserved) {
        let uid = reserved.uid().clone();
        let node = reserved.node();
        let framework = self.profiles.get(reserved.item.profile);
        framework.unreserve(&reserved.pod, &mut reserved.state, &node);
        if let Some(placed) = self.cache.forget(&uid, self.now) {
            let freed = Happening::assigned(Actions::DELETE, Some(&placed), None);
            self.announce(&freed.within(Scope::Except(uid)));
        }
    }
}
