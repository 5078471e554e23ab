//! What can be said of the pod's claims before any node is looked at.

use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::{PersistentVolume, PersistentVolumeClaim};

use super::claims::Sorted;
use super::provision::Provision;
use super::search::Search;

/// The pod's claims, ready to be held against nodes.
#[derive(Debug)]
pub(super) struct Plan {
    /// The volumes of the claims that have theirs; `None` for one that is not there.
    pub(super) bound: Vec<Option<Arc<PersistentVolume>>>,
    /// Claims for which a node was chosen in an earlier attempt.
    pub(super) chosen: Vec<Chosen>,
    /// Claims that may take a volume which is there, the smallest request first.
    pub(super) open: Vec<Open>,
}

/// A claim whose volume is to be made for a node.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The node.
    pub(super) node: Arc<str>,
    /// How its volume is made.
    pub(super) provision: Provision,
}

/// A claim without a volume and without a node.
#[derive(Debug)]
pub(super) struct Open {
    /// The volumes that would do; or what is wrong with the claim's selector.
    pub(super) search: Result<Search, String>,
    /// How a volume is made if none does.
    pub(super) provision: Provision,
}

// === impl Plan ===

impl Plan {
    /// Prepares the search for the claims of a pod.
    pub(super) fn new(sorted: Sorted, catalog: &Catalog) -> Self {
        let bound = sorted.bound.iter().map(|claim| {
            let name = claim.volume.as_ref()?;
            catalog.persistent_volumes.called(name).cloned()
        });
        let bound = bound.collect();
        let (mut chosen, mut open) = (Vec::new(), Vec::new());
        for claim in sorted.delayed {
            match &claim.selected_node {
                Some(node) => chosen.push(Chosen {
                    node: Arc::clone(node),
                    provision: Provision::new(&claim, catalog),
                }),
                None => open.push(claim),
            }
        }
        open.sort_by_key(|claim| claim.requested.unwrap_or_default());
        Self {
            bound,
            chosen,
            open: open.iter().map(|claim| Open::new(claim, catalog)).collect(),
        }
    }

    /// Whether every claim has its volume.
    pub(super) fn is_bound(&self) -> bool {
        self.chosen.is_empty() && self.open.is_empty()
    }
}

// === impl Open ===

impl Open {
    fn new(claim: &Arc<PersistentVolumeClaim>, catalog: &Catalog) -> Self {
        Self {
            search: Search::new(claim, catalog),
            provision: Provision::new(claim, catalog),
        }
    }
}
