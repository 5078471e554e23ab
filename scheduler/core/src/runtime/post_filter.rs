//! `PostFilter`: what can be done for a pod that no node takes
//! (kube-scheduler `RunPostFilterPlugins`).

use plimsoll_framework::{Code, Cycle, CycleState, NodeId, Point, PostFilterOutcome, Rejection};

use super::Framework;
use super::judge::Judge;
use crate::probe::SUCCESS;

/// What the `PostFilter`s came to.
#[derive(Debug)]
pub(crate) struct PostFiltered {
    /// The success of the last plugin asked; `None` if nothing can be done.
    pub(crate) outcome: Option<PostFilterOutcome>,
    /// Text for the pod's message; may be empty.
    pub(crate) message: String,
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
        let status = match &done.outcome {
            Some(_) => SUCCESS,
            None => Code::Unschedulable.as_str(),
        };
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
        let mut reasons = Vec::new();
        for hook in &self.post_filter {
            let asked = judge.probe.around(hook.name, Point::PostFilter, || {
                hook.run.post_filter(cycle, state, verdicts, judge)
            });
            let rejection = match asked {
                Ok(outcome) => {
                    let message = text_of(&outcome);
                    return PostFiltered {
                        outcome: Some(outcome),
                        message,
                    };
                }
                Err(rejection) => rejection,
            };
            if matches!(
                rejection.code,
                Code::Error | Code::UnschedulableAndUnresolvable
            ) {
                return PostFiltered {
                    outcome: None,
                    message: rejection.message(),
                };
            }
            reasons.extend(rejection.reasons);
        }
        PostFiltered {
            outcome: None,
            message: reasons.join(", "),
        }
    }
}

fn text_of(outcome: &PostFilterOutcome) -> String {
    let (PostFilterOutcome::Nominate { reason, .. } | PostFilterOutcome::Retry { reason }) =
        outcome;
    reason.clone().unwrap_or_default().into_owned()
}
