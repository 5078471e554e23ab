//! A group that cannot go on: its members wait together again, and are told why.

use std::sync::Arc;

use plimsoll_framework::{QueuedPod, Reason};
use plimsoll_objects::{Pod, Uid};

use crate::command::{PodEvent, ScheduledFalse};
use crate::cycle::Failed;
use crate::engine::Engine;
use crate::profile::ProfileIx;
use crate::queue::{GroupId, Queued, moment};
use crate::status::Nomination;

/// The member for which a group is given up, and why.
#[derive(Debug)]
pub(crate) struct Blame {
    pub(crate) uid: Uid,
    pub(crate) name: Arc<str>,
    pub(crate) failed: Failed,
}

/// What is said of a pod that waits.
struct Said<'a> {
    profile: ProfileIx,
    reason: &'static str,
    text: &'a str,
    with_event: bool,
}

impl Engine {
    /// The attempt with the group `item` failed for one of its `members`; none of them holds
    /// anything any more. Gives what all are told.
    pub(crate) fn group_over(
        &mut self,
        item: Queued,
        members: Vec<QueuedPod>,
        blame: Blame,
    ) -> String {
        let Blame { uid, name, failed } = blame;
        let profile = item.profile;
        let (result, reason) = if failed.rejected {
            ("unschedulable", "Unschedulable")
        } else {
            ("error", "SchedulerError")
        };
        if let Some(counts) = self.attempts.get_mut(profile.index()) {
            let tried = members.len() as u64;
            let count = if failed.rejected {
                &mut counts.unschedulable
            } else {
                &mut counts.error
            };
            *count += tried;
        }
        self.time_attempt(&item, result);
        let key = item.group.as_ref().map(|id| id.key.to_string());
        let key = key.unwrap_or_default();
        let text = format!("group {key}: member {name}: {}", failed.message);
        let pods = self.regroup(item, members, |engine, item| {
            let at = moment(engine.now, &engine.snapshot);
            engine.queue.requeue(item, failed.setback, at);
        });
        for pod in pods {
            let with_event = *pod.uid() == uid;
            let said = Said {
                profile,
                reason,
                text: &text,
                with_event,
            };
            self.say(&pod, &said);
        }
        text
    }

    /// Puts a group back without a word: it lost a member before it could go on.
    pub(crate) fn group_waits_again(&mut self, item: Queued, members: Vec<QueuedPod>) {
        self.regroup(item, members, |engine, item| {
            let at = moment(engine.now, &engine.snapshot);
            engine.queue.put_back(item, at);
        });
    }

    /// Tells the members of groups that wait for more of them what they wait for.
    pub(crate) fn tell_waiting_groups(&mut self) {
        let notices = self.queue.take_notices(moment(self.now, &self.snapshot));
        for notice in notices {
            let text: &Reason = &notice.text;
            let said = Said {
                profile: notice.profile,
                reason: "Unschedulable",
                text,
                with_event: true,
            };
            for pod in &notice.pods {
                self.say(pod, &said);
            }
        }
    }

    /// Gives `item` those of `members` that still wait for a node and are still its, and
    /// hands it to `put`; gives these pods.
    fn regroup(
        &mut self,
        mut item: Queued,
        members: Vec<QueuedPod>,
        put: impl FnOnce(&mut Self, Queued),
    ) -> Vec<Arc<Pod>> {
        let (mut kept, mut strays) = (Vec::new(), Vec::new());
        for mut queued in members {
            let known = self.watched.life(queued.pod.key(), queued.pod.uid());
            let waits = known.filter(|pod| pod.spec.node_name.is_none());
            let Some(latest) = waits.map(Arc::clone) else {
                self.queue.done(queued.pod.uid());
                continue;
            };
            let catalog = self.snapshot.catalog();
            let group = item.group.as_ref().map(GroupId::whole);
            if self.queue.group_of(&latest, item.profile, catalog) == group {
                queued.pod = latest;
                kept.push(queued);
            } else {
                strays.push(latest);
            }
        }
        let (profile, pods) = (
            item.profile,
            kept.iter().map(|queued| Arc::clone(&queued.pod)),
        );
        let pods: Vec<Arc<Pod>> = pods.collect();
        if !kept.is_empty() {
            item.set_members(kept);
            put(self, item);
        }
        for pod in strays {
            self.queue.done(pod.uid());
            self.queue
                .add(pod, profile, moment(self.now, &self.snapshot));
        }
        pods
    }

    fn say(&mut self, pod: &Arc<Pod>, said: &Said<'_>) {
        self.nominate(pod, &Nomination::Clear);
        if said.with_event {
            let name = &self.profiles.get(said.profile).scheduler_name;
            let event = PodEvent::failed_scheduling(pod, name, said.text);
            self.outbox.record(event);
        }
        let condition = ScheduledFalse {
            reason: said.reason,
            message: said.text.to_owned(),
        };
        self.write_status(pod, condition, &Nomination::Clear);
    }
}
