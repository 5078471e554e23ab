//! The wire's source of a volume -> what it is made of.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::in_tree::{self, RawTerm};
use super::VolumeSpec;
use super::affinity::affinity;
use crate::intern::intern;
use crate::volume::{InTreePlugin, Migration, Translated, VolumeSource};

/// What a volume is made of; `terms` are those of its affinity, `label` gives its labels.
pub(super) fn source<'a>(
    spec: &'a VolumeSpec<'_>,
    terms: Option<Vec<RawTerm<'a>>>,
    label: impl Fn(&str) -> Option<&'a str>,
) -> VolumeSource {
    if let Some(csi) = &spec.csi {
        return VolumeSource::Csi {
            driver: intern(&csi.driver.0),
            handle: Arc::from(&*csi.volume_handle.0),
        };
    }
    let Some((plugin, handle)) = in_tree_handle(spec, &label) else {
        return VolumeSource::Other;
    };
    let terms = match topology_key(plugin) {
        Some(key) => in_tree::translate(terms, label, key),
        None => terms,
    };
    let translated = handle.map(|handle| Translated {
        handle: Arc::from(handle),
        affinity: terms.as_deref().map(affinity),
    });
    VolumeSource::InTree(Box::new(Migration {
        plugin,
        translated: translated.map_err(Into::into),
    }))
}

/// The plugin of a disk that was moved to a CSI driver, and the volume's handle there.
fn in_tree_handle<'a>(
    spec: &'a VolumeSpec<'_>,
    label: &impl Fn(&str) -> Option<&'a str>,
) -> Option<(InTreePlugin, Result<Cow<'a, str>, String>)> {
    if let Some(gce) = &spec.gce_persistent_disk {
        let beta = label("failure-domain.beta.kubernetes.io/zone").filter(|zone| !zone.is_empty());
        let zones = beta.or_else(|| label("topology.kubernetes.io/zone"));
        let handle = in_tree::gce_handle(gce, zones.unwrap_or_default());
        return Some((InTreePlugin::GcePd, handle));
    }
    if let Some(ebs) = &spec.aws_elastic_block_store {
        let handle = in_tree::ebs_handle(&ebs.volume_id.0);
        return Some((InTreePlugin::AwsEbs, handle));
    }
    if let Some(disk) = &spec.azure_disk {
        return Some((InTreePlugin::AzureDisk, in_tree::azure_handle(disk)));
    }
    if let Some(cinder) = &spec.cinder {
        return Some((InTreePlugin::Cinder, Ok((*cinder.volume_id.0).into())));
    }
    let portworx = spec.portworx_volume.as_ref()?;
    Some((InTreePlugin::Portworx, Ok((*portworx.volume_id.0).into())))
}

/// The label that the plugin's driver puts a node's zone in, where its volumes have zones.
fn topology_key(plugin: InTreePlugin) -> Option<&'static str> {
    match plugin {
        InTreePlugin::AwsEbs => Some("topology.ebs.csi.aws.com/zone"),
        InTreePlugin::GcePd => Some("topology.gke.io/zone"),
        InTreePlugin::Cinder => Some("topology.cinder.csi.openstack.org/zone"),
        InTreePlugin::AzureDisk
        | InTreePlugin::AzureFile
        | InTreePlugin::Portworx
        | InTreePlugin::Vsphere => None,
    }
}
