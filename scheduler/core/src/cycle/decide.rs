//! The scheduling algorithm: from a pod and a snapshot to a node, or to the reason why not
//! (kube-scheduler `schedule_one.go` `schedulePod`).
//!
//! Takes values, changes nothing but its own lists and the generator.

use plimsoll_config::NodesToScore;
use plimsoll_framework::{Cycle, CycleState, NodeId, Point, Rejection};

use super::consult::{Consult, Halt};
use super::desk::Desk;
use super::find::{Extent, Found, enough};
use super::nowhere::Nowhere;
use super::select;
use super::table::Unfit;
use crate::decision::{OverCap, Unscored};
use crate::extender::Ask;
use crate::nominator::NominatedByNode;
use crate::plugin_set::PluginSet;
use crate::probe::{Probe, status_of};
use crate::random::Random;
use crate::runtime::Framework;
use crate::runtime::judge::Judge;
use crate::runtime::pre_filter::PreFiltered;

/// One decision to make.
pub(crate) struct Deciding<'a> {
    pub(crate) framework: &'a Framework,
    pub(crate) cycle: Cycle<'a>,
    /// Pods to leave room for.
    pub(crate) nominated: &'a NominatedByNode,
    /// The node that the pod itself was promised.
    pub(crate) promised: Option<NodeId>,
    /// Where in the order of nodes to begin.
    pub(crate) start: usize,
    pub(crate) probe: &'a Probe,
    /// Whether `PostFilter`s may help.
    pub(crate) helps: bool,
    /// `None`: no extender has a say.
    pub(crate) consult: Option<Consult<'a>>,
}

/// What was decided.
#[derive(Debug)]
pub(crate) enum Decided {
    Chosen(Chosen),
    Nowhere(Nowhere),
    /// An internal error.
    Failed(Rejection),
}

/// A node for the pod.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) node: NodeId,
    pub(crate) unscored: Option<Unscored>,
    /// The soft line that the node is over.
    pub(crate) over: Option<OverCap>,
}

impl Chosen {
    fn unscored(node: NodeId, why: Unscored) -> Self {
        Self {
            node,
            unscored: Some(why),
            over: None,
        }
    }
}

impl Deciding<'_> {
    /// # Errors
    /// What extenders must be asked first.
    pub(crate) fn decide(
        &self,
        state: &mut CycleState,
        desk: &mut Desk,
        random: &mut Random,
    ) -> Result<Decided, Vec<Ask>> {
        match self.try_decide(state, desk, random) {
            Ok(decided) => Ok(decided),
            Err(Halt::Failed(text)) => Ok(Decided::Failed(Rejection::error(text))),
            Err(Halt::Ask(asks)) => Err(asks),
        }
    }

    fn try_decide(
        &self,
        state: &mut CycleState,
        desk: &mut Desk,
        random: &mut Random,
    ) -> Result<Decided, Halt> {
        desk.clear();
        if self.cycle.snapshot.is_empty() {
            return Ok(Decided::Nowhere(Nowhere::without_nodes()));
        }
        let ready = match self.framework.pre_filter(&self.cycle, state, self.probe) {
            Ok(ready) => ready,
            Err(stop) => return self.stopped(state, *stop),
        };
        let judge = self.judge(ready.skip);
        if let Some(node) = self.promised_node(&judge, state, &mut desk.found)? {
            return Ok(Decided::Chosen(Chosen::unscored(
                node,
                Unscored::NominatedNode,
            )));
        }
        let begun = self.probe.begin();
        let searched = self.find(&judge, state, &ready, desk);
        let (evaluated, rejected) = (desk.found().evaluated(), desk.found().rejected.len());
        let struck = match &searched {
            Ok(()) => self.ask_about(&mut desk.found)?,
            Err(_) => false,
        };
        // What runs again with the answers is counted once.
        let (name, status) = (&self.framework.scheduler_name, status_of(&searched));
        self.probe.point(begun, name, Point::Filter, status);
        if let Err(error) = searched {
            return Ok(Decided::Failed(error));
        }
        let found = desk.found();
        let by_plugins = found.rejected.get(..rejected).unwrap_or_default();
        self.framework
            .count_filters(self.probe, ready.skip, evaluated, by_plugins);
        match found.feasible.as_slice() {
            [] => self.soft_or_nowhere(&judge, state, &ready, (found, struck), random),
            [only] => Ok(Decided::Chosen(Chosen::unscored(
                *only,
                Unscored::OnlyFeasibleNode,
            ))),
            _ => self.score(state, desk, random),
        }
    }

    fn score(
        &self,
        state: &mut CycleState,
        desk: &mut Desk,
        random: &mut Random,
    ) -> Result<Decided, Halt> {
        let (snapshot, feasible) = (self.cycle.snapshot, &desk.found.feasible);
        let added = self
            .consult
            .map(|consult| consult.scores(snapshot, feasible))
            .transpose()?;
        let scored = if let Some(table) = desk.table() {
            table.score(self, state)
        } else {
            let (feasible, scores) = (&desk.found.feasible, &mut desk.scores);
            self.framework
                .score_all(&self.cycle, state, feasible, scores, self.probe)
        };
        if let Err(error) = scored {
            return Ok(Decided::Failed(error));
        }
        if let Some(added) = added {
            desk.scores.add(added);
        }
        let node = select::best(&desk.found().feasible, &desk.scores().totals, random);
        Ok(Decided::Chosen(Chosen {
            node,
            unscored: None,
            over: None,
        }))
    }

    pub(crate) fn judge(&self, skip: PluginSet) -> Judge<'_> {
        Judge {
            framework: self.framework,
            skip,
            nominated: self.nominated,
            probe: self.probe,
        }
    }

    /// Finds the nodes: from a table, where all of them are looked at and none is ahead of
    /// the others.
    fn find(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        ready: &PreFiltered,
        desk: &mut Desk,
    ) -> Result<(), Rejection> {
        let (framework, cycle) = (self.framework, &self.cycle);
        let sees_all = framework.nodes_to_score == NodesToScore::All && framework.has_scores();
        let is_plain = ready.nodes.is_none() && self.promised.is_none() && self.consult.is_none();
        if sees_all && is_plain {
            let nodes = cycle.snapshot.len();
            let table = desk.turn_to(framework.index(), cycle.pod, nodes);
            match table.map(|table| table.search(self, judge, state)) {
                None => {}
                Some(Ok(())) => return Ok(()),
                Some(Err(Unfit::Attempt(error))) => return Err(error),
                Some(Err(Unfit::Table)) => desk.turn_away(),
            }
        }
        self.search(judge, state, ready, &mut desk.found)
    }

    fn search(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        ready: &PreFiltered,
        found: &mut Found,
    ) -> Result<(), Rejection> {
        let order = self.cycle.snapshot.order();
        let framework = self.framework;
        let extent = |nodes: usize| Extent {
            enough: enough(nodes, framework.nodes_to_score, framework.chooses()),
            // Where all are looked at, the first is always the same.
            start: match framework.nodes_to_score {
                NodesToScore::All => 0,
                _ => self.start.checked_rem(nodes).unwrap_or(0),
            },
        };
        match &ready.nodes {
            None => found.search(judge, &self.cycle, state, order, extent(order.len())),
            Some(allowed) => {
                let known = |id: &NodeId| self.cycle.snapshot.get(*id).is_some();
                let allowed: Vec<NodeId> = allowed.ids.iter().copied().filter(known).collect();
                found.search(judge, &self.cycle, state, &allowed, extent(allowed.len()))
            }
        }
    }

    fn soft_or_nowhere(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        ready: &PreFiltered,
        (found, struck): (&Found, bool),
        random: &mut Random,
    ) -> Result<Decided, Halt> {
        let least = found.least_soft();
        let drawn = if least.len() > 1 {
            random.below(least.len())
        } else {
            0
        };
        if let Some(soft) = least.get(drawn) {
            return Ok(Decided::Chosen(Chosen {
                node: soft.node,
                unscored: Some(Unscored::SoftCap),
                over: Some(soft.over.clone()),
            }));
        }
        let mut nowhere = self.nowhere(judge, state, ready, found);
        if struck {
            nowhere.wait_for_extenders(self.framework);
        }
        self.with_extenders(nowhere)
    }
}
