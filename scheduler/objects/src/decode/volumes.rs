//! JSON of the API server -> persistent volumes and claims.

mod affinity;
mod source;

use std::sync::Arc;

use serde::Deserialize;

pub(super) use self::affinity::pin;
use self::affinity::{affinity, raw_terms};
use self::source::source;
use super::affinity::NodeSelector as WireSelector;
use super::in_tree;
use super::values::{Items, Quantities, Text, Texts};
use super::{DecodeError, convert, parse, wire};
use crate::intern::intern;
use crate::meta::{ObjectKey, Uid};
use crate::quantity::Quantity;
use crate::volume::{
    BETA_CLASS, BIND_COMPLETED, BOUND_BY_CONTROLLER, ClaimRef, PersistentVolume,
    PersistentVolumeClaim, SELECTED_NODE,
};

/// Mode of a volume that names none.
const DEFAULT_MODE: &str = "Filesystem";
/// The amount of a volume or claim that counts.
const STORAGE: &str = "storage";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireVolume<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<VolumeSpec<'a>>,
    #[serde(borrow)]
    status: Option<Status<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VolumeSpec<'a> {
    #[serde(borrow)]
    capacity: Option<Quantities<'a>>,
    #[serde(borrow)]
    access_modes: Items<Text<'a>>,
    #[serde(borrow)]
    volume_mode: Text<'a>,
    #[serde(borrow)]
    storage_class_name: Text<'a>,
    #[serde(borrow)]
    volume_attributes_class_name: Text<'a>,
    #[serde(borrow)]
    claim_ref: Option<Reference<'a>>,
    #[serde(borrow)]
    node_affinity: Option<Affinity<'a>>,
    #[serde(borrow)]
    csi: Option<Csi<'a>>,
    #[serde(borrow)]
    gce_persistent_disk: Option<in_tree::GcePd<'a>>,
    #[serde(borrow)]
    aws_elastic_block_store: Option<in_tree::ById<'a>>,
    #[serde(borrow)]
    azure_disk: Option<in_tree::AzureDisk<'a>>,
    #[serde(borrow)]
    cinder: Option<in_tree::ById<'a>>,
    #[serde(borrow)]
    portworx_volume: Option<in_tree::ById<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status<'a> {
    #[serde(borrow)]
    phase: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reference<'a> {
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Affinity<'a> {
    #[serde(borrow)]
    required: Option<WireSelector<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Csi<'a> {
    #[serde(borrow)]
    driver: Text<'a>,
    #[serde(borrow)]
    volume_handle: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireClaim<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<ClaimSpec<'a>>,
    #[serde(borrow)]
    status: Option<Status<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimSpec<'a> {
    #[serde(borrow)]
    volume_name: Text<'a>,
    #[serde(borrow)]
    storage_class_name: Text<'a>,
    #[serde(borrow)]
    access_modes: Items<Text<'a>>,
    #[serde(borrow)]
    volume_mode: Text<'a>,
    #[serde(borrow)]
    volume_attributes_class_name: Text<'a>,
    #[serde(borrow)]
    resources: Option<wire::Resources<'a>>,
    #[serde(borrow)]
    selector: Option<wire::LabelSelector<'a>>,
}

/// Decodes a `v1.PersistentVolume`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn persistent_volume(json: &[u8]) -> Result<PersistentVolume, DecodeError> {
    let wire: WireVolume<'_> = parse(json)?;
    let spec = wire.spec.unwrap_or_default();
    let metadata = wire.metadata.as_ref();
    let capacity = storage(spec.capacity.as_ref()).map_err(|e| e.under("spec.capacity"))?;
    let annotation = |key: &str| text(metadata.and_then(|meta| meta.annotations.as_ref()), key);
    let label = |key: &str| text(metadata.and_then(|meta| meta.labels.as_ref()), key);
    let required = spec.node_affinity.as_ref();
    let terms = required
        .and_then(|affinity| affinity.required.as_ref())
        .map(raw_terms);
    Ok(PersistentVolume {
        meta: convert::meta(metadata, "")?,
        capacity: capacity.unwrap_or_default(),
        access_modes: texts(&spec.access_modes),
        mode: intern(or(&spec.volume_mode.0, DEFAULT_MODE)),
        class: intern(annotation(BETA_CLASS).unwrap_or(&spec.storage_class_name.0)),
        spec_class: intern(&spec.storage_class_name.0),
        attributes_class: intern(&spec.volume_attributes_class_name.0),
        claim_ref: spec.claim_ref.as_ref().map(claim_ref),
        affinity: terms.as_deref().map(affinity),
        available: wire
            .status
            .is_some_and(|status| status.phase.0 == "Available"),
        bound_by_controller: annotation(BOUND_BY_CONTROLLER).is_some(),
        source: source(&spec, terms, label),
    })
}

/// Decodes a `v1.PersistentVolumeClaim`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn persistent_volume_claim(json: &[u8]) -> Result<PersistentVolumeClaim, DecodeError> {
    let wire: WireClaim<'_> = parse(json)?;
    let spec = wire.spec.unwrap_or_default();
    let metadata = wire.metadata.as_ref();
    let annotations = metadata.and_then(|meta| meta.annotations.as_ref());
    let requests = spec.resources.as_ref();
    let requested = storage(requests.and_then(|resources| resources.requests.as_ref()));
    let class = text(annotations, BETA_CLASS).unwrap_or(&spec.storage_class_name.0);
    Ok(PersistentVolumeClaim {
        meta: convert::meta(metadata, "default")?,
        volume: non_empty(&spec.volume_name.0),
        class: non_empty(class),
        access_modes: texts(&spec.access_modes),
        mode: intern(or(&spec.volume_mode.0, DEFAULT_MODE)),
        requested: requested.map_err(|e| e.under("spec.resources.requests"))?,
        selector: spec
            .selector
            .as_ref()
            .map(|selector| convert::label_selector(Some(selector))),
        attributes_class: intern(&spec.volume_attributes_class_name.0),
        lost: wire.status.is_some_and(|status| status.phase.0 == "Lost"),
        selected_node: text(annotations, SELECTED_NODE).map(intern),
        bind_completed: text(annotations, BIND_COMPLETED).is_some(),
        annotated: annotations.is_some_and(|texts| !texts.0.is_empty()),
    })
}

fn claim_ref(wire: &Reference<'_>) -> ClaimRef {
    ClaimRef {
        key: ObjectKey {
            namespace: intern(&wire.namespace.0),
            name: Arc::from(&*wire.name.0),
        },
        uid: non_empty(&wire.uid.0).map(Uid),
    }
}

/// The amount of storage.
fn storage(wire: Option<&Quantities<'_>>) -> Result<Option<Quantity>, DecodeError> {
    let mut pairs = wire.iter().flat_map(|amounts| &amounts.0).rev();
    let found = pairs.find(|(name, _)| name.0 == STORAGE);
    found
        .map(|(_, value)| quantity(&value.0, STORAGE))
        .transpose()
}

/// The amount in `field`.
pub(super) fn quantity(text: &str, field: &str) -> Result<Quantity, DecodeError> {
    let wrong = |source| DecodeError::Quantity {
        path: field.to_owned(),
        source,
    };
    text.trim().parse().map_err(wrong)
}

/// The value of `key`; of a key that is there twice the last one, as in Go.
pub(super) fn text<'a>(texts: Option<&'a Texts<'_>>, key: &str) -> Option<&'a str> {
    let mut pairs = texts.iter().flat_map(|texts| &texts.0).rev();
    pairs
        .find(|(name, _)| name.0 == key)
        .map(|(_, value)| &*value.0)
}

fn texts(wire: &Items<Text<'_>>) -> Box<[Arc<str>]> {
    wire.0.iter().map(|text| intern(&text.0)).collect()
}

fn non_empty(text: &str) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| Arc::from(text))
}

fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.is_empty() { default } else { text }
}
