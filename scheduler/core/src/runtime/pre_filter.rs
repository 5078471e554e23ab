//! `PreFilter`: once per pod (kube-scheduler `RunPreFilterPlugins`).

use std::collections::BTreeSet;

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
    pub(crate) nodes: Option<BTreeSet<NodeId>>,
    /// Plugins that narrowed the nodes: they answer for those left out.
    pub(crate) narrowed_by: PluginSet,
}

/// A pod that no node can take, known before any was looked at.
#[derive(Debug)]
pub(crate) struct PreFilterStop {
    pub(crate) rejection: Rejection,
    pub(crate) narrowed_by: PluginSet,
}

impl Framework {
    /// Runs every `PreFilter`. An error or `UnschedulableAndUnresolvable` ends it at once;
    /// after `Unschedulable` the others still run, and the last one counts.
    pub(crate) fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        probe: &Probe,
    ) -> Result<PreFiltered, Box<PreFilterStop>> {
        let begun = probe.begin();
        let ready = self.ask_pre_filters(cycle, state, probe);
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
            match outcome {
                Ok(PreFilterOutcome::Ready) => {}
                Ok(PreFilterOutcome::Skip) => all.skip.insert(hook.plugin),
                Ok(PreFilterOutcome::Nodes(nodes)) => {
                    all.narrow(&nodes);
                    all.narrowed_by.insert(hook.plugin);
                    if all.nodes.as_ref().is_some_and(BTreeSet::is_empty) {
                        return Err(Box::new(self.nowhere(all.narrowed_by)));
                    }
                }
                Err(rejection) => {
                    let rejection = hook.sign(rejection, "running PreFilter plugin");
                    let last = rejection.code != Code::Unschedulable;
                    rejected = Some(rejection);
                    if last {
                        break;
                    }
                }
            }
        }
        match rejected {
            None => Ok(all),
            Some(rejection) => Err(Box::new(PreFilterStop {
                rejection,
                narrowed_by: all.narrowed_by,
            })),
        }
    }

    /// The rejection of every node outside the set that `narrowed_by` left.
    pub(crate) fn outside(&self, narrowed_by: PluginSet) -> Rejection {
        let names = self.sorted_names(narrowed_by).join(" ");
        Rejection::unresolvable(format!("node(s) didn't satisfy plugin(s) [{names}]"))
    }

    fn nowhere(&self, narrowed_by: PluginSet) -> PreFilterStop {
        let names = self.sorted_names(narrowed_by);
        let reason = match names.as_slice() {
            [only] => format!("node(s) didn't satisfy plugin {only}"),
            many => format!(
                "node(s) didn't satisfy plugin(s) [{}] simultaneously",
                many.join(" ")
            ),
        };
        PreFilterStop {
            rejection: Rejection::unresolvable(reason),
            narrowed_by,
        }
    }

    fn sorted_names(&self, plugins: PluginSet) -> Vec<&'static str> {
        let mut names: Vec<_> = plugins.iter().map(|plugin| self.name_of(plugin)).collect();
        names.sort_unstable();
        names
    }
}

impl PreFiltered {
    fn narrow(&mut self, nodes: &BTreeSet<NodeId>) {
        self.nodes = Some(match &self.nodes {
            None => nodes.clone(),
            Some(kept) => kept.intersection(nodes).copied().collect(),
        });
    }
}
