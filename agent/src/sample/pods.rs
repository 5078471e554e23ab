//! The pods of the node: takes what walks find and the times of the ticks, gives the table of
//! all pods when one of them was read. Pods are read each ten seconds, spread over the
//! ticks, young ones at each tick. A tick on which none is due allocates nothing.
//!
//! A pod's age counts from the moment its folder was first seen; of one that was there
//! before, from the date of its folder, which is a lower bound.

mod files;
mod find;
mod name;
mod pod;

use std::sync::Arc;
use std::time::Duration;

use super::counter::Pace;
use super::counters::Counters;
use super::file::Buffer;
use crate::usage::{PodTable, PodUsage};
use find::{Found, Kubepods, Watched};
pub(crate) use find::{PodTree, PodWalk};
use pod::{Pod, Reader};

/// Time between two readings of a pod: its CPU counter is exact over any time, and the
/// scheduler knows how old a reading is.
pub(super) const PODS_EVERY: Duration = Duration::from_secs(10);
/// Pods begin at different seconds of these ten.
const SLOTS: u32 = 10;
/// Between two ticks, so that a tick a little early or late changes no pod's turn.
const BETWEEN_TICKS: Duration = Duration::from_millis(500);
/// Streams have this long to tell the end of a pod to their schedulers.
const ENDED_FOR: Duration = Duration::from_mins(1);
/// Descriptors kept for pods: of the usual limit of 1,024 the rest is for the node's own
/// files, links and streams. Beyond it files are opened for each reading.
const DESCRIPTORS: usize = 400;
/// Files kept per pod: CPU, memory, events.
const DESCRIPTORS_PER_POD: usize = 3;
/// Pods of one tick: kept files cost 10 us per pod, the first reading 50 us.
const PODS_PER_TICK: usize = 64;
/// With very many pods a tick takes this part of them: a tenth have their turn, and young ones.
const SHARE_PER_TICK: usize = 8;

/// The readers of all pods.
#[derive(Debug, Default)]
pub(crate) struct Pods {
    /// By uid.
    all: Vec<Pod>,
    kubepods: Vec<Kubepods>,
    folders: Vec<Watched>,
    every_tick: bool,
    lost_one: bool,
    changed: bool,
    /// Pods of the last table.
    shown: usize,
    slots_given: u32,
    /// Who is due, kept for its room: since when, and which.
    due: Vec<(Duration, usize)>,
}

// === impl Pods ===

impl Pods {
    /// Reads all pods at each tick from now on: for people who look at single samples.
    pub(crate) fn read_at_every_tick(&mut self) {
        self.every_tick = true;
    }

    /// Takes what a walk found; `moved` says that it was another tree than before.
    pub(crate) fn apply(&mut self, tree: PodTree, moved: bool) {
        self.kubepods = tree.kubepods;
        self.folders = tree.folders;
        self.lost_one = false;
        let oldest = tree.newcomers_age;
        let mut found = tree.pods.into_iter().peekable();
        let mut merged = Vec::with_capacity(found.len().max(self.all.len()));
        for mut pod in std::mem::take(&mut self.all) {
            while let Some(new) = found.next_if(|found| found.uid < pod.uid) {
                merged.push(self.newcomer(new, oldest));
            }
            match found.next_if(|found| found.uid == pod.uid) {
                Some(same) => pod.apply(same, oldest, moved),
                None => pod.vanish(),
            }
            merged.push(pod);
        }
        for new in found {
            merged.push(self.newcomer(new, oldest));
        }
        self.all = merged;
        self.share_descriptors();
    }

    fn newcomer(&mut self, found: Found, oldest: Option<Duration>) -> Pod {
        self.slots_given = self.slots_given.wrapping_add(1);
        Pod::new(found, oldest, self.slots_given % SLOTS)
    }

    fn share_descriptors(&mut self) {
        let mut room = DESCRIPTORS / DESCRIPTORS_PER_POD;
        for pod in self.all.iter_mut().filter(|pod| !pod.is_gone()) {
            let keeps_open = room > 0;
            room = room.saturating_sub(1);
            if pod.keeps_open && !keeps_open {
                pod.close();
            }
            pod.keeps_open = keeps_open;
        }
    }

    /// What the next walk should know; a newcomer is no older than `oldest`.
    pub(crate) fn walk(&self, oldest: Option<Duration>) -> PodWalk {
        let suspects = self.all.iter().filter(|pod| pod.is_suspect());
        PodWalk {
            known: self.kubepods.clone(),
            suspects: suspects.map(|pod| Arc::clone(&pod.uid)).collect(),
            newcomers_age: oldest,
        }
    }

    /// True once pods came or went: they should be walked again.
    pub(crate) fn wants_walk(&self) -> bool {
        self.lost_one || self.folders.iter().any(Watched::has_changed)
    }

    /// Reads the pods that are due; gives the table of all if anything in it is new.
    pub(crate) fn step(
        &mut self,
        pace: &Pace,
        cpus: Option<u32>,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> Option<PodTable> {
        let at = pace.at();
        let mut due = std::mem::take(&mut self.due);
        self.find_due(at, &mut due);
        for (_, place) in due.drain(..) {
            let Some(pod) = self.all.get_mut(place) else {
                continue;
            };
            let mut reader = Reader {
                at,
                tick: pace.tick(),
                buffer: &mut *buffer,
                counters: &mut *counters,
                cpus,
                believes_zero: self.every_tick,
            };
            self.lost_one |= !pod.read(&mut reader);
            pod.next_at = next_turn(pod, at, self.every_tick);
            self.changed = true;
        }
        self.due = due;
        self.forget(at);
        std::mem::take(&mut self.changed).then(|| self.table(at))
    }

    /// Who is due at `at`, those who wait longest first where they are too many.
    fn find_due(&self, at: Duration, due: &mut Vec<(Duration, usize)>) {
        due.clear();
        let waiting = self.all.iter().enumerate();
        let waiting = waiting.filter(|(_, pod)| pod.next_at <= at);
        due.extend(waiting.map(|(place, pod)| (pod.next_at, place)));
        let limit = PODS_PER_TICK.max(self.all.len() / SHARE_PER_TICK);
        if due.len() > limit && !self.every_tick {
            due.sort_unstable();
            due.truncate(limit);
        }
    }

    /// Lets go of pods whose end everybody has heard of.
    fn forget(&mut self, at: Duration) {
        self.all
            .retain(|pod| !pod.is_gone() || is_shown(pod, at) || pod.ended_at().is_none());
        let shown = self.all.iter().filter(|pod| is_shown(pod, at)).count();
        self.changed |= shown != self.shown;
        self.shown = shown;
    }

    fn table(&self, at: Duration) -> PodTable {
        let shown = self.all.iter().filter(|pod| is_shown(pod, at));
        shown
            .filter_map(Pod::usage)
            .collect::<Vec<PodUsage>>()
            .into()
    }
}

/// A pod that ended is shown for a while; its folder may stay much longer.
fn is_shown(pod: &Pod, at: Duration) -> bool {
    pod.ended_at()
        .is_none_or(|ended| at.saturating_sub(ended) < ENDED_FOR)
}

/// When a pod that was read at `at` is read again: at the next tick, or at the next of the
/// seconds that are its own.
fn next_turn(pod: &Pod, at: Duration, every_tick: bool) -> Duration {
    if pod.is_gone() {
        return Duration::MAX;
    }
    if every_tick || pod.is_young(at) {
        return at;
    }
    let turn = PODS_EVERY / SLOTS * pod.slot + BETWEEN_TICKS;
    let passed = at.saturating_sub(turn).as_nanos() / PODS_EVERY.as_nanos();
    let rounds = u32::try_from(passed + 1).unwrap_or(u32::MAX);
    let first = if at < turn { 0 } else { rounds };
    turn.saturating_add(PODS_EVERY.saturating_mul(first))
}

#[cfg(test)]
mod tests;
