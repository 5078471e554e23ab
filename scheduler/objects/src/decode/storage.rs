//! JSON of the API server -> storage classes and what CSI drivers say.

use std::sync::Arc;

use serde::Deserialize;

use super::values::{Items, QuantityValue, Text};
use super::volumes::{pin, quantity, text};
use super::{DecodeError, convert, parse, wire};
use crate::intern::intern;
use crate::quantity::Quantity;
use crate::selector::{LabelSelector, RawRequirement};
use crate::storage::{
    BindingMode, CsiDriver, CsiNode, CsiNodeDriver, CsiStorageCapacity, StorageClass,
    VolumeAttachment,
};

/// Annotation of a `CSINode`: plugins whose volumes the node takes as those of a driver.
const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireClass<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    provisioner: Text<'a>,
    #[serde(borrow)]
    volume_binding_mode: Option<Text<'a>>,
    #[serde(borrow)]
    allowed_topologies: Items<TopologyTerm<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TopologyTerm<'a> {
    #[serde(borrow)]
    match_label_expressions: Items<TopologyRequirement<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TopologyRequirement<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    values: Items<Text<'a>>,
}

/// An object of which the head and something below `spec` is read.
#[derive(Debug, Deserialize)]
#[serde(default, bound(deserialize = "S: Deserialize<'de>, 'de: 'a"))]
struct Specified<'a, S> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    spec: Option<S>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeSpec<'a> {
    #[serde(borrow)]
    drivers: Items<NodeDriver<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeDriver<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    allocatable: Option<Allocatable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Allocatable {
    count: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DriverSpec {
    storage_capacity: Option<bool>,
    prevent_pod_scheduling_if_missing: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireCapacity<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    storage_class_name: Text<'a>,
    #[serde(borrow)]
    capacity: Option<QuantityValue<'a>>,
    #[serde(borrow)]
    maximum_volume_size: Option<QuantityValue<'a>>,
    #[serde(borrow)]
    node_topology: Option<wire::LabelSelector<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSpec<'a> {
    #[serde(borrow)]
    attacher: Text<'a>,
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow)]
    source: Option<AttachmentSource<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSource<'a> {
    #[serde(borrow)]
    persistent_volume_name: Option<Text<'a>>,
}

impl<S> Default for Specified<'_, S> {
    fn default() -> Self {
        Self {
            metadata: None,
            spec: None,
        }
    }
}

/// Decodes a `storage.k8s.io/v1.StorageClass`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn storage_class(json: &[u8]) -> Result<StorageClass, DecodeError> {
    let wire: WireClass<'_> = parse(json)?;
    let terms = &wire.allowed_topologies.0;
    Ok(StorageClass {
        meta: convert::meta(wire.metadata.as_ref(), "")?,
        provisioner: intern(&wire.provisioner.0),
        binding_mode: wire.volume_binding_mode.map(|mode| match &*mode.0 {
            "WaitForFirstConsumer" => BindingMode::WaitForFirstConsumer,
            _ => BindingMode::Immediate,
        }),
        allowed_topologies: (!terms.is_empty())
            .then(|| terms.iter().filter_map(topology).collect()),
    })
}

/// A term of topologies; an empty one matches nothing.
fn topology(wire: &TopologyTerm<'_>) -> Option<LabelSelector> {
    let expressions = wire.match_label_expressions.0.iter();
    let expressions: Vec<RawRequirement<'_>> = expressions
        .map(|expression| RawRequirement {
            key: &expression.key.0,
            operator: "In",
            values: Some(expression.values.0.iter().map(|value| &*value.0).collect()),
        })
        .collect();
    (!expressions.is_empty()).then(|| LabelSelector::new([], &expressions))
}

/// Decodes a `storage.k8s.io/v1.CSINode`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn csi_node(json: &[u8]) -> Result<CsiNode, DecodeError> {
    let wire: Specified<'_, NodeSpec<'_>> = parse(json)?;
    let metadata = wire.metadata.as_ref();
    let annotations = metadata.and_then(|meta| meta.annotations.as_ref());
    let migrated = text(annotations, MIGRATED_PLUGINS).unwrap_or_default();
    let migrated = migrated.split(',').filter(|name| !name.is_empty());
    let drivers = wire.spec.iter().flat_map(|spec| &spec.drivers.0);
    Ok(CsiNode {
        meta: convert::meta(metadata, "")?,
        drivers: drivers
            .map(|driver| CsiNodeDriver {
                name: intern(&driver.name.0),
                limit: driver.allocatable.as_ref().and_then(|limit| limit.count),
            })
            .collect(),
        migrated_plugins: migrated.map(intern).collect(),
    })
}

/// Decodes a `storage.k8s.io/v1.CSIDriver`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn csi_driver(json: &[u8]) -> Result<CsiDriver, DecodeError> {
    let wire: Specified<'_, DriverSpec> = parse(json)?;
    let spec = wire.spec.unwrap_or_default();
    Ok(CsiDriver {
        meta: convert::meta(wire.metadata.as_ref(), "")?,
        storage_capacity: spec.storage_capacity.unwrap_or(false),
        required_on_node: spec.prevent_pod_scheduling_if_missing.unwrap_or(false),
    })
}

/// Decodes a `storage.k8s.io/v1.CSIStorageCapacity`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn csi_storage_capacity(json: &[u8]) -> Result<CsiStorageCapacity, DecodeError> {
    let wire: WireCapacity<'_> = parse(json)?;
    let topology = wire.node_topology.as_ref();
    Ok(CsiStorageCapacity {
        meta: convert::meta(wire.metadata.as_ref(), "default")?,
        class: intern(&wire.storage_class_name.0),
        capacity: amount(wire.capacity.as_ref(), "capacity")?,
        maximum_volume_size: amount(wire.maximum_volume_size.as_ref(), "maximumVolumeSize")?,
        topology: topology.map(|selector| convert::label_selector(Some(selector))),
        pin: topology.and_then(pin),
    })
}

fn amount(wire: Option<&QuantityValue<'_>>, field: &str) -> Result<Option<Quantity>, DecodeError> {
    wire.map(|value| quantity(&value.0, field)).transpose()
}

/// Decodes a `storage.k8s.io/v1.VolumeAttachment`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn volume_attachment(json: &[u8]) -> Result<VolumeAttachment, DecodeError> {
    let wire: Specified<'_, AttachmentSpec<'_>> = parse(json)?;
    let spec = wire.spec.unwrap_or_default();
    let volume = spec.source.and_then(|source| source.persistent_volume_name);
    Ok(VolumeAttachment {
        meta: convert::meta(wire.metadata.as_ref(), "")?,
        attacher: intern(&spec.attacher.0),
        node: intern(&spec.node_name.0),
        volume: volume.map(|name| Arc::from(&*name.0)),
    })
}
