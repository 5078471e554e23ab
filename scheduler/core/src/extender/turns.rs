//! Whose cycle runs next where extenders have a say, and where their answers go.

use plimsoll_framework::{Entity, QueuedPod};
use plimsoll_objects::Pod;

use super::waiting::Turn;
use super::{Answers, Ask};
use crate::command::{Command, CommandId, PodRef};
use crate::engine::Engine;
use crate::question::Reply;
use crate::queue::Queued;

impl Engine {
    /// Gives a pod its turn, or puts it in line: an extender of its has one already.
    pub(crate) fn attempt(&mut self, item: Queued, queued: &QueuedPod) {
        let wanted = self.extenders.consulted_for(&queued.pod);
        let turn = Turn {
            item,
            wanted,
            answers: Answers::default(),
            start: None,
        };
        if turn.wanted.is_empty() {
            return self.attempt_with(turn, queued);
        }
        self.consults.wait(turn);
        if let Some(next) = self.consults.next_turn() {
            self.take_turn(next);
        }
    }

    /// Runs the cycle of a pod that had to wait for extenders, unless it needs none any more.
    pub(crate) fn take_turn(&mut self, mut turn: Turn) {
        if self.still_pending(&mut turn.item).is_none() {
            return;
        }
        let Entity::Pod(queued) = &turn.item.entity else {
            return;
        };
        let queued = queued.clone();
        if self.is_skipped(&queued, &turn.item) {
            self.queue.done(queued.pod.uid());
            return;
        }
        if turn.start.is_none() {
            // Its first cycle: it sees what has happened while it was in line.
            self.queue.begin_anew(&turn.item);
        }
        let began = self.probe.begin_cycle();
        self.attempt_with(turn, &queued);
        self.look_for_slowness(&queued, began);
    }

    /// Asks what a cycle could not go on without, and sets its pod aside.
    pub(crate) fn ask_extenders(&mut self, turn: Turn, pod: &Pod, asks: Vec<Ask>) {
        let mut asked = Vec::with_capacity(asks.len());
        for ask in asks {
            let id = self.outbox.id();
            self.outbox.push(Command::AskExtender {
                id,
                extender: ask.extender,
                pod: PodRef::of(pod),
                question: ask.question.clone(),
            });
            asked.push((id, ask));
        }
        self.consults.park(turn, asked);
    }

    /// Takes the answer of an extender.
    pub(crate) fn extender_answered(&mut self, id: CommandId, reply: Result<Reply, String>) {
        let is_known = self.bind_replied(id, &reply) || self.consults.answered(id, reply);
        self.counters.late_answers += u64::from(!is_known);
    }
}
