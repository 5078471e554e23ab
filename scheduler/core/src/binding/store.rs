//! All bindings: by pod, by deadline, by open question, and in line for a free request.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use plimsoll_framework::{ClusterEvent, WaitingPod};
use plimsoll_objects::Uid;

use super::group::GroupsInFlight;
use super::limiter::Limiter;
use super::orders::Orders;
use super::{Binding, Fate, Progress, Request, Reserved, Stage};
use crate::command::CommandId;
use crate::plugin_set::PluginIx;
use crate::profile::ProfileIx;
use crate::stats::InFlightSizes;

pub(crate) struct Bindings {
    all: IndexMap<Uid, Binding>,
    deadlines: BTreeSet<(Duration, Uid)>,
    answers: BTreeMap<CommandId, Uid>,
    /// Pods that a `PreBind` lets wait for an event.
    event_waiters: BTreeSet<Uid>,
    pub(super) ready: VecDeque<Uid>,
    pub(super) orders: Orders,
    pub(super) limiter: Limiter,
    pub(super) groups: GroupsInFlight,
    order: u64,
}

impl Bindings {
    pub(crate) fn new(min_in_flight: usize, max_in_flight: usize) -> Self {
        Self {
            all: IndexMap::new(),
            deadlines: BTreeSet::new(),
            answers: BTreeMap::new(),
            event_waiters: BTreeSet::new(),
            ready: VecDeque::new(),
            orders: Orders::default(),
            limiter: Limiter::new(min_in_flight, max_in_flight),
            groups: GroupsInFlight::default(),
            order: 0,
        }
    }

    /// Decided pods that wait for a free request.
    pub(crate) fn waiting(&self) -> usize {
        self.ready.len()
    }

    /// The pods of `profile` that wait for `plugin`, in the order they began to.
    pub(crate) fn waiting_for(&self, profile: ProfileIx, plugin: PluginIx) -> Vec<WaitingPod> {
        let mut waiting: Vec<&Binding> = self
            .all
            .values()
            .filter(|binding| binding.waits_for(profile, plugin))
            .collect();
        waiting.sort_unstable_by_key(|binding| binding.order);
        let pods = waiting.into_iter().map(|binding| WaitingPod {
            pod: Arc::clone(&binding.reserved.pod),
            node: binding.reserved.node(),
            since: binding.began,
        });
        pods.collect()
    }

    /// When something is due next. Pods in line that are `held` wait for another answer.
    pub(crate) fn next_deadline(&self, held: impl Fn(&Uid) -> bool) -> Option<Duration> {
        let may_go = self.ready.iter().any(|uid| !held(uid));
        let lane = if may_go {
            self.limiter.opens_at(self.asked())
        } else {
            None
        };
        let first = self.deadlines.first().map(|(at, _)| *at);
        [lane, first].into_iter().flatten().min()
    }

    pub(crate) fn sizes(&self, (status, status_waiting): (usize, usize)) -> InFlightSizes {
        let count = |is: fn(&Stage) -> bool| {
            self.all
                .values()
                .filter(|binding| is(&binding.stage))
                .count()
        };
        InFlightSizes {
            permit: count(|stage| matches!(stage, Stage::Permit(_) | Stage::Together)),
            pre_bind: count(|stage| matches!(stage, Stage::PreBind { .. })),
            ready: self.ready.len(),
            binds: self.asked() + self.orders.open(),
            bind_limit: self.limiter.limit(),
            status,
            status_waiting,
            ..InFlightSizes::default()
        }
    }

    /// Questions without an answer.
    pub(super) fn asked(&self) -> usize {
        self.answers.len()
    }

    /// Whether this pod is on its way to a node.
    pub(crate) fn is_binding(&self, uid: &Uid) -> bool {
        self.all.contains_key(uid)
    }

    pub(super) fn get(&self, uid: &Uid) -> Option<&Binding> {
        self.all.get(uid)
    }

    pub(super) fn get_mut(&mut self, uid: &Uid) -> Option<&mut Binding> {
        self.all.get_mut(uid)
    }

    pub(super) fn insert(&mut self, reserved: Reserved, stage: Stage, now: Duration) -> Uid {
        let uid = reserved.uid().clone();
        self.order += 1;
        let (order, fate) = (self.order, Fate::Open);
        let binding = Binding {
            reserved,
            stage,
            fate,
            deadline: None,
            order,
            announced: false,
            group: None,
            began: now,
            permitted: now,
        };
        self.all.insert(uid.clone(), binding);
        uid
    }

    /// Takes a binding out, with its deadline and its place in line. An open question stays
    /// counted until it is answered.
    pub(super) fn remove(&mut self, uid: &Uid) -> Option<Binding> {
        self.set_deadline(uid, None);
        self.event_waiters.remove(uid);
        let binding = self.all.swap_remove(uid)?;
        if let Stage::Request(Request {
            progress: Progress::Ready,
            work,
            ..
        }) = &binding.stage
        {
            match work.extender() {
                Some(extender) => self.orders.remove(extender, uid),
                None => self.ready.retain(|other| other != uid),
            }
        }
        Some(binding)
    }

    /// Moves a binding to its next stage.
    pub(super) fn enter(&mut self, uid: &Uid, stage: Stage, deadline: Option<Duration>) {
        self.event_waiters.remove(uid);
        if matches!(&stage, Stage::PreBind { events, .. } if !events.is_empty()) {
            self.event_waiters.insert(uid.clone());
        }
        if let Stage::Request(Request {
            progress: Progress::Ready,
            work,
            ..
        }) = &stage
        {
            match work.extender() {
                Some(extender) => self.orders.line_up(extender, uid),
                None => self.ready.push_back(uid.clone()),
            }
        }
        if let Some(binding) = self.all.get_mut(uid) {
            binding.stage = stage;
        }
        self.set_deadline(uid, deadline);
    }

    pub(super) fn set_deadline(&mut self, uid: &Uid, deadline: Option<Duration>) {
        let Some(binding) = self.all.get_mut(uid) else {
            return;
        };
        if let Some(old) = std::mem::replace(&mut binding.deadline, deadline) {
            self.deadlines.remove(&(old, uid.clone()));
        }
        if let Some(new) = deadline {
            self.deadlines.insert((new, uid.clone()));
        }
    }

    /// All bindings for which something is due.
    pub(super) fn due(&self, now: Duration) -> Vec<Uid> {
        let due = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, uid)| uid.clone()).collect()
    }

    pub(super) fn expect_answer(&mut self, id: CommandId, uid: &Uid) {
        self.answers.insert(id, uid.clone());
    }

    pub(super) fn take_answer(&mut self, id: CommandId) -> Option<Uid> {
        self.answers.remove(&id)
    }

    /// Lets every `PreBind` look again that waits for `event`.
    pub(crate) fn wake_for(&mut self, event: ClusterEvent, now: Duration) {
        let waits = |uid: &&Uid| {
            self.all
                .get(*uid)
                .is_some_and(|binding| match &binding.stage {
                    Stage::PreBind { events, .. } => {
                        events.iter().any(|wanted| wanted.matches(event))
                    }
                    Stage::Permit(_) | Stage::Together | Stage::Request(_) => false,
                })
        };
        let woken: Vec<Uid> = self.event_waiters.iter().filter(waits).cloned().collect();
        for uid in woken {
            self.set_deadline(&uid, Some(now));
        }
    }

    /// Bindings to `node` for which no question is open.
    pub(super) fn unasked_on(&self, node: &str) -> Vec<Uid> {
        let on_node = self.all.iter().filter(|(_, binding)| {
            binding.reserved.pod.spec.node_name.as_deref() == Some(node) && !binding.may_be_done()
        });
        on_node.map(|(uid, _)| uid.clone()).collect()
    }
}

impl Binding {
    /// Whether the pod waits in Permit for `plugin` of `profile`.
    pub(super) fn waits_for(&self, profile: ProfileIx, plugin: PluginIx) -> bool {
        let Stage::Permit(waits) = &self.stage else {
            return false;
        };
        self.reserved.item.profile == profile && waits.iter().any(|wait| wait.plugin == plugin)
    }

    /// Whether a question is open, or had no answer.
    pub(super) fn may_be_done(&self) -> bool {
        let Stage::Request(request) = &self.stage else {
            return false;
        };
        request.maybe_done || self.is_asked()
    }
}
