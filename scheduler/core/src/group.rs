//! The group cycle: members are placed one after the other, each on a snapshot that has the
//! members before it on their nodes, and go on to binding together; or none does
//! (kube-scheduler `schedule_one_podgroup.go` `podGroupCycle`).
//!
//! The overlay is the cache itself: a member that found a node is assumed and reserved like
//! any pod, so every plugin and the load model see it there, and all is taken back in
//! reverse order if a later member that is needed finds none. Nobody sees what is in
//! between. `Differs:` a group never preempts: nothing is evicted for a part of a group. A
//! member that is placed alone may preempt like any pod.

mod over;

use std::sync::Arc;

use plimsoll_framework::{Entity, PodEstimate, QueuedPod};

use crate::binding::Reserved;
use crate::command::Command;
use crate::cycle::decide::Decided;
use crate::cycle::nowhere::Nowhere;
use crate::cycle::{Failed, Tried, setback_of};
use crate::decision::{Decision, Outcome};
use crate::engine::Engine;
use crate::queue::{Queued, Setback, Standing, moment};
use crate::runtime::Framework;

pub(crate) use self::over::Blame;

/// Placing a member past an extender that has a say would be wrong, and nobody would know.
const NOT_ASKED: &str = "an HTTP extender filters, scores or preempts for this pod, and \
     extenders are not asked about members of a group: schedule it without its group, or set \
     the extender's managedResources";

/// What placing the members has come to so far.
#[derive(Default)]
struct Placing {
    placed: Vec<(Reserved, PodEstimate)>,
    records: Vec<Decision>,
    /// Members without a node that the group can do without.
    left: Vec<(Queued, Failed)>,
    /// Everybody who turned a member down somewhere.
    setback: Setback,
    /// The member for which the group is given up.
    blame: Option<Blame>,
    /// It, and those after it.
    rest: Vec<QueuedPod>,
}

impl Engine {
    /// Tries the members of `item`, a group.
    pub(crate) fn group_cycle(&mut self, mut item: Queued) {
        let mut members = item.take_members();
        members.retain(|queued| {
            let skipped = self.is_skipped(queued, &item);
            if skipped {
                self.queue.done(queued.pod.uid());
            }
            !skipped
        });
        let Some(id) = item.group.clone().filter(|_| !members.is_empty()) else {
            return;
        };
        let standing = self.queue.standing(&id, &members, self.snapshot.catalog());
        let Standing::Complete { needed } = standing else {
            item.set_members(members);
            return self.queue.put_back(item, moment(self.now, &self.snapshot));
        };
        if let [only] = members.as_slice() {
            let mut alone = item.single(only.clone());
            alone.entity = Entity::Pod(only.clone());
            return self.attempt(alone, only);
        }
        let profiles = Arc::clone(&self.profiles);
        let placing = self.place_members(profiles.get(item.profile), &item, (members, needed));
        self.end_group_cycle(item, placing);
    }

    fn place_members(
        &mut self,
        framework: &Framework,
        item: &Queued,
        (members, needed): (Vec<QueuedPod>, usize),
    ) -> Placing {
        let mut placing = Placing::default();
        let mut spare = members.len().saturating_sub(needed.max(1));
        let mut members = members.into_iter();
        for queued in members.by_ref() {
            let Err(failed) = self.place_member(framework, item, &queued, &mut placing) else {
                continue;
            };
            if failed.rejected && spare > 0 {
                spare -= 1;
                placing.left.push((item.single(queued), failed));
                continue;
            }
            placing.blame = Some(Blame {
                uid: queued.pod.uid().clone(),
                name: Arc::clone(&queued.pod.key().name),
                failed,
            });
            placing.rest.push(queued);
            break;
        }
        placing.rest.extend(members);
        placing
    }

    /// Finds a node for one member and takes it.
    fn place_member(
        &mut self,
        framework: &Framework,
        item: &Queued,
        queued: &QueuedPod,
        placing: &mut Placing,
    ) -> Result<(), Failed> {
        if !self.extenders.consulted_for(&queued.pod).is_empty() {
            return Err(Failed::error(NOT_ASKED.to_owned()));
        }
        // The member before is on its node now.
        self.refresh();
        let Tried {
            pod,
            estimate,
            mut state,
            decided,
            record,
        } = self
            .try_pod(framework, queued, (item.began, None))
            .map_err(|_| Failed::error(NOT_ASKED.to_owned()))?;
        placing.setback = placing.setback.and(self.turned_down_by(framework));
        placing.records.push(record);
        let chosen = match decided {
            Decided::Chosen(chosen) => chosen,
            Decided::Nowhere(nowhere) => return Err(failed_by(&nowhere)),
            Decided::Failed(error) => return Err(Failed::error(error.message())),
        };
        let Some(info) = self.snapshot.get(chosen.node).map(Arc::clone) else {
            return Err(Failed::error("the chosen node is gone".to_owned()));
        };
        let held = self.hold(framework, &info, (&pod, &estimate, &mut state));
        let mut reserved = Reserved {
            item: item.single(queued.clone()),
            pod: held.pod,
            state,
            over: chosen.over.map(|over| over.reason),
            assumed: held.assumed,
        };
        if let Err(rejection) = held.reserved {
            self.take_back(&mut reserved);
            let setback = setback_of(framework, &rejection);
            return Err(Failed::by_one(&rejection, setback));
        }
        placing.placed.push((reserved, estimate));
        Ok(())
    }

    fn end_group_cycle(&mut self, item: Queued, placing: Placing) {
        let Placing {
            mut placed,
            mut records,
            left,
            setback,
            blame,
            rest,
        } = placing;
        let message = if let Some(mut blame) = blame {
            if blame.failed.rejected {
                blame.failed.setback = blame.failed.setback.and(setback);
            }
            for (reserved, _) in placed.iter_mut().rev() {
                self.take_back(reserved);
            }
            let placed = placed.into_iter().map(|(reserved, _)| reserved.item);
            let left = left.into_iter().map(|(item, _)| item);
            let tried = placed.chain(left).flat_map(|mut item| item.take_members());
            let mut members: Vec<QueuedPod> = tried.chain(rest).collect();
            members.sort_by_key(|queued| queued.first_queued_at);
            Some(self.group_over(item, members, blame))
        } else {
            let failed = self.begin_group(item, placed);
            for (member, mut without) in left {
                without.setback = without.setback.and(setback);
                self.attempt_failed(member, without);
            }
            failed
        };
        if let Some(message) = message {
            for record in &mut records {
                if !matches!(record.outcome, Outcome::Failed { .. }) {
                    let message = message.clone();
                    record.outcome = Outcome::Unschedulable { message };
                }
            }
        }
        let decided = |record| Command::Decided(Box::new(record));
        for record in records {
            self.outbox.push(decided(record));
        }
    }
}

fn failed_by(nowhere: &Nowhere) -> Failed {
    let message = nowhere.message();
    Failed {
        rejected: true,
        setback: nowhere.setback,
        ..Failed::error(message)
    }
}
