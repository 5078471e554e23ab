//! HTTP extenders, as far as deciding is concerned (kube-scheduler `pkg/scheduler/extender.go`):
//! who wants to see which pod, whose turn it is, and what was answered so far.
//!
//! ```text
//! popped ─> free? ──yes──> cycle ──asks──> parked ──all answers──> cycle again ...
//!             │no                                                    │ no more to ask
//!             v                                                      v
//!           in line, until the extenders it needs are free         placed, or put back
//! ```
//! A cycle never waits: it ends with questions, the pod is set aside with the answers it has,
//! and with the last of them the cycle runs anew on the cluster of that moment. An extender is
//! asked about one pod at a time, as by kube-scheduler; pods that it does not care for go on
//! meanwhile. `Differs:` kube-scheduler stands still until the answer comes.

mod answers;
mod line;
mod turns;
mod waiting;

use plimsoll_config::Extender;
use plimsoll_objects::Pod;

pub(crate) use self::answers::{Answers, Ask, Stage};
pub(crate) use self::waiting::{Consults, Turn};

/// What kube-scheduler calls all extenders together where it names plugins.
pub(crate) const NAME: &str = "Extender";

/// The extenders of the configuration, in the order in which they are asked.
#[derive(Debug, Default)]
pub(crate) struct Extenders {
    /// As in the file.
    all: Vec<Extender>,
    /// Indices of `all`: those that may be ignored come last (kube-scheduler
    /// `buildExtenders`).
    order: Vec<usize>,
}

// === impl Extenders ===

impl Extenders {
    pub(crate) fn new(all: &[Extender]) -> Self {
        let (ignorable, firm): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|index| all[*index].ignorable);
        Self {
            all: all.to_vec(),
            order: firm.into_iter().chain(ignorable).collect(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Extender> {
        self.all.get(index)
    }

    /// Those that a scheduling cycle of `pod` has to do with, in order.
    pub(crate) fn consulted_for(&self, pod: &Pod) -> Vec<usize> {
        self.interested(pod, |extender| {
            extender.filter_verb.is_some()
                || extender.prioritize_verb.is_some()
                || extender.preempt_verb.is_some()
        })
    }

    /// Those that bind `pod`, in order.
    pub(crate) fn binders_of(&self, pod: &Pod) -> Vec<usize> {
        self.interested(pod, |extender| extender.bind_verb.is_some())
    }

    fn interested(&self, pod: &Pod, does: impl Fn(&Extender) -> bool) -> Vec<usize> {
        let order = self.order.iter().copied();
        order
            .filter(|index| {
                let extender = &self.all[*index];
                does(extender) && is_interested(extender, pod)
            })
            .collect()
    }
}

/// Whether the file's extenders make more nodes than one worth finding (kube-scheduler
/// `hasExtenderFilters`, `hasScoring`).
pub(crate) fn look_at_nodes(extenders: &[Extender]) -> bool {
    extenders
        .iter()
        .any(|extender| extender.filter_verb.is_some() || extender.prioritize_verb.is_some())
}

/// Whether `extender` wants to see `pod`: it manages all pods, or the pod asks for one of its
/// resources (kube-scheduler `IsInterested`). `Differs:` kube-scheduler looks at limits too;
/// the API server gives every container with a limit of such a resource the same request.
fn is_interested(extender: &Extender, pod: &Pod) -> bool {
    let asked = &pod.spec.requests.placed;
    extender.managed_resources.is_empty()
        || extender
            .managed_resources
            .iter()
            .any(|resource| asked.get(&resource.name).is_some())
}
