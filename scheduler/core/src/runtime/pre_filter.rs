//! `PreFilter`: once per pod (kube-scheduler `RunPreFilterPlugins`).

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{Code, Cycle, CycleState, NodeId, Point, PreFilterOutcome, Rejection};

use super::Framework;
use crate::plugin_set::PluginSet;
use crate::probe::{Probe, SUCCESS};

/// What all `PreFilter`s say together.
#[derive(Debug, Default)]
pub(crate) struct PreFiltered {
    /// Plugins that have nothing to judge in this cycle.
    pub(crate) skip: PluginSet,
    /// The only nodes that can do; `None`: all.
    pub(crate) nodes: Option<NodeSet>,
    /// Plugins that narrowed the nodes: they answer for those left out.
    pub(crate) narrowed_by: PluginSet,
}

/// Nodes that are there, and names of nodes that are not.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeSet {
    pub(crate) ids: BTreeSet<NodeId>,
    pub(crate) absent: BTreeSet<Arc<str>>,
}

/// A pod that no node can take, known before any was looked at.
#[derive(Debug)]
pub(crate) struct PreFilterStop {
    pub(crate) rejection: Rejection,
    /// What had been said until then; `nodes` is `None` where the plugin that rejects has
    /// the last word.
    pub(crate) until: PreFiltered,
}

/// Is told what each `PreFilter` says.
pub(crate) type Hearing<'a> = &'a mut dyn FnMut(&'static str, &Result<PreFilterOutcome, Rejection>);

impl Framework {
    /// Runs every `PreFilter`. An error or `UnschedulableAndUnresolvable` ends it at once;
    /// after `Unschedulable` the others still run, and the last one counts.
    pub(crate) fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        probe: &Probe,
    ) -> Result<PreFiltered, Box<PreFilterStop>> {
        self.pre_filter_heard(cycle, state, probe, &mut |_, _| {})
    }

    /// The same, heard by `hear`.
    pub(crate) fn pre_filter_heard(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        probe: &Probe,
        hear: Hearing<'_>,
    ) -> Result<PreFiltered, Box<PreFilterStop>> {
        let begun = probe.begin();
        let ready = self.ask_pre_filters(cycle, state, probe, hear);
        let status = match &ready {
            Ok(_) => SUCCESS,
            Err(stop) => stop.rejection.code.as_str(),
        };
        probe.point(begun, &self.scheduler_name, Point::PreFilter, status);
        ready
    }

    fn ask_pre_filters(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        probe: &Probe,
        hear: Hearing<'_>,
    ) -> Result<PreFiltered, Box<PreFilterStop>> {
        let mut all = PreFiltered::default();
        let mut rejected = None;
        for hook in &self.pre_filter {
            let outcome = probe.around(hook.name, Point::PreFilter, || {
                hook.run.pre_filter(cycle, state)
            });
            if !matches!(outcome, Ok(PreFilterOutcome::Skip)) {
                probe.evaluated(self.index, Point::PreFilter, hook.plugin, 1);
            }
            hear(hook.name, &outcome);
            let nodes = match outcome {
                Ok(PreFilterOutcome::Ready) => continue,
                Ok(PreFilterOutcome::Skip) => {
                    all.skip.insert(hook.plugin);
                    continue;
                }
                Ok(PreFilterOutcome::Nodes(ids)) => NodeSet {
                    ids,
                    absent: BTreeSet::new(),
                },
                Ok(PreFilterOutcome::Named { nodes, absent }) => NodeSet { ids: nodes, absent },
                Err(rejection) => {
                    let rejection = hook.sign(rejection, "running PreFilter plugin");
                    if rejection.code != Code::Unschedulable {
                        all.nodes = None;
                        return Err(all.stopped_by(rejection));
                    }
                    rejected = Some(rejection);
                    continue;
                }
            };
            all.narrow(nodes);
            all.narrowed_by.insert(hook.plugin);
            if all.nodes.as_ref().is_some_and(NodeSet::is_empty) {
                let rejection = self.nowhere(all.narrowed_by);
                return Err(all.stopped_by(rejection));
            }
        }
        match rejected {
            None => Ok(all),
            Some(rejection) => Err(all.stopped_by(rejection)),
        }
    }

    /// The rejection of every node outside the set that `narrowed_by` left.
    pub(crate) fn outside(&self, narrowed_by: PluginSet) -> Rejection {
        let names = self.sorted_names(narrowed_by).join(" ");
        Rejection::unresolvable(format!("node(s) didn't satisfy plugin(s) [{names}]"))
    }

    fn nowhere(&self, narrowed_by: PluginSet) -> Rejection {
        let names = self.sorted_names(narrowed_by);
        let reason = match names.as_slice() {
            [only] => format!("node(s) didn't satisfy plugin {only}"),
            many => format!(
                "node(s) didn't satisfy plugin(s) [{}] simultaneously",
                many.join(" ")
            ),
        };
        Rejection::unresolvable(reason)
    }

    /// The names of `plugins`, sorted.
    pub(crate) fn sorted_names(&self, plugins: PluginSet) -> Vec<&'static str> {
        let mut names: Vec<_> = plugins.iter().map(|plugin| self.name_of(plugin)).collect();
        names.sort_unstable();
        names
    }
}

impl PreFiltered {
    fn narrow(&mut self, nodes: NodeSet) {
        self.nodes = Some(match self.nodes.take() {
            None => nodes,
            Some(kept) => NodeSet {
                ids: kept.ids.intersection(&nodes.ids).copied().collect(),
                absent: kept.absent.intersection(&nodes.absent).cloned().collect(),
            },
        });
    }

    fn stopped_by(self, rejection: Rejection) -> Box<PreFilterStop> {
        Box::new(PreFilterStop {
            rejection,
            until: self,
        })
    }
}

impl NodeSet {
    fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.absent.is_empty()
    }
}
