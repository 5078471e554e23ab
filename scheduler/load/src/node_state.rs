//! Everything the model keeps of one node.
//!
//! Takes the node object, its pods and its samples; gives its row. The ledger is reckoned
//! when pods or figures changed, the blend at every look.

mod blend;

pub(crate) use self::blend::Voice;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadResource, NodeLoad, Pressure};
use plimsoll_objects::Uid;

use crate::capacity::Stated;
use crate::falls::Falls;
use crate::figures::{self, Judged, PerResource};
use crate::ledger::{Ledger, still_shown};
use crate::moment::Moment;
use crate::options::{DEPARTED_CONFIDENCE, DEPARTED_SHARE, LINGER, LoadOptions, MAX_DEPARTED};
use crate::pod_entry::{Life, PodEntry};
use crate::sample::{Machine, Sample};

/// One node's facts, pods and figures.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeState {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) stated: Stated,
    /// Whether it takes no pods: it is about to go, or lost.
    pub(crate) is_out: bool,
    /// By the key under which the agent reports them.
    pub(crate) pods: BTreeMap<Arc<str>, PodEntry>,
    /// Whether the ledger is to be reckoned anew.
    pub(crate) changed: bool,
    /// As last blended.
    pub(crate) row: NodeLoad,
    /// What was seen of the row since the node was last announced.
    pub(crate) falls: Falls,
    /// Whether it is to be announced.
    pub(crate) is_announced: bool,
    departed: usize,
    report: Option<Report>,
    figures: PerResource<Option<Judged>>,
    /// The newest sample's 95th percentiles.
    peaks: PerResource<Option<f64>>,
    ledgers: PerResource<Ledger>,
}

/// What the newest trusted sample said beside figures.
#[derive(Debug, Clone, Copy)]
struct Report {
    start_id: u64,
    sequence: u64,
    taken: Moment,
    period: Duration,
    machine: Machine,
    steal: f64,
    pressure: Pressure,
}

// === impl NodeState: what is said ===

impl NodeState {
    /// Whether `sample` is no newer than what is known.
    pub(crate) fn is_older(&self, sample: &Sample) -> bool {
        self.report.is_some_and(|report| {
            if report.start_id == sample.start_id {
                sample.sequence <= report.sequence
            } else {
                Moment::at(sample.taken_at()) <= report.taken
            }
        })
    }

    /// Takes a trusted sample. A figure that is missing this time keeps its last value,
    /// which ages; a missing peak is none.
    pub(crate) fn take(&mut self, sample: &Sample) {
        let taken = Moment::at(sample.taken_at());
        for resource in LoadResource::ALL {
            let slot = &mut self.figures[resource as usize];
            *slot = figures::judged(&sample.figures, resource, taken).or(*slot);
            self.peaks[resource as usize] = figures::peak(&sample.figures, resource);
        }
        let kernels = self
            .figures
            .map(|figure| figure.map(|figure| figure.kernel));
        for pod in &sample.pods {
            if let Some(entry) = self.pods.get_mut(&pod.uid) {
                entry.report(pod, taken.before(pod.behind), &kernels);
            }
        }
        let steal = sample.steal.map_or(0.0, f64::from);
        self.report = Some(Report {
            start_id: sample.start_id,
            sequence: sample.sequence,
            taken,
            period: sample.period,
            machine: sample.machine,
            steal: if steal.is_finite() { steal } else { 0.0 },
            pressure: figures::pressure(&sample.figures),
        });
    }

    /// The pod `uid` is gone, as known at `at`. Returns whether it was here.
    pub(crate) fn remove_pod(&mut self, uid: &Uid, at: Moment) -> bool {
        let Some(key) = self.key_of(uid) else {
            return false;
        };
        let Some(entry) = self.pods.get_mut(&key) else {
            return false;
        };
        if entry.never_ran() {
            self.pods.remove(&key);
            return true;
        }
        if !entry.is_gone() {
            self.departed += 1;
        }
        entry.remove(at);
        if self.departed > MAX_DEPARTED {
            self.forget_oldest();
        }
        true
    }

    /// The key of the pod `uid`: the uid itself, save for static pods.
    fn key_of(&self, uid: &Uid) -> Option<Arc<str>> {
        if self.pods.get(&uid.0).is_some_and(|pod| pod.uid() == uid) {
            return Some(Arc::clone(&uid.0));
        }
        let mut pods = self.pods.iter();
        pods.find(|(_, pod)| pod.uid() == uid)
            .map(|(key, _)| Arc::clone(key))
    }

    fn forget_oldest(&mut self) {
        let gone = || self.pods.iter().filter(|(_, pod)| pod.is_gone());
        let oldest = gone().min_by_key(|(_, pod)| pod.last_trace());
        let key = oldest.map(|(key, _)| Arc::clone(key));
        self.departed = gone().count();
        if let Some(key) = key.filter(|_| self.departed > MAX_DEPARTED) {
            self.pods.remove(&key);
            self.departed -= 1;
        }
    }
}

// === impl NodeState: what is reckoned ===

impl NodeState {
    /// Reckons the ledger anew and forgets departed pods that no figure shows any more.
    pub(crate) fn reckon(&mut self, now: Moment, options: &LoadOptions) {
        if self.departed > 0 {
            self.forget_departed(now, options);
        }
        for resource in LoadResource::ALL {
            let figure = self.figures[resource as usize].as_ref();
            let pods = self.pods.values();
            self.ledgers[resource as usize] = Ledger::reckon(resource, figure, pods, options.ramp);
        }
        self.changed = false;
    }

    fn forget_departed(&mut self, now: Moment, options: &LoadOptions) {
        let confidence = self.confidence(now, options);
        let figures = &self.figures;
        self.pods.retain(|_, pod| {
            !pod.is_gone() || (confidence > DEPARTED_CONFIDENCE && is_shown(pod, figures, now))
        });
        self.departed = self.pods.values().filter(|pod| pod.is_gone()).count();
    }
}

/// Whether a figure shows anything of a gone pod, or its agent reports it still.
fn is_shown(pod: &PodEntry, figures: &PerResource<Option<Judged>>, now: Moment) -> bool {
    match pod.life() {
        Life::Past(began, ended) => figures.iter().flatten().any(|figure| {
            // What ended after the sample may not have begun before it, and will show in
            // the next one.
            ended > figure.taken || still_shown(figure, began, ended) > DEPARTED_SHARE
        }),
        Life::Present(_) | Life::Nothing => pod
            .last_trace()
            .is_some_and(|last| now.age_of(last) < LINGER),
    }
}
