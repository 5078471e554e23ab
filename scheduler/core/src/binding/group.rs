//! The members of a group on their way to their nodes: none begins `PreBind` before all are
//! permitted, none is bound before all have passed `PreBind`. Until then a member that fails
//! takes all back; from then on each goes its own way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_framework::{Cycle, PodEstimate, QueuedPod, Rejection};
use plimsoll_objects::Uid;

use super::{Binding, Reserved, Stage};
use crate::cycle::{Failed, setback_of};
use crate::engine::Engine;
use crate::group::Blame;
use crate::queue::{Queued, Standing};
use crate::runtime::place::Permitted;

/// Number of a group that is being bound.
pub(super) type GroupNo = u64;

/// All groups whose members wait for each other.
#[derive(Default)]
pub(super) struct GroupsInFlight {
    all: BTreeMap<GroupNo, Together>,
    next: GroupNo,
}

struct Together {
    /// The group without its members.
    item: Queued,
    members: Vec<Uid>,
    arrived: BTreeSet<Uid>,
    gate: Gate,
    ending: Option<Ending>,
}

/// Where members wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    Permit,
    PreBind,
}

/// A group that is given up as soon as no question of a member is open.
struct Ending {
    /// `None`: too few members are left.
    blame: Option<Blame>,
    /// Whether anybody may have seen the members on their nodes.
    seen: bool,
}

impl Engine {
    /// Takes members that all have their nodes reserved and asks for their permissions. Gives
    /// what they are told if one was turned down at once, and so all were.
    pub(crate) fn begin_group(
        &mut self,
        item: Queued,
        placed: Vec<(Reserved, PodEstimate)>,
    ) -> Option<String> {
        let mut estimates = Vec::new();
        let no = self.bindings.groups.next;
        self.bindings.groups.next += 1;
        for (reserved, estimate) in placed {
            self.status.withdraw(reserved.uid());
            let stage = Stage::Permit(Vec::new());
            let uid = self.bindings.insert(reserved, stage, self.now.mono);
            if let Some(binding) = self.bindings.get_mut(&uid) {
                binding.group = Some(no);
            }
            estimates.push((uid, estimate));
        }
        let together = Together {
            item,
            members: estimates.iter().map(|(uid, _)| uid.clone()).collect(),
            arrived: BTreeSet::new(),
            gate: Gate::Permit,
            ending: None,
        };
        self.bindings.groups.all.insert(no, together);
        for (uid, estimate) in estimates {
            if !self.bindings.is_binding(&uid) {
                break;
            }
            if let Err(rejection) = self.ask_permit(&uid, &estimate) {
                let failed = self.failed_in_group(&uid, &rejection);
                return self.fail_group(&uid, failed, false);
            }
        }
        None
    }

    fn ask_permit(&mut self, uid: &Uid, estimate: &PodEstimate) -> Result<(), Rejection> {
        let profiles = Arc::clone(&self.profiles);
        let Some(binding) = self.bindings.get_mut(uid) else {
            return Ok(());
        };
        let reserved = &mut binding.reserved;
        let (pod, profile) = (Arc::clone(&reserved.pod), reserved.item.profile);
        let id = self.cache.node_id(&reserved.node());
        let Some(info) = id.and_then(|id| self.snapshot.get(id)) else {
            return Err(Rejection::error("the chosen node is gone"));
        };
        let mut state = std::mem::take(&mut reserved.state);
        let cycle = Cycle {
            pod: &pod,
            estimate,
            snapshot: &self.snapshot,
            now: self.now,
        };
        let waiting_for = |plugin| self.bindings.waiting_for(profile, plugin);
        let framework = profiles.get(profile);
        let permitted = framework.permit(&cycle, &mut state, info, (waiting_for, &self.probe));
        if let Some(binding) = self.bindings.get_mut(uid) {
            binding.reserved.state = state;
        }
        let Permitted { waits, releases } = permitted?;
        self.take_permission(uid, profile, Permitted { waits, releases });
        Ok(())
    }

    /// The pod has all permissions.
    pub(super) fn permitted(&mut self, uid: &Uid) {
        if !self.arrives(uid, Gate::Permit) {
            self.start_pre_bind(uid);
        }
    }

    /// Whether the pod waits for other members now that it has passed `PreBind`.
    pub(super) fn waits_to_bind(&mut self, uid: &Uid) -> bool {
        self.arrives(uid, Gate::PreBind)
    }

    fn arrives(&mut self, uid: &Uid, gate: Gate) -> bool {
        let Some(no) = self.bindings.get(uid).and_then(|binding| binding.group) else {
            return false;
        };
        let Some(together) = self.bindings.groups.all.get_mut(&no) else {
            return false;
        };
        if together.gate != gate {
            return false;
        }
        together.arrived.insert(uid.clone());
        self.bindings.enter(uid, Stage::Together, None);
        self.open_gate(no);
        true
    }

    /// Lets all members through, if all have come.
    fn open_gate(&mut self, no: GroupNo) {
        let Some(together) = self.bindings.groups.all.get_mut(&no) else {
            return;
        };
        if together.ending.is_some() || together.arrived.len() < together.members.len() {
            return;
        }
        let members = together.members.clone();
        together.arrived.clear();
        match together.gate {
            Gate::Permit => {
                together.gate = Gate::PreBind;
                for uid in members {
                    if self.bindings.goes_on(no) {
                        self.start_pre_bind(&uid);
                    }
                }
            }
            Gate::PreBind => {
                self.bindings.groups.all.remove(&no);
                for uid in &members {
                    if let Some(binding) = self.bindings.get_mut(uid) {
                        binding.group = None;
                    }
                }
                for uid in &members {
                    self.run_bind(uid);
                }
            }
        }
    }

    /// A plugin's rejection of the pod as the failure of an attempt.
    pub(super) fn failed_in_group(&self, uid: &Uid, rejection: &Rejection) -> Failed {
        let binding = self.bindings.get(uid);
        let setback = binding.map(|binding| {
            let framework = self.profiles.get(binding.reserved.item.profile);
            setback_of(framework, rejection)
        });
        Failed::by_one(rejection, setback.unwrap_or_default())
    }

    /// The member `uid` fails before its group may be bound: all are taken back. Gives what
    /// they are told, if that is done already.
    pub(super) fn fail_group(&mut self, uid: &Uid, failed: Failed, seen: bool) -> Option<String> {
        let binding = self.bindings.get(uid)?;
        let (no, name) = (binding.group?, Arc::clone(&binding.reserved.pod.key().name));
        let uid = uid.clone();
        let blame = Some(Blame { uid, name, failed });
        self.end_group(no, Ending { blame, seen })
    }

    fn end_group(&mut self, no: GroupNo, ending: Ending) -> Option<String> {
        let together = self.bindings.groups.all.get_mut(&no)?;
        together.ending.get_or_insert(ending);
        let members = together.members.clone();
        for uid in &members {
            if self.bindings.get(uid).is_some_and(|one| !one.is_asked()) {
                self.bindings.park(uid);
            }
        }
        self.end_if_quiet(no)
    }

    /// Takes all members back, unless the API server still owes one an answer.
    fn end_if_quiet(&mut self, no: GroupNo) -> Option<String> {
        let together = self.bindings.groups.all.get(&no)?;
        let mut members = together.members.iter();
        if members.any(|uid| self.bindings.get(uid).is_some_and(Binding::is_asked)) {
            return None;
        }
        let together = self.bindings.groups.all.remove(&no)?;
        let ending = together.ending?;
        let mut pods: Vec<QueuedPod> = Vec::new();
        for uid in together.members.iter().rev() {
            let Some(mut binding) = self.bindings.remove(uid) else {
                continue;
            };
            if ending.seen {
                self.undo(&mut binding.reserved);
            } else {
                self.take_back(&mut binding.reserved);
            }
            pods.extend(binding.reserved.item.take_members());
        }
        pods.reverse();
        let Some(blame) = ending.blame else {
            self.group_waits_again(together.item, pods);
            return None;
        };
        Some(self.group_over(together.item, pods, blame))
    }

    /// An answer has come for a member of a group that is given up.
    pub(super) fn answered_while_ending(&mut self, uid: &Uid) {
        let no = self.bindings.get(uid).and_then(|binding| binding.group);
        self.bindings.park(uid);
        if let Some(no) = no {
            self.end_if_quiet(no);
        }
    }

    /// A binding is over that was perhaps of a group: the others go on if they are enough.
    pub(super) fn left_group(&mut self, no: Option<GroupNo>, uid: &Uid) {
        let Some(no) = no else { return };
        let Some(together) = self.bindings.groups.all.get_mut(&no) else {
            return;
        };
        together.members.retain(|member| member != uid);
        together.arrived.remove(uid);
        if together.ending.is_some() {
            self.end_if_quiet(no);
            return;
        }
        let id = together.item.group.clone();
        let uids = together.members.clone();
        let members: Vec<QueuedPod> = uids
            .iter()
            .filter_map(|uid| self.bindings.get(uid))
            .flat_map(|binding| binding.reserved.item.pods().to_vec())
            .collect();
        let catalog = self.snapshot.catalog();
        let complete = id.is_some_and(|id| {
            let standing = self.queue.standing(&id, &members, catalog);
            matches!(standing, Standing::Complete { .. })
        });
        if complete {
            self.open_gate(no);
        } else {
            let (blame, seen) = (None, true);
            self.end_group(no, Ending { blame, seen });
        }
    }
}

impl super::Bindings {
    /// Whether the members of the group still wait for each other.
    fn goes_on(&self, no: GroupNo) -> bool {
        let together = self.groups.all.get(&no);
        together.is_some_and(|together| together.ending.is_none())
    }

    /// Whether the pod's group is being given up.
    pub(super) fn is_ending(&self, uid: &Uid) -> bool {
        let no = self.get(uid).and_then(|binding| binding.group);
        no.is_some_and(|no| {
            let together = self.groups.all.get(&no);
            together.is_some_and(|together| together.ending.is_some())
        })
    }

    /// Whether the pod waits for other members of its group.
    pub(super) fn is_of_group(&self, uid: &Uid) -> bool {
        self.get(uid).is_some_and(|binding| binding.group.is_some())
    }

    /// Lets a binding do nothing any more.
    fn park(&mut self, uid: &Uid) {
        self.ready.retain(|other| other != uid);
        self.enter(uid, Stage::Together, None);
    }
}
