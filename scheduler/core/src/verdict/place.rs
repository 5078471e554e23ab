//! A verdict that is acted upon, up to Reserve: pods placed one after another.

use std::sync::Arc;

use plimsoll_framework::{Code, Now, Reason};
use plimsoll_objects::Pod;

use super::trial::Trial;
use super::{Status, Verdict};
use crate::engine::Engine;

/// Where a pod went.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// What was said of it.
    pub verdict: Verdict,
    /// The node: of equals the first by name. It is kept where a `Reserve` turned it down.
    pub node: Option<Arc<str>>,
    /// The `Reserve` that turned the pod down: it is not on the node.
    pub reserve: Option<Status>,
}

// === impl Engine ===

impl Engine {
    /// Judges `pod` and assumes it on its node as a cycle does, with all that is reserved
    /// for it, so that the next verdict sees it there. It is not bound, no victim goes and
    /// nobody is promised a node. `None` if no profile has its `schedulerName`.
    pub fn try_place(&mut self, now: Now, pod: &Arc<Pod>) -> Option<Placement> {
        self.now = Now {
            mono: now.mono.max(self.now.mono),
            wall: now.wall,
        };
        let mut trial = self.trial(self.now, pod)?;
        let node = trial.verdict.node().cloned();
        let reserve = node
            .as_ref()
            .and_then(|node| self.occupy(&mut trial, pod, node));
        Some(Placement {
            verdict: trial.verdict,
            node,
            reserve,
        })
    }

    /// Puts the pod on `node`; gives why it could not stay there.
    fn occupy(&mut self, trial: &mut Trial, pod: &Arc<Pod>, node: &str) -> Option<Status> {
        let profiles = Arc::clone(&self.profiles);
        let framework = profiles.get(trial.profile);
        let info = Arc::clone(self.snapshot.get(self.cache.id_of(node)?)?);
        let held = self.hold(framework, &info, (pod, &trial.estimate, &mut trial.state));
        let rejection = held.reserved.err()?;
        // Nothing of it was ever written, so nothing is to be written back.
        drop(self.let_go(framework, &held.pod, &mut trial.state, held.assumed));
        self.cache.forget(pod.uid(), self.now);
        let plugin = match rejection.code {
            // As in kube-scheduler, the text of an error names the plugin, its status does not.
            Code::Error => Reason::Borrowed(""),
            Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending => {
                rejection.plugin.clone()
            }
        };
        Some(Status {
            plugin,
            ..Status::of(&rejection)
        })
    }
}
