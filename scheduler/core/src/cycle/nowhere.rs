//! No node for the pod: the message, the plugins to wait for, what could be done about it.

use std::borrow::Cow;

use plimsoll_framework::{Code, CycleState, Handle as _, NodeId, Rejection};

use super::consult::Halt;
use super::decide::{Decided, Deciding};
use super::find::Found;
use super::groups::{self, Group};
use super::message;
use crate::extender;
use crate::queue::Setback;
use crate::runtime::Framework;
use crate::runtime::judge::Judge;
use crate::runtime::post_filter::PostFiltered;
use crate::runtime::pre_filter::{PreFilterStop, PreFiltered};

/// The message for a cluster without nodes (kube-scheduler `ErrNoNodesAvailable`).
const NO_NODES: &str = "no nodes available to schedule pods";

/// No node for the pod.
#[derive(Debug)]
pub(crate) struct Nowhere {
    /// Why, without what the `PostFilter`s say.
    pub(crate) why: String,
    pub(crate) setback: Setback,
    /// Whether no node was in the snapshot.
    pub(crate) no_nodes: bool,
    /// What the `PostFilter`s say; `None` if none was asked.
    pub(crate) help: Option<PostFiltered>,
}

impl Nowhere {
    pub(crate) fn without_nodes() -> Self {
        Self {
            why: NO_NODES.to_owned(),
            setback: Setback::default(),
            no_nodes: true,
            help: None,
        }
    }

    /// Extenders struck nodes out: anything that happens may change their minds.
    pub(crate) fn wait_for_extenders(&mut self, framework: &Framework) {
        if let Some(extenders) = framework.index_of(extender::NAME) {
            self.setback.rejectors.insert(extenders);
        }
    }

    /// The text of the condition.
    pub(crate) fn message(&self) -> String {
        let help = self.help.as_ref().map_or("", |help| &help.message);
        message::with_help(&self.why, help)
    }
}

impl Deciding<'_> {
    /// Every node that was judged rejects the pod.
    pub(crate) fn nowhere(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        ready: &PreFiltered,
        found: &Found,
    ) -> Nowhere {
        let nodes = self.cycle.snapshot.len();
        let outside = self.framework.outside(ready.narrowed_by);
        let rejected = self.with_promised(judge, state, ready, found);
        let grouped: Vec<Group<'_>> = groups::group(&rejected);
        let mut histogram = groups::histogram(&grouped);
        if ready.nodes.is_some() {
            histogram.add(&outside, nodes.saturating_sub(rejected.len()));
        }
        let mut setback = groups::setback(self.framework, &grouped);
        setback.rejectors = setback.rejectors.or(ready.narrowed_by);
        for (_, rejection) in &*rejected {
            setback.retry_at = groups::earliest(setback.retry_at, rejection.retry_at);
        }
        let help = self.post_filter(judge, state, || {
            let mut verdicts = rejected.to_vec();
            if ready.nodes.is_some() {
                self.add_absent(&mut verdicts, &outside);
            }
            verdicts
        });
        Nowhere {
            why: message::by_filter(nodes, &histogram),
            setback,
            no_nodes: false,
            help,
        }
    }

    /// All rejections. The node that the pod was promised is looked at before the others,
    /// also if it is not among those that `PreFilter` has left (kube-scheduler
    /// `evaluateNominatedNode`): what was said of it counts.
    fn with_promised<'f>(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        ready: &PreFiltered,
        found: &'f Found,
    ) -> Cow<'f, [(NodeId, Rejection)]> {
        let looked_at = |node: &NodeId| {
            let allowed = ready.nodes.as_ref();
            allowed.is_none_or(|nodes| nodes.ids.contains(node))
        };
        let promised = self.promised.filter(|node| !looked_at(node));
        let info = promised.and_then(|node| self.cycle.snapshot.get(node));
        let said = info.map(|info| judge.filter(&self.cycle, state, info));
        // As in kube-scheduler, an error about that node is not a verdict on it.
        let Some(Err(rejection)) = said.filter(|said| !is_error(said)) else {
            return Cow::Borrowed(&found.rejected);
        };
        let mut all = found.rejected.clone();
        all.extend(promised.map(|node| (node, rejection)));
        Cow::Owned(all)
    }

    /// A `PreFilter` speaks for all nodes.
    ///
    /// # Errors
    /// Extenders are to be asked first.
    pub(crate) fn stopped(&self, state: &CycleState, stop: PreFilterStop) -> Result<Decided, Halt> {
        let PreFilterStop { rejection, until } = stop;
        if rejection.code == Code::Error {
            return Ok(Decided::Failed(rejection));
        }
        let mut setback = Setback {
            rejectors: until.narrowed_by,
            retry_at: rejection.retry_at,
            ..Setback::default()
        };
        groups::add(&mut setback, self.framework, &rejection);
        let judge = self.judge(until.skip);
        let help = self.post_filter(&judge, state, || {
            let mut verdicts = Vec::new();
            self.add_absent(&mut verdicts, &rejection);
            verdicts
        });
        let nodes = self.cycle.snapshot.len();
        self.with_extenders(Nowhere {
            why: message::by_pre_filter(nodes, &rejection),
            setback,
            no_nodes: false,
            help,
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
    ) -> Option<PostFiltered> {
        let (framework, cycle) = (self.framework, &self.cycle);
        let asks = self.helps && framework.has_post_filters();
        asks.then(|| framework.post_filter(cycle, state, &verdicts(), judge))
    }
}

fn is_error<T>(said: &Result<T, Rejection>) -> bool {
    said.as_ref()
        .is_err_and(|rejection| rejection.code == Code::Error)
}
