//! What the watch of nodes and the watch of pods tell each other.
//!
//! Takes losses of either, gives the order in which both come back. A connection that dies
//! takes both watches with it, but neither notices at the same time: a pod that is told of
//! while the nodes are still those of before would be placed on one that is gone. So a loss
//! of one makes the other begin again, and news of pods wait until the nodes have caught up.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::warn;

/// Longest wait of pods for nodes. A broken watch of nodes must not stop scheduling: what is
/// known of them is then better than nothing.
const HOLD_MOST: Duration = Duration::from_secs(5);
/// The start of the program counts as a loss: nothing is known of anything.
const START: u64 = 1;

/// One of two watches, as the other one sees it. Losses are numbered from the start on.
pub(crate) struct Partner {
    /// Number of the last loss of either.
    losses: Arc<watch::Sender<u64>>,
    /// The loss up to which this watch has told the engine of everything.
    mine: watch::Sender<u64>,
    /// The same of the other.
    other: watch::Receiver<u64>,
    /// Whether news wait for the other, and the loss from which on they do.
    holds: Option<u64>,
}

/// The two ends: of the watch of nodes, which waits for nothing, and of the watch of pods.
pub(crate) fn partners() -> (Partner, Partner) {
    let losses = Arc::new(watch::Sender::new(START));
    let (nodes, of_nodes) = watch::channel(0);
    let (pods, of_pods) = watch::channel(0);
    let leader = Partner {
        losses: Arc::clone(&losses),
        mine: nodes,
        other: of_pods,
        holds: None,
    };
    let follower = Partner {
        losses,
        mine: pods,
        other: of_nodes,
        holds: Some(START),
    };
    (leader, follower)
}

// === impl Partner ===

impl Partner {
    /// The last loss: what begins now may catch up to it.
    pub(super) fn last_loss(&self) -> u64 {
        *self.losses.borrow()
    }

    /// What this watch had since the loss `since` is lost. A later loss covers this one: the
    /// same break is noticed by both.
    pub(super) fn lost(&self, since: u64) {
        self.losses.send_if_modified(|last| {
            let news = *last == since;
            *last += u64::from(news);
            news
        });
    }

    /// The engine has been told of everything up to the loss `since`, and of what came after.
    pub(super) fn caught_up(&self, since: u64) {
        self.mine.send_if_modified(|mine| {
            let news = *mine < since;
            *mine = since.max(*mine);
            news
        });
    }

    /// Ends when there is a loss after `since`.
    pub(super) async fn loss_after(&self, since: u64) {
        let mut losses = self.losses.subscribe();
        // The sender is this partner's own: it cannot be gone.
        drop(losses.wait_for(|last| *last > since).await);
    }

    /// Waits until the other has caught up with the last loss, at most [`HOLD_MOST`] for
    /// each loss.
    pub(super) async fn in_step(&mut self) {
        let Some(from) = self.holds else {
            return;
        };
        if self.last_loss() < from {
            return;
        }
        let losses = &self.losses;
        let caught_up = self.other.wait_for(|other| *other >= *losses.borrow());
        if timeout(HOLD_MOST, caught_up).await.is_err() {
            warn!(
                seconds = HOLD_MOST.as_secs(),
                "nodes not heard from, going on with what is known of them"
            );
            self.holds = Some(self.last_loss() + 1);
        }
    }

    /// Sleeps for `wait`, less if the other catches up meanwhile: the server is back.
    pub(super) async fn sleep(&mut self, wait: Duration) {
        self.other.mark_unchanged();
        tokio::select! {
            () = sleep(wait) => {}
            Ok(()) = self.other.changed() => {}
        }
    }
}
