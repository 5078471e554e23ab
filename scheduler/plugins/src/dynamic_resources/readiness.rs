//! Devices that must be made ready after they were taken: are they?

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use plimsoll_objects::ResourceClaim;

/// How far the devices of a claim are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Readiness {
    /// All are ready, or none needs to be made so.
    Ready,
    /// One is not ready yet.
    Waiting,
    /// One cannot be made ready; why.
    Failed(String),
}

/// How far the devices of an allocated claim are.
pub(super) fn of(claim: &ResourceClaim) -> Readiness {
    let Some(allocation) = &claim.status.allocation else {
        return Readiness::Waiting;
    };
    for device in &allocation.results {
        if device.binding_conditions.is_empty() {
            continue;
        }
        let Some(status) = claim.status_of(device) else {
            return Readiness::Waiting;
        };
        let failures = device.binding_failure_conditions.iter();
        let mut failures = failures.filter_map(|kind| status.condition(kind));
        if let Some(failure) = failures.find(|condition| condition.is_true) {
            return Readiness::Failed(format!(
                "device binding failed: claim={}, reason={}, message={:?}",
                claim.meta.key.name, failure.reason, failure.message
            ));
        }
        if !device
            .binding_conditions
            .iter()
            .all(|kind| status.is_true(kind))
        {
            return Readiness::Waiting;
        }
    }
    Readiness::Ready
}

/// Whether a device needs to be made ready.
pub(super) fn is_needed(claim: &ResourceClaim) -> bool {
    let allocation = claim.status.allocation.iter();
    let mut devices = allocation.flat_map(|allocation| &allocation.results);
    devices.any(|device| !device.binding_conditions.is_empty())
}

/// Whether the devices have had more time than they may need.
pub(super) fn is_late(claim: &ResourceClaim, timeout: Duration, now: Timestamp) -> bool {
    let allocation = claim.status.allocation.as_ref();
    let Some(since) = allocation.and_then(|allocation| allocation.timestamp) else {
        return false;
    };
    let timeout = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    is_needed(claim) && now.duration_since(since) > timeout
}
