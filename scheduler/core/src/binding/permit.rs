//! Permit: a pod with its node reserved waits for plugins, or goes on.

use std::time::Duration;

use plimsoll_framework::{Code, Rejection, Release};
use plimsoll_objects::Uid;

use super::{PermitWait, Reserved, Stage};
use crate::cycle::message::go_duration;
use crate::engine::Engine;
use crate::plugin_set::PluginIx;
use crate::probe::SUCCESS;
use crate::profile::ProfileIx;
use crate::runtime::place::Permitted;
use crate::timing::Timing;

impl Engine {
    /// Takes a pod that has its node reserved and what the `Permit`s said of it.
    pub(crate) fn begin_binding(&mut self, reserved: Reserved, permitted: Permitted) {
        let profile = reserved.item.profile;
        let stage = Stage::Permit(Vec::new());
        let uid = self.bindings.insert(reserved, stage, self.now.mono);
        self.take_permission(&uid, profile, permitted);
    }

    /// What the `Permit`s said of a pod, and of others that wait for them.
    pub(super) fn take_permission(&mut self, uid: &Uid, profile: ProfileIx, permitted: Permitted) {
        let now = self.now.mono;
        let wait = |(plugin, timeout): (PluginIx, Duration)| PermitWait {
            plugin,
            timeout,
            until: now.saturating_add(timeout),
        };
        let waits: Vec<PermitWait> = permitted.waits.into_iter().map(wait).collect();
        if waits.is_empty() {
            self.permitted(uid);
        } else {
            self.announce_node(uid);
            self.wait_for_permit(uid, waits);
        }
        for (plugin, release) in permitted.releases {
            self.release(profile, plugin, release);
        }
    }

    /// A wait ran out of time: the plugin that granted the least turns the pod down.
    pub(super) fn permit_timed_out(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        let Stage::Permit(waits) = &binding.stage else {
            return;
        };
        let Some(first) = waits.iter().min_by_key(|wait| wait.until) else {
            return;
        };
        let name = self
            .profiles
            .get(binding.reserved.item.profile)
            .name_of(first.plugin);
        let waited = go_duration(first.timeout);
        let text = format!("rejected due to timeout after waiting {waited} at plugin {name}");
        self.counters.binds.permit_timeouts += 1;
        self.time_permit_wait(binding.began, Code::Unschedulable.as_str());
        self.turn_down(uid, &Rejection::unschedulable(text).by(name));
    }

    /// What `plugin` says of a pod that waits for it; a pod that does not is left alone.
    fn release(&mut self, profile: ProfileIx, plugin: PluginIx, release: Release) {
        let (Release::Allow(uid) | Release::Reject(uid, _)) = &release;
        let binding = self.bindings.get_mut(uid);
        let Some(binding) = binding.filter(|binding| binding.waits_for(profile, plugin)) else {
            return;
        };
        match release {
            Release::Allow(uid) => {
                let Stage::Permit(waits) = &mut binding.stage else {
                    return;
                };
                let mut left = std::mem::take(waits);
                left.retain(|wait| wait.plugin != plugin);
                if left.is_empty() {
                    let began = binding.began;
                    self.time_permit_wait(began, SUCCESS);
                    self.permitted(&uid);
                } else {
                    self.wait_for_permit(&uid, left);
                }
            }
            Release::Reject(uid, reason) => {
                let began = binding.began;
                self.time_permit_wait(began, Code::Unschedulable.as_str());
                let name = self.profiles.get(profile).name_of(plugin);
                self.turn_down(&uid, &Rejection::unschedulable(reason).by(name));
            }
        }
    }

    pub(super) fn time_permit_wait(&self, began: Duration, result: &'static str) {
        let took = self.now.mono.saturating_sub(began);
        self.probe.keep(Timing::PermitWait { result, took });
    }

    fn wait_for_permit(&mut self, uid: &Uid, waits: Vec<PermitWait>) {
        let until = waits.iter().map(|wait| wait.until).min();
        self.bindings.enter(uid, Stage::Permit(waits), until);
    }
}
