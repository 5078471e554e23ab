//! Taints and tolerations, and the one rule by which a toleration matches a taint.
//!
//! The rule is kube-scheduler's (`component-helpers/scheduling/corev1`): shared by every
//! plugin that looks at taints.

use std::sync::Arc;

/// The taint that stands for `spec.unschedulable`.
pub const UNSCHEDULABLE_TAINT: &str = "node.kubernetes.io/unschedulable";

/// `spec.taints[]` of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taint {
    /// Key.
    pub key: Arc<str>,
    /// Value; empty where there is none.
    pub value: Arc<str>,
    /// Effect.
    pub effect: TaintEffect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaintEffect {
    /// Not scheduled here.
    NoSchedule,
    /// Scheduled here only if nothing better is there.
    PreferNoSchedule,
    /// Not scheduled here, and evicted.
    NoExecute,
}

/// `spec.tolerations[]` of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toleration {
    /// Key; empty matches every key.
    pub key: Arc<str>,
    /// How the value is compared.
    pub operator: TolerationOperator,
    /// Value; empty where there is none.
    pub value: Arc<str>,
    /// Effect; `None` matches every effect.
    pub effect: Option<TaintEffect>,
}

/// How a toleration compares its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TolerationOperator {
    /// Values are equal (also the meaning of an empty operator).
    Equal,
    /// Any value.
    Exists,
    /// An operator this version does not know or whose gate is off: matches nothing.
    Other(Arc<str>),
}

// === impl Toleration ===

impl Toleration {
    /// Whether this toleration matches `taint`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if self.effect.is_some_and(|effect| effect != taint.effect) {
            return false;
        }
        if !self.key.is_empty() && self.key != taint.key {
            return false;
        }
        match self.operator {
            TolerationOperator::Equal => self.value == taint.value,
            TolerationOperator::Exists => true,
            TolerationOperator::Other(_) => false,
        }
    }
}

/// Whether any of `tolerations` matches `taint`.
pub fn tolerated(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations
        .iter()
        .any(|toleration| toleration.tolerates(taint))
}
