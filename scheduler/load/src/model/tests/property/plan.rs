//! What happens on a simulated node: pods of steady use that come and go, an agent that
//! measures and may be restarted. Times in milliseconds.

use std::time::Duration;

use plimsoll_framework::LoadResource;
use plimsoll_kernel::Kernel;

/// Settled pods are read so often.
const READ_MS: u64 = 10_000;
/// Until then a pod is read with each sample.
const YOUNG_MS: u64 = 60_000;

/// What happens, times in milliseconds.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) pods: Vec<PodPlan>,
    pub(super) agent: AgentPlan,
    /// From a pod's start or end to the news of it.
    pub(super) lag: u64,
    /// Use beside pods.
    pub(super) overhead: f64,
    pub(super) until: u64,
}

/// A pod that uses `truth` from `began` to `ended`.
#[derive(Debug, Clone)]
pub(super) struct PodPlan {
    pub(super) estimate: i64,
    pub(super) truth: f64,
    pub(super) assumed: u64,
    pub(super) began: u64,
    pub(super) ended: Option<u64>,
}

#[derive(Debug, Clone)]
pub(super) struct AgentPlan {
    pub(super) kernel: Kernel,
    pub(super) period: u64,
    pub(super) phase: u64,
    pub(super) restarts: Vec<u64>,
    pub(super) pods: PodReports,
}

/// How pods are reported.
#[derive(Debug, Clone, Copy)]
pub(super) enum PodReports {
    Never,
    /// Read with the node: young ones each time, others each tenth second.
    WithNode,
    /// Read each tenth second or rarer, and up to so long before the sample.
    Behind(u64),
}

// === impl PodPlan ===

impl PodPlan {
    pub(super) fn runs_at(&self, at: u64) -> bool {
        self.began <= at && self.ended.is_none_or(|ended| at < ended)
    }

    /// Milliseconds of `from..to` in which the pod ran.
    pub(super) fn overlap(&self, from: u64, to: u64) -> u64 {
        let end = self.ended.unwrap_or(u64::MAX).min(to);
        end.saturating_sub(self.began.max(from))
    }

    pub(super) fn error(&self) -> f64 {
        (self.estimate as f64 - self.truth).abs()
    }
}

// === impl PodReports ===

impl PodReports {
    /// How long before the sample at `at` the pod `index` is read: spread without chance.
    pub(super) fn behind(self, index: usize, at: u64) -> u64 {
        match self {
            Self::Never | Self::WithNode => 0,
            Self::Behind(longest) => (index as u64 * 3_571 + at * 7_919) % (longest + 1),
        }
    }

    /// Whether a pod of this `age`, last read at `last`, is read at `at`.
    pub(super) fn is_due(self, age: u64, last: Option<u64>, at: u64) -> bool {
        let passed = last.is_none_or(|last| at / READ_MS > last / READ_MS);
        match self {
            Self::Never => false,
            Self::WithNode => passed || age < YOUNG_MS,
            Self::Behind(_) => passed,
        }
    }
}

// === impl AgentPlan ===

impl AgentPlan {
    /// A plain mean covers whole intervals.
    pub(super) fn square(&mut self) {
        if let Kernel::Box { width } = &mut self.kernel {
            let periods = (width.as_millis() as u64 / self.period).max(1);
            *width = ms(periods * self.period);
        }
    }

    pub(super) fn resource(&self) -> LoadResource {
        match self.kernel {
            Kernel::Instant => LoadResource::Memory,
            _ => LoadResource::Cpu,
        }
    }
}

pub(super) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
