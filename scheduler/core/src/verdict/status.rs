//! A word on a pod or a node, as kube-scheduler's framework has it.

use plimsoll_framework::{Reason, Rejection};

use crate::probe::SUCCESS;

/// The code of a node that passes only if none passes outright; kube-scheduler has none.
const SOFT: &str = "Soft";

/// A code, who says it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The framework's name of the code, such as `Unschedulable`.
    pub code: &'static str,
    /// The plugin; empty where the framework names none.
    pub plugin: Reason,
    /// Sorted.
    pub reasons: Vec<Reason>,
}

impl Status {
    /// Nothing against it.
    pub(super) fn success() -> Self {
        Self {
            code: SUCCESS,
            plugin: Reason::Borrowed(""),
            reasons: Vec::new(),
        }
    }

    pub(super) fn soft(reason: Reason) -> Self {
        Self {
            code: SOFT,
            reasons: vec![reason],
            ..Self::success()
        }
    }

    pub(super) fn of(rejection: &Rejection) -> Self {
        let mut reasons = rejection.reasons.to_vec();
        reasons.sort_unstable();
        Self {
            code: rejection.code.as_str(),
            plugin: rejection.plugin.clone(),
            reasons,
        }
    }
}
