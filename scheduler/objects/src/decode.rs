//! JSON of the API server -> slim values, such as [`Pod`] and [`Node`].
//!
//! Takes the bytes of one object, gives the slim value or the path of the mistake. Fields
//! that the scheduler does not read are skipped while parsing. As in Go, `null` is the
//! same as an absent field. Words that a newer API server may allow and that this version
//! does not know are decoded so that they have no effect (see [`crate::taint`]).

mod affinity;
mod budgets;
mod convert;
mod devices;
mod in_tree;
mod namespaces;
mod pod_claims;
mod pod_volumes;
mod spread;
mod storage;
mod topology;
mod values;
mod volumes;
mod wire;
mod workloads;

use serde::de::{self, Deserialize, Deserializer};

pub(crate) use self::budgets::pod_disruption_budget;
pub(crate) use self::devices::{device_class, resource_claim, resource_slice};
pub(crate) use self::namespaces::namespace;
pub(crate) use self::storage::{
    csi_driver, csi_node, csi_storage_capacity, storage_class, volume_attachment,
};
pub(crate) use self::volumes::{persistent_volume, persistent_volume_claim};
pub(crate) use self::workloads::workload;
use crate::node::Node;
use crate::pod::Pod;
use crate::quantity::QuantityError;

/// An object that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The text is no JSON, or a field has another JSON type than the API says.
    #[error("{path}: unexpected JSON")]
    Json {
        /// Where, such as `spec.containers[1].name`; `.` is the whole object.
        path: String,
        /// What.
        #[source]
        source: serde_json::Error,
    },
    /// An amount is not a quantity.
    #[error("{path}: invalid quantity")]
    Quantity {
        /// Where, such as `spec.containers[1].resources.requests.cpu`.
        path: String,
        /// What.
        #[source]
        source: QuantityError,
    },
    /// A time is not one.
    #[error("{path}: `{text}` is not a time such as 2026-01-31T12:00:00Z")]
    Time {
        /// Where, such as `metadata.creationTimestamp`.
        path: String,
        /// The text as it was found.
        text: String,
    },
}

/// Decodes a `v1.Pod`. A pod without namespace is in `default`; one without uid (which the
/// API server never gives) has `namespace/name` for its uid.
///
/// # Errors
/// The first mistake in the object, with its path.
pub fn decode_pod(json: &[u8]) -> Result<Pod, DecodeError> {
    convert::pod(&parse::<wire::Pod<'_>>(json)?)
}

/// Decodes a `v1.Node`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub fn decode_node(json: &[u8]) -> Result<Node, DecodeError> {
    convert::node(&parse::<wire::Node<'_>>(json)?)
}

/// Parses fast; only a text that does not parse is read again to find the path.
fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(json).map_err(|first| {
        let again = &mut serde_json::Deserializer::from_slice(json);
        let (path, source) = match serde_path_to_error::deserialize::<_, T>(again) {
            Ok(_) => (".".to_owned(), first),
            Err(error) => (error.path().to_string(), error.into_inner()),
        };
        DecodeError::Json { path, source }
    })
}

// === impl Pod, Node ===

impl<'de> Deserialize<'de> for Pod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        convert::pod(&wire::Pod::deserialize(deserializer)?).map_err(|e| custom(&e))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        convert::node(&wire::Node::deserialize(deserializer)?).map_err(|e| custom(&e))
    }
}

/// The whole chain as one text: a deserializer's error has no source.
fn custom<E: de::Error>(error: &DecodeError) -> E {
    match std::error::Error::source(error) {
        Some(source) => E::custom(format_args!("{error}: {source}")),
        None => E::custom(error),
    }
}

// === impl DecodeError ===

impl DecodeError {
    /// The same mistake, seen from one level further out.
    fn under(mut self, outer: &str) -> Self {
        let (Self::Json { path, .. } | Self::Quantity { path, .. } | Self::Time { path, .. }) =
            &mut self;
        let dot = if path.starts_with('[') { "" } else { "." };
        *path = format!("{outer}{dot}{path}");
        self
    }
}

#[cfg(test)]
mod tests;
