//! No node for the pod: the message, the plugins to wait for, what could be done about it.

use plimsoll_framework::{Code, CycleState, NodeId, PostFilterOutcome, Rejection};

use super::decide::{Decided, Deciding};
use super::find::Found;
use super::groups::{self, Group};
use super::message;
use crate::plugin_set::PluginSet;
use crate::queue::Setback;
use crate::runtime::judge::Judge;
use crate::runtime::pre_filter::{PreFilterStop, PreFiltered};

/// The message for a cluster without nodes (kube-scheduler `ErrNoNodesAvailable`).
const NO_NODES: &str = "no nodes available to schedule pods";

/// No node for the pod.
#[derive(Debug)]
pub(crate) struct Nowhere {
    pub(crate) message: String,
    pub(crate) setback: Setback,
    /// Whether any node was in the snapshot.
    pub(crate) no_nodes: bool,
    /// What a `PostFilter` wants done.
    pub(crate) outcome: Option<PostFilterOutcome>,
}

impl Nowhere {
    pub(super) fn without_nodes() -> Self {
        Self {
            message: NO_NODES.to_owned(),
            setback: Setback::default(),
            no_nodes: true,
            outcome: None,
        }
    }
}

impl Deciding<'_> {
    /// Every node that was judged rejects the pod.
    pub(super) fn nowhere(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        ready: &PreFiltered,
        found: &Found,
    ) -> Nowhere {
        let nodes = self.cycle.snapshot.len();
        let outside = self.framework.outside(ready.narrowed_by);
        let grouped: Vec<Group<'_>> = groups::group(&found.rejected);
        let mut histogram = groups::histogram(&grouped);
        if ready.nodes.is_some() {
            histogram.add(&outside, nodes.saturating_sub(found.rejected.len()));
        }
        let mut setback = groups::setback(self.framework, &grouped);
        setback.rejectors = setback.rejectors.or(ready.narrowed_by);
        for (_, rejection) in &found.rejected {
            setback.retry_at = groups::earliest(setback.retry_at, rejection.retry_at);
        }
        let (help, outcome) = self.post_filter(judge, state, || {
            let mut verdicts = found.rejected.clone();
            if ready.nodes.is_some() {
                self.add_absent(&mut verdicts, &outside);
            }
            verdicts
        });
        let message = message::by_filter(nodes, &histogram, &help);
        Nowhere {
            message,
            setback,
            no_nodes: false,
            outcome,
        }
    }

    /// A `PreFilter` speaks for all nodes.
    pub(super) fn stopped(&self, state: &CycleState, stop: PreFilterStop) -> Decided {
        let PreFilterStop {
            rejection,
            narrowed_by,
        } = stop;
        if rejection.code == Code::Error {
            return Decided::Failed(rejection);
        }
        let mut setback = Setback {
            rejectors: narrowed_by,
            retry_at: rejection.retry_at,
            ..Setback::default()
        };
        groups::add(&mut setback, self.framework, &rejection);
        let judge = self.judge(PluginSet::EMPTY);
        let (help, outcome) = self.post_filter(&judge, state, || {
            let mut verdicts = Vec::new();
            self.add_absent(&mut verdicts, &rejection);
            verdicts
        });
        let nodes = self.cycle.snapshot.len();
        let message = message::by_pre_filter(nodes, &rejection, &help);
        Decided::Nowhere(Nowhere {
            message,
            setback,
            no_nodes: false,
            outcome,
        })
    }

    /// Every node without a verdict gets `absent`: a `PostFilter` sees them all.
    fn add_absent(&self, verdicts: &mut Vec<(NodeId, Rejection)>, absent: &Rejection) {
        let mut judged = vec![false; self.cycle.snapshot.columns()];
        for (node, _) in verdicts.iter() {
            judged[node.index()] = true;
        }
        let rest = self
            .cycle
            .snapshot
            .order()
            .iter()
            .filter(|node| !judged[node.index()]);
        verdicts.extend(rest.map(|node| (*node, absent.clone())));
    }

    fn post_filter(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        verdicts: impl FnOnce() -> Vec<(NodeId, Rejection)>,
    ) -> (String, Option<PostFilterOutcome>) {
        if !self.framework.has_post_filters() {
            return (String::new(), None);
        }
        let done = self
            .framework
            .post_filter(&self.cycle, state, &verdicts(), judge);
        (done.message, done.outcome)
    }
}
