//! The wire's volumes of a pod -> the ones that bear on where it can run.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use super::in_tree;
use super::values::{Items, Text};
use super::wire::ImageSource;
use crate::intern::intern;
use crate::pod_volume::{Disk, InlineMigration, InlineVolume, PodVolume};
use crate::volume::InTreePlugin;

/// A `v1.Volume`: the sources that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Volume<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    pub(super) image: Option<ImageSource<'a>>,
    #[serde(borrow)]
    persistent_volume_claim: Option<ClaimSource<'a>>,
    ephemeral: Option<Present>,
    #[serde(borrow)]
    gce_persistent_disk: Option<in_tree::GcePd<'a>>,
    #[serde(borrow)]
    aws_elastic_block_store: Option<in_tree::ById<'a>>,
    #[serde(borrow)]
    iscsi: Option<Iscsi<'a>>,
    #[serde(borrow)]
    rbd: Option<Rbd<'a>>,
    #[serde(borrow)]
    azure_disk: Option<in_tree::AzureDisk<'a>>,
    azure_file: Option<Present>,
    #[serde(borrow)]
    cinder: Option<in_tree::ById<'a>>,
    #[serde(borrow, rename = "portworxVolume")]
    portworx: Option<in_tree::ById<'a>>,
    #[serde(borrow, rename = "vsphereVolume")]
    vsphere: Option<Vsphere<'a>>,
}

/// A source of which only matters that it is there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Present {}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimSource<'a> {
    #[serde(borrow)]
    claim_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Iscsi<'a> {
    #[serde(borrow)]
    iqn: Text<'a>,
    read_only: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rbd<'a> {
    #[serde(borrow)]
    monitors: Items<Text<'a>>,
    #[serde(borrow)]
    pool: Text<'a>,
    #[serde(borrow)]
    image: Text<'a>,
    read_only: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Vsphere<'a> {
    #[serde(borrow)]
    volume_path: Text<'a>,
}

/// The volumes that some plugin reads.
pub(super) fn volumes(wire: &[Volume<'_>]) -> Box<[PodVolume]> {
    wire.iter().filter_map(volume).collect()
}

fn volume(wire: &Volume<'_>) -> Option<PodVolume> {
    if let Some(claim) = &wire.persistent_volume_claim {
        return Some(PodVolume::Claim(Arc::from(&*claim.claim_name.0)));
    }
    if wire.ephemeral.is_some() {
        return Some(PodVolume::Ephemeral(intern(&wire.name.0)));
    }
    let (disk, migration) = (disk(wire), migration(wire));
    (disk.is_some() || migration.is_some()).then(|| {
        PodVolume::Inline(Box::new(InlineVolume {
            name: intern(&wire.name.0),
            disk,
            migration,
        }))
    })
}

/// The disk that others on the node may not use freely.
fn disk(wire: &Volume<'_>) -> Option<Disk> {
    if let Some(gce) = &wire.gce_persistent_disk {
        return Some(Disk::Gce {
            name: intern(&gce.pd_name.0),
            read_only: gce.read_only.unwrap_or(false),
        });
    }
    if let Some(ebs) = &wire.aws_elastic_block_store {
        let id = intern(&ebs.volume_id.0);
        return Some(Disk::Ebs { id });
    }
    if let Some(iscsi) = &wire.iscsi {
        return Some(Disk::Iscsi {
            iqn: intern(&iscsi.iqn.0),
            read_only: iscsi.read_only.unwrap_or(false),
        });
    }
    wire.rbd.as_ref().map(|rbd| Disk::Rbd {
        monitors: rbd.monitors.0.iter().map(|text| intern(&text.0)).collect(),
        pool: intern(&rbd.pool.0),
        image: intern(&rbd.image.0),
        read_only: rbd.read_only.unwrap_or(false),
    })
}

/// The CSI volume that stands for it (`csi-translation-lib`
/// `TranslateInTreeInlineVolumeToCSI`).
fn migration(wire: &Volume<'_>) -> Option<InlineMigration> {
    let (plugin, handle) = if let Some(gce) = &wire.gce_persistent_disk {
        (InTreePlugin::GcePd, Ok(in_tree::unzoned_gce_handle(gce)))
    } else if let Some(ebs) = &wire.aws_elastic_block_store {
        (InTreePlugin::AwsEbs, in_tree::ebs_handle(&ebs.volume_id.0))
    } else if let Some(disk) = &wire.azure_disk {
        (InTreePlugin::AzureDisk, in_tree::azure_handle(disk))
    } else if wire.azure_file.is_some() {
        // Its volumes are never counted, so that nobody asks for the handle.
        (InTreePlugin::AzureFile, Ok(Cow::Borrowed("")))
    } else if let Some(cinder) = &wire.cinder {
        (InTreePlugin::Cinder, Ok((*cinder.volume_id.0).into()))
    } else if let Some(portworx) = &wire.portworx {
        (InTreePlugin::Portworx, Ok((*portworx.volume_id.0).into()))
    } else {
        let vsphere = wire.vsphere.as_ref()?;
        (InTreePlugin::Vsphere, Ok((*vsphere.volume_path.0).into()))
    };
    Some(InlineMigration {
        plugin,
        handle: handle.map(Arc::from).map_err(Into::into),
    })
}
