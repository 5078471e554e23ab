//! Events about the lease: who became the leader, who stopped leading.
//!
//! Takes the lease as it was read or written last, gives the one request that tells of it.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::LeaseOptions;
use crate::call::{Call, CallError};
use crate::path;
use crate::record::event_name;

const EVENTS: &str = "/apis/events.k8s.io/v1";
/// Reason of client-go's events on a lock, and the action, which its older events lack.
const REASON: &str = "LeaderElection";
/// Longest `reportingInstance`, in bytes.
const INSTANCE_MAX: usize = 128;

/// The event that says `what` of this process.
///
/// # Errors
/// The namespace cannot be part of a path.
pub(super) fn event(
    options: &LeaseOptions,
    lease: &Value,
    what: &str,
    at: Timestamp,
) -> Result<Call, CallError> {
    let path = path::collection(EVENTS, "events", &options.namespace)?;
    let identity = options.identity.as_str();
    let stamp = i64::try_from(at.as_nanosecond()).unwrap_or_default();
    let body = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": event_name(&options.name, stamp), "namespace": options.namespace},
        "eventTime": format!("{at:.6}"),
        "type": "Normal",
        "reason": REASON,
        "action": REASON,
        "note": format!("{identity} {what}"),
        "reportingController": options.reporter,
        "reportingInstance": &identity[..identity.floor_char_boundary(INSTANCE_MAX)],
        "regarding": {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "namespace": options.namespace,
            "name": options.name,
            "uid": lease.pointer("/metadata/uid").unwrap_or(&Value::Null),
            "resourceVersion": lease.pointer("/metadata/resourceVersion").unwrap_or(&Value::Null),
        },
    });
    Call::create("events", &path, &body)
}
