//! One pod of a node, as the ledger sees it: what it is expected to use, what it was
//! measured to use, when it began and when it ended.
//!
//! Takes the pod object and the agent's reports of the pod. Whose word counts:
//!
//! ```text
//! began   cgroup age by the agent: of several words the earliest
//!         else first seen running: status.startTime (creation) by the wall clock
//!         else the instant at which the watch showed it running
//! ended   cgroup empty by the agent, or terminal phase, or deletion of the object,
//!         whichever is known earlier; never deletionTimestamp
//! ```
//!
//! A pod is read less often than its node: what a report says of it holds for the instant
//! at which it was read, not for the node's sample.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadResource, Now, PodEstimate};
use plimsoll_kernel::Kernel;
use plimsoll_objects::{Phase, Pod, Uid};

use crate::figures::{self, PerResource};
use crate::moment::Moment;
use crate::options::REVIVAL_SLACK;
use crate::sample::PodSample;

/// Annotations of a mirror pod that hold the uid under which the kubelet runs the static
/// pod, which names its cgroup. The first is what makes a mirror pod for the kubelet
/// (`pkg/kubelet/types/pod_update.go`); it copies the second from the static pod.
pub(crate) const STATIC_UIDS: [&str; 2] =
    ["kubernetes.io/config.mirror", "kubernetes.io/config.hash"];

/// A pod on a node, or one that has left it but not the node's figures.
#[derive(Debug, Clone)]
pub(crate) struct PodEntry {
    uid: Uid,
    estimate: PodEstimate,
    began: Option<Begin>,
    ended: Option<End>,
    /// The object is gone (or terminal): nothing of the pod will start any more.
    gone: bool,
    measured: Option<Box<Measured>>,
}

/// Since when a pod runs.
#[derive(Debug, Clone, Copy)]
struct Begin {
    at: Moment,
    by_agent: bool,
}

/// Until when a pod ran, at the latest.
#[derive(Debug, Clone, Copy)]
struct End {
    at: Moment,
    by_agent: bool,
}

/// The newest report of the pod.
#[derive(Debug, Clone, Copy)]
struct Measured {
    rates: PerResource<Option<f64>>,
    /// When the pod was read.
    taken: Moment,
}

/// What the ledger reckons with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Life {
    /// Runs, or will run: `None` until it is known to have begun.
    Present(Option<Moment>),
    /// Ran in between.
    Past(Moment, Moment),
    /// Is neither to be added nor to be taken away.
    Nothing,
}

// === impl PodEntry ===

impl PodEntry {
    /// A pod first heard of at `now`: assumed, or shown by the watch.
    pub(crate) fn new(pod: &Pod, estimate: PodEstimate, now: Now) -> Self {
        Self {
            uid: pod.uid().clone(),
            estimate,
            began: has_begun(pod).then(|| Begin::by_api(began_by_api(pod, now))),
            ended: None,
            gone: false,
            measured: None,
        }
    }

    /// The object changed, at `now`. A pod whose deletion was an error (it is listed again)
    /// lives on; the agent's word that it ended stands.
    /// A mirror pod made anew has another uid.
    pub(crate) fn update(&mut self, pod: &Pod, estimate: PodEstimate, now: Now) {
        self.uid = pod.uid().clone();
        self.estimate = estimate;
        self.gone = false;
        self.ended = self.ended.filter(|end| end.by_agent);
        if self.began.is_none() && has_begun(pod) {
            self.began = Some(Begin::by_api(Moment::at(now.mono)));
        }
    }

    /// The object is gone or terminal, as known at `at`.
    pub(crate) fn remove(&mut self, at: Moment) {
        self.gone = true;
        self.end(End {
            at,
            by_agent: false,
        });
    }

    /// The agent's report of this pod, read at `taken`; `kernels` are those by which the
    /// node is judged.
    pub(crate) fn report(
        &mut self,
        sample: &PodSample,
        taken: Moment,
        kernels: &PerResource<Option<Kernel>>,
    ) {
        let earlier = self.measured.as_ref().map(|measured| measured.rates);
        let mut rates = earlier.unwrap_or_default();
        for resource in LoadResource::ALL {
            let slot = resource as usize;
            let rate = figures::rate(&sample.figures, resource, kernels[slot]);
            rates[slot] = rate.or(rates[slot]);
        }
        self.measured = Some(Box::new(Measured { rates, taken }));
        self.begin(taken.before(sample.age));
        if sample.ended {
            self.end(End {
                at: taken,
                by_agent: true,
            });
        } else if self.ended.is_some_and(|end| end.is_refuted(taken)) {
            self.ended = None;
        }
    }

    /// The agent's word that the pod runs since `at`. The earliest is the nearest to the
    /// truth: each arrives late, and an agent that was restarted may know no more than that
    /// the pod is older than itself. Only a pod that had ended begins anew.
    fn begin(&mut self, at: Moment) {
        let earlier = self.began.filter(|begin| begin.by_agent);
        let earlier = earlier.filter(|_| self.ended.is_none_or(|end| end.at > at));
        self.began = Some(Begin {
            at: earlier.map_or(at, |begin| begin.at.min(at)),
            by_agent: true,
        });
    }

    /// The earlier of two ends is the nearer to the truth: each is known late.
    fn end(&mut self, end: End) {
        let earlier = self.ended.map_or(end.at, |old| old.at.min(end.at));
        let by_agent = end.by_agent || self.ended.is_some_and(|old| old.by_agent);
        self.ended = Some(End {
            at: earlier,
            by_agent,
        });
    }

    /// The pod's uid.
    pub(crate) fn uid(&self) -> &Uid {
        &self.uid
    }

    /// Whether its object is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether nothing of the pod is known to have run.
    pub(crate) fn never_ran(&self) -> bool {
        self.began.is_none()
    }

    /// When it ended, or was last reported: the older, the sooner it is forgotten.
    pub(crate) fn last_trace(&self) -> Option<Moment> {
        let reported = self.measured.as_ref().map(|measured| measured.taken);
        self.ended.map(|end| end.at).or(reported)
    }

    /// What the ledger reckons with.
    pub(crate) fn life(&self) -> Life {
        match (self.ended, self.began) {
            (None, _) if self.gone => Life::Nothing,
            (None, began) => Life::Present(began.map(|begin| begin.at)),
            (Some(end), Some(begin)) => Life::Past(begin.at.min(end.at), end.at),
            (Some(_), None) => Life::Nothing,
        }
    }

    /// Whether it is known or expected to use anything of `resource`.
    pub(crate) fn counts(&self, resource: LoadResource) -> bool {
        self.estimate(resource) > 0.0 || self.rate(resource).is_some()
    }

    /// What the pod is expected to use, before it is measured.
    pub(crate) fn estimate(&self, resource: LoadResource) -> f64 {
        self.estimate.get(resource)
    }

    /// What it was last measured to use.
    pub(crate) fn rate(&self, resource: LoadResource) -> Option<f64> {
        self.measured.as_ref()?.rates[resource as usize]
    }
}

// === impl Begin ===

impl Begin {
    fn by_api(at: Moment) -> Self {
        Self {
            at,
            by_agent: false,
        }
    }
}

// === impl End ===

impl End {
    /// Whether a report taken at `taken` that the pod lives refutes this end.
    fn is_refuted(self, taken: Moment) -> bool {
        let slack = if self.by_agent {
            Duration::ZERO
        } else {
            REVIVAL_SLACK
        };
        taken > self.at.after(slack)
    }
}

/// The key under which the agent reports the pod: its uid, or of a static pod (whose
/// object, the mirror, is controlled by its node) the uid that names its cgroup.
pub(crate) fn agent_key(pod: &Pod) -> &Arc<str> {
    let controller = pod.meta.controller.as_ref();
    let mirror = controller.is_some_and(|owner| &*owner.kind == "Node");
    let annotations = STATIC_UIDS
        .iter()
        .filter_map(|key| pod.meta.annotations.get(*key));
    let mut annotations = annotations.filter(|uid| mirror && !uid.is_empty());
    let static_uid = annotations.next();
    static_uid.unwrap_or(&pod.uid().0)
}

/// Containers run. Init containers run before that, while the phase is still `Pending`:
/// their use then counts beside the pod's estimate, which errs on the safe side.
fn has_begun(pod: &Pod) -> bool {
    !matches!(pod.status.phase, Phase::Pending)
}

/// For a pod that ran before it was first seen: by the wall clocks of other machines, so
/// only as a fallback; without any time, now.
fn began_by_api(pod: &Pod, now: Now) -> Moment {
    let started = pod.status.started.or(pod.meta.created);
    let age = started.and_then(|started| Duration::try_from(now.wall.duration_since(started)).ok());
    Moment::at(now.mono).before(age.unwrap_or_default())
}

#[cfg(test)]
mod tests;
