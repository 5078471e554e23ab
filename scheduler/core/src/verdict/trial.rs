//! The making of a verdict: the steps of a cycle in their order, with nothing left out.

mod score;
mod table;

use std::sync::Arc;

use plimsoll_framework::{
    Code, Cycle, CycleState, FilterOutcome, Handle, NodeInfo, Now, PodEstimate, PreFilterOutcome,
    Rejection, Snapshot,
};
use plimsoll_objects::Pod;

use super::post;
use super::{NodeVerdict, PreFilterVerdict, Status, Verdict};
use crate::cycle::decide::{Decided, Deciding};
use crate::cycle::desk::Desk;
use crate::cycle::find::Found;
use crate::cycle::nowhere::Nowhere;
use crate::cycle::{message, skipped_deleting};
use crate::decision::Unscored;
use crate::engine::Engine;
use crate::probe::Probe;
use crate::profile::ProfileIx;
use crate::runtime::pre_filter::{NodeSet, PreFiltered};

/// A verdict, and what a placement needs that follows it.
pub(super) struct Trial {
    pub(super) verdict: Verdict,
    pub(super) profile: ProfileIx,
    pub(super) estimate: PodEstimate,
    pub(super) state: CycleState,
}

/// One verdict being made.
struct Making<'a> {
    deciding: Deciding<'a>,
    desk: &'a mut Desk,
    /// Every node, by name.
    nodes: Vec<&'a Arc<NodeInfo>>,
    found: Found,
    verdict: Verdict,
}

// === impl Engine ===

impl Engine {
    pub(super) fn trial(&mut self, now: Now, pod: &Arc<Pod>) -> Option<Trial> {
        let profiles = Arc::clone(&self.profiles);
        let profile = profiles.index_of(&pod.spec.scheduler_name)?;
        let framework = profiles.get(profile);
        self.cache.update_snapshot(&mut self.snapshot, now);
        let estimate = self.cache.estimate(pod);
        let mut trial = Trial {
            verdict: Verdict::of(pod, &framework.scheduler_name),
            profile,
            estimate,
            state: CycleState::new(),
        };
        if let Some(held) = framework.held_by(pod, self.snapshot.catalog()) {
            trial.verdict.pre_enqueue = Some(Status::of(&held));
            return Some(trial);
        }
        if pod.is_deleting() {
            trial.verdict.skipped = Some(skipped_deleting(pod));
            return Some(trial);
        }
        // What is only asked about is not counted.
        let probe = Probe::default();
        let deciding = Deciding {
            framework,
            cycle: Cycle {
                pod,
                estimate: &estimate,
                snapshot: &self.snapshot,
                now,
            },
            nominated: &self
                .nominator
                .counted_for(pod, |name| self.cache.id_of(name)),
            promised: self
                .nominator
                .node_of(pod.uid())
                .and_then(|name| self.cache.id_of(name)),
            start: 0,
            probe: &probe,
            helps: true,
            consult: None,
        };
        let making = Making::new(deciding, &mut self.desk, trial.verdict);
        trial.verdict = making.run(&mut trial.state);
        Some(trial)
    }
}

// === impl Making ===

impl<'a> Making<'a> {
    fn new(deciding: Deciding<'a>, desk: &'a mut Desk, verdict: Verdict) -> Self {
        let mut nodes: Vec<_> = deciding.cycle.snapshot.nodes().collect();
        nodes.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        desk.clear();
        Self {
            deciding,
            desk,
            nodes,
            found: Found::default(),
            verdict,
        }
    }

    fn run(mut self, state: &mut CycleState) -> Verdict {
        if self.nodes.is_empty() {
            self.nowhere(Nowhere::without_nodes());
        } else if let Some(ready) = self.pre_filter(state)
            && self.filter(state, &ready)
        {
            self.choose(state, &ready);
        }
        self.verdict
    }

    /// Gives what all plugins say, if the nodes are to be looked at.
    fn pre_filter(&mut self, state: &mut CycleState) -> Option<PreFiltered> {
        let Deciding {
            framework, cycle, ..
        } = self.deciding;
        let mut plugins = Vec::new();
        let mut hear = |name, said: &Result<PreFilterOutcome, Rejection>| {
            let said = match said {
                Ok(PreFilterOutcome::Ready | PreFilterOutcome::Skip) => return,
                Ok(PreFilterOutcome::Nodes(nodes)) => Ok(NodeSet {
                    ids: nodes.clone(),
                    ..NodeSet::default()
                }),
                Ok(PreFilterOutcome::Named { nodes, absent }) => Ok(NodeSet {
                    ids: nodes.clone(),
                    absent: absent.clone(),
                }),
                Err(rejection) => Err(rejection.clone()),
            };
            plugins.push((name, said));
        };
        let probe = self.deciding.probe;
        let ready = framework.pre_filter_heard(&cycle, state, probe, &mut hear);
        let (status, all) = match &ready {
            Ok(all) => (Status::success(), all),
            Err(stop) if stop.rejection.code == Code::Error => {
                self.verdict.error = Some(stop.rejection.message());
                return None;
            }
            Err(stop) => (Status::of(&stop.rejection), &stop.until),
        };
        let plugins = plugins.into_iter().map(|(name, said)| match said {
            Ok(nodes) => {
                let status = Status {
                    plugin: name.into(),
                    ..Status::success()
                };
                (status, Some(names(&nodes, cycle.snapshot)))
            }
            Err(rejection) => (Status::of(&rejection.by(name)), None),
        });
        let left = all.nodes.as_ref();
        self.verdict.pre_filter = Some(PreFilterVerdict {
            status,
            skipped: framework.sorted_names(all.skip),
            plugins: plugins.collect(),
            node_names: left.map(|nodes| names(nodes, cycle.snapshot)),
        });
        match ready {
            Ok(ready) => Some(ready),
            Err(stop) => {
                if let Ok(Decided::Nowhere(nowhere)) = self.deciding.stopped(state, *stop) {
                    self.nowhere(nowhere);
                }
                None
            }
        }
    }

    /// Judges every node; `false` after an internal error.
    fn filter(&mut self, state: &CycleState, ready: &PreFiltered) -> bool {
        if ready.nodes.is_none() && self.looked_up(state, ready) {
            return true;
        }
        let judge = self.deciding.judge(ready.skip);
        let outside = self.deciding.framework.outside(ready.narrowed_by);
        for info in &self.nodes {
            let admitted = |nodes: &NodeSet| nodes.ids.contains(&info.id);
            let status = if ready.nodes.as_ref().is_none_or(admitted) {
                let judged = judge.filter(&self.deciding.cycle, state, info);
                let status = status_of(&judged);
                if let Err(error) = self.found.keep(info.id, judged) {
                    self.verdict.error = Some(error.message());
                    return false;
                }
                status
            } else {
                Status::of(&outside)
            };
            let name = Arc::clone(info.name());
            self.verdict.nodes.insert(name, NodeVerdict::of(status));
        }
        true
    }

    fn choose(&mut self, state: &mut CycleState, ready: &PreFiltered) {
        let snapshot = self.deciding.cycle.snapshot;
        let feasible = &self.found.feasible;
        self.verdict.feasible = feasible.len();
        let promised = self
            .deciding
            .promised
            .filter(|node| feasible.contains(node));
        let taken = match (promised, feasible.as_slice()) {
            (Some(node), _) => Some((node, Unscored::NominatedNode)),
            (None, [only]) => Some((*only, Unscored::OnlyFeasibleNode)),
            (None, []) => {
                let least = self.found.least_soft();
                least.first().map(|soft| (soft.node, Unscored::SoftCap))
            }
            (None, _) => None,
        };
        self.verdict.unscored = taken.and_then(|(node, why)| {
            let info = snapshot.get(node)?;
            Some((Arc::clone(info.name()), why))
        });
        if !feasible.is_empty() {
            self.score(state);
        } else if taken.is_none() {
            let judge = self.deciding.judge(ready.skip);
            let nowhere = self.deciding.nowhere(&judge, state, ready, &self.found);
            self.nowhere(nowhere);
        }
    }

    fn nowhere(&mut self, mut nowhere: Nowhere) {
        let snapshot = self.deciding.cycle.snapshot;
        let help = nowhere.help.as_mut();
        self.verdict.post_filter = help.map(|help| post::verdict(help, snapshot));
        let message = nowhere.message();
        let note = message::note(&message);
        self.verdict.event_note = Some(note).filter(|note| *note != message);
        self.verdict.message = Some(message);
    }
}

// === impl NodeVerdict ===

impl NodeVerdict {
    fn of(status: Status) -> Self {
        Self {
            status,
            raw: Vec::new(),
            normalized: Vec::new(),
            total: None,
        }
    }
}

fn status_of(judged: &Result<FilterOutcome, Rejection>) -> Status {
    match judged {
        Ok(FilterOutcome::Pass) => Status::success(),
        Ok(FilterOutcome::Soft { reason, .. }) => Status::soft(reason.clone()),
        Err(rejection) => Status::of(rejection),
    }
}

/// The names of a set, sorted.
fn names(nodes: &NodeSet, snapshot: &Snapshot) -> Vec<Arc<str>> {
    let infos = nodes.ids.iter().filter_map(|id| snapshot.get(*id));
    let present = infos.map(|info| Arc::clone(info.name()));
    let mut names: Vec<_> = present.chain(nodes.absent.iter().cloned()).collect();
    names.sort_unstable();
    names
}
