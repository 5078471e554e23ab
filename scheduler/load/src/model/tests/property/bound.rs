//! What the model may miss at most, by the property that it promises.

use plimsoll_kernel::Kernel;

use super::node::{Check, ID, SimulatedNode};
use super::plan::{PodPlan, ms};
use crate::options::{DEPARTED_SHARE, RAMP};

impl SimulatedNode {
    pub(super) fn judge(&mut self, at: u64) -> Check {
        self.model.refresh(ms(at), &mut |_, _| {});
        let row = *self.model.row(ID).get(self.resource());
        let present = |pod: &&PodPlan| pod.assumed <= at && pod.ended.is_none_or(|end| at < end);
        let truths = self.plan.pods.iter().filter(present).map(|pod| pod.truth);
        let pods = 0..self.plan.pods.len();
        Check {
            at,
            used: row.used.expect("the node was sampled"),
            truth: truths.sum::<f64>() + self.plan.overhead,
            bound: pods.map(|index| self.pod_bound(index, at)).sum::<f64>() + self.shared(at),
        }
    }

    /// What the model may miss of one pod.
    fn pod_bound(&self, index: usize, at: u64) -> f64 {
        let pod = &self.plan.pods[index];
        let estimate = pod.estimate as f64;
        if pod.assumed > at {
            return 0.0;
        }
        let late_start = self.visible(pod.began) - self.visible(self.start_known(index, at));
        let edges = 2.0 * pod.truth * self.edge();
        if pod.ended.is_none_or(|ended| at < ended) {
            let unknown = if self.reported[index] {
                self.trust(pod.began) * pod.error()
            } else {
                (1.0 - self.visible(pod.began)) * pod.error() + estimate * late_start
            };
            return edges + unknown;
        }
        let Some(end_known) = self.end_known[index] else {
            return edges + estimate + pod.truth;
        };
        let ended = pod.ended.unwrap_or(at);
        let late_end = self.visible(ended) - self.visible(end_known);
        let forgotten = DEPARTED_SHARE * estimate.max(pod.truth);
        edges + forgotten + estimate.max(pod.truth) * (late_start + late_end)
    }

    /// Where an unmeasured pod departs, all unmeasured pods share in the doubt.
    fn shared(&self, at: u64) -> f64 {
        let pods = || self.plan.pods.iter().zip(&self.reported);
        let departing = pods().any(|(pod, reported)| {
            let ended = pod.ended.filter(|ended| *ended <= at);
            let shown = |end| self.visible(pod.began) - self.visible(end);
            !reported && ended.is_some_and(|end| shown(end) > 0.0)
        });
        let began = pods().filter(|(pod, reported)| !**reported && pod.began <= at);
        if departing {
            began.map(|(pod, _)| pod.error()).sum()
        } else {
            0.0
        }
    }

    /// When the model takes the pod to have begun.
    fn start_known(&self, index: usize, at: u64) -> u64 {
        let pod = &self.plan.pods[index];
        if self.reported[index] {
            return pod.began;
        }
        let news = pod.began + self.plan.lag;
        if news <= at { news } else { u64::MAX }
    }

    /// The share of a load begun at `began` that the newest figure shows.
    fn visible(&self, began: u64) -> f64 {
        let Some((taken, window)) = self.newest else {
            return 0.0;
        };
        let age = taken.checked_sub(began);
        age.map_or(0.0, |age| {
            self.plan.agent.kernel.visible(ms(age), ms(window))
        })
    }

    fn trust(&self, began: u64) -> f64 {
        let age = self.newest.and_then(|(taken, _)| taken.checked_sub(began));
        age.map_or(1.0, |age| (-(age as f64) / RAMP.as_millis() as f64).exp())
    }

    /// Sampling error: a mean over an interval does not tell when in it a load began; the
    /// chord of `1 - exp(-t/tau)` is off by at most `(dt/tau)^2 / 8`.
    fn edge(&self) -> f64 {
        let (Kernel::Ewma { tau }, Some((_, window))) = (self.plan.agent.kernel, self.newest)
        else {
            return 0.0;
        };
        let share = |span: u64| span as f64 / tau.as_millis() as f64;
        let chord = share(self.plan.agent.period).powi(2) / 8.0;
        (chord / -(-share(window)).exp_m1()).min(1.0)
    }
}
