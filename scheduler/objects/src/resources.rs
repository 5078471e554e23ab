//! Resource vectors: what a pod asks for, what a node has, and their sums.
//!
//! Takes quantities already rounded as kube-scheduler rounds them (cpu up to milli,
//! all else up to whole units), gives saturating integer arithmetic over them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// CPU in thousandths of a core.
pub type Millicores = i64;
/// Memory or storage in bytes.
pub type Bytes = i64;
/// Bandwidth in bytes per second (people read and write bit/s).
pub type BytesPerSec = u64;

/// CPU assumed for scoring where a container requests none, in millicores (kube-scheduler
/// `schedutil.DefaultMilliCPURequest`).
pub const DEFAULT_MILLICORES: Millicores = 100;
/// Memory assumed for scoring where a container requests none, in bytes (kube-scheduler
/// `schedutil.DefaultMemoryRequest`, 200 MiB).
pub const DEFAULT_MEMORY: Bytes = 200 * 1024 * 1024;

/// Amounts per resource. A resource that is not named is zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resources {
    /// Millicores.
    pub cpu: Millicores,
    /// Bytes.
    pub memory: Bytes,
    /// Bytes.
    pub ephemeral_storage: Bytes,
    /// Pods: only meaningful for a node's allocatable and capacity.
    pub pods: i64,
    /// Extended resources, huge pages, attachable volumes, in their own unit. A name that
    /// is present with amount 0 differs from one that is absent (kube-scheduler's scoring
    /// and DRA delegation look at that).
    pub scalar: BTreeMap<Arc<str>, i64>,
}

/// CPU and memory with kube-scheduler's defaults for containers that request none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScoringRequests {
    /// Millicores.
    pub cpu: Millicores,
    /// Bytes.
    pub memory: Bytes,
}

/// What one pod asks for, summed once at decoding (see [`crate::requests`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requests {
    /// The pod's effective request: what Filter compares.
    pub filter: Resources,
    /// The incoming pod's request as the Fit scorers see it: per-container defaults, and
    /// pod-level resources ignored (a quirk of kube-scheduler 1.34 to 1.37).
    pub scoring: ScoringRequests,
    /// The incoming pod's request with pod-level resources left out, where it states any;
    /// `None` where that is `filter`. Only the Fit scorers read it, for the same quirk.
    pub without_pod_level: Option<Box<Resources>>,
    /// What a placed pod takes from its node: like `filter`, with the pod's resize
    /// status taken into account. The `BalancedAllocation` scorer reads it for the incoming
    /// pod as well.
    pub placed: Resources,
    /// What a placed pod adds to the node's non-zero request.
    pub placed_scoring: ScoringRequests,
    /// The pod's effective limits, where every container has one: bounds an estimate.
    pub limits: Limits,
}

/// Upper bounds of a pod's use; `None` where at least one container has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Millicores.
    pub cpu: Option<Millicores>,
    /// Bytes.
    pub memory: Option<Bytes>,
}

// === impl Resources ===

impl Resources {
    /// Adds `other`, saturating.
    pub fn add(&mut self, other: &Self) {
        self.zip(other, i64::saturating_add);
    }

    /// Takes `other` away, saturating.
    pub fn sub(&mut self, other: &Self) {
        self.zip(other, i64::saturating_sub);
    }

    /// Raises every amount to at least that of `other`.
    pub fn max(&mut self, other: &Self) {
        self.zip(other, i64::max);
    }

    fn zip(&mut self, other: &Self, op: fn(i64, i64) -> i64) {
        self.cpu = op(self.cpu, other.cpu);
        self.memory = op(self.memory, other.memory);
        self.ephemeral_storage = op(self.ephemeral_storage, other.ephemeral_storage);
        self.pods = op(self.pods, other.pods);
        for (name, amount) in &other.scalar {
            let own = self.scalar.entry(Arc::clone(name)).or_insert(0);
            *own = op(*own, *amount);
        }
    }

    /// Whether nothing at all is asked for (kube-scheduler `fit.go`: then only the pod
    /// count matters).
    pub fn is_zero(&self) -> bool {
        self.cpu == 0
            && self.memory == 0
            && self.ephemeral_storage == 0
            && self.scalar.values().all(|amount| *amount == 0)
    }

    /// The amount of the resource `name`; `None` where this vector does not name it.
    pub fn get(&self, name: &str) -> Option<i64> {
        match name {
            "cpu" => Some(self.cpu),
            "memory" => Some(self.memory),
            "ephemeral-storage" => Some(self.ephemeral_storage),
            "pods" => Some(self.pods),
            _ => self.scalar.get(name).copied(),
        }
    }
}

// === impl Requests ===

impl Requests {
    /// The incoming pod's request of the resource `name` as the Fit scorers see it.
    pub fn fit_score_amount(&self, name: &str) -> i64 {
        match name {
            "cpu" => self.scoring.cpu,
            "memory" => self.scoring.memory,
            _ => {
                let asked = self.without_pod_level.as_deref().unwrap_or(&self.filter);
                asked.get(name).unwrap_or(0)
            }
        }
    }
}

// === impl ScoringRequests ===

impl ScoringRequests {
    /// Adds `other`, saturating.
    pub fn add(&mut self, other: Self) {
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.memory = self.memory.saturating_add(other.memory);
    }

    /// Takes `other` away, saturating.
    pub fn sub(&mut self, other: Self) {
        self.cpu = self.cpu.saturating_sub(other.cpu);
        self.memory = self.memory.saturating_sub(other.memory);
    }
}
