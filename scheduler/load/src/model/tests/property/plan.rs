//! What happens on a simulated node: pods of steady use that come and go, an agent that
//! measures and may be restarted. Times in milliseconds.

use std::time::Duration;

use plimsoll_framework::LoadResource;
use plimsoll_kernel::Kernel;

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
    pub(super) reports_pods: bool,
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
