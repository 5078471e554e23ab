//! Hard constraints: counts per domain, and whether a node keeps the skew.
//!
//! The counts are made once per cycle and shared by the copies of dry runs; what a dry run
//! adds or takes away is kept beside them.

use std::sync::Arc;

use plimsoll_framework::snapshot::LabelColumn;
use plimsoll_framework::{Cycle, NodeId, NodeInfo, Rejection};
use plimsoll_objects::Pod;

use super::census::Census;
use super::constraint::Constraint;
use super::{REASON, REASON_NO_LABEL};

/// The smallest count where there is no domain (Go `math.MaxInt32`).
const NO_DOMAIN: i64 = i32::MAX as i64;

/// What `PreFilter` finds out.
#[derive(Debug, Clone)]
pub(super) struct HardState {
    rules: Arc<[Rule]>,
    changes: Vec<Change>,
}

/// A constraint and how its domains stand.
#[derive(Debug)]
struct Rule {
    constraint: Constraint,
    column: Arc<LabelColumn>,
    /// Matching pods by number of the domain; `None` if no node that counts is in it.
    domains: Vec<Option<i64>>,
    /// How many domains there are.
    len: usize,
    /// The two emptiest, the emptiest first: of one domain that changes, the emptiest of
    /// the others is at hand.
    lowest: [Option<(usize, i64)>; 2],
    /// 1 if the pod itself will be counted.
    own: i64,
}

/// Pods that a dry run added to a domain, less those taken away.
#[derive(Debug, Clone, Copy)]
struct Change {
    rule: usize,
    domain: usize,
    by: i64,
}

// === impl HardState ===

impl HardState {
    pub(super) fn new(cycle: &Cycle<'_>, constraints: Vec<Constraint>) -> Self {
        let census = Census::new(cycle, &constraints);
        let nodes = census.nodes(true);
        let counts = census.matching();
        let mut domains = Vec::with_capacity(constraints.len());
        for (index, counts) in counts.iter().enumerate() {
            let column = census.column(index);
            let mut sums = vec![None; column.len()];
            for node in nodes.iter().filter(|node| census.includes(index, **node)) {
                if let Some(domain) = column.get(*node) {
                    *sums[domain].get_or_insert(0) += i64::from(counts[node.index()]);
                }
            }
            domains.push((Arc::clone(column), sums));
        }
        let rules = constraints.into_iter().zip(domains);
        let rules = rules.map(|(constraint, (column, domains))| Rule {
            own: i64::from(constraint.selector.matches(&cycle.pod.meta.labels)),
            len: domains.iter().flatten().count(),
            lowest: lowest(&domains),
            constraint,
            column,
            domains,
        });
        Self {
            rules: rules.collect(),
            changes: Vec::new(),
        }
    }

    /// `other` is thought to have come to `node` (`by` is 1) or to have gone (-1). As in
    /// kube-scheduler, pods being deleted and empty selectors are no exception here.
    pub(super) fn update(&mut self, pod: &Pod, other: &Pod, node: &NodeInfo, by: i64) {
        let same = other.meta.key.namespace == pod.meta.key.namespace;
        let has_key = |rule: &Rule| rule.column.get(node.id).is_some();
        if !same || !self.rules.iter().all(has_key) {
            return;
        }
        for (index, rule) in self.rules.iter().enumerate() {
            let constraint = &rule.constraint;
            if let Some(domain) = rule.column.get(node.id)
                && constraint.selector.matches(&other.meta.labels)
                && constraint.includes(pod, &node.node)
            {
                let same = |change: &&mut Change| (change.rule, change.domain) == (index, domain);
                match self.changes.iter_mut().find(same) {
                    Some(change) => change.by += by,
                    None => self.changes.push(Change {
                        rule: index,
                        domain,
                        by,
                    }),
                }
            }
        }
    }

    /// Whether the pod can go to `node`.
    ///
    /// # Errors
    /// The first constraint that it would break.
    pub(super) fn judge(&self, node: NodeId) -> Result<(), Rejection> {
        for (index, rule) in self.rules.iter().enumerate() {
            let Some(domain) = rule.column.get(node) else {
                return Err(Rejection::unresolvable(REASON_NO_LABEL));
            };
            let there = rule.domains[domain].unwrap_or(0) + self.change(index, domain);
            let skew = there + rule.own - self.least(index);
            if skew > i64::from(rule.constraint.max_skew) {
                return Err(Rejection::unschedulable(REASON));
            }
        }
        Ok(())
    }

    /// What the count of the emptiest domain is taken for.
    fn least(&self, index: usize) -> i64 {
        let rule = &self.rules[index];
        if (rule.len as i64) < i64::from(rule.constraint.min_domains) {
            return 0;
        }
        let mut changed = self.changes.iter().filter(|change| change.rule == index);
        let least = match (changed.next(), changed.next()) {
            (None, _) => rule.lowest[0].map(|(_, count)| count),
            (Some(change), None) => {
                let others = rule.lowest.iter().flatten();
                let mut others = others.filter(|(domain, _)| *domain != change.domain);
                let count = rule.domains[change.domain].unwrap_or(0) + change.by;
                let other = others.next().map(|(_, other)| *other);
                Some(other.map_or(count, |other| other.min(count)))
            }
            // A dry run changes one node, so that this is rare.
            (Some(_), Some(_)) => {
                let counts = rule.domains.iter().enumerate();
                let counts = counts
                    .filter_map(|(domain, count)| Some((*count)? + self.change(index, domain)));
                counts.min()
            }
        };
        least.unwrap_or(NO_DOMAIN)
    }

    fn change(&self, rule: usize, domain: usize) -> i64 {
        let mut changes = self.changes.iter();
        let change = changes.find(|change| (change.rule, change.domain) == (rule, domain));
        change.map_or(0, |change| change.by)
    }
}

/// The two domains with the fewest pods.
fn lowest(domains: &[Option<i64>]) -> [Option<(usize, i64)>; 2] {
    let mut lowest: [Option<(usize, i64)>; 2] = [None, None];
    let counts = domains.iter().enumerate();
    for (domain, count) in counts.filter_map(|(domain, count)| Some((domain, (*count)?))) {
        let below = |other: Option<(usize, i64)>| other.is_none_or(|(_, other)| count < other);
        if below(lowest[0]) {
            lowest = [Some((domain, count)), lowest[0]];
        } else if below(lowest[1]) {
            lowest[1] = Some((domain, count));
        }
    }
    lowest
}
