//! The constraints that hold for a pod: its own, or the default ones.
//!
//! Takes the pod, gives constraints of one action with their selectors made up. Default
//! constraints take theirs from the pod's services and owner.

use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::selector::RawRequirement;
use plimsoll_objects::spread::DEFAULT_MIN_DOMAINS;
use plimsoll_objects::{LabelSelector, Labels, Node, Pod, SpreadConstraint, WhenUnsatisfiable};

use super::args::{DefaultConstraint, PodTopologySpreadArgs};
use super::default_selector::default_selector;
use crate::taint_toleration;

/// Label with the name of the host: the domains are the nodes themselves.
pub(super) const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
/// kube-scheduler's default constraints: key and skew.
const SYSTEM: [(&str, i32); 2] = [(HOST, 3), (ZONE, 5)];

/// A constraint as it holds for one pod.
#[derive(Debug, Clone)]
pub(super) struct Constraint {
    pub(super) max_skew: i32,
    pub(super) key: Arc<str>,
    pub(super) selector: Selector,
    pub(super) min_domains: i32,
    pub(super) honors_affinity: bool,
    pub(super) honors_taints: bool,
}

/// Selectors that must all match.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selector(pub(super) Vec<LabelSelector>);

/// The constraints of pods that have none of their own.
#[derive(Debug)]
pub(super) struct Defaults {
    constraints: Vec<SpreadConstraint>,
    is_system: bool,
}

/// The pod's own constraints, of either action.
pub(super) fn of(pod: &Pod) -> &[SpreadConstraint] {
    let constraints = pod.spec.constraints.as_deref();
    constraints.map_or(&[], |constraints| &constraints.spread)
}

// === impl Selector ===

impl Selector {
    /// The constraint's selector, and the pod's values of its `matchLabelKeys`.
    fn of(constraint: &SpreadConstraint, labels: &Labels) -> Result<Self, String> {
        let mut selector = constraint.selector.clone();
        if let Some(mistake) = selector.mistake() {
            return Err(mistake.to_owned());
        }
        for key in &constraint.match_label_keys {
            if let Some(value) = labels.get(key) {
                selector = selector.and(&RawRequirement {
                    key,
                    operator: "In",
                    values: Some(vec![value]),
                });
            }
        }
        Ok(Self(vec![selector]))
    }

    pub(super) fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|one| one.matches(labels))
    }

    /// Whether there is no requirement in it.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(LabelSelector::is_empty)
    }
}

// === impl Constraint ===

impl Constraint {
    fn new(constraint: &SpreadConstraint, selector: Selector) -> Self {
        Self {
            max_skew: constraint.max_skew,
            key: Arc::clone(&constraint.topology_key),
            selector,
            min_domains: constraint.min_domains,
            honors_affinity: constraint.honors_affinity,
            honors_taints: constraint.honors_taints,
        }
    }

    /// Whether `node` counts, as far as the constraint's policies go.
    pub(super) fn includes(&self, pod: &Pod, node: &Node) -> bool {
        (!self.honors_affinity || affinity_allows(pod, node))
            && (!self.honors_taints || !taint_toleration::keeps_away(node, pod))
    }
}

/// Whether the pod's node selector and required affinity match `node`.
pub(super) fn affinity_allows(pod: &Pod, node: &Node) -> bool {
    let constraints = pod.spec.constraints.as_deref();
    constraints.is_none_or(|constraints| constraints.allows(node))
}

// === impl Defaults ===

impl Defaults {
    /// kube-scheduler's own.
    pub(super) fn system() -> Self {
        let constraints = SYSTEM.iter().map(|(key, max_skew)| SpreadConstraint {
            max_skew: *max_skew,
            topology_key: Arc::from(*key),
            when_unsatisfiable: Some(WhenUnsatisfiable::ScheduleAnyway),
            min_domains: DEFAULT_MIN_DOMAINS,
            honors_affinity: true,
            ..SpreadConstraint::default()
        });
        Self {
            constraints: constraints.collect(),
            is_system: true,
        }
    }

    /// Those of the args.
    pub(super) fn of(args: &PodTopologySpreadArgs) -> Self {
        match args {
            PodTopologySpreadArgs::System => Self::system(),
            PodTopologySpreadArgs::List(list) => Self {
                constraints: list.iter().map(from_args).collect(),
                is_system: false,
            },
        }
    }

    pub(super) fn is_system(&self) -> bool {
        self.is_system
    }

    /// The constraints of `action` that hold for `pod`.
    ///
    /// # Errors
    /// The mistake in the first selector that has one.
    pub(super) fn resolve(
        &self,
        pod: &Pod,
        action: WhenUnsatisfiable,
        catalog: &Catalog,
    ) -> Result<Vec<Constraint>, String> {
        let wanted = |one: &&SpreadConstraint| one.when_unsatisfiable == Some(action);
        let own = of(pod);
        if !own.is_empty() {
            let own = own.iter().filter(wanted);
            return own
                .map(|one| Ok(Constraint::new(one, Selector::of(one, &pod.meta.labels)?)))
                .collect();
        }
        let mut defaults = self.constraints.iter().filter(wanted).peekable();
        if defaults.peek().is_none() {
            return Ok(Vec::new());
        }
        let selector = default_selector(pod, catalog);
        if selector.is_empty() {
            return Ok(Vec::new());
        }
        Ok(defaults
            .map(|one| Constraint::new(one, selector.clone()))
            .collect())
    }
}

/// `matchLabelKeys` of a default constraint have no effect: its selector is replaced whole.
fn from_args(args: &DefaultConstraint) -> SpreadConstraint {
    SpreadConstraint {
        max_skew: args.max_skew,
        topology_key: Arc::clone(&args.topology_key),
        when_unsatisfiable: WhenUnsatisfiable::of(&args.when_unsatisfiable),
        selector: LabelSelector::default(),
        match_label_keys: Box::default(),
        min_domains: args.min_domains.unwrap_or(DEFAULT_MIN_DOMAINS),
        honors_affinity: SpreadConstraint::honors(args.node_affinity_policy.as_deref(), true),
        honors_taints: SpreadConstraint::honors(args.node_taints_policy.as_deref(), false),
    }
}
