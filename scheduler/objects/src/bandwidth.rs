//! Bandwidth as people declare it: annotations in bit/s become bytes per second.
//!
//! Takes `plimsoll.dev/link-speed` of a node and `kubernetes.io/ingress-bandwidth`,
//! `kubernetes.io/egress-bandwidth` of a pod.

use std::sync::Arc;

use crate::quantity::Quantity;
use crate::resources::BytesPerSec;

/// Annotation of a node: its usable link speed in bit/s, such as `10G`.
pub const LINK_SPEED: &str = "plimsoll.dev/link-speed";
/// Annotation of a pod: bandwidth towards the pod in bit/s.
pub const INGRESS: &str = "kubernetes.io/ingress-bandwidth";
/// Annotation of a pod: bandwidth from the pod in bit/s.
pub const EGRESS: &str = "kubernetes.io/egress-bandwidth";

/// Bits in a byte.
const BITS: i64 = 8;

/// What `plimsoll.dev/link-speed` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkSpeed {
    /// A speed.
    Known(BytesPerSec),
    /// The annotation's text is not a positive quantity: to be reported, not guessed.
    Invalid(Arc<str>),
}

/// What a pod declares; `None` where it declares nothing (or nothing readable).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeclaredBandwidth {
    /// Bytes per second towards the pod.
    pub ingress: Option<BytesPerSec>,
    /// Bytes per second from the pod.
    pub egress: Option<BytesPerSec>,
}

/// A quantity in bit/s as bytes per second, rounded down; `None` unless it is a positive
/// quantity.
pub fn bytes_per_sec(text: &str) -> Option<BytesPerSec> {
    let bits = text.parse::<Quantity>().ok()?.value();
    u64::try_from(bits / BITS).ok().filter(|_| bits > 0)
}

/// Reads a node's link-speed annotation.
pub fn link_speed(text: &str) -> LinkSpeed {
    match bytes_per_sec(text) {
        Some(speed) => LinkSpeed::Known(speed),
        None => LinkSpeed::Invalid(Arc::from(text)),
    }
}
