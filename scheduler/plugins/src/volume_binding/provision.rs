//! Volumes that can be made for a claim (kube-scheduler `checkVolumeProvisions`).
//!
//! Class, driver and the capacities that are large enough are looked up once; a node costs
//! the class's topologies and a look at the capacities of its own labels.

use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::meta::Labels;
use plimsoll_objects::{CsiStorageCapacity, PersistentVolumeClaim, StorageClass};

use super::pinned::Pinned;

/// How the volume of one claim is made.
#[derive(Debug)]
pub(super) struct Provision {
    /// The claim.
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// Its class; or why it has none.
    class: Result<Arc<StorageClass>, String>,
    /// Where there is room; `None` if nobody keeps count.
    room: Option<Room>,
}

/// Capacities large enough for a claim, by name, and where they are.
#[derive(Debug)]
struct Room {
    capacities: Vec<Arc<CsiStorageCapacity>>,
    by_label: Pinned,
}

/// Whether a volume can be made on a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// It can; with the capacity it is taken from, where that is known.
    Yes(Option<Arc<CsiStorageCapacity>>),
    /// The class makes none, or none for this node.
    No,
    /// There is no room.
    Full,
}

// === impl Provision ===

impl Provision {
    /// Looks up what making a volume for `claim` takes.
    pub(super) fn new(claim: &Arc<PersistentVolumeClaim>, catalog: &Catalog) -> Self {
        let class = class_of(claim, catalog);
        let room = class.as_ref().ok().and_then(|class| {
            let driver = catalog.csi_drivers.called(&class.provisioner)?;
            let counted = driver.storage_capacity && claim.requested.is_some();
            counted.then(|| Room::new(claim, class, catalog))
        });
        Self {
            claim: Arc::clone(claim),
            class,
            room,
        }
    }

    /// Whether the volume can be made on a node with `labels`.
    ///
    /// # Errors
    /// The class is not known.
    pub(super) fn on(&self, labels: &Labels) -> Result<Answer, &str> {
        let class = self.class.as_ref().map_err(String::as_str)?;
        if !class.provisions() || !class.allows(labels) {
            return Ok(Answer::No);
        }
        let Some(room) = &self.room else {
            return Ok(Answer::Yes(None));
        };
        Ok(match room.find(labels) {
            Some(capacity) => Answer::Yes(Some(Arc::clone(capacity))),
            None => Answer::Full,
        })
    }
}

fn class_of(claim: &PersistentVolumeClaim, catalog: &Catalog) -> Result<Arc<StorageClass>, String> {
    let Some(name) = &claim.class else {
        let key = &claim.meta.key;
        return Err(format!("no class for claim \"{key}\""));
    };
    let class = catalog.storage_classes.called(name).cloned();
    class.ok_or_else(|| format!("failed to find storage class {:?}", &**name))
}

// === impl Room ===

impl Room {
    fn new(claim: &PersistentVolumeClaim, class: &StorageClass, catalog: &Catalog) -> Self {
        // In whole bytes, as kube-scheduler compares.
        let bytes = claim.requested.unwrap_or_default().value();
        let suits = |capacity: &CsiStorageCapacity| {
            capacity.class == class.meta.key.name
                && capacity.topology.is_some()
                && capacity
                    .volume_limit()
                    .is_some_and(|limit| limit.value() >= bytes)
        };
        let all = catalog.csi_storage_capacities.iter();
        let capacities: Vec<_> = all.filter(|capacity| suits(capacity)).cloned().collect();
        let pins = capacities.iter();
        let pins = pins.map(|capacity| capacity.pin.as_ref().map(std::slice::from_ref));
        Self {
            by_label: Pinned::new(pins),
            capacities,
        }
    }

    /// The first capacity that a node with `labels` has access to.
    fn find(&self, labels: &Labels) -> Option<&Arc<CsiStorageCapacity>> {
        let position = self.by_label.first(labels, |position| {
            let topology = self.capacities[position].topology.as_ref();
            topology.is_some_and(|topology| topology.matches(labels))
        })?;
        self.capacities.get(position)
    }
}
