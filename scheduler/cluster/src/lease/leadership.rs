//! Whether this replica may act now.
//!
//! Takes the deadline of each renewal from the candidate; who acts asks here, by the
//! monotonic clock, before each request. So a process that was frozen past its deadline does
//! nothing more, whichever of its tasks wakes first.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::watch;
use tokio::time::Instant;

/// Whether this replica leads. Cheap to clone; all clones agree.
#[derive(Debug, Clone)]
pub struct Leadership(Arc<watch::Sender<Term>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    /// There is no election.
    Always,
    /// Another one may lead.
    Waits,
    /// It leads until then; a process that still runs at `overdue` is stuck.
    Leads { until: Instant, overdue: Instant },
    /// It led, or was told to end.
    Over,
}

// === impl Leadership ===

impl Leadership {
    /// There is no election: this replica leads.
    pub fn always() -> Self {
        Self::new(Term::Always)
    }

    pub(crate) fn waits() -> Self {
        Self::new(Term::Waits)
    }

    fn new(term: Term) -> Self {
        Self(Arc::new(watch::Sender::new(term)))
    }

    /// Whether it may act now.
    pub fn leads(&self) -> bool {
        self.0.borrow().leads_at(Instant::now())
    }

    /// Whether it has been the leader, and should have renewed or ended long ago.
    pub fn is_overdue(&self) -> bool {
        match *self.0.borrow() {
            Term::Leads { overdue, .. } => Instant::now() > overdue,
            Term::Always | Term::Waits | Term::Over => false,
        }
    }

    /// Waits until it leads.
    pub async fn begins(&self) {
        let mut term = self.0.subscribe();
        let leads = |term: &Term| term.leads_at(Instant::now());
        // The other end is `self`.
        drop(term.wait_for(leads).await);
    }

    /// Does something while this replica leads: that is looked at each time before it is moved
    /// on, not only at the beginning, for the process may have been frozen in between. `None`
    /// if it was left undone.
    pub(crate) async fn while_leading<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if self.leads() {
                return work.as_mut().poll(cx).map(Some);
            }
            Poll::Ready(None)
        })
        .await
    }

    pub(super) fn renewed(&self, until: Instant, overdue: Instant) {
        self.0.send_replace(Term::Leads { until, overdue });
    }

    pub(super) fn ends(&self) {
        self.0.send_replace(Term::Over);
    }
}

// === impl Term ===

impl Term {
    fn leads_at(self, now: Instant) -> bool {
        match self {
            Self::Always => true,
            Self::Leads { until, .. } => now < until,
            Self::Waits | Self::Over => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, advance};

    use super::Leadership;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn it_leads_up_to_its_deadline_and_is_overdue_much_later() {
        let leadership = Leadership::waits();
        assert!(!leadership.leads());
        let now = Instant::now();
        leadership.renewed(now + 10 * SECOND, now + 35 * SECOND);
        leadership.begins().await;
        advance(Duration::from_millis(9_999)).await;
        assert!(leadership.leads());
        advance(Duration::from_millis(1)).await;
        assert!(!leadership.leads());
        assert!(!leadership.is_overdue());
        advance(26 * SECOND).await;
        assert!(leadership.is_overdue());
        leadership.ends();
        assert!(!leadership.leads() && !leadership.is_overdue());
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_election_it_leads() {
        let leadership = Leadership::always();
        leadership.begins().await;
        assert!(leadership.leads() && !leadership.is_overdue());
    }
}
