//! Wire structs -> [`Pod`] and [`Node`].
//!
//! Takes what the wire holds, gives values that cannot be wrong; every mistake is given
//! the path of its field on the way out.

mod constraints;
mod features;
mod pod;
mod selector;

use std::sync::Arc;

use jiff::Timestamp;

pub(super) use self::constraints::term;
pub(super) use self::pod::pod;
pub(super) use self::selector::label_selector;
use super::{DecodeError, wire};
use crate::amounts::Amounts;
use crate::bandwidth;
use crate::intern::intern;
use crate::meta::{Labels, ObjectKey, ObjectMeta, OwnerReference, Uid};
use crate::node::{Node, NodeImage, NodeStatus};
use crate::taint::{Taint, TaintEffect};

/// Annotations that are kept, by the prefix of their key; all others are dropped, since
/// they are long (`kubectl.kubernetes.io/last-applied-configuration`) and never read.
const ANNOTATION_PREFIXES: [&str; 3] = ["plimsoll.dev/", "kubernetes.io/", "scheduling.x-k8s.io/"];

/// A node. A taint whose effect is unknown is dropped: it hinders no pod.
pub(super) fn node(wire: &wire::Node<'_>) -> Result<Node, DecodeError> {
    let meta = meta(wire.metadata.as_ref(), "")?;
    let status = match &wire.status {
        Some(status) => node_status(status).map_err(|e| e.under("status"))?,
        None => NodeStatus::default(),
    };
    let link_speed = meta.annotations.get(bandwidth::LINK_SPEED);
    let taints = wire.spec.iter().flat_map(|spec| &spec.taints.0);
    Ok(Node {
        unschedulable: wire
            .spec
            .as_ref()
            .and_then(|spec| spec.unschedulable)
            .unwrap_or(false),
        taints: taints.filter_map(taint).collect(),
        status,
        link_speed: link_speed.map(|text| bandwidth::link_speed(text)),
        meta,
    })
}

fn node_status(wire: &wire::NodeStatus<'_>) -> Result<NodeStatus, DecodeError> {
    let capacity = optional(wire.capacity.as_ref()).map_err(|e| e.under("capacity"))?;
    let allocatable = optional(wire.allocatable.as_ref()).map_err(|e| e.under("allocatable"))?;
    Ok(NodeStatus {
        capacity: capacity.unwrap_or_default().to_resources(),
        allocatable: allocatable.unwrap_or_default().to_resources(),
        images: wire.images.0.iter().flat_map(image_names).collect(),
        declared_features: wire
            .declared_features
            .0
            .iter()
            .map(|name| intern(&name.0))
            .collect(),
    })
}

/// An image under each of its names.
fn image_names<'a>(wire: &'a wire::Image<'_>) -> impl Iterator<Item = NodeImage> + 'a {
    let bytes = wire.size_bytes.unwrap_or(0);
    let names = wire.names.0.iter();
    names.map(move |name| NodeImage {
        name: intern(&name.0),
        bytes,
    })
}

fn taint(wire: &wire::Taint<'_>) -> Option<Taint> {
    Some(Taint {
        key: intern(&wire.key.0),
        value: intern(&wire.value.0),
        effect: taint_effect(&wire.effect.0)?,
    })
}

fn taint_effect(text: &str) -> Option<TaintEffect> {
    match text {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}

/// Metadata; an object without namespace is in `default_namespace`.
pub(super) fn meta(
    wire: Option<&wire::Metadata<'_>>,
    default_namespace: &str,
) -> Result<ObjectMeta, DecodeError> {
    let empty = wire::Metadata::default();
    let wire = wire.unwrap_or(&empty);
    let key = ObjectKey {
        namespace: intern(or(&wire.namespace.0, default_namespace)),
        name: Arc::from(&*wire.name.0),
    };
    let uid = Uid(if wire.uid.0.is_empty() {
        Arc::from(key.to_string())
    } else {
        Arc::from(&*wire.uid.0)
    });
    let keep = |key: &str| {
        ANNOTATION_PREFIXES
            .iter()
            .any(|prefix| key.starts_with(prefix))
    };
    let at = |field: &str| format!("metadata.{field}");
    Ok(ObjectMeta {
        key,
        uid,
        resource_version: Arc::from(&*wire.resource_version.0),
        labels: texts(wire.labels.as_ref(), |_| true),
        annotations: texts(wire.annotations.as_ref(), keep),
        controller: wire.owner_references.0.iter().find_map(controller),
        created: time(wire.creation_timestamp.as_ref(), || at("creationTimestamp"))?,
        deleted: time(wire.deletion_timestamp.as_ref(), || at("deletionTimestamp"))?,
    })
}

fn controller(wire: &wire::Owner<'_>) -> Option<OwnerReference> {
    wire.controller?.then(|| OwnerReference {
        api_version: intern(&wire.api_version.0),
        kind: intern(&wire.kind.0),
        name: intern(&wire.name.0),
        uid: Uid(intern(&wire.uid.0)),
    })
}

/// All pairs of a map.
pub(super) fn labels(wire: &wire::Texts<'_>) -> Labels {
    texts(Some(wire), |_| true)
}

fn texts(wire: Option<&wire::Texts<'_>>, keep: impl Fn(&str) -> bool) -> Labels {
    let pairs = wire.iter().flat_map(|texts| &texts.0);
    let kept = pairs.filter(|(key, _)| keep(&key.0));
    kept.map(|(key, value)| (intern(&key.0), intern(&value.0)))
        .collect()
}

/// A time that may be absent; `at` names its path.
pub(super) fn time(
    text: Option<&wire::Text<'_>>,
    at: impl Fn() -> String,
) -> Result<Option<Timestamp>, DecodeError> {
    let Some(wire::Text(text)) = text else {
        return Ok(None);
    };
    let wrong = |_| DecodeError::Time {
        path: at(),
        text: text.clone().into_owned(),
    };
    text.parse().map(Some).map_err(wrong)
}

/// Amounts by name; absent stays absent.
fn optional<'a>(
    wire: Option<&'a wire::Quantities<'_>>,
) -> Result<Option<Amounts<'a>>, DecodeError> {
    wire.map(amounts).transpose()
}

fn amounts<'a>(wire: &'a wire::Quantities<'_>) -> Result<Amounts<'a>, DecodeError> {
    let mut amounts = Amounts::default();
    for (name, text) in &wire.0 {
        let wrong = |source| DecodeError::Quantity {
            path: name.0.clone().into_owned(),
            source,
        };
        amounts.set(&name.0, text.0.trim().parse().map_err(wrong)?);
    }
    Ok(amounts)
}

fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.is_empty() { default } else { text }
}
