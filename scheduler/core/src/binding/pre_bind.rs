//! `PreBind`, step by step, and how the pod is bound after it.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{BindOutcome, Point, PreBindOutcome, PreBindStep};
use plimsoll_objects::Uid;

use super::{Progress, Request, Stage, Work};
use crate::command::PodRef;
use crate::engine::Engine;
use crate::probe::SUCCESS;
use crate::status::{Nomination, Patch};
use crate::timing::{Timing, label};

/// Shortest time before a `PreBind` that waits is asked again: a deadline that has passed
/// must not make a tight loop.
const MIN_WAIT: Duration = Duration::from_millis(100);

impl Engine {
    /// The pod has all permissions: from now on the queue keeps nothing for it.
    pub(super) fn start_pre_bind(&mut self, uid: &Uid) {
        self.queue.done(uid);
        if let Some(binding) = self.bindings.get_mut(uid) {
            binding.permitted = self.now.mono;
        }
        self.run_pre_bind(uid, 0, 0);
    }

    /// Asks the `plugin`-th `PreBind` and those after it for their next step.
    pub(super) fn run_pre_bind(&mut self, uid: &Uid, mut plugin: usize, mut attempt: u32) {
        let profiles = Arc::clone(&self.profiles);
        let soonest = self.now.mono.saturating_add(MIN_WAIT);
        loop {
            let Some(binding) = self.bindings.get_mut(uid) else {
                return;
            };
            let reserved = &mut binding.reserved;
            let framework = profiles.get(reserved.item.profile);
            let node = reserved.node();
            let step = PreBindStep {
                pod: &reserved.pod,
                node: &node,
                attempt,
                catalog: self.snapshot.catalog(),
                now: self.now,
            };
            match framework.pre_bind(plugin, &step, &mut reserved.state) {
                None if self.waits_to_bind(uid) => return,
                None => return self.run_bind(uid),
                Some(Ok(PreBindOutcome::Done)) => {
                    plugin += 1;
                    attempt = 0;
                }
                Some(Ok(PreBindOutcome::Do(effects))) if effects.is_empty() => {
                    // Nothing to wait for: asked again with the next step, not in a loop.
                    let (attempt, events) = (attempt.saturating_add(1), Vec::new());
                    let stage = Stage::PreBind {
                        plugin,
                        attempt,
                        events,
                    };
                    self.bindings.enter(uid, stage, Some(soonest));
                    return self.announce_node(uid);
                }
                Some(Ok(PreBindOutcome::Do(effects))) => {
                    let name = framework.pre_bind_name(plugin);
                    let doing = format!("running PreBind plugin \"{name}\"");
                    let effects = effects.into();
                    let work = Work::PreBindEffects {
                        effects,
                        plugin,
                        attempt,
                    };
                    self.line_up(uid, work, doing);
                    return self.announce_node(uid);
                }
                Some(Ok(PreBindOutcome::WaitUntil { events, deadline })) => {
                    let attempt = attempt.saturating_add(1);
                    let stage = Stage::PreBind {
                        plugin,
                        attempt,
                        events,
                    };
                    self.bindings.enter(uid, stage, Some(deadline.max(soonest)));
                    return self.announce_node(uid);
                }
                Some(Err(rejection)) => return self.turn_down(uid, &rejection),
            }
        }
    }

    /// Tells others (the cluster autoscaler) where the pod is going to be, as it will take a
    /// while (`NominatedNodeNameForExpectation`).
    pub(super) fn announce_node(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let pod = &binding.reserved.pod;
        let node = binding.reserved.node();
        let is_known = self.status.stored_nomination(pod) == Some(&node)
            && !self.status.changes_nomination(uid);
        if std::mem::replace(&mut binding.announced, true) || is_known {
            return;
        }
        let patch = Patch {
            pod: PodRef::of(pod),
            condition: None,
            nomination: Nomination::Set(node),
        };
        self.status.want(patch, self.now.mono);
    }

    pub(super) fn run_bind(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        let reserved = &binding.reserved;
        let framework = self.profiles.get(reserved.item.profile);
        if framework.has_pre_binds() {
            let took = self.now.mono.saturating_sub(binding.permitted);
            self.probe.keep(Timing::Point {
                profile: Arc::clone(&framework.scheduler_name),
                point: label(Point::PreBind),
                status: SUCCESS,
                took,
            });
        }
        let binders = self.extenders.binders_of(&reserved.pod);
        if !binders.is_empty() {
            // As kube-scheduler words it: the extender's own text is all that is said.
            return self.line_up(uid, Work::BindBy(binders.into()), String::new());
        }
        self.run_bind_plugin(uid);
    }

    /// Binds by the plugins of the profile.
    pub(super) fn run_bind_plugin(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        let reserved = &binding.reserved;
        let framework = self.profiles.get(reserved.item.profile);
        let how = framework.bind(&reserved.pod, &reserved.state, &reserved.node());
        match how {
            Ok((name, outcome)) => {
                let work = match outcome {
                    BindOutcome::Do(effects) => Work::BindEffects(effects.into()),
                    BindOutcome::Binding | BindOutcome::Skip => Work::Bind,
                };
                self.line_up(uid, work, format!("running Bind plugin \"{name}\""));
            }
            Err(rejection) => self.turn_down(uid, &rejection),
        }
    }

    fn line_up(&mut self, uid: &Uid, work: Work, doing: String) {
        let request = Request {
            work,
            doing,
            progress: Progress::Ready,
            ready_since: self.now.mono,
            maybe_done: false,
            refused_since: None,
            tries: 0,
        };
        self.bindings.enter(uid, Stage::Request(request), None);
    }
}
