//! All evictions: by preemptor, by victim, by open request, and what falls due when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plimsoll_objects::Uid;

use super::{Run, Victim};
use crate::command::CommandId;
use crate::stats::EvictionCounters;

/// First rest of a preemptor whose victims could not be told to go; doubles each time.
const FIRST_REST: Duration = Duration::from_secs(1);
/// Longest such rest.
const LAST_REST: Duration = Duration::from_mins(1);
/// How long a pod that the API server refuses to let go is no victim: rules that refuse it
/// (RBAC, admission webhooks) change by hand.
const SPARED_FOR: Duration = Duration::from_mins(5);

#[derive(Debug, Default)]
pub(crate) struct Evictions {
    /// By preemptor.
    pub(super) runs: BTreeMap<Uid, Run>,
    pub(super) victims: BTreeMap<Uid, Victim>,
    /// The victim of each request without an answer.
    pub(super) asked: BTreeMap<CommandId, Uid>,
    /// Preemptors that failed, until they succeed or need no room any more.
    rests: BTreeMap<Uid, Rest>,
    due: BTreeSet<(Duration, Due)>,
    pub(crate) counters: EvictionCounters,
}

#[derive(Debug)]
struct Rest {
    until: Duration,
    tries: u32,
    /// It is over; what is left of it is the number of tries.
    is_over: bool,
}

/// What falls due.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The answer of a victim, or the sight of it.
    Victim(Uid),
    /// A preemptor may try again.
    Rested(Uid),
    /// A pod may be a victim again.
    Spared(Uid),
}

// === impl Evictions ===

impl Evictions {
    pub(super) fn insert(&mut self, uid: Uid, victim: Victim) {
        self.due.insert((victim.deadline, Due::Victim(uid.clone())));
        if let Some(id) = victim.asked {
            self.asked.insert(id, uid.clone());
        }
        self.victims.insert(uid, victim);
    }

    /// Takes a victim out, with its deadline. An open request stays known until it is
    /// answered.
    pub(super) fn remove(&mut self, uid: &Uid) -> Option<Victim> {
        let victim = self.victims.remove(uid)?;
        self.due
            .remove(&(victim.deadline, Due::Victim(uid.clone())));
        Some(victim)
    }

    /// The next deadline of a victim.
    pub(super) fn wait_for(&mut self, uid: &Uid, deadline: Duration) {
        let Some(victim) = self.victims.get_mut(uid) else {
            return;
        };
        let old = std::mem::replace(&mut victim.deadline, deadline);
        self.due.remove(&(old, Due::Victim(uid.clone())));
        self.due.insert((deadline, Due::Victim(uid.clone())));
    }

    /// Whether a victim of this preemptor has neither answered nor been seen to go.
    pub(super) fn waits_for_answer(&self, preemptor: &Uid) -> bool {
        let Some(run) = self.runs.get(preemptor) else {
            return false;
        };
        let mut open = run.open.iter().filter_map(|uid| self.victims.get(uid));
        open.any(|victim| victim.asked.is_some() && !victim.seen)
    }

    /// The preemptor waits no more for `victims`; what nobody waits for is forgotten once it
    /// is answered.
    pub(super) fn leave(&mut self, victims: &BTreeSet<Uid>, preemptor: &Uid) {
        for uid in victims {
            let Some(victim) = self.victims.get_mut(uid) else {
                continue;
            };
            victim.preemptors.remove(preemptor);
            if victim.preemptors.is_empty() && victim.asked.is_none() {
                self.remove(uid);
            }
        }
    }

    /// Whether the preemptor's last victims could not be told to go, just now.
    pub(super) fn rests(&self, preemptor: &Uid, now: Duration) -> bool {
        let rest = self.rests.get(preemptor);
        rest.is_some_and(|rest| !rest.is_over && now < rest.until)
    }

    pub(super) fn rest(&mut self, preemptor: &Uid, now: Duration) {
        let tries = self.rests.get(preemptor).map_or(0, |rest| rest.tries);
        let factor = 1_u32.checked_shl(tries).unwrap_or(u32::MAX);
        let until = now.saturating_add(FIRST_REST.saturating_mul(factor).min(LAST_REST));
        self.succeeded(preemptor);
        let tries = tries.saturating_add(1);
        self.rest_until(preemptor, until, tries, false);
    }

    /// The rest that is due has ended; `false` if it had ended before, and its tries are
    /// forgotten now: nothing has failed for so long.
    pub(super) fn rested(&mut self, preemptor: &Uid, now: Duration) -> bool {
        let Some(rest) = self.rests.remove(preemptor) else {
            return false;
        };
        if rest.is_over {
            return false;
        }
        self.rest_until(
            preemptor,
            now.saturating_add(2 * LAST_REST),
            rest.tries,
            true,
        );
        true
    }

    fn rest_until(&mut self, preemptor: &Uid, until: Duration, tries: u32, is_over: bool) {
        let rest = Rest {
            until,
            tries,
            is_over,
        };
        self.rests.insert(preemptor.clone(), rest);
        self.due.insert((until, Due::Rested(preemptor.clone())));
    }

    /// What was kept of failures of this preemptor does not matter any more.
    pub(super) fn succeeded(&mut self, preemptor: &Uid) {
        if let Some(rest) = self.rests.remove(preemptor) {
            self.due
                .remove(&(rest.until, Due::Rested(preemptor.clone())));
        }
    }

    /// The pod is no victim for a while.
    pub(super) fn spare(&mut self, uid: &Uid, now: Duration) {
        let until = now.saturating_add(SPARED_FOR);
        self.due.insert((until, Due::Spared(uid.clone())));
    }

    /// Takes what is due.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<Due> {
        let (at, _) = self.due.first()?;
        if *at > now {
            return None;
        }
        self.due.pop_first().map(|(_, due)| due)
    }

    /// When something falls due next.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Victims that are told to go and preemptors that wait for them.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (
            self.victims.len() + self.asked.len(),
            self.runs.len() + self.rests.len(),
        )
    }
}
