//! Writes that nobody waits for: a claim that is freed, a reservation that is taken back.
//!
//! Takes requests and answers. A write that fails or has no answer is counted and not tried
//! again: it may undo what was done since.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::command::CommandId;
use crate::engine::Engine;
use crate::event::{Failure, FailureKind};

/// How long an answer is waited for: longer than the driver's own time-outs.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// Requests without an answer, and until when one is waited for.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    // Numbers grow with time: the first is the first to fall due.
    open: BTreeMap<CommandId, Duration>,
}

// === impl Asides ===

impl Asides {
    pub(crate) fn insert(&mut self, id: CommandId, now: Duration) {
        self.open.insert(id, now.saturating_add(ANSWER_TIMEOUT));
    }

    /// When a request falls due next.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.open.first_key_value().map(|(_, until)| *until)
    }

    /// Requests without an answer.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

// === impl Engine ===

impl Engine {
    /// Takes the answer to `id`; `false` if it is not one of these writes.
    pub(crate) fn aside_answered(&mut self, id: CommandId, outcome: &Result<(), Failure>) -> bool {
        if self.asides.open.remove(&id).is_none() {
            return false;
        }
        let failed = outcome.as_ref().err();
        // What is gone needs no change any more.
        let failed = failed.filter(|failure| failure.kind != FailureKind::NotFound);
        self.counters.asides_failed += u64::from(failed.is_some());
        true
    }

    /// Gives up waiting for answers that are overdue.
    pub(crate) fn fire_asides(&mut self) {
        while let Some(first) = self.asides.open.first_entry() {
            if *first.get() > self.now.mono {
                return;
            }
            first.remove();
            self.counters.asides_lost += 1;
        }
    }
}
