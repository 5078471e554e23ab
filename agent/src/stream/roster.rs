//! All streams of one scheduler's name: one to each address that it has, however many
//! replicas stand behind it. Takes what the resolver says from time to time; starts a
//! [`Keeper`] for each new address, and lets go of those that the name has no more.
//!
//! An address that left the name is closed once its stream fails, or a minute later: a
//! resolver that is wrong for a moment costs nothing, and one that fails changes nothing.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tracing::{Instrument, debug, info, info_span, warn};

use super::Line;
use super::backoff::Backoff;
use super::keeper::{Keeper, Memory, Stay};
use super::target::Target;
use crate::metrics::Reconnect;

/// Most addresses that are spoken to at once: replicas of a scheduler beyond that bring no
/// safety, and each stream costs the node some 30 us a second.
const MAX_STREAMS: usize = 5;
/// Range of the time between two questions to the resolver, drawn anew each time.
const ASK_EACH: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(30));
/// Range of the time to the next question after a stream ended: the address may be gone.
const ASK_AFTER_LOSS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(3));
/// Addresses without a stream that are remembered, so that one that comes back finds its
/// sequence and its back-off.
const MAX_REMEMBERED: usize = 16;

/// The streams of one name.
pub(super) struct Roster {
    target: Target,
    line: Line,
    keepers: JoinSet<(SocketAddr, Memory)>,
    live: BTreeMap<SocketAddr, watch::Sender<Stay>>,
    remembered: BTreeMap<SocketAddr, Memory>,
    /// A stream ended.
    lost: Arc<Notify>,
    losses: bool,
    /// Whether addresses of version 6 are spoken to, where the name has both kinds: they are
    /// most often two ways to one scheduler, which takes one stream of a node.
    version_6: Option<bool>,
    backoff: Backoff,
    random: fastrand::Rng,
    last_fault: Option<String>,
}

impl Roster {
    pub(super) fn new(target: Target, line: Line) -> Self {
        Self {
            target,
            line,
            keepers: JoinSet::new(),
            live: BTreeMap::new(),
            remembered: BTreeMap::new(),
            lost: Arc::default(),
            losses: false,
            version_6: None,
            backoff: Backoff::new(fastrand::Rng::new()),
            random: fastrand::Rng::new(),
            last_fault: None,
        }
    }

    /// Keeps the streams, for ever.
    pub(super) async fn run(mut self) {
        loop {
            let answer = self
                .line
                .resolver
                .resolve(self.target.host(), self.target.port());
            match answer.await {
                Ok(addresses) if !addresses.is_empty() => {
                    self.last_fault = None;
                    let addresses = self.choose(&addresses);
                    self.seat(&addresses);
                }
                answer => self.tell(answer.err()),
            }
            self.until_next_question().await;
        }
    }

    /// The addresses to speak to: those in use first, then in order.
    fn choose(&mut self, addresses: &[SocketAddr]) -> Vec<SocketAddr> {
        let of_kind = |version_6: bool| {
            let mut those: Vec<_> = addresses
                .iter()
                .copied()
                .filter(|address| address.is_ipv6() == version_6)
                .collect();
            those.sort_unstable();
            those.dedup();
            those
        };
        let first = *self.version_6.get_or_insert_with(|| {
            // The system's resolver puts first what it can reach.
            addresses.first().is_some_and(SocketAddr::is_ipv6)
        });
        // Nothing of this kind answers: try the other.
        let wanted = first != (std::mem::take(&mut self.losses) && !self.is_answered());
        let kind = if of_kind(wanted).is_empty() {
            !wanted
        } else {
            wanted
        };
        self.version_6 = Some(kind);
        let mut chosen = of_kind(kind);
        chosen.sort_by_key(|address| !self.live.contains_key(address));
        chosen.truncate(MAX_STREAMS);
        chosen
    }

    fn is_answered(&self) -> bool {
        self.live.values().any(|stay| stay.borrow().answers)
    }

    fn seat(&mut self, wanted: &[SocketAddr]) {
        // Who ended while the resolver was asked holds no place.
        while let Some(ended) = self.keepers.try_join_next() {
            self.end(ended);
        }
        for (address, stay) in &self.live {
            let is_wanted = wanted.contains(address);
            stay.send_if_modified(|stay| {
                if stay.leaving_since.is_none() == is_wanted {
                    return false;
                }
                info!(%address, is_wanted, "the scheduler's addresses changed");
                stay.leaving_since = (!is_wanted).then(Instant::now);
                true
            });
        }
        for address in wanted {
            if !self.live.contains_key(address) {
                self.begin(*address);
            }
        }
    }

    fn begin(&mut self, address: SocketAddr) {
        let memory = self.remembered.remove(&address).unwrap_or_default();
        let stay = watch::Sender::new(Stay::default());
        let keeper = Keeper::new(
            (address, self.target.clone()),
            self.line.clone(),
            memory,
            stay.clone(),
            Arc::clone(&self.lost),
        );
        let span = info_span!("address", %address);
        let run = async move { (address, keeper.run().await) };
        self.keepers.spawn(run.instrument(span));
        self.live.insert(address, stay);
    }

    fn end(&mut self, ended: Result<(SocketAddr, Memory), JoinError>) {
        let (address, memory) = match ended {
            Ok(ended) => ended,
            // A bug is this task's own, and ends the process with its name.
            Err(problem) => match problem.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // Nobody aborts a keeper but the end of all.
                Err(_) => return,
            },
        };
        self.live.remove(&address);
        if self.remembered.len() == MAX_REMEMBERED {
            self.remembered.pop_first();
        }
        self.remembered.insert(address, memory);
    }

    async fn until_next_question(&mut self) {
        let wait = if self.live.is_empty() {
            self.backoff.next(Duration::ZERO)
        } else {
            self.draw(ASK_EACH)
        };
        let mut at = Instant::now() + wait;
        loop {
            let lost = Arc::clone(&self.lost);
            tokio::select! {
                () = sleep_until(at) => return,
                () = lost.notified() => {
                    self.losses = true;
                    at = at.min(Instant::now() + self.draw(ASK_AFTER_LOSS));
                }
                Some(ended) = self.keepers.join_next() => self.end(ended),
            }
        }
    }

    fn draw(&mut self, (least, most): (Duration, Duration)) -> Duration {
        least + most.saturating_sub(least).mul_f64(self.random.f64())
    }

    /// Says that the name has no address; a fault that lasts is said once.
    fn tell(&mut self, error: Option<io::Error>) {
        self.line.metrics.count_reconnect(Reconnect::Resolve);
        let fault = error.map_or_else(
            || "the name has no address".to_owned(),
            |error| format!("the name is not resolved: {error}"),
        );
        if self.last_fault.as_ref() == Some(&fault) {
            debug!(fault, "the scheduler is still not found");
            return;
        }
        let streams = self.live.len();
        warn!(fault, streams, "the scheduler is not found");
        self.last_fault = Some(fault);
    }
}

#[cfg(test)]
mod tests;
