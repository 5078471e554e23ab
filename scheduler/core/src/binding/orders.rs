//! Orders to bind that go to extenders: a line for each, and a bounded number given at a time.
//!
//! They need no request to the API server, so its limiter has no say. Looking for what may be
//! given costs nothing while extenders hang, however many pods wait.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_objects::Uid;

use crate::command::CommandId;

/// Orders that one extender has at a time: as many as the API server gets requests. The others
/// wait here, where a pod or node that goes away takes them out.
const ORDERS_MAX: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Orders {
    /// By the index of the extender.
    lines: BTreeMap<usize, Line>,
    /// Given and not answered.
    open: BTreeMap<CommandId, (Uid, usize)>,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Uid>,
    open: usize,
}

// === impl Orders ===

impl Orders {
    pub(super) fn line_up(&mut self, extender: usize, uid: &Uid) {
        let line = self.lines.entry(extender).or_default();
        line.waiting.push_back(uid.clone());
    }

    /// Takes a pod out that no longer waits for `extender`.
    pub(super) fn remove(&mut self, extender: usize, uid: &Uid) {
        if let Some(line) = self.lines.get_mut(&extender) {
            line.waiting.retain(|other| other != uid);
        }
    }

    /// The next pod for which an order may be given, first come first served; those that are
    /// `held` let others pass.
    pub(super) fn pop(&mut self, held: impl Fn(&Uid) -> bool) -> Option<Uid> {
        self.lines.values_mut().find_map(|line| {
            if line.open >= ORDERS_MAX {
                return None;
            }
            let place = line.waiting.iter().position(|uid| !held(uid))?;
            line.waiting.remove(place)
        })
    }

    pub(super) fn given(&mut self, id: CommandId, extender: usize, uid: &Uid) {
        self.lines.entry(extender).or_default().open += 1;
        self.open.insert(id, (uid.clone(), extender));
    }

    /// An order is answered: gives its pod; `None` if it is none of these.
    pub(super) fn answered(&mut self, id: CommandId) -> Option<Uid> {
        let (uid, extender) = self.open.remove(&id)?;
        if let Some(line) = self.lines.get_mut(&extender) {
            line.open -= 1;
        }
        Some(uid)
    }

    /// Orders without an answer.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }
}
