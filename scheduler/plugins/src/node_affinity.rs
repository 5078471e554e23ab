//! `NodeAffinity`: the labels that a pod wants of its node, must have or would like.
//!
//! kube-scheduler `plugins/nodeaffinity`. Selectors are parsed at decoding
//! ([`plimsoll_objects::selector`]); `addedAffinity` of the args counts for every pod.
//! A required term with a mistake matches nothing and nobody hears of it; a preferred one
//! fails the attempt in `PreScore`.

mod args;
mod names;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeId, NodeInfo, NodeScore, Normalizes,
    PluginSpec, Point, PreFilter, PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::selector::{self, PreferredTerm};
use plimsoll_objects::{Constraints, Node, NodeAffinity as Affinity, Pod};

use crate::{hints, normalize};

/// The plugin's name.
pub const NAME: &str = "NodeAffinity";

const REASON_POD: &str = "node(s) didn't match Pod's node affinity/selector";
const REASON_ENFORCED: &str = "node(s) didn't match scheduler-enforced node affinity";
const REASON_CONFLICT: &str = "pod affinity terms conflict";

struct NodeAffinity {
    /// `addedAffinity`: without mistakes, and without an empty list of preferred terms.
    added: Affinity,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[
            Point::PreFilter,
            Point::Filter,
            Point::PreScore,
            Point::Score,
        ],
        depends: Depends::Node,
        decode_args: args::decode,
        build: |args| {
            let added = args.get::<Affinity>().cloned().unwrap_or_default();
            let plugin = Arc::new(NodeAffinity { added });
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for NodeAffinity {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let constraints = cycle.pod.spec.constraints.as_deref();
        let required = constraints.and_then(|asked| asked.node_affinity.required.as_ref());
        let has_selector = constraints.is_some_and(|asked| asked.node_selector.is_some());
        if required.is_none() && self.added.required.is_none() && !has_selector {
            return Ok(PreFilterOutcome::Skip);
        }
        match required.and_then(names::allowed) {
            None => Ok(PreFilterOutcome::Ready),
            Some(names) if names.is_empty() => Err(Rejection::unresolvable(REASON_CONFLICT)),
            Some(names) => Ok(PreFilterOutcome::named(&names, cycle.snapshot)),
        }
    }
}

impl Filter for NodeAffinity {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        if !self.enforced_allows(&node.node) {
            return Err(Rejection::unresolvable(REASON_ENFORCED));
        }
        if !pod_allows(cycle.pod, &node.node) {
            return Err(Rejection::unresolvable(REASON_POD));
        }
        Ok(FilterOutcome::Pass)
    }
}

impl PreScore for NodeAffinity {
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        let preferred = preferred(cycle.pod);
        check(preferred)?;
        let nothing = preferred.is_none() && self.added.preferred.is_none();
        Ok(if nothing {
            PreScoreOutcome::Skip
        } else {
            PreScoreOutcome::Ready
        })
    }
}

impl Score for NodeAffinity {
    fn score(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let preferred = preferred(cycle.pod);
        check(preferred)?;
        let lists = self.added.preferred.as_deref().into_iter().chain(preferred);
        Ok(lists
            .map(|terms| selector::preferred_weight(terms, &node.node))
            .sum())
    }

    fn normalize(
        &self,
        _cycle: &Cycle<'_>,
        _state: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        normalize::straight(scores);
        Ok(())
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::ByScores
    }
}

impl EnqueueExtensions for NodeAffinity {
    fn events(&self) -> Vec<ClusterEvent> {
        vec![ClusterEvent::new(
            EventResource::Node,
            Actions::ADD | Actions::UPDATE_NODE_LABEL,
        )]
    }

    /// A node wakes the pod when it did not match (or was not there) and now does, and, as
    /// in kube-scheduler, whenever a term of the pod could not be parsed and none matches.
    ///
    /// `Differs:` kube-scheduler asks only whether the *pod's* affinity began to match, so
    /// that a pod sleeps through a node which the added affinity allows from now on.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Node {
                old,
                new: Some(new),
            } => {
                let allowed = |node: &Node| self.enforced_allows(node) && pod_allows(pod, node);
                let begins = allowed(new) && !old.is_some_and(allowed);
                let unparsed =
                    self.enforced_allows(new) && !pod_allows(pod, new) && is_mistaken(pod);
                hints::when(begins || unparsed)
            }
            Change::Node { new: None, .. }
            | Change::Pod { .. }
            | Change::Object { .. }
            | Change::Load { .. }
            | Change::None => Hint::Queue,
        }
    }
}

impl NodeAffinity {
    fn enforced_allows(&self, node: &Node) -> bool {
        let required = self.added.required.as_ref();
        required.is_none_or(|terms| terms.matches(node))
    }
}

fn pod_allows(pod: &Pod, node: &Node) -> bool {
    let constraints = pod.spec.constraints.as_deref();
    constraints.is_none_or(|constraints| constraints.allows(node))
}

/// Whether a required term of the pod could not be parsed.
fn is_mistaken(pod: &Pod) -> bool {
    let constraints = pod.spec.constraints.as_deref();
    let required = constraints.and_then(|asked| asked.node_affinity.required.as_ref());
    required.is_some_and(|terms| {
        terms
            .terms
            .iter()
            .any(selector::NodeSelectorTerm::has_mistakes)
    })
}

fn preferred(pod: &Pod) -> Option<&[PreferredTerm]> {
    let constraints: Option<&Constraints> = pod.spec.constraints.as_deref();
    constraints?.node_affinity.preferred.as_deref()
}

/// An error that names every mistake in the preferred terms.
fn check(preferred: Option<&[PreferredTerm]>) -> Result<(), Rejection> {
    let mistaken = |term: &PreferredTerm| term.weight != 0 && term.preference.has_mistakes();
    match preferred {
        Some(terms) if terms.iter().any(mistaken) => {
            let mistakes = selector::preferred_mistakes(terms);
            Err(Rejection::error(selector::message(&mistakes)))
        }
        _ => Ok(()),
    }
}
