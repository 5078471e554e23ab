//! Does a request fit into what a node has free?
//!
//! Takes the pod's request and the node's sums, gives every shortfall at once; kube-scheduler
//! `fitsRequest`.

use std::collections::BTreeSet;

use plimsoll_framework::{Code, NodeInfo, Reason, Rejection};
use plimsoll_objects::Resources;
use plimsoll_objects::resource_name::is_extended;

use super::devices::ByDevices;

const TOO_MANY_PODS: &str = "Too many pods";
const INSUFFICIENT_CPU: &str = "Insufficient cpu";
const INSUFFICIENT_MEMORY: &str = "Insufficient memory";
const INSUFFICIENT_STORAGE: &str = "Insufficient ephemeral-storage";

/// Extended resources that somebody else looks after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ignored {
    /// Whole names, such as `example.com/gpu`.
    pub names: BTreeSet<String>,
    /// Domains, such as `example.com`.
    pub groups: BTreeSet<String>,
}

/// Collects shortfalls; allocates only once there is one.
#[derive(Default)]
struct Shortfalls {
    rejection: Option<Rejection>,
}

/// Judges whether `asked` fits on `node`, but for what is ignored and what devices stand
/// behind.
///
/// # Errors
/// Every shortfall is a reason. `UnschedulableAndUnresolvable` if the node could not hold
/// one of the amounts even if it were empty, else `Unschedulable`.
pub(super) fn judge(
    asked: &Resources,
    node: &NodeInfo,
    ignored: &Ignored,
    by_devices: Option<&ByDevices>,
) -> Result<(), Rejection> {
    let (allocatable, placed) = (node.allocatable(), &node.requested);
    let mut short = Shortfalls::default();
    if node.pods.len() as i64 >= allocatable.pods {
        short.add(Code::Unschedulable, || TOO_MANY_PODS.into());
    }
    let named = [
        (asked.cpu, allocatable.cpu, placed.cpu, INSUFFICIENT_CPU),
        (
            asked.memory,
            allocatable.memory,
            placed.memory,
            INSUFFICIENT_MEMORY,
        ),
        (
            asked.ephemeral_storage,
            allocatable.ephemeral_storage,
            placed.ephemeral_storage,
            INSUFFICIENT_STORAGE,
        ),
    ];
    for (asked, allocatable, placed, reason) in named {
        short.compare(asked, allocatable, placed, || reason.into());
    }
    for (name, amount) in &asked.scalar {
        let of = |resources: &Resources| resources.scalar.get(name).copied().unwrap_or(0);
        let elsewhere = by_devices.is_some_and(|known| known.cover(name, of(allocatable)));
        if !elsewhere && !ignored.covers(name) {
            let reason = || format!("Insufficient {name}").into();
            short.compare(*amount, of(allocatable), of(placed), reason);
        }
    }
    short.rejection.map_or(Ok(()), Err)
}

// === impl Ignored ===

impl Ignored {
    /// Whether nothing is to be said of the resource `name`. Only extended resources can be
    /// ignored.
    pub(super) fn covers(&self, name: &str) -> bool {
        if self.names.is_empty() && self.groups.is_empty() {
            return false;
        }
        let group = name.split('/').next().unwrap_or(name);
        is_extended(name) && (self.names.contains(name) || self.groups.contains(group))
    }
}

// === impl Shortfalls ===

impl Shortfalls {
    fn compare(
        &mut self,
        asked: i64,
        allocatable: i64,
        placed: i64,
        reason: impl FnOnce() -> Reason,
    ) {
        if asked > 0 && asked > allocatable.saturating_sub(placed) {
            let never = asked > allocatable;
            let code = if never {
                Code::UnschedulableAndUnresolvable
            } else {
                Code::Unschedulable
            };
            self.add(code, reason);
        }
    }

    fn add(&mut self, code: Code, reason: impl FnOnce() -> Reason) {
        match &mut self.rejection {
            None => self.rejection = Some(Rejection::new(code, reason())),
            Some(rejection) => {
                rejection.code = rejection.code.max(code);
                rejection.reasons.push(reason());
            }
        }
    }
}
