//! Whether the engine has been told of the whole cluster once.
//!
//! Set by the watches, read by `/readyz`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether both lists have reached the engine. Cheap to clone; all clones agree.
#[derive(Debug, Clone, Default)]
pub struct Ready(Arc<Lists>);

#[derive(Debug, Default)]
struct Lists {
    nodes: AtomicBool,
    pods: AtomicBool,
}

// === impl Ready ===

impl Ready {
    /// Whether nodes and pods have been listed at least once. Stays true: a watch that is
    /// lost later leaves the engine with what it knew, not with nothing.
    pub fn is_ready(&self) -> bool {
        self.0.nodes.load(Ordering::Acquire) && self.0.pods.load(Ordering::Acquire)
    }

    pub(crate) fn nodes_listed(&self) {
        self.0.nodes.store(true, Ordering::Release);
    }

    pub(crate) fn pods_listed(&self) {
        self.0.pods.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::Ready;

    #[test]
    fn it_takes_both_lists() {
        let ready = Ready::default();
        assert!(!ready.is_ready());
        ready.nodes_listed();
        assert!(!ready.is_ready());
        ready.clone().pods_listed();
        assert!(ready.is_ready());
    }
}
