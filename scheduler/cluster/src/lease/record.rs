//! What a `Lease` says of its holder.
//!
//! Takes and gives the `spec` of a `coordination.k8s.io/v1` `Lease`. Times are kept as the
//! text they are: they are written for people, compared for change and never reckoned with.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

/// The `spec` of a lease. What is missing or of a wrong type is empty or zero, as in client-go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// `holderIdentity`; empty when nobody holds it.
    pub holder: String,
    /// `leaseDurationSeconds`; zero or less means that it has expired.
    pub duration_seconds: i64,
    /// `acquireTime`.
    pub acquired: String,
    /// `renewTime`.
    pub renewed: String,
    /// `leaseTransitions`.
    pub transitions: i64,
}

// === impl Record ===

impl Record {
    /// Reads the object of a lease, whatever it holds.
    pub fn read(lease: &Value) -> Self {
        let text = |field: &str| {
            let value = lease.pointer(&format!("/spec/{field}"));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let number = |field: &str| {
            let value = lease.pointer(&format!("/spec/{field}"));
            value.and_then(Value::as_i64).unwrap_or_default()
        };
        Self {
            holder: text("holderIdentity"),
            duration_seconds: number("leaseDurationSeconds"),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            transitions: number("leaseTransitions"),
        }
    }

    /// The `spec` to write.
    pub fn spec(&self) -> Value {
        json!({
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.duration_seconds,
            "acquireTime": self.acquired,
            "renewTime": self.renewed,
            "leaseTransitions": self.transitions,
        })
    }

    /// How long the lease is good after it was seen.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(u64::try_from(self.duration_seconds).unwrap_or_default())
    }
}

/// `wall` as a `MicroTime`.
pub(crate) fn micro_time(wall: Timestamp) -> String {
    format!("{wall:.6}")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::{Record, micro_time};

    #[test]
    fn what_is_written_is_read_again() {
        let record = Record {
            holder: "a".to_owned(),
            duration_seconds: 15,
            acquired: micro_time(Timestamp::UNIX_EPOCH),
            renewed: micro_time(Timestamp::UNIX_EPOCH),
            transitions: 3,
        };
        assert_eq!(record.acquired, "1970-01-01T00:00:00.000000Z");
        assert_eq!(Record::read(&json!({"spec": record.spec()})), record);
    }

    #[test]
    fn a_lease_full_of_garbage_is_held_by_nobody() {
        let odd = json!({"spec": {"holderIdentity": 7, "leaseDurationSeconds": "x"}});
        assert_eq!(Record::read(&odd), Record::default());
        assert_eq!(Record::read(&json!(null)), Record::default());
    }
}
