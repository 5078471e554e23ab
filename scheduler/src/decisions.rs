//! The newest decisions, kept for people: what the demo, the debug API and `why` read.
//!
//! Bounded: the oldest decision leaves when a new one comes.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use plimsoll_core::Decision;

/// Decisions kept: some minutes of a busy cluster, a few MB.
const KEPT: usize = 2000;

/// A shared view of the newest decisions.
#[derive(Debug, Clone, Default)]
pub struct Decisions {
    kept: Arc<Mutex<VecDeque<Arc<Decision>>>>,
}

// === impl Decisions ===

impl Decisions {
    /// Keeps one more.
    pub(crate) fn push(&self, decision: Arc<Decision>) {
        let mut kept = self.kept.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(decision);
    }

    /// All that are kept, oldest first.
    pub fn all(&self) -> Vec<Arc<Decision>> {
        self.kept.lock().iter().cloned().collect()
    }
}
