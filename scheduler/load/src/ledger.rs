//! The in-flight ledger of one node and one resource (`docs/load-model.md`).
//!
//! Takes the node's figure and its pods, gives what the figure does not show yet of pods
//! that came and what it shows still of pods that went. Everything is reckoned at the
//! instant of the node's sample, so the ledger changes only with the sample or the pods.
//!
//! For a pod with estimate `e`, own rate `m`, age `a` at the sample (negative: not yet
//! begun), trust `w = exp(-a/ramp)` (1 while unmeasured):
//!
//! ```text
//! shown     = m * visible(a)      e * visible(a) while unmeasured
//! in flight = max(0, e * w + m * (1 - w) - shown)
//! departing = m * (visible(since start) - visible(since end))
//! ```
//!
//! `m * visible(a)` is the pod's own figure under the node's kernel, started at 0 and
//! projected to the node's sample: `m + (v - m) * exp(-dt/tau)` for a steady `m`, without
//! a second kernel state on the wire. It holds however long (`dt`) before the node the pod
//! was read, and after a restart of the agent, too: then `a` reaches beyond the window and
//! all of `m` is shown.
//!
//! A departed pod that was never measured is one of several claims on what the figure
//! shows beyond measured pods. Its claim is `e` in place of `m`, and where all claims
//! together (of running and of departed pods) exceed the figure, each is cut in
//! proportion. So estimates that hold free a node at once, and requests far above use do
//! not make it look idle. Still
//! `|figure + ledger - truth| <= sum of w * |e - truth| + sampling error`: let the departed
//! claim `X` of a true `x`, the running `Y` of `y`, and the figure be at least `x + y`;
//! then `D = X * min(1, figure / (X + Y))` misses `x` by at most `|X - x| + |Y - y|`.

use std::time::Duration;

use plimsoll_framework::LoadResource;
use plimsoll_kernel::Kernel;

use crate::age::decay;
use crate::figures::Judged;
use crate::moment::Moment;
use crate::pod_entry::{Life, PodEntry};

/// A mean shows a load in full after this many time constants: it lacks 10^-13 of it.
const SETTLED_TAUS: u32 = 30;

/// The sums over one node's pods for one resource, in the resource's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Ledger {
    /// What pods use, or will, beyond what the figure shows of them.
    pub(crate) in_flight: f64,
    /// What the figure shows still of pods that ended.
    pub(crate) departing: f64,
    /// What the figure shows of present pods.
    pub(crate) shown: f64,
    /// What present pods are expected to use, by their estimates.
    pub(crate) estimates: f64,
    /// What they use by the newest knowledge: `e * w + m * (1 - w)`.
    pub(crate) targets: f64,
    /// What the figure shows beyond pods.
    pub(crate) overhead: f64,
}

/// Sums on the way.
#[derive(Default)]
struct Claims {
    measured_shown: f64,
    measured_departing: f64,
    guessed_shown: f64,
    guessed_departing: f64,
}

// === impl Ledger ===

impl Ledger {
    /// Reckons `pods` against `figure`; without a figure everything is only expected.
    pub(crate) fn reckon<'a>(
        resource: LoadResource,
        figure: Option<&Judged>,
        pods: impl Iterator<Item = &'a PodEntry>,
        ramp: Duration,
    ) -> Self {
        let mut ledger = Self::default();
        let mut claims = Claims::default();
        for pod in pods.filter(|pod| pod.counts(resource)) {
            match (pod.life(), figure) {
                (Life::Present(began), Some(figure)) => {
                    let age = began.and_then(|began| figure.taken.since(began));
                    let target = target(pod, resource, age, ramp);
                    let shown = claims.show(pod, resource, visible(figure, age));
                    ledger.expect(pod.estimate(resource), target);
                    ledger.in_flight += (target - shown).max(0.0);
                }
                (Life::Present(_), None) => {
                    let estimate = pod.estimate(resource);
                    ledger.expect(estimate, estimate);
                }
                (Life::Past(began, ended), Some(figure)) => {
                    claims.depart(pod, resource, still_shown(figure, began, ended));
                }
                (Life::Past(..), None) | (Life::Nothing, _) => {}
            }
        }
        if let Some(figure) = figure {
            ledger.close(figure.value, &claims);
        }
        ledger
    }

    fn expect(&mut self, estimate: f64, target: f64) {
        self.estimates += estimate;
        self.targets += target;
    }

    /// Settles what the figure shows of whom.
    fn close(&mut self, figure: f64, claims: &Claims) {
        let rest = (figure - claims.measured_shown - claims.measured_departing).max(0.0);
        let guessed = claims.guessed_shown + claims.guessed_departing;
        let granted = if guessed > rest { rest / guessed } else { 1.0 };
        let departing = claims.measured_departing + claims.guessed_departing * granted;
        self.shown = claims.measured_shown + claims.guessed_shown;
        self.departing = departing.min(figure);
        self.overhead = (figure - self.shown - self.departing).max(0.0);
    }
}

// === impl Claims ===

impl Claims {
    /// Enters a present pod of which the figure shows the share `visible`; gives the amount.
    fn show(&mut self, pod: &PodEntry, resource: LoadResource, visible: f64) -> f64 {
        let (rate, sum) = match pod.rate(resource) {
            Some(rate) => (rate, &mut self.measured_shown),
            None => (pod.estimate(resource), &mut self.guessed_shown),
        };
        *sum += rate * visible;
        rate * visible
    }

    /// Enters a departed pod of which the figure shows the share `visible` still.
    fn depart(&mut self, pod: &PodEntry, resource: LoadResource, visible: f64) {
        match pod.rate(resource) {
            Some(rate) => self.measured_departing += rate * visible,
            None => self.guessed_departing += pod.estimate(resource) * visible,
        }
    }
}

/// What a present pod of this `age` at the sample will use: `e * w + m * (1 - w)`.
fn target(pod: &PodEntry, resource: LoadResource, age: Option<Duration>, ramp: Duration) -> f64 {
    let estimate = pod.estimate(resource);
    let trust = age.map_or(1.0, |age| decay(age, ramp));
    let measured = pod.rate(resource);
    measured.map_or(estimate, |rate| estimate * trust + rate * (1.0 - trust))
}

/// The share of a load from `began` to `ended` that the figure shows still.
pub(crate) fn still_shown(figure: &Judged, began: Moment, ended: Moment) -> f64 {
    let since_start = visible(figure, figure.taken.since(began));
    let since_end = visible(figure, figure.taken.since(ended));
    (since_start - since_end).max(0.0)
}

/// The share of a load of this `age` at the sample that the figure shows; none of one that
/// had not begun.
fn visible(figure: &Judged, age: Option<Duration>) -> f64 {
    let Some(age) = age else {
        return 0.0;
    };
    match figure.kernel {
        // Most pods are settled: two exponentials less for each.
        Kernel::Ewma { tau } if age > tau.saturating_mul(SETTLED_TAUS) => 1.0,
        kernel => kernel.visible(age, figure.window),
    }
}

#[cfg(test)]
mod tests;
