//! Pods that wait for extenders: in line for their turn, or for answers.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use plimsoll_objects::Uid;

use super::answers::{Answers, Ask, Stage};
use super::line::Lines;
use crate::command::CommandId;
use crate::question::Reply;
use crate::queue::Queued;

/// Pods that are out of the queue because of extenders.
#[derive(Debug, Default)]
pub(crate) struct Consults {
    lines: Lines,
    parked: IndexMap<Uid, Parked>,
    open: BTreeMap<CommandId, Uid>,
}

/// A pod whose cycle may run, with what is known so far.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) item: Queued,
    /// The extenders that it has to do with, in order.
    pub(crate) wanted: Vec<usize>,
    pub(crate) answers: Answers,
    /// Where its first search began: later ones must see the same nodes.
    pub(crate) start: Option<usize>,
}

#[derive(Debug)]
struct Parked {
    turn: Turn,
    /// Questions without an answer.
    open: Vec<(CommandId, usize, Stage)>,
}

// === impl Consults ===

impl Consults {
    /// Puts a pod in line: before those of lower priority.
    pub(crate) fn wait(&mut self, turn: Turn) {
        self.lines.push(turn);
    }

    /// Sets a pod aside until every question of `asked` is answered.
    pub(crate) fn park(&mut self, turn: Turn, asked: Vec<(CommandId, Ask)>) {
        let Some(uid) = turn.uid() else { return };
        let open: Vec<_> = asked
            .into_iter()
            .map(|(id, ask)| (id, ask.extender, ask.stage))
            .collect();
        self.open
            .extend(open.iter().map(|(id, ..)| (*id, uid.clone())));
        self.parked.insert(uid, Parked { turn, open });
    }

    /// Takes an answer; `false` if nobody waits for it any more.
    pub(crate) fn answered(&mut self, id: CommandId, reply: Result<Reply, String>) -> bool {
        let uid = self.open.remove(&id);
        let Some(parked) = uid.and_then(|uid| self.parked.get_mut(&uid)) else {
            return false;
        };
        let Some(place) = parked.open.iter().position(|(open, ..)| *open == id) else {
            return false;
        };
        let (_, extender, stage) = parked.open.swap_remove(place);
        parked.turn.answers.take(extender, stage, reply);
        true
    }

    /// Whether [`Self::next_turn`] would give something.
    pub(crate) fn has_turn(&self) -> bool {
        self.parked.values().any(|parked| parked.open.is_empty()) || self.first_free().is_some()
    }

    /// The next pod whose cycle may run: one that has all its answers, or the first in line
    /// whose extenders are free.
    pub(crate) fn next_turn(&mut self) -> Option<Turn> {
        let mut parked = self.parked.values();
        if let Some(index) = parked.position(|parked| parked.open.is_empty()) {
            let (_, parked) = self.parked.shift_remove_index(index)?;
            return Some(parked.turn);
        }
        let uid = self.first_free()?;
        self.lines.take(&uid)
    }

    /// Whether this pod is here.
    pub(crate) fn hold(&self, uid: &Uid) -> bool {
        self.parked.contains_key(uid) || self.lines.contains(uid)
    }

    /// Lets go of a pod: answers about it are late from now on. Gives whether it was here.
    pub(crate) fn drop_pod(&mut self, uid: &Uid) -> bool {
        let Some(parked) = self.parked.shift_remove(uid) else {
            return self.lines.remove(uid).is_some();
        };
        for (id, ..) in parked.open {
            self.open.remove(&id);
        }
        true
    }

    /// Pods that wait for answers, and pods in line.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.parked.len(), self.lines.len())
    }

    /// The first in line whose extenders are free: nobody waits for their answers.
    fn first_free(&self) -> Option<Uid> {
        if self.lines.len() == 0 {
            return None;
        }
        let parked = self.parked.values();
        let taken = parked.flat_map(|parked| parked.turn.wanted.iter().copied());
        self.lines.first_free(taken.collect())
    }
}

// === impl Turn ===

impl Turn {
    pub(super) fn uid(&self) -> Option<Uid> {
        let queued = self.item.pods().first()?;
        Some(queued.pod.uid().clone())
    }
}
