//! Which changes may let a pod have its volumes attached (kube-scheduler
//! `isSchedulableAfter..` in `csi.go`).

use plimsoll_framework::{Change, Hint};
use plimsoll_objects::{CsiNode, Object, Pod, PodVolume, VolumeAttachment};

use super::attachable::counts;
use crate::{hints, volume_claims};

/// Whether `change` is worth another look at `pod`.
pub(super) fn hint(pod: &Pod, change: &Change<'_>) -> Hint {
    match change {
        Change::Pod {
            old: Some(gone), ..
        } => {
            let held = gone.spec.node_name.is_some() || gone.status.nominated_node.is_some();
            hints::when(held && gone.volumes().iter().any(counts))
        }
        Change::Object {
            old: Some(Object::CsiNode(old)),
            new: Some(Object::CsiNode(new)),
        } => hints::when(takes_more(old, new)),
        Change::Object {
            new: Some(Object::PersistentVolumeClaim(claim)),
            ..
        } => hints::when(volume_claims::uses(pod, &claim.meta.key)),
        Change::Object {
            old: Some(Object::VolumeAttachment(gone)),
            ..
        } => hints::when(pod.volumes().iter().any(|volume| concerns(volume, gone))),
        Change::Pod { old: None, .. }
        | Change::Node { .. }
        | Change::Object { .. }
        | Change::Load { .. }
        | Change::None => Hint::Queue,
    }
}

/// Whether a driver came, or its limit rose or went.
///
/// `Differs:` kube-scheduler takes no limit for a limit of 0, so that a pod sleeps on when
/// the driver that it misses comes without one, or when the limit goes, alone or with its
/// driver.
fn takes_more(old: &CsiNode, new: &CsiNode) -> bool {
    let limits = old.drivers.iter().filter(|driver| driver.limit.is_some());
    let mut limited = limits.map(|driver| &driver.name);
    let mut drivers = new.drivers.iter();
    let more = drivers.any(|driver| {
        let before = old.driver(&driver.name);
        match (before.map(|before| before.limit), driver.limit) {
            (None, _) | (Some(Some(_)), None) => true,
            (Some(Some(before)), Some(now)) => now > before,
            // As in kube-scheduler, though there was no limit before.
            (Some(None), Some(now)) => now > 0,
            (Some(None), None) => false,
        }
    });
    more || limited.any(|name| new.driver(name).is_none())
}

/// Whether room for the volume may have been made.
///
/// `Differs:` kube-scheduler forgets ephemeral volumes here.
fn concerns(volume: &PodVolume, gone: &VolumeAttachment) -> bool {
    match volume {
        PodVolume::Claim(_) | PodVolume::Ephemeral(_) => true,
        PodVolume::Inline(inline) => inline.migration.as_ref().is_some_and(|migration| {
            migration.handle.is_err() || *migration.plugin.driver() == *gone.attacher
        }),
    }
}
