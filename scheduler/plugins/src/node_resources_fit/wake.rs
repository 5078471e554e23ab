//! Which changes may let a pod fit that did not (kube-scheduler `isSchedulableAfter..` in
//! `fit.go`).

use std::sync::Arc;

use plimsoll_framework::{Catalog, Change, Hint, NodeId, NodeInfo};
use plimsoll_objects::{Node, Object, Pod, Resources};

use super::devices::{ByDevices, may_help};
use super::fits::{Ignored, judge};
use crate::hints;

/// Whether `change` is worth another look at `pod`.
pub(super) fn hint(pod: &Pod, change: &Change<'_>, ignored: &Ignored, catalog: &Catalog) -> Hint {
    let asked = &pod.spec.requests.filter;
    match change {
        Change::Pod {
            old: Some(old),
            new: None,
        } => hints::when(holds_a_node(old)),
        Change::Pod {
            old: Some(old),
            new: Some(new),
        } => {
            // What the pod asks for less of it may not ask for at all any more.
            let is_own = new.uid() == pod.uid();
            hints::when(is_own || old.spec.node_name.is_some() && frees(asked, old, new))
        }
        Change::Node {
            old,
            new: Some(new),
        } => {
            let by_devices = ByDevices::of(asked, catalog);
            let offered = |name: &str| new.status.allocatable.get(name).unwrap_or(0);
            let mut scalars = asked.scalar.iter().filter(|(_, amount)| **amount != 0);
            let may_have_devices = scalars.any(|(name, _)| by_devices.cover(name, offered(name)));
            let grew = old.is_none_or(|old| may_have_devices || has_grown(asked, old, new));
            let empty = NodeInfo::new(NodeId(0), Arc::new((*new).clone()));
            // Differs: kube-scheduler forgets here which resources the profile ignores, so
            // that a pod which asks for one of them sleeps through every node that could
            // take it.
            hints::when(grew && judge(asked, &empty, ignored, Some(&by_devices)).is_ok())
        }
        Change::Object {
            old,
            new: Some(Object::DeviceClass(new)),
        } => {
            let old = match old {
                Some(Object::DeviceClass(old)) => Some(&**old),
                _ => None,
            };
            hints::when(may_help(asked, old, new))
        }
        Change::Pod { old: None, .. }
        | Change::Node { new: None, .. }
        | Change::Object { .. }
        | Change::Load { .. }
        | Change::None => Hint::Queue,
    }
}

fn holds_a_node(pod: &Pod) -> bool {
    pod.spec.node_name.is_some() || pod.status.nominated_node.is_some()
}

/// Whether `new` takes less than `old` of anything that is `asked` for.
fn frees(asked: &Resources, old: &Pod, new: &Pod) -> bool {
    more(asked, &old.spec.requests.placed, &new.spec.requests.placed)
}

/// Whether `new` has more than `old` of anything that is `asked` for, or room for more pods.
fn has_grown(asked: &Resources, old: &Node, new: &Node) -> bool {
    let (old, new) = (&old.status.allocatable, &new.status.allocatable);
    new.pods > old.pods || more(asked, new, old)
}

/// Whether `a` has more than `b` of anything that is `asked` for.
fn more(asked: &Resources, a: &Resources, b: &Resources) -> bool {
    let named = [
        (asked.cpu, a.cpu, b.cpu),
        (asked.memory, a.memory, b.memory),
        (
            asked.ephemeral_storage,
            a.ephemeral_storage,
            b.ephemeral_storage,
        ),
    ];
    let of = |resources: &Resources, name| resources.scalar.get(name).copied().unwrap_or(0);
    let scalars = asked
        .scalar
        .iter()
        .map(|(name, asked)| (*asked, of(a, name), of(b, name)));
    named
        .into_iter()
        .chain(scalars)
        .any(|(asked, a, b)| asked > 0 && a > b)
}
