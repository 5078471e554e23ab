//! The volumes of a pod that bear on where it can run.
//!
//! Decoded from `spec.volumes`: claims, ephemeral claims, and the disks of cloud providers
//! and storage systems that a pod names itself. Everything else is left out.

use std::sync::Arc;

use crate::meta::ObjectKey;
use crate::pod::Pod;
use crate::volume::InTreePlugin;

/// An entry of `spec.volumes` that some plugin reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodVolume {
    /// `persistentVolumeClaim`: the name of the claim, in the pod's namespace.
    Claim(Arc<str>),
    /// `ephemeral`: the name of the volume. Its claim is called `pod-volume`.
    Ephemeral(Arc<str>),
    /// A disk that the pod names itself.
    Inline(Box<InlineVolume>),
}

/// A disk that a pod names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineVolume {
    /// `name` of the volume.
    pub name: Arc<str>,
    /// What others on the same node may not use, where the kind of disk has such a rule.
    pub disk: Option<Disk>,
    /// The CSI volume that stands for it, where its plugin was moved to a CSI driver.
    pub migration: Option<InlineMigration>,
}

/// The CSI volume that stands for a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineMigration {
    /// The plugin that it was for.
    pub plugin: InTreePlugin,
    /// The volume's handle, or why there is none, in the words of `csi-translation-lib`.
    pub handle: Result<Arc<str>, Box<str>>,
}

/// A disk that pods of one node cannot share freely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disk {
    /// `gcePersistentDisk`.
    Gce {
        /// `pdName`.
        name: Arc<str>,
        /// `readOnly`.
        read_only: bool,
    },
    /// `awsElasticBlockStore`.
    Ebs {
        /// `volumeID`.
        id: Arc<str>,
    },
    /// `iscsi`.
    Iscsi {
        /// `iqn`.
        iqn: Arc<str>,
        /// `readOnly`.
        read_only: bool,
    },
    /// `rbd`.
    Rbd {
        /// `monitors`.
        monitors: Box<[Arc<str>]>,
        /// `pool`.
        pool: Arc<str>,
        /// `image`.
        image: Arc<str>,
        /// `readOnly`.
        read_only: bool,
    },
}

// === impl Pod ===

impl Pod {
    /// The pod's volumes that bear on where it can run, as they are listed.
    pub fn volumes(&self) -> &[PodVolume] {
        let constraints = self.spec.constraints.as_deref();
        constraints.map_or(&[], |constraints| &constraints.volumes)
    }

    /// Key of the claim `name` in the pod's namespace.
    pub fn claim_key(&self, name: &Arc<str>) -> ObjectKey {
        ObjectKey {
            namespace: Arc::clone(&self.key().namespace),
            name: Arc::clone(name),
        }
    }

    /// Key of the claim made for the pod's ephemeral volume called `volume`.
    pub fn ephemeral_claim_key(&self, volume: &str) -> ObjectKey {
        self.claim_key(&Arc::from(format!("{}-{volume}", self.key().name)))
    }
}

// === impl PodVolume ===

impl PodVolume {
    /// Key of the claim behind the volume of `pod`: named, or made for an ephemeral one.
    pub fn claim_of(&self, pod: &Pod) -> Option<ObjectKey> {
        match self {
            Self::Claim(name) => Some(pod.claim_key(name)),
            Self::Ephemeral(volume) => Some(pod.ephemeral_claim_key(volume)),
            Self::Inline(_) => None,
        }
    }

    /// The name of the claim that the pod names.
    pub fn claim(&self) -> Option<&Arc<str>> {
        match self {
            Self::Claim(name) => Some(name),
            Self::Ephemeral(_) | Self::Inline(_) => None,
        }
    }

    /// The disk that pods of one node cannot share freely.
    pub fn disk(&self) -> Option<&Disk> {
        match self {
            Self::Inline(inline) => inline.disk.as_ref(),
            Self::Claim(_) | Self::Ephemeral(_) => None,
        }
    }
}

// === impl Disk ===

impl Disk {
    /// Whether two pods on one node cannot use both (kube-scheduler `isVolumeConflict`): the
    /// same disk, unless both only read it; an EBS volume not even then.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Gce { name, read_only },
                Self::Gce {
                    name: other,
                    read_only: other_reads,
                },
            ) => name == other && !(*read_only && *other_reads),
            (Self::Ebs { id }, Self::Ebs { id: other }) => id == other,
            (
                Self::Iscsi { iqn, read_only },
                Self::Iscsi {
                    iqn: other,
                    read_only: other_reads,
                },
            ) => iqn == other && !(*read_only && *other_reads),
            (
                Self::Rbd {
                    monitors,
                    pool,
                    image,
                    read_only,
                },
                Self::Rbd {
                    monitors: other_monitors,
                    pool: other_pool,
                    image: other_image,
                    read_only: other_reads,
                },
            ) => {
                let shared = monitors.iter().any(|one| other_monitors.contains(one));
                let same = shared && pool == other_pool && image == other_image;
                same && !(*read_only && *other_reads)
            }
            (Self::Gce { .. } | Self::Ebs { .. } | Self::Iscsi { .. } | Self::Rbd { .. }, _) => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Disk;

    fn gce(name: &str, read_only: bool) -> Disk {
        let name = Arc::from(name);
        Disk::Gce { name, read_only }
    }

    fn iscsi(iqn: &str, read_only: bool) -> Disk {
        let iqn = Arc::from(iqn);
        Disk::Iscsi { iqn, read_only }
    }

    fn rbd(monitors: &[&str], pool: &str, read_only: bool) -> Disk {
        Disk::Rbd {
            monitors: monitors.iter().map(|name| Arc::from(*name)).collect(),
            pool: Arc::from(pool),
            image: Arc::from("image"),
            read_only,
        }
    }

    #[test]
    fn one_disk_may_be_shared_by_readers_only() {
        let ebs = |id: &str| Disk::Ebs { id: Arc::from(id) };
        let cases = [
            (gce("a", false), gce("a", true), true),
            (gce("a", true), gce("a", true), false),
            (gce("a", false), gce("b", false), false),
            (ebs("a"), ebs("a"), true),
            (ebs("a"), ebs("b"), false),
            (ebs("a"), gce("a", false), false),
            (iscsi("a", true), iscsi("a", false), true),
            (iscsi("a", true), iscsi("a", true), false),
            (iscsi("a", false), iscsi("b", false), false),
            (rbd(&["m", "n"], "p", false), rbd(&["n"], "p", false), true),
            (rbd(&["m", "n"], "p", true), rbd(&["n"], "p", true), false),
            (rbd(&["m"], "p", false), rbd(&["n"], "p", false), false),
            (rbd(&["m"], "p", false), rbd(&["m"], "q", false), false),
        ];
        for (one, other, conflict) in cases {
            assert_eq!(one.conflicts_with(&other), conflict, "{one:?} {other:?}");
            assert_eq!(other.conflicts_with(&one), conflict, "{other:?} {one:?}");
        }
    }
}
