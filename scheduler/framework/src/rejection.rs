//! Why a pod, or a node for a pod, was turned down: a value, not an error.
//!
//! `reasons` is stable text, the same for every node and second: it goes to the histogram,
//! the condition and the extender protocol. What varies (figures, ages) goes to `detail`,
//! which only the decision record and `why` show.

use std::borrow::Cow;
use std::time::Duration;

use smallvec::{SmallVec, smallvec};

use crate::detail::Detail;

/// Stable text, such as `node(s) had untolerated taint(s)`: no figures that change by node
/// or second, no percent sign.
pub type Reason = Cow<'static, str>;

/// How a rejection is to be taken (kube-scheduler `framework.Code`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// An internal error: the whole attempt fails and the pod backs off as after an error.
    Error,
    /// Rejected; preemption may help.
    Unschedulable,
    /// Rejected, and preemption on that node cannot help.
    UnschedulableAndUnresolvable,
    /// Waits for something outside (Reserve and Permit only): on the matching event it goes
    /// to the active queue without backoff.
    Pending,
}

/// A rejection by one plugin.
#[must_use]
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// How to take it.
    pub code: Code,
    /// The plugin that rejects. The engine fills it in: a hook leaves it empty.
    pub plugin: Cow<'static, str>,
    /// Why, most plugins give one reason; an error gives its text.
    pub reasons: SmallVec<[Reason; 1]>,
    /// Figures behind the reason, for the decision record.
    pub detail: Option<Detail>,
    /// When the pod is worth another look even if no event comes, on the engine's monotonic
    /// clock: for plugins that wait for a time.
    pub retry_at: Option<Duration>,
}

// === impl Code ===

impl Code {
    /// The framework's name of the code, as kube-scheduler writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Unschedulable => "Unschedulable",
            Self::UnschedulableAndUnresolvable => "UnschedulableAndUnresolvable",
            Self::Pending => "Pending",
        }
    }
}

// === impl Rejection ===

impl Rejection {
    /// A rejection that preemption may mend.
    pub fn unschedulable(reason: impl Into<Reason>) -> Self {
        Self::new(Code::Unschedulable, reason)
    }

    /// A rejection that preemption cannot mend.
    pub fn unresolvable(reason: impl Into<Reason>) -> Self {
        Self::new(Code::UnschedulableAndUnresolvable, reason)
    }

    /// A rejection that waits for something outside the scheduler.
    pub fn pending(reason: impl Into<Reason>) -> Self {
        Self::new(Code::Pending, reason)
    }

    /// An internal error with its whole text.
    pub fn error(text: impl Into<Reason>) -> Self {
        Self::new(Code::Error, text)
    }

    /// A rejection with one reason.
    pub fn new(code: Code, reason: impl Into<Reason>) -> Self {
        Self {
            code,
            plugin: Cow::Borrowed(""),
            reasons: smallvec![reason.into()],
            detail: None,
            retry_at: None,
        }
    }

    /// The same, with figures for the decision record.
    pub fn with_detail(mut self, detail: impl Into<Detail>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same, with a time of the next look.
    pub fn with_retry_at(mut self, retry_at: Duration) -> Self {
        self.retry_at = Some(retry_at);
        self
    }

    /// The same, by the plugin `name`.
    pub fn by(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.plugin = name.into();
        self
    }

    /// All reasons joined by `, ` (kube-scheduler `Status.Message`).
    pub fn message(&self) -> String {
        self.reasons.join(", ")
    }

    /// Whether the pod was turned down, as opposed to an internal error.
    pub fn is_rejected(&self) -> bool {
        self.code != Code::Error
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Code, Rejection};

    #[test]
    fn the_message_joins_all_reasons_and_no_detail() {
        let mut rejection = Rejection::unschedulable("Insufficient cpu").with_detail("0.9 of 1");
        rejection.reasons.push("Too many pods".into());
        assert_eq!(rejection.message(), "Insufficient cpu, Too many pods");
        assert_eq!(rejection.detail, Some("0.9 of 1".into()));
    }

    #[test]
    fn only_an_internal_error_is_no_rejection() {
        let cases = [
            (Rejection::unschedulable("x"), Code::Unschedulable, true),
            (
                Rejection::unresolvable("x"),
                Code::UnschedulableAndUnresolvable,
                true,
            ),
            (Rejection::pending("x"), Code::Pending, true),
            (Rejection::error("x"), Code::Error, false),
        ];
        for (rejection, code, rejected) in cases {
            assert_eq!((rejection.code, rejection.is_rejected()), (code, rejected));
        }
    }

    #[test]
    fn a_hook_leaves_the_plugin_to_the_engine() {
        let rejection = Rejection::pending("waits").with_retry_at(Duration::from_secs(5));
        assert_eq!(rejection.plugin, "");
        assert_eq!(rejection.retry_at, Some(Duration::from_secs(5)));
        assert_eq!(rejection.by("Gang").plugin, "Gang");
    }
}
