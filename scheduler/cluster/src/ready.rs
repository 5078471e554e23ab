//! Whether the engine has been told of the whole cluster once.
//!
//! Set by the watches, read by `/readyz`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_objects::ObjectKind;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::warn;

/// Longest wait of the first pods for all other kinds: a right that is missing must not stop
/// pods that need nothing of the kind.
const WAIT_MOST: Duration = Duration::from_secs(10);

/// Whether both lists have reached the engine. Cheap to clone; all clones agree.
#[derive(Debug, Clone, Default)]
pub struct Ready(Arc<Lists>);

#[derive(Debug)]
struct Lists {
    nodes: AtomicBool,
    pods: AtomicBool,
    /// The other kinds of which nothing has come yet.
    missing: watch::Sender<Vec<ObjectKind>>,
}

// === impl Lists ===

impl Default for Lists {
    fn default() -> Self {
        Self {
            nodes: AtomicBool::new(false),
            pods: AtomicBool::new(false),
            missing: watch::Sender::new(ObjectKind::ALL.to_vec()),
        }
    }
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

    /// Objects of `kind` have been listed, or the API server does not serve it.
    pub(crate) fn others_listed(&self, kind: ObjectKind) {
        self.0.missing.send_if_modified(|missing| {
            let before = missing.len();
            missing.retain(|known| *known != kind);
            missing.len() < before
        });
    }

    /// Waits until all kinds but pods and nodes have been listed, for a time.
    pub(crate) async fn others(&self) {
        let mut missing = self.0.missing.subscribe();
        let all = missing.wait_for(Vec::is_empty);
        if timeout(WAIT_MOST, all).await.is_err() {
            let missing = self.0.missing.borrow().clone();
            let names: Vec<&str> = missing.iter().map(|kind| kind.plural()).collect();
            warn!(
                kinds = names.join(", "),
                "not listed yet, pods are placed without them"
            );
        }
    }

    pub(crate) fn pods_listed(&self) {
        self.0.pods.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::ObjectKind;
    use tokio::time::Instant;

    use super::{Ready, WAIT_MOST};

    #[tokio::test(start_paused = true)]
    async fn the_other_kinds_are_waited_for_but_not_for_ever() {
        let ready = Ready::default();
        let began = Instant::now();
        ready.others().await;
        assert_eq!(began.elapsed(), WAIT_MOST);
        for kind in ObjectKind::ALL {
            ready.others_listed(kind);
        }
        ready.others().await;
        assert_eq!(began.elapsed(), WAIT_MOST);
    }

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
