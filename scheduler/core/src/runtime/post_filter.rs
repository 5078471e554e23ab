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

    /// Lets the plugin `by` choose again, among `candidates`.
    pub(crate) fn choose(
        &self,
        by: &'static str,
        cycle: &Cycle<'_>,
        candidates: Vec<Preemption>,
    ) -> PostFiltered {
        let Some(hook) = self.post_filter.iter().find(|hook| hook.name == by) else {
            return SoFar::default().nothing();
        };
        let mut so_far = SoFar::default();
        match hook.run.choose(cycle, candidates) {
            Ok(outcome) => match so_far.take(by, outcome) {
                Some((promised, reason)) => so_far.made(promised, reason),
                None => so_far.nothing(),
            },
            Err(rejection) => so_far.ended(rejection.by(by)),
        }
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
                Ok(outcome) => {
                    if let Some((promised, reason)) = so_far.take(hook.name, outcome) {
                        return so_far.made(promised, reason);
                    }
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

// === impl PostFiltered ===

impl PostFiltered {
    /// Nothing can be done, as `rejection` says; an earlier promise holds.
    pub(crate) fn nothing(rejection: Rejection) -> Self {
        Self {
            message: rejection.message(),
            rejection: Some(rejection),
            retry: None,
            promise: Promise::Keep,
        }
    }

    /// What is promised, if anything is.
    pub(crate) fn promised(&self) -> Option<&Promised> {
        match &self.promise {
            Promise::Make(promised) => Some(promised),
            Promise::Keep | Promise::Withdraw => None,
        }
    }
}

// === impl SoFar ===

impl SoFar {
    /// Takes what the plugin `by` came to; gives the promise, if it makes one.
    fn take(
        &mut self,
        by: &'static str,
        outcome: PostFilterOutcome,
    ) -> Option<(Promised, Option<Reason>)> {
        match outcome {
            PostFilterOutcome::Nominate {
                node,
                victims,
                reason,
                candidates,
                tied,
            } => {
                let promised = Promised {
                    by,
                    node,
                    victims,
                    candidates,
                    tied,
                };
                return Some((promised, reason));
            }
            PostFilterOutcome::Retry { writes, reason } => {
                self.retry.get_or_insert_default().extend(writes);
                self.reasons.extend(reason);
            }
            PostFilterOutcome::Withdraw { reason } => {
                self.withdrawn = true;
                self.reasons.extend(reason);
            }
        }
        None
    }

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
