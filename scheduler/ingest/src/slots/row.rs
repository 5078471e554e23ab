//! One node's row: the newest sample, the stream that owns the row, and how far the
//! sequences of its agent's starts went.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_load::Sample;
use tokio::sync::oneshot;

use super::history::{History, HistoryPoint, Point};
use super::{Changed, ClaimError, PublishError};
use crate::metrics::Metrics;
use crate::wire::MAX_PODS;

/// Former starts that a row remembers: an agent that is being replaced has one, a crash
/// loop a few.
const FORMER_STARTS: usize = 4;

/// A node's row.
#[derive(Debug, Default)]
pub(crate) struct Row {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sample: Option<Sample>,
    owner: Option<Owner>,
    /// The start that speaks or spoke last.
    start: Option<Start>,
    /// Starts that spoke before it, oldest first.
    former: VecDeque<Start>,
    /// Newest arrival, on the engine's clock.
    heard_at: Duration,
    history: History,
}

/// The stream that a row belongs to.
#[derive(Debug)]
struct Owner {
    number: u64,
    /// Dropped to tell the stream that it is superseded.
    _alive: oneshot::Sender<()>,
}

/// One start of an agent and its last sequence.
#[derive(Debug, Clone, Copy)]
struct Start {
    id: u64,
    last_sequence: u64,
}

impl Row {
    /// Takes the sample.
    pub(super) fn take(&self) -> Option<Sample> {
        self.state.lock().sample.take()
    }

    /// Gives what the node carried lately, oldest first, as of `now`.
    pub(super) fn history(&self, now: Duration) -> Vec<HistoryPoint> {
        self.state.lock().history.read(now)
    }

    /// Says whether no stream had the row for `idle_for` before `now`.
    pub(super) fn is_idle(&self, now: Duration, idle_for: Duration) -> bool {
        let state = self.state.lock();
        state.owner.is_none() && now.saturating_sub(state.heard_at) > idle_for
    }
}

impl State {
    /// Makes `id` the start that speaks, with the last sequence it is known to have had.
    fn begin(&mut self, id: u64) {
        if self.start.is_some_and(|start| start.id == id) {
            return;
        }
        let known = self.former.iter().position(|start| start.id == id);
        let last_sequence = known
            .and_then(|at| self.former.remove(at))
            .map_or(0, |start| start.last_sequence);
        if let Some(before) = self.start.replace(Start { id, last_sequence }) {
            if self.former.len() == FORMER_STARTS {
                self.former.pop_front();
            }
            self.former.push_back(before);
        }
    }
}

/// A stream's hold on its node's row. Dropping it leaves the row without a stream.
#[derive(Debug)]
pub(crate) struct Claim {
    row: Arc<Row>,
    number: u64,
    superseded: oneshot::Receiver<()>,
    changed: Arc<Changed>,
    metrics: Metrics,
}

impl Claim {
    pub(super) fn new(
        row: Arc<Row>,
        number: u64,
        start_id: u64,
        changed: &Arc<Changed>,
        metrics: &Metrics,
    ) -> Result<Self, ClaimError> {
        let (alive, superseded) = oneshot::channel();
        {
            let mut state = row.state.lock();
            let is_former = state.former.iter().any(|start| start.id == start_id);
            if state.owner.is_some() && is_former {
                return Err(ClaimError::Superseded);
            }
            state.begin(start_id);
            if state
                .owner
                .replace(Owner {
                    number,
                    _alive: alive,
                })
                .is_some()
            {
                metrics.superseded.inc();
            }
        }
        let changed = Arc::clone(changed);
        Ok(Self {
            row,
            number,
            superseded,
            changed,
            metrics: metrics.clone(),
        })
    }

    /// Keeps `sample` as the node's newest.
    ///
    /// # Errors
    /// See [`PublishError`].
    pub(crate) fn publish(&self, sample: Sample) -> Result<(), PublishError> {
        let was_empty = {
            let mut state = self.row.state.lock();
            if state
                .owner
                .as_ref()
                .is_none_or(|owner| owner.number != self.number)
            {
                return Err(PublishError::Superseded);
            }
            let start = state.start.as_mut().ok_or(PublishError::Superseded)?;
            if sample.sequence <= start.last_sequence {
                return Err(PublishError::Replay);
            }
            start.last_sequence = sample.sequence;
            state.heard_at = sample.arrived;
            state.history.note(&sample);
            let before = state.sample.take();
            let was_empty = before.is_none();
            state.sample = Some(match before {
                Some(before) => with_pods_of(sample, before),
                None => sample,
            });
            was_empty
        };
        if was_empty {
            self.changed.add(Arc::clone(&self.row));
        } else {
            self.metrics.overwritten.inc();
        }
        Ok(())
    }

    /// Adds what the agent says of the time before this stream.
    pub(crate) fn replay(&self, points: &[Point]) {
        let mut state = self.row.state.lock();
        if state
            .owner
            .as_ref()
            .is_some_and(|owner| owner.number == self.number)
        {
            state.history.fill(points);
        }
    }

    /// Becomes ready when a newer stream has the row.
    pub(crate) fn poll_superseded(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(std::pin::Pin::new(&mut self.superseded), cx).map(|_| ())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut state = self.row.state.lock();
        if state
            .owner
            .as_ref()
            .is_some_and(|owner| owner.number == self.number)
        {
            state.owner = None;
        }
    }
}

/// Reports name only the pods that changed or are due: those of a sample that nobody took
/// go over into the next, as much further behind as the two samples are apart.
pub(crate) fn with_pods_of(mut sample: Sample, before: Sample) -> Sample {
    if before.start_id != sample.start_id || before.pods.is_empty() {
        return sample;
    }
    let apart = sample.taken_at().saturating_sub(before.taken_at());
    let named: BTreeSet<_> = sample.pods.iter().map(|pod| Arc::clone(&pod.uid)).collect();
    // An engine that is busy and an agent that names ever new pods must not fill the memory.
    let room = MAX_PODS.saturating_sub(sample.pods.len());
    let silent = before
        .pods
        .into_iter()
        .filter(|pod| !named.contains(&pod.uid))
        .take(room);
    sample.pods.extend(silent.map(|mut pod| {
        pod.behind += apart;
        pod
    }));
    sample
}
