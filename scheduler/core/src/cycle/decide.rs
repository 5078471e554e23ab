//! The scheduling algorithm: from a pod and a snapshot to a node, or to the reason why not
//! (kube-scheduler `schedule_one.go` `schedulePod`).
//!
//! Takes values, changes nothing but its own lists and the generator.

use plimsoll_config::NodesToScore;
use plimsoll_framework::{Cycle, CycleState, NodeId, Point, Rejection};

use super::desk::Desk;
use super::find::{Extent, Found, enough};
use super::nowhere::Nowhere;
use super::select;
use super::table::Unfit;
use crate::decision::{OverCap, Unscored};
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
    pub(crate) fn decide(
        &self,
        state: &mut CycleState,
        desk: &mut Desk,
        random: &mut Random,
    ) -> Decided {
        desk.clear();
        if self.cycle.snapshot.is_empty() {
            return Decided::Nowhere(Nowhere::without_nodes());
        }
        let ready = match self.framework.pre_filter(&self.cycle, state, self.probe) {
            Ok(ready) => ready,
            Err(stop) => return self.stopped(state, *stop),
        };
        let judge = self.judge(ready.skip);
        if let Some(node) = self.promised_node(&judge, state, &mut desk.found) {
            return Decided::Chosen(Chosen::unscored(node, Unscored::NominatedNode));
        }
        let begun = self.probe.begin();
        let searched = self.find(&judge, state, &ready, desk);
        let (name, status) = (&self.framework.scheduler_name, status_of(&searched));
        self.probe.point(begun, name, Point::Filter, status);
        if let Err(error) = searched {
            return Decided::Failed(error);
        }
        let found = desk.found();
        self.framework
            .count_filters(self.probe, ready.skip, found.evaluated(), &found.rejected);
        match found.feasible.as_slice() {
            [] => self.soft_or_nowhere(&judge, state, &ready, found, random),
            [only] => Decided::Chosen(Chosen::unscored(*only, Unscored::OnlyFeasibleNode)),
            _ => self.score(state, desk, random),
        }
    }

    fn score(&self, state: &mut CycleState, desk: &mut Desk, random: &mut Random) -> Decided {
        let scored = if let Some(table) = desk.table() {
            table.score(self, state)
        } else {
            let (feasible, scores) = (&desk.found.feasible, &mut desk.scores);
            self.framework
                .score_all(&self.cycle, state, feasible, scores, self.probe)
        };
        if let Err(error) = scored {
            return Decided::Failed(error);
        }
        let node = select::best(&desk.found().feasible, &desk.scores().totals, random);
        Decided::Chosen(Chosen {
            node,
            unscored: None,
            over: None,
        })
    }

    pub(crate) fn judge(&self, skip: PluginSet) -> Judge<'_> {
        Judge {
            framework: self.framework,
            skip,
            nominated: self.nominated,
            probe: self.probe,
        }
    }

    /// The promised node, if it passes outright. What else was found of it is not kept: all
    /// nodes are judged then.
    fn promised_node(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        found: &mut Found,
    ) -> Option<NodeId> {
        let judged = found.judge_one(judge, &self.cycle, state, self.promised?);
        let passes = judged.is_ok() && !found.feasible.is_empty();
        if passes {
            return self.promised;
        }
        found.clear();
        None
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
        if sees_all && ready.nodes.is_none() && self.promised.is_none() {
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
            enough: enough(nodes, framework.nodes_to_score, framework.has_scores()),
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
        found: &Found,
        random: &mut Random,
    ) -> Decided {
        let least = found.least_soft();
        let drawn = if least.len() > 1 {
            random.below(least.len())
        } else {
            0
        };
        match least.get(drawn) {
            Some(soft) => Decided::Chosen(Chosen {
                node: soft.node,
                unscored: Some(Unscored::SoftCap),
                over: Some(soft.over.clone()),
            }),
            None => Decided::Nowhere(self.nowhere(judge, state, ready, found)),
        }
    }
}
