//! The dump for people: SIGUSR2 compares the cache with the API server and writes cache and
//! queue to the log, as kube-scheduler does (`backend/cache/debugger`); `GET /debug/dump` gives
//! the same as a page. Takes the engine's [`Dump`] and a fresh list, gives text.

use anyhow::Context;
use plimsoll_cluster::{Inventory, Listed};
use plimsoll_core::Dump;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::inspect::Inspector;

/// Time for the watch to tell what a list already shows: it is some milliseconds behind.
const WATCH_LAG: Duration = Duration::from_millis(500);

/// Dumps on demand.
#[derive(Debug, Clone)]
pub(crate) struct Debugger {
    pub(crate) inspector: Inspector,
    pub(crate) inventory: Inventory,
}

/// What differs between the API server and the engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mismatch {
    missed_nodes: Vec<String>,
    redundant_nodes: Vec<String>,
    missed_pods: Vec<String>,
    redundant_pods: Vec<String>,
}

// === impl Debugger ===

impl Debugger {
    /// Dumps to the log at each SIGUSR2, until `stop` is cancelled.
    ///
    /// # Errors
    /// The signal cannot be listened to any more.
    pub(crate) async fn run(
        self,
        mut asked: Signal,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                came = asked.recv() => came.context("SIGUSR2 comes no more")?,
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.log() => {}
            }
        }
    }

    /// The signal of [`Self::run`]: to be listened to before anybody may send it.
    ///
    /// # Errors
    /// It cannot be listened to.
    pub(crate) fn signal() -> anyhow::Result<Signal> {
        signal(SignalKind::user_defined2()).context("SIGUSR2 cannot be listened to")
    }

    /// The dump as a page; `None` if the engine has ended.
    pub(crate) async fn page(&self) -> Option<String> {
        let compared = match self.compare().await {
            Ok(mismatch) => mismatch.text(),
            Err(problem) => format!("Cache not compared: {problem:#}\n"),
        };
        let dump = self.inspector.dump().await?;
        let (nodes, queue) = (dump.nodes_text(), dump.pods_text());
        let summary = dump.summary_text();
        Some(format!(
            "{compared}\nDump of cached NodeInfo\n{nodes}\nDump of scheduling queue\n{summary}\n{queue}"
        ))
    }

    async fn log(&self) {
        match self.compare().await {
            Err(problem) => warn!(error = format!("{problem:#}"), "cache not compared"),
            Ok(mismatch) => mismatch.tell(),
        }
        let Some(dump) = self.inspector.dump().await else {
            return;
        };
        info!(nodes = dump.nodes_text(), "dump of cached NodeInfo");
        let summary = dump.summary_text();
        info!(summary, pods = dump.pods_text(), "dump of scheduling queue");
    }

    /// What differs twice: between two looks the watch tells what had just happened.
    async fn compare(&self) -> anyhow::Result<Mismatch> {
        let first = self.look().await?;
        if first == Mismatch::default() {
            return Ok(first);
        }
        sleep(WATCH_LAG).await;
        Ok(first.and(&self.look().await?))
    }

    async fn look(&self) -> anyhow::Result<Mismatch> {
        let listed = self.inventory.take().await?;
        let dump = self
            .inspector
            .dump()
            .await
            .context("the engine has ended")?;
        Ok(Mismatch::between(&listed, &dump))
    }
}

// === impl Mismatch ===

impl Mismatch {
    /// `Differs:` pods that wait for other schedulers are none of ours and not missed;
    /// kube-scheduler names them.
    fn between(listed: &Listed, dump: &Dump) -> Self {
        let actual = listed.nodes.iter().map(ToString::to_string).collect();
        let cached = dump.nodes.iter().map(|node| node.name().to_string());
        let (missed_nodes, redundant_nodes) = compared(actual, cached.collect());
        let ours = listed.pods.iter().filter(|pod| {
            let mut names = dump.scheduler_names.iter();
            pod.is_bound || names.any(|name| **name == *pod.scheduler_name)
        });
        let actual = ours.map(|pod| pod.uid.0.to_string()).collect();
        let placed = dump.nodes.iter().flat_map(|node| &node.pods);
        let held = placed
            .chain(dump.orphans.values().flatten())
            .chain(dump.waiting.iter().map(|waiting| &waiting.pod));
        let held = held.map(|pod| pod.uid()).chain(&dump.out);
        let held = held.map(|uid| uid.0.to_string()).collect();
        let (missed_pods, redundant_pods) = compared(actual, held);
        Self {
            missed_nodes,
            redundant_nodes,
            missed_pods,
            redundant_pods,
        }
    }

    fn and(self, other: &Self) -> Self {
        let both = |mut ours: Vec<String>, theirs: &[String]| {
            ours.retain(|name| theirs.contains(name));
            ours
        };
        Self {
            missed_nodes: both(self.missed_nodes, &other.missed_nodes),
            redundant_nodes: both(self.redundant_nodes, &other.redundant_nodes),
            missed_pods: both(self.missed_pods, &other.missed_pods),
            redundant_pods: both(self.redundant_pods, &other.redundant_pods),
        }
    }

    fn tell(&self) {
        if self.missed_nodes.len() + self.redundant_nodes.len() > 0 {
            let (missed, redundant) = (&self.missed_nodes, &self.redundant_nodes);
            warn!(missed_nodes = ?missed, redundant_nodes = ?redundant, "cache mismatch");
        }
        if self.missed_pods.len() + self.redundant_pods.len() > 0 {
            let (missed, redundant) = (&self.missed_pods, &self.redundant_pods);
            warn!(missed_pods = ?missed, redundant_pods = ?redundant, "cache mismatch");
        }
        if *self == Self::default() {
            info!("cache and API server agree");
        }
    }

    fn text(&self) -> String {
        if *self == Self::default() {
            return "Cache and API server agree\n".to_owned();
        }
        format!("Cache mismatch: {self:?}\n")
    }
}

/// What of `actual` is not in `cached`, and the other way round.
fn compared(mut actual: Vec<String>, mut cached: Vec<String>) -> (Vec<String>, Vec<String>) {
    actual.sort_unstable();
    cached.sort_unstable();
    cached.dedup();
    let missed = actual
        .iter()
        .filter(|name| cached.binary_search(name).is_err());
    let missed = missed.cloned().collect();
    cached.retain(|name| actual.binary_search(name).is_err());
    (missed, cached)
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn what_is_on_one_side_only_is_missed_or_redundant() {
        let names = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let cases = [
            ("foo bar", "bar foo foobar", "", "foobar"),
            ("foo bar foobar", "bar foo", "foobar", ""),
            ("foo bar foobar", "bar foobar foo", "", ""),
        ];
        for (actual, cached, missed, redundant) in cases {
            let found = compared(names(actual), names(cached));
            assert_eq!(
                found,
                (names(missed), names(redundant)),
                "{actual}, {cached}"
            );
        }
    }
}
