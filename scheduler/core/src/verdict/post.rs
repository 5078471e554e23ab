//! The words of the `PostFilter`s, free of what the order of nodes decides.
//!
//! Of nodes that are equally good a cycle takes any; a verdict names the first by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{NodeId, Preemption, Snapshot};
use plimsoll_objects::Pod;

use super::{PostFilterVerdict, PreemptionVerdict, Status};
use crate::runtime::post_filter::{PostFiltered, Promise, Promised};

/// What `help` comes to; its message then names the same node.
pub(super) fn verdict(help: &mut PostFiltered, snapshot: &Snapshot) -> PostFilterVerdict {
    let mut verdict = PostFilterVerdict {
        status: help
            .rejection
            .as_ref()
            .map_or_else(Status::success, Status::of),
        nominated_node: None,
        tied: Vec::new(),
        candidates: BTreeMap::new(),
        clears_nomination: matches!(help.promise, Promise::Withdraw),
    };
    if let Promise::Make(promised) = &help.promise {
        verdict.fill(promised, snapshot);
        let first = verdict.tied.first().cloned();
        if let Some((chosen, first)) = name_of(promised.node, snapshot).zip(first) {
            help.message = help.message.replace(&on_node(&chosen), &on_node(&first));
            verdict.nominated_node = Some(first);
        }
    }
    if help.rejection.is_none() && !help.message.is_empty() {
        verdict.status.reasons.push(help.message.clone().into());
    }
    verdict
}

fn on_node(name: &str) -> String {
    format!("on node {name},")
}

fn name_of(node: NodeId, snapshot: &Snapshot) -> Option<Arc<str>> {
    Some(Arc::clone(snapshot.get(node)?.name()))
}

// === impl PostFilterVerdict ===

impl PostFilterVerdict {
    fn fill(&mut self, promised: &Promised, snapshot: &Snapshot) {
        let alone = [promised.node];
        let tied = if promised.tied.is_empty() {
            alone.as_slice()
        } else {
            &promised.tied
        };
        let names = tied.iter().filter_map(|node| name_of(*node, snapshot));
        self.tied = names.collect();
        self.tied.sort_unstable();
        let candidate = |found: &Preemption| {
            let taken = PreemptionVerdict::of(&found.victims, found.pdb_violations);
            Some((name_of(found.node, snapshot)?, taken))
        };
        self.candidates = promised.candidates.iter().filter_map(candidate).collect();
        if let Some(name) = name_of(promised.node, snapshot) {
            let own = || PreemptionVerdict::of(&promised.victims, 0);
            self.candidates.entry(name).or_insert_with(own);
        }
    }
}

// === impl PreemptionVerdict ===

impl PreemptionVerdict {
    fn of(victims: &[Arc<Pod>], pdb_violations: usize) -> Self {
        Self {
            victims: victims.iter().map(|pod| pod.key().clone()).collect(),
            pdb_violations,
        }
    }
}
