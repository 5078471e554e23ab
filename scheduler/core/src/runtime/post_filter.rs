//! `PostFilter`: what can be done for a pod that no node takes
//! (kube-scheduler `RunPostFilterPlugins`).

use std::sync::Arc;

use plimsoll_framework::{
    Code, Cycle, CycleState, NodeId, ObjectWrite, Point, PostFilterOutcome, Preemption, Reason,
    Rejection,
};
use plimsoll_objects::Pod;

use super::Framework;
use super::judge::Judge;
use crate::probe::SUCCESS;

/// What the `PostFilter`s came to.
#[derive(Debug)]
pub(crate) struct PostFiltered {
    /// Why nothing can be done; `None`: the last plugin asked succeeded.
    pub(crate) rejection: Option<Rejection>,
    /// Text for the pod's message; may be empty.
    pub(crate) message: String,
    /// To be written, and the pod tried again.
    pub(crate) retry: Option<Vec<ObjectWrite>>,
    pub(crate) promise: Promise,
}

/// What becomes of the promise of a node.
#[derive(Debug)]
pub(crate) enum Promise {
    /// An earlier one holds.
    Keep,
    /// None holds any more.
    Withdraw,
    /// This one.
    Make(Box<Promised>),
}

/// The node that is promised, and at what price.
#[derive(Debug)]
pub(crate) struct Promised {
    /// The plugin that found it.
    pub(crate) by: &'static str,
    pub(crate) node: NodeId,
    pub(crate) victims: Vec<Arc<Pod>>,
    /// Every node where preemption would do.
    pub(crate) candidates: Vec<Preemption>,
    /// Those as good as `node`, itself included.
    pub(crate) tied: Vec<NodeId>,
}

impl Framework {
    /// Asks in order until one succeeds, fails inside or says that nothing can help.
    pub(crate) fn post_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        verdicts: &[(NodeId, Rejection)],
        judge: &Judge<'_>,
    ) -> PostFiltered {
        let begun = judge.probe.begin();
        let done = self.ask_post_filters(cycle, state, verdicts, judge);
        let status = done.rejection.as_ref();
        let status = status.map_or(SUCCESS, |rejection| rejection.code.as_str());
        judge
            .probe
            .point(begun, &self.scheduler_name, Point::PostFilter, status);
        done
    }

    fn ask_post_filters(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        verdicts: &[(NodeId, Rejection)],
        judge: &Judge<'_>,
    ) -> PostFiltered {
        let mut so_far = SoFar::default();
        for hook in &self.post_filter {
            let asked = judge.probe.around(hook.name, Point::PostFilter, || {
                hook.run.post_filter(cycle, state, verdicts, judge)
            });
            so_far.by.get_or_insert(hook.name);
            match asked {
                Ok(PostFilterOutcome::Nominate {
                    node,
                    victims,
                    reason,
                    candidates,
                    tied,
                }) => {
                    let promised = Promised {
                        by: hook.name,
                        node,
                        victims,
                        candidates,
                        tied,
                    };
                    return so_far.made(promised, reason);
                }
                Ok(PostFilterOutcome::Retry { writes, reason }) => {
                    so_far.retry.get_or_insert_default().extend(writes);
                    so_far.reasons.extend(reason);
                }
                Ok(PostFilterOutcome::Withdraw { reason }) => {
                    so_far.withdrawn = true;
                    so_far.reasons.extend(reason);
                }
                Err(rejection) if rejection.code == Code::Unschedulable => {
                    so_far.reasons.extend(rejection.reasons);
                }
                Err(rejection) => return so_far.ended(rejection.by(hook.name)),
            }
        }
        so_far.nothing()
    }
}

/// What the plugins asked so far have said.
#[derive(Debug, Default)]
struct SoFar {
    /// The first of them: it speaks for all.
    by: Option<&'static str>,
    reasons: Vec<Reason>,
    retry: Option<Vec<ObjectWrite>>,
    withdrawn: bool,
}

// === impl SoFar ===

impl SoFar {
    fn made(self, promised: Promised, reason: Option<Reason>) -> PostFiltered {
        PostFiltered {
            rejection: None,
            message: reason.unwrap_or_default().into_owned(),
            retry: self.retry,
            promise: Promise::Make(Box::new(promised)),
        }
    }

    /// One plugin has the last word.
    fn ended(self, rejection: Rejection) -> PostFiltered {
        PostFiltered {
            message: rejection.message(),
            rejection: Some(rejection),
            retry: self.retry,
            promise: Promise::Keep,
        }
    }

    fn nothing(self) -> PostFiltered {
        let mut rejection = Rejection::unschedulable("").by(self.by.unwrap_or_default());
        rejection.reasons = self.reasons.into();
        let promise = if self.withdrawn {
            Promise::Withdraw
        } else {
            Promise::Keep
        };
        PostFiltered {
            message: rejection.message(),
            rejection: Some(rejection),
            retry: self.retry,
            promise,
        }
    }
}
