//! Volumes that are there for a claim (`component-helpers` `FindMatchingVolume`).
//!
//! What does not depend on the node is judged once: the volumes set aside for the claim, and
//! those that would do, smallest first. A node costs a look at those that it can reach.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::meta::Labels;
use plimsoll_objects::volume::VolumeAffinity;
use plimsoll_objects::{ObjectKey, PersistentVolume, PersistentVolumeClaim};

use super::pinned::Pinned;

/// The volumes that would do for one claim.
#[derive(Debug)]
pub(super) struct Search {
    /// The claim.
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// Set aside for the claim: nothing else is taken then.
    aside: Vec<Arc<PersistentVolume>>,
    /// The others, by size; of one size by name.
    others: Vec<Arc<PersistentVolume>>,
    by_label: Pinned,
}

// === impl Search ===

impl Search {
    /// Prepares the search for `claim`.
    ///
    /// # Errors
    /// The claim's selector has a mistake.
    pub(super) fn new(
        claim: &Arc<PersistentVolumeClaim>,
        catalog: &Catalog,
    ) -> Result<Self, String> {
        if let Some(mistake) = claim
            .selector
            .as_ref()
            .and_then(|selector| selector.mistake())
        {
            let key = &claim.meta.key;
            return Err(format!(
                "error creating internal label selector for claim: {key}: {mistake}"
            ));
        }
        let Some(class) = &claim.class else {
            return Ok(Self::nothing(claim));
        };
        let (mut aside, mut others) = (Vec::new(), Vec::new());
        let own = catalog.volumes_for(&claim.meta.key);
        let own = own.filter(|volume| volume.class == *class);
        let all = own.chain(catalog.free_volumes(class));
        for volume in all.filter(|volume| could_do(claim, volume)) {
            if volume.is_bound_to(claim) {
                aside.push(Arc::clone(volume));
            } else if is_free(claim, volume) {
                others.push(Arc::clone(volume));
            }
        }
        others.sort_by_key(|volume| volume.capacity);
        let pins = others.iter().map(|volume| match &volume.affinity {
            Some(affinity) => affinity.pins(),
            None => None,
        });
        Ok(Self {
            claim: Arc::clone(claim),
            by_label: Pinned::new(pins),
            aside,
            others,
        })
    }

    /// A search that finds nothing: of no class are only claims that the controller binds.
    fn nothing(claim: &Arc<PersistentVolumeClaim>) -> Self {
        Self {
            claim: Arc::clone(claim),
            aside: Vec::new(),
            others: Vec::new(),
            by_label: Pinned::default(),
        }
    }

    /// The volume for a node with `labels`, besides those that are `taken`.
    pub(super) fn find(
        &self,
        labels: &Labels,
        taken: &BTreeSet<&ObjectKey>,
    ) -> Option<&Arc<PersistentVolume>> {
        let is_left = |volume: &PersistentVolume| !taken.contains(&volume.meta.key);
        if let Some(volume) = self.aside.iter().find(|volume| is_left(volume)) {
            return reaches(volume.affinity.as_ref(), labels).then_some(volume);
        }
        let first = self.by_label.first(labels, |position| {
            let volume = &self.others[position];
            is_left(volume) && reaches(volume.affinity.as_ref(), labels)
        });
        first.map(|position| &self.others[position])
    }
}

/// A claim and the volume that it is to take.
#[derive(Debug, Clone)]
pub(super) struct Match {
    /// The claim.
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// The volume.
    pub(super) volume: Arc<PersistentVolume>,
}

/// Whether a node with `labels` can reach a volume with this affinity.
pub(super) fn reaches(affinity: Option<&VolumeAffinity>, labels: &Labels) -> bool {
    affinity.is_none_or(|affinity| affinity.matches(labels))
}

/// What must hold of a volume that is set aside for the claim, too.
fn could_do(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    (volume.claim_ref.is_none() || volume.is_bound_to(claim))
        && volume.capacity >= claim.requested.unwrap_or_default()
        && volume.mode == claim.mode
        && volume.attributes_class == claim.attributes_class
        && volume.meta.deleted.is_none()
}

/// What must hold of any other volume.
fn is_free(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    let selector = claim.selector.as_ref();
    volume.available
        && selector.is_none_or(|selector| selector.matches(&volume.meta.labels))
        && claim
            .access_modes
            .iter()
            .all(|mode| volume.access_modes.contains(mode))
}
