//! How a pod's fellows are to be spread over the cluster.

use std::sync::Arc;

use crate::selector::LabelSelector;

/// An entry of `spec.topologySpreadConstraints`, the API's defaults filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpreadConstraint {
    /// `maxSkew`: how many more pods a domain may have than the emptiest one.
    pub max_skew: i32,
    /// `topologyKey`: the label of nodes whose values are the domains.
    pub topology_key: Arc<str>,
    /// `whenUnsatisfiable`; `None` for a word that this version does not know: as in
    /// kube-scheduler, the constraint then has no effect, and keeps the default ones away.
    pub when_unsatisfiable: Option<WhenUnsatisfiable>,
    /// `labelSelector`: which pods are counted.
    pub selector: LabelSelector,
    /// `matchLabelKeys`: the pod's values of these labels are asked of the counted too.
    pub match_label_keys: Box<[Arc<str>]>,
    /// `minDomains`; 1 where the object has none.
    pub min_domains: i32,
    /// `nodeAffinityPolicy` is `Honor`, the default: nodes that the pod's node selector and
    /// affinity rule out are no domains.
    pub honors_affinity: bool,
    /// `nodeTaintsPolicy` is `Honor`, not the default: nor are nodes with taints that the
    /// pod does not tolerate.
    pub honors_taints: bool,
}

/// `whenUnsatisfiable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenUnsatisfiable {
    /// The pod waits.
    DoNotSchedule,
    /// The pod takes the better node.
    ScheduleAnyway,
}

/// `minDomains` of a constraint without any.
pub const DEFAULT_MIN_DOMAINS: i32 = 1;

// === impl SpreadConstraint ===

impl SpreadConstraint {
    /// Whether a policy (`nodeAffinityPolicy`, `nodeTaintsPolicy`) as written, or `default`
    /// where it is not, says that the nodes it is about are left out.
    pub fn honors(policy: Option<&str>, default: bool) -> bool {
        policy.map_or(default, |policy| policy == "Honor")
    }
}

// === impl WhenUnsatisfiable ===

impl WhenUnsatisfiable {
    /// The action of this name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "DoNotSchedule" => Some(Self::DoNotSchedule),
            "ScheduleAnyway" => Some(Self::ScheduleAnyway),
            _ => None,
        }
    }
}
