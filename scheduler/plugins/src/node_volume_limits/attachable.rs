//! The volumes of a pod that a CSI driver attaches (kube-scheduler
//! `filterAttachableVolumes`).
//!
//! Takes a pod, gives its volumes by driver and handle: of bound claims, of disks whose plugin
//! was moved to a CSI driver, and of claims that will get a volume of their class.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{Catalog, Rejection};
use plimsoll_objects::pod_volume::InlineVolume;
use plimsoll_objects::volume::{InTreePlugin, VolumeSource};
use plimsoll_objects::{ObjectKey, PersistentVolumeClaim, Pod, PodVolume};

use crate::volume_claims;

/// A volume that a driver attaches: each counts once on a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Attachable {
    driver: Arc<str>,
    volume: Id,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Handle(Arc<str>),
    /// There is no volume yet; kube-scheduler makes a handle up out of the claim's key.
    Claim(ObjectKey),
}

/// Whose volumes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The pod to place: its claims must be there.
    Waiting,
    /// A pod on a node: a claim that is gone does not count.
    Placed,
}

/// Finds the volumes of pods.
#[derive(Clone, Copy)]
pub(super) struct Finder<'a> {
    pub(super) catalog: &'a Catalog,
    /// The node has a `CSINode`: volumes of plugins that were moved to CSI drivers count.
    pub(super) migrates: bool,
    pub(super) owner: Owner,
}

/// Whether the volume may be one that a driver attaches.
pub(super) fn counts(volume: &PodVolume) -> bool {
    match volume {
        PodVolume::Claim(_) | PodVolume::Ephemeral(_) => true,
        PodVolume::Inline(inline) => inline.migration.is_some(),
    }
}

/// Whether looking the volume up may fail on a pod that has a node.
pub(super) fn may_fail(volume: &PodVolume) -> bool {
    match volume {
        PodVolume::Claim(name) => name.is_empty(),
        PodVolume::Ephemeral(_) => true,
        PodVolume::Inline(inline) => {
            let migration = inline.migration.as_ref();
            migration.is_some_and(|migration| migration.handle.is_err())
        }
    }
}

// === impl Attachable ===

impl Attachable {
    /// The volume that `driver` knows by `handle`.
    pub(super) fn handle(driver: &Arc<str>, handle: &Arc<str>) -> Self {
        Self {
            driver: Arc::clone(driver),
            volume: Id::Handle(Arc::clone(handle)),
        }
    }

    /// The driver that attaches it.
    pub(super) fn driver(&self) -> &Arc<str> {
        &self.driver
    }
}

// === impl Finder ===

impl<'a> Finder<'a> {
    /// Adds the volumes of `pod` to `found`.
    ///
    /// # Errors
    /// A claim of the pod to place is missing, or one is not the pod's, or a disk cannot be
    /// translated.
    pub(super) fn find(self, pod: &Pod, found: &mut BTreeSet<Attachable>) -> Result<(), Rejection> {
        for volume in pod.volumes() {
            let attachable = match volume {
                PodVolume::Inline(inline) => self.inline(inline)?,
                PodVolume::Claim(_) | PodVolume::Ephemeral(_) => match self.claim(pod, volume)? {
                    Some(claim) => self.attachable(claim),
                    None => None,
                },
            };
            found.extend(attachable);
        }
        Ok(())
    }

    fn inline(self, volume: &InlineVolume) -> Result<Option<Attachable>, Rejection> {
        let migration = volume.migration.as_ref();
        let Some(migration) = migration.filter(|_| self.migrates) else {
            return Ok(None);
        };
        if !migration.plugin.is_migrated() {
            return Ok(None);
        }
        match &migration.handle {
            Ok(handle) => {
                let driver = Arc::from(migration.plugin.driver());
                Ok(Some(Attachable::handle(&driver, handle)))
            }
            Err(mistake) => Err(Rejection::error(format!(
                "converting volume({}) from inline to csi: {mistake}",
                volume.name
            ))),
        }
    }

    /// The claim of a volume of `pod`.
    fn claim(
        self,
        pod: &Pod,
        volume: &PodVolume,
    ) -> Result<Option<&'a PersistentVolumeClaim>, Rejection> {
        let Some(key) = volume.claim_of(pod) else {
            return Ok(None);
        };
        if key.name.is_empty() {
            return Err(Rejection::error("PersistentVolumeClaim had no name"));
        }
        let Some(claim) = self.catalog.persistent_volume_claims.stored(&key) else {
            return match self.owner {
                Owner::Placed => Ok(None),
                Owner::Waiting => {
                    let text = volume_claims::no_claim(&key);
                    let text = format!("looking up PVC {key}: {text}");
                    Err(Rejection::unresolvable(text))
                }
            };
        };
        if matches!(volume, PodVolume::Ephemeral(_)) {
            volume_claims::check_owner(pod, claim).map_err(Rejection::error)?;
        }
        Ok(Some(claim))
    }

    /// The volume of a claim, or the one that it will get (kube-scheduler
    /// `getCSIDriverInfo`).
    fn attachable(self, claim: &PersistentVolumeClaim) -> Option<Attachable> {
        let name = claim.volume.as_ref();
        let volume = name.and_then(|name| self.catalog.persistent_volumes.called(name));
        let Some(volume) = volume else {
            return self.to_be_made(claim);
        };
        let (driver, handle) = match &volume.source {
            VolumeSource::Csi { driver, handle } => (Arc::clone(driver), handle),
            VolumeSource::InTree(migration) => {
                let on = self.migrates && migration.plugin.is_migrated();
                let translated = migration.translated.as_ref().ok().filter(|_| on)?;
                (Arc::from(migration.plugin.driver()), &translated.handle)
            }
            VolumeSource::Other => return None,
        };
        let known = !driver.is_empty() && !handle.is_empty();
        known.then(|| Attachable::handle(&driver, handle))
    }

    fn to_be_made(self, claim: &PersistentVolumeClaim) -> Option<Attachable> {
        let class = claim.class.as_ref()?;
        let class = self.catalog.storage_classes.called(class)?;
        let driver = match InTreePlugin::of(&class.provisioner) {
            Some(plugin) if self.migrates && plugin.is_migrated() => Arc::from(plugin.driver()),
            Some(_) => return None,
            None => Arc::clone(&class.provisioner),
        };
        (!driver.is_empty()).then(|| Attachable {
            driver,
            volume: Id::Claim(claim.meta.key.clone()),
        })
    }
}
