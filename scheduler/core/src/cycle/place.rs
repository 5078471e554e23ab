//! The chosen node is taken: assumed, reserved, permitted, and on to binding.

use std::sync::Arc;

use plimsoll_framework::{Code, Cycle, CycleState, NodeInfo, PodEstimate, Rejection};
use plimsoll_objects::{Object, Pod};

use super::decide::Chosen;
use super::{Attempt, message};
use crate::binding::Reserved;
use crate::decision::Outcome;
use crate::engine::Engine;
use crate::runtime::Framework;

/// A pod on the node that was chosen for it.
pub(crate) struct Held {
    /// The pod as it will be there.
    pub(crate) pod: Arc<Pod>,
    /// The objects that are taken for what they will be.
    pub(crate) assumed: Vec<Object>,
    /// Whether no `Reserve` turned it down.
    pub(crate) reserved: Result<(), Rejection>,
}

impl Engine {
    /// Takes the chosen node. Gives how the attempt ended, if a plugin turned it down.
    pub(super) fn place(
        &mut self,
        framework: &Framework,
        attempt: Attempt,
        chosen: Chosen,
    ) -> Option<Outcome> {
        let info = Arc::clone(self.snapshot.get(chosen.node)?);
        let Attempt {
            item,
            pod,
            estimate,
            mut state,
        } = attempt;
        let held = self.hold(framework, &info, (&pod, &estimate, &mut state));
        let waiting_for = |plugin| self.bindings.waiting_for(item.profile, plugin);
        let cycle = Cycle {
            pod: &pod,
            estimate: &estimate,
            snapshot: &self.snapshot,
            now: self.now,
        };
        let permitted = held
            .reserved
            .and_then(|()| framework.permit(&cycle, &mut state, &info, (waiting_for, &self.probe)));
        let reserved = Reserved {
            item,
            pod: held.pod,
            state,
            over: chosen.over.map(|over| over.reason),
            assumed: held.assumed,
        };
        match permitted {
            Ok(permitted) => {
                self.status.withdraw(pod.uid());
                self.begin_binding(reserved, permitted);
                None
            }
            Err(rejection) => {
                let outcome = outcome_of(&rejection);
                self.turned_down_at_once(reserved, &rejection);
                Some(outcome)
            }
        }
    }

    /// Puts the pod on its node and lets every `Reserve` do its part. Where one turns it
    /// down, the caller takes everything back.
    pub(crate) fn hold(
        &mut self,
        framework: &Framework,
        info: &NodeInfo,
        (pod, estimate, state): (&Arc<Pod>, &PodEstimate, &mut CycleState),
    ) -> Held {
        let placed = self.cache.assume(pod, info.name(), self.now);
        self.promise_used(pod, info.name());
        let cycle = Cycle {
            pod,
            estimate,
            snapshot: &self.snapshot,
            now: self.now,
        };
        let mut assumed = Vec::new();
        let reserved = framework.reserve(&cycle, state, info, (&mut assumed, &self.probe));
        for object in &assumed {
            self.snapshot.catalog_mut().assume(object.clone());
        }
        Held {
            pod: placed,
            assumed,
            reserved,
        }
    }
}

fn outcome_of(rejection: &Rejection) -> Outcome {
    if rejection.code == Code::Error {
        Outcome::Failed {
            message: rejection.message(),
        }
    } else {
        Outcome::Unschedulable {
            message: message::by_one(rejection),
        }
    }
}
