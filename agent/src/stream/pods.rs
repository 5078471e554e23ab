//! What one stream has said of the node's pods. Takes the table of all pods; gives those that
//! the scheduler has not heard of since they were read, as many as one message holds.
//!
//! A pod is named once and goes by its index from then on. What does not fit goes with the
//! next report, longest unheard first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_proto::telemetry::v1::PodReport;
use prost::Message;

use crate::report::{PodName, pod_report};
use crate::usage::{PodTable, PodUsage};

/// Most pods in one report: more than any node runs, so that the next report takes the rest.
const MAX_PODS: usize = 400;
/// Bytes of pods in one report. A message may have 64 KiB, of which the node's own figures
/// take some 2.
const MAX_BYTES: usize = 48 * 1024;
/// Bytes around one pod in the message: its tag and a length of up to three bytes.
const AROUND_POD: usize = 4;
/// Highest index: beyond it, after months of short-lived pods, pods go by their uids.
const MAX_INDEX: u32 = 100_000;
/// After this long without a word of a pod its uid is said again: the scheduler forgets the
/// names of pods that nobody speaks of.
const NAME_AGAIN_AFTER: Duration = Duration::from_mins(1);
/// Figures this much older than the report's sample are of no use to anybody.
const MAX_BEHIND: Duration = Duration::from_mins(5);

/// The pods of one stream.
#[derive(Debug, Default)]
pub(super) struct Pods {
    told: BTreeMap<Arc<str>, Told>,
    last_index: u32,
    /// The table that was told to its end.
    done: Option<PodTable>,
    /// Number of the table that is being told: marks those that are still in it.
    round: u64,
}

#[derive(Debug)]
struct Told {
    index: u32,
    taken_at: Duration,
    sent_at: Duration,
    round: u64,
}

/// When a report's sample was taken and when it leaves, on the agent's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instants {
    pub(super) sample: Duration,
    pub(super) now: Duration,
}

impl Pods {
    /// Gives the pods of the next report.
    pub(super) fn due(&mut self, table: &PodTable, at: Instants) -> Vec<PodReport> {
        if self
            .done
            .as_ref()
            .is_some_and(|done| Arc::ptr_eq(done, table))
        {
            return Vec::new();
        }
        let due = self.unheard(table, at);
        let mut said = Vec::with_capacity(due.len().min(MAX_PODS));
        let mut bytes = 0;
        for pod in &due {
            let report = pod_report(pod, self.name(pod, at.now), behind(pod, at));
            bytes += report.encoded_len() + AROUND_POD;
            if bytes > MAX_BYTES || said.len() == MAX_PODS {
                break;
            }
            self.note(pod, report.index, at.now);
            said.push(report);
        }
        self.done = (said.len() == due.len()).then(|| Arc::clone(table));
        said
    }

    /// The pods that were read since this stream spoke of them, longest unheard first.
    /// Forgets those that the table has no more.
    fn unheard<'t>(&mut self, table: &'t PodTable, at: Instants) -> Vec<&'t PodUsage> {
        self.round += 1;
        let mut due = Vec::new();
        for pod in table.iter() {
            let told = self.told.get_mut(&pod.uid);
            let heard = told.map(|told| {
                told.round = self.round;
                (told.taken_at, told.sent_at)
            });
            let is_new = heard.is_none_or(|(taken_at, _)| pod.taken_at > taken_at);
            if is_new && behind(pod, at) <= MAX_BEHIND {
                due.push((heard.map(|(_, sent_at)| sent_at), pod));
            }
        }
        let round = self.round;
        self.told.retain(|_, told| told.round == round);
        due.sort_by_key(|(sent_at, _)| *sent_at);
        due.into_iter().map(|(_, pod)| pod).collect()
    }

    fn name(&self, pod: &PodUsage, now: Duration) -> PodName {
        match self.told.get(&pod.uid) {
            Some(told) => PodName {
                index: told.index,
                is_said: told.index != 0 && now.saturating_sub(told.sent_at) < NAME_AGAIN_AFTER,
            },
            None => PodName {
                index: self.next_index(),
                is_said: false,
            },
        }
    }

    /// An index that was never used on this stream; 0 when there is none.
    fn next_index(&self) -> u32 {
        if self.last_index < MAX_INDEX {
            self.last_index + 1
        } else {
            0
        }
    }

    fn note(&mut self, pod: &PodUsage, index: u32, now: Duration) {
        self.last_index = self.last_index.max(index);
        let told = Told {
            index,
            taken_at: pod.taken_at,
            sent_at: now,
            round: self.round,
        };
        self.told.insert(Arc::clone(&pod.uid), told);
    }
}

fn behind(pod: &PodUsage, at: Instants) -> Duration {
    at.sample.saturating_sub(pod.taken_at)
}

#[cfg(test)]
mod tests;
