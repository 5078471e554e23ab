//! The points after a node is chosen: Reserve, Permit, `PreBind`, Bind, `PostBind`.

use std::time::Duration;

use plimsoll_framework::plugin::MAX_PERMIT_WAIT;
use plimsoll_framework::{
    BindOutcome, Cycle, CycleState, NodeInfo, ObjectWrite, PermitOutcome, PermitRequest, Point,
    PreBindOutcome, PreBindStep, Rejection, Release, WaitingPod,
};
use plimsoll_objects::{Object, Pod};

use super::Framework;
use crate::plugin_set::PluginIx;
use crate::probe::{Probe, SUCCESS, status_of};

/// What all `Permit`s say together.
#[derive(Debug, Default)]
pub(crate) struct Permitted {
    /// Plugins that want the pod to wait, and how long at most.
    pub(crate) waits: Vec<(PluginIx, Duration)>,
    /// What each plugin says of pods that wait for it.
    pub(crate) releases: Vec<(PluginIx, Release)>,
}

impl Framework {
    /// Runs every `reserve` in order; gives the objects that are to be taken for what they
    /// will be, in `assumed`, also those of before a rejection.
    ///
    /// # Errors
    /// The first rejection; the caller unreserves.
    pub(crate) fn reserve(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
        (assumed, probe): (&mut Vec<Object>, &Probe),
    ) -> Result<(), Rejection> {
        let begun = probe.begin();
        let reserved = self.reserve.iter().try_for_each(|hook| {
            let run = || hook.run.reserve(cycle, state, node);
            let reserved = probe.around(hook.name, Point::Reserve, run);
            assumed.extend(reserved.map_err(|why| hook.sign(why, "running Reserve plugin"))?);
            Ok(())
        });
        let status = status_of(&reserved);
        probe.point(begun, &self.scheduler_name, Point::Reserve, status);
        reserved
    }

    /// Runs every `unreserve`, the last plugin first; gives what they want written.
    pub(crate) fn unreserve(
        &self,
        pod: &Pod,
        state: &mut CycleState,
        node: &str,
    ) -> Vec<ObjectWrite> {
        let last_first = self.reserve.iter().rev();
        last_first
            .flat_map(|hook| hook.run.unreserve(pod, state, node))
            .collect()
    }

    /// Runs every `permit`. `waiting_for` gives the pods that wait for a plugin.
    ///
    /// # Errors
    /// The first rejection; nothing is released then.
    pub(crate) fn permit(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
        (waiting_for, probe): (impl Fn(PluginIx) -> Vec<WaitingPod>, &Probe),
    ) -> Result<Permitted, Rejection> {
        let begun = probe.begin();
        let permitted = self.ask_permits(cycle, state, node, (waiting_for, probe));
        let status = match &permitted {
            Ok(permitted) if !permitted.waits.is_empty() => "Wait",
            other => status_of(other),
        };
        probe.point(begun, &self.scheduler_name, Point::Permit, status);
        permitted
    }

    fn ask_permits(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
        (waiting_for, probe): (impl Fn(PluginIx) -> Vec<WaitingPod>, &Probe),
    ) -> Result<Permitted, Rejection> {
        let mut all = Permitted::default();
        for hook in &self.permit {
            let waiting = waiting_for(hook.plugin);
            let request = PermitRequest {
                cycle,
                node,
                waiting: &waiting,
            };
            let run = || hook.run.permit(&request, state);
            match probe.around(hook.name, Point::Permit, run) {
                Ok(PermitOutcome::Allow { release }) => {
                    all.releases
                        .extend(release.into_iter().map(|one| (hook.plugin, one)));
                }
                Ok(PermitOutcome::Wait { timeout }) => {
                    all.waits.push((hook.plugin, timeout.min(MAX_PERMIT_WAIT)));
                }
                Err(why) => return Err(hook.sign(why, "running Permit plugin")),
            }
        }
        Ok(all)
    }

    /// The next step of the `index`-th `PreBind`; `None` after the last one.
    ///
    /// # Errors
    /// Any rejection, as an internal error.
    pub(crate) fn pre_bind(
        &self,
        index: usize,
        step: &PreBindStep<'_>,
        state: &mut CycleState,
    ) -> Option<Result<PreBindOutcome, Rejection>> {
        let hook = self.pre_bind.get(index)?;
        let outcome = hook.run.pre_bind(step, state);
        Some(outcome.map_err(|why| hook.fault(&why, "running PreBind plugin")))
    }

    /// The name of the `index`-th `PreBind`.
    pub(crate) fn pre_bind_name(&self, index: usize) -> &'static str {
        self.pre_bind.get(index).map_or("", |hook| hook.name)
    }

    /// How the pod is bound, and by which plugin: the first one that does not skip.
    ///
    /// # Errors
    /// Any rejection, as an internal error; also when every plugin skips.
    pub(crate) fn bind(
        &self,
        pod: &Pod,
        state: &CycleState,
        node: &str,
    ) -> Result<(&'static str, BindOutcome), Rejection> {
        for hook in &self.bind {
            match hook.run.bind(pod, state, node) {
                Ok(BindOutcome::Skip) => {}
                Ok(outcome) => return Ok((hook.name, outcome)),
                Err(why) => return Err(hook.fault(&why, "running Bind plugin")),
            }
        }
        Err(Rejection::error("every Bind plugin skipped the pod"))
    }

    /// Tells every `PostBind`.
    pub(crate) fn post_bind(&self, pod: &Pod, state: &mut CycleState, node: &str, probe: &Probe) {
        let begun = probe.begin();
        for hook in &self.post_bind {
            hook.run.post_bind(pod, state, node);
        }
        probe.point(begun, &self.scheduler_name, Point::PostBind, SUCCESS);
    }
}
