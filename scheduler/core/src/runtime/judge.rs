//! `Filter`: one node at a time, with the pods nominated to it
//! (kube-scheduler `RunFilterPluginsWithNominatedPods`).
//!
//! Takes the pass of `PreFilter` and the nominated pods of this cycle, gives verdicts on
//! nodes, edited ones included; it is the engine that a `PostFilter` sees.

pub(crate) mod kept;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{
    Cycle, CycleState, Filter, FilterOutcome, Handle, NodeId, NodeInfo, Point, PreFilter, Rejection,
};
use plimsoll_objects::Pod;

use super::{Framework, Hook};
use crate::nominator::NominatedByNode;
use crate::plugin_set::{PluginIx, PluginSet};
use crate::probe::{Probe, status_of};
use crate::timing::label;

/// Judges nodes in one cycle.
pub(crate) struct Judge<'a> {
    pub(crate) framework: &'a Framework,
    /// Plugins whose `PreFilter` said that there is nothing to judge.
    pub(crate) skip: PluginSet,
    /// Pods to leave room for.
    pub(crate) nominated: &'a NominatedByNode,
    pub(crate) probe: &'a Probe,
}

impl Handle for Judge<'_> {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        match self.nominated.get(&node.id) {
            None => self.filter_once(cycle, state, node),
            Some(pods) => self.filter_with(cycle, state, node, pods),
        }
    }

    fn add_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection> {
        node.add_pod(Arc::clone(pod));
        for hook in self.pre_filters() {
            let told = hook.run.add_pod(cycle, state, pod, node);
            told.map_err(|fault| hook.fault(&fault, "running AddPod on PreFilter plugin"))?;
        }
        Ok(())
    }

    fn remove_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection> {
        node.remove_pod(pod.uid());
        for hook in self.pre_filters() {
            let told = hook.run.remove_pod(cycle, state, pod, node);
            told.map_err(|fault| hook.fault(&fault, "running RemovePod on PreFilter plugin"))?;
        }
        Ok(())
    }
}

impl<'a> Judge<'a> {
    fn pre_filters(&self) -> impl Iterator<Item = &'a Hook<dyn PreFilter>> {
        let skip = self.skip;
        self.framework
            .pre_filter
            .iter()
            .filter(move |hook| !skip.contains(hook.plugin))
    }

    /// Both with and without the nominated pods the node must pass: they may never come.
    fn filter_with(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
        nominated: &[Arc<Pod>],
    ) -> Result<FilterOutcome, Rejection> {
        let mut crowded = node.clone();
        let mut crowded_state = state.clone();
        for pod in nominated {
            self.add_pod(cycle, &mut crowded_state, pod, &mut crowded)?;
        }
        let with = self.filter_once(cycle, &crowded_state, &crowded)?;
        let without = self.filter_once(cycle, state, node)?;
        Ok(worse(with, without))
    }

    fn filter_once(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let mut outcome = FilterOutcome::Pass;
        let timed = self.probe.samples_node();
        for hook in &self.framework.filter {
            if !self.skip.contains(hook.plugin) {
                let said = self.ask(hook, cycle, state, (node, timed))?;
                outcome = worse(outcome, said);
            }
        }
        Ok(outcome)
    }

    fn ask(
        &self,
        hook: &Hook<dyn Filter>,
        cycle: &Cycle<'_>,
        state: &CycleState,
        (node, timed): (&NodeInfo, bool),
    ) -> Result<FilterOutcome, Rejection> {
        let begun = self.probe.begin_if(timed);
        let said = hook.run.filter(cycle, state, node);
        if timed {
            let status = status_of(&said);
            self.probe
                .plugin(begun, hook.name, label(Point::Filter), status);
        }
        said.map_err(|rejection| sign_filter(hook.name, rejection))
    }
}

impl Framework {
    /// Counts how often each `Filter` was asked in a search that judged `nodes` nodes: each
    /// but those that one before it rejected.
    pub(crate) fn count_filters(
        &self,
        probe: &Probe,
        skip: PluginSet,
        nodes: usize,
        rejected: &[(NodeId, Rejection)],
    ) {
        let by_plugin = self.rejections_by_plugin(rejected);
        let mut left = nodes;
        for hook in self
            .filter
            .iter()
            .filter(|hook| !skip.contains(hook.plugin))
        {
            probe.evaluated(self.index, Point::Filter, hook.plugin, left);
            left = left.saturating_sub(by_plugin.get(&hook.plugin).copied().unwrap_or(0));
        }
    }

    fn rejections_by_plugin(&self, rejected: &[(NodeId, Rejection)]) -> BTreeMap<PluginIx, usize> {
        let mut counts = BTreeMap::new();
        let mut last: Option<&Hook<dyn Filter>> = None;
        for (_, rejection) in rejected {
            let is_by = |hook: &&Hook<dyn Filter>| hook.name == rejection.plugin;
            // Neighbours are mostly rejected by the same plugin.
            last = last
                .filter(is_by)
                .or_else(|| self.filter.iter().find(is_by));
            if let Some(hook) = last {
                *counts.entry(hook.plugin).or_default() += 1;
            }
        }
        counts
    }
}

/// Of two outcomes for one node, the one further over its line.
fn worse(one: FilterOutcome, other: FilterOutcome) -> FilterOutcome {
    match (&one, &other) {
        (_, FilterOutcome::Pass) => one,
        (FilterOutcome::Pass, FilterOutcome::Soft { .. }) => other,
        (FilterOutcome::Soft { excess: a, .. }, FilterOutcome::Soft { excess: b, .. }) => {
            if b.total_cmp(a).is_gt() { other } else { one }
        }
    }
}

fn sign_filter(name: &'static str, rejection: Rejection) -> Rejection {
    if rejection.is_rejected() {
        return rejection.by(name);
    }
    // The name comes first here, unlike at all other points.
    Rejection::error(format!(
        "running \"{name}\" filter plugin: {}",
        rejection.message()
    ))
    .by(name)
}
