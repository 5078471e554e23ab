//! The newest sample of each node until the engine takes it. A stream claims its node's row
//! once, by name, and then publishes into it; the engine drains the rows that changed.
//!
//! A row belongs to the stream that claimed it last, and remembers how far the sequences of
//! its node's starts went: nothing is taken twice, not even over a new stream.

mod history;
mod row;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use parking_lot::Mutex;
use plimsoll_load::Sample;
use tokio::sync::Notify;

use crate::metrics::Metrics;
pub use history::HistoryPoint;
pub(crate) use history::{MAX_POINTS, Point};
use row::Row;
pub(crate) use row::{Claim, with_pods_of};

/// Most nodes that have a row. Kubernetes is tested to 5,000 and Plimsoll's target is
/// 15,000; at some 2 KB a row this bounds what invented names can cost.
const MAX_NODES: usize = 20_000;
/// A row without a stream for this long is given up when the limit of nodes is reached.
const IDLE_FOR: Duration = Duration::from_hours(1);
/// Least time between two searches for idle rows.
const PRUNE_EACH: Duration = Duration::from_mins(1);

/// Why a stream cannot have its node's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClaimError {
    /// A newer start of the agent has a live stream.
    #[error("a stream of a newer start speaks for this node")]
    Superseded,
    /// The limit of nodes is reached.
    #[error("{MAX_NODES} nodes are known already")]
    Capacity,
}

/// Why a sample is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PublishError {
    /// The row belongs to a newer stream.
    #[error("a newer stream speaks for this node")]
    Superseded,
    /// The sequence is not above the last one of its start.
    #[error("the sequence does not grow")]
    Replay,
}

/// All rows.
#[derive(Debug)]
pub(crate) struct Slots {
    rows: DashMap<Arc<str>, Arc<Row>>,
    changed: Arc<Changed>,
    claims: AtomicU64,
    pruned_at: Mutex<Duration>,
    metrics: Metrics,
}

/// The rows that hold a sample the engine has not taken, and the bell that says so.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    rows: Mutex<Vec<Arc<Row>>>,
    bell: Notify,
}

impl Changed {
    /// Notes that `row` went from empty to full.
    fn add(&self, row: Arc<Row>) {
        self.rows.lock().push(row);
        self.bell.notify_one();
    }
}

impl Slots {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self {
            rows: DashMap::new(),
            changed: Arc::default(),
            claims: AtomicU64::new(0),
            pruned_at: Mutex::new(Duration::ZERO),
            metrics,
        }
    }

    /// Gives the row of `node` to a new stream of the agent's start `start_id`. The stream
    /// that had it before is told to end.
    ///
    /// # Errors
    /// See [`ClaimError`].
    pub(crate) fn claim(
        &self,
        node: &Arc<str>,
        start_id: u64,
        now: Duration,
    ) -> Result<Claim, ClaimError> {
        let row = self.row(node, now)?;
        let number = self.claims.fetch_add(1, Ordering::Relaxed);
        Claim::new(row, number, start_id, &self.changed, &self.metrics)
    }

    /// Gives the newest sample of each node that changed since the last call, each node at
    /// most once, in the order in which they changed.
    pub(crate) fn drain(&self) -> Vec<Sample> {
        let rows = std::mem::take(&mut *self.changed.rows.lock());
        rows.iter().filter_map(|row| row.take()).collect()
    }

    /// Gives what `node` carried lately, oldest first, as of `now`.
    pub(crate) fn history(&self, node: &str, now: Duration) -> Vec<HistoryPoint> {
        let row = self.rows.get(node).map(|row| Arc::clone(&row));
        row.map_or_else(Vec::new, |row| row.history(now))
    }

    /// Waits until there is something to drain. One waiter at a time.
    pub(crate) async fn changed(&self) {
        self.changed.bell.notified().await;
    }

    fn row(&self, node: &Arc<str>, now: Duration) -> Result<Arc<Row>, ClaimError> {
        if let Some(row) = self.rows.get(node) {
            return Ok(Arc::clone(&row));
        }
        if self.rows.len() >= MAX_NODES && !self.prune(now) {
            return Err(ClaimError::Capacity);
        }
        let row = Arc::clone(&self.rows.entry(Arc::clone(node)).or_default());
        self.count_nodes();
        Ok(row)
    }

    /// Gives up rows that had no stream for long. Says whether there is room now.
    fn prune(&self, now: Duration) -> bool {
        {
            let mut pruned_at = self.pruned_at.lock();
            if now.saturating_sub(*pruned_at) < PRUNE_EACH {
                return false;
            }
            *pruned_at = now;
        }
        self.rows.retain(|_, row| !row.is_idle(now, IDLE_FOR));
        self.count_nodes();
        self.rows.len() < MAX_NODES
    }

    fn count_nodes(&self) {
        self.metrics.nodes.set(self.rows.len() as i64);
    }
}

#[cfg(test)]
mod tests;
