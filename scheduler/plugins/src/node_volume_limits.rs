//! `NodeVolumeLimits`: how many volumes of a CSI driver can be attached to the node.
//!
//! kube-scheduler `plugins/nodevolumelimits`. The pod's own volumes are found once per cycle;
//! those of a node are looked up only where so many pods and attachments are that the limit
//! could be reached.

mod attachable;
#[cfg(test)]
mod tests;
mod wake;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, Rejection,
};
use plimsoll_objects::volume::VolumeSource;
use plimsoll_objects::{CsiNode, Pod};

use self::attachable::{Attachable, Finder, Owner};
use crate::unread_args;

/// The plugin's name.
pub const NAME: &str = "NodeVolumeLimits";

const REASON: &str = "node(s) exceed max volume count";

struct NodeVolumeLimits;

/// The pod's own volumes, on a node with a `CSINode` and on one without: there, volumes of
/// plugins that were moved to CSI drivers do not count.
#[derive(Debug, Clone)]
struct Wanted(Arc<[Result<New, Rejection>; 2]>);

/// Volumes that the pod brings.
#[derive(Debug, Clone, Default)]
struct New {
    volumes: BTreeSet<Attachable>,
    /// Drivers that must be on the node.
    required: Vec<Arc<str>>,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::Anything,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(NodeVolumeLimits);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for NodeVolumeLimits {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        if !cycle.pod.volumes().iter().any(attachable::counts) {
            return Ok(PreFilterOutcome::Skip);
        }
        let catalog = cycle.snapshot.catalog();
        let with = |migrates| New::of(cycle.pod, catalog, migrates);
        state.insert(Wanted(Arc::new([with(false), with(true)])));
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for NodeVolumeLimits {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let catalog = cycle.snapshot.catalog();
        let csi_node = catalog.csi_nodes.called(node.name()).map(|found| &**found);
        let migrates = csi_node.is_some();
        // `PreFilter` may not be in the profile.
        let own;
        let new = if let Some(Wanted(wanted)) = state.get() {
            &wanted[usize::from(migrates)]
        } else {
            own = New::of(cycle.pod, catalog, migrates);
            &own
        };
        let new = new.as_ref();
        let new = new.map_err(Clone::clone)?;
        for driver in &new.required {
            if csi_node.is_none_or(|csi_node| csi_node.driver(driver).is_none()) {
                let text = format!("{driver} CSI driver is not installed on the node");
                return Err(Rejection::unschedulable(text));
            }
        }
        match csi_node {
            Some(csi_node) if !new.volumes.is_empty() => {
                judge(new, csi_node, node, catalog).map(|()| FilterOutcome::Pass)
            }
            _ => Ok(FilterOutcome::Pass),
        }
    }
}

impl EnqueueExtensions for NodeVolumeLimits {
    /// `Differs:` kube-scheduler does not hear of new nodes here, so that a pod sleeps through
    /// one whose `CSINode` was seen first.
    fn events(&self) -> Vec<ClusterEvent> {
        vec![
            ClusterEvent::new(EventResource::Node, Actions::ADD),
            ClusterEvent::new(EventResource::CsiNode, Actions::ADD | Actions::UPDATE),
            ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
            ClusterEvent::new(EventResource::PersistentVolumeClaim, Actions::ADD),
            ClusterEvent::new(EventResource::VolumeAttachment, Actions::DELETE),
        ]
    }

    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        wake::hint(pod, change)
    }
}

/// Whether the node can take the new volumes.
fn judge(
    new: &New,
    csi_node: &CsiNode,
    node: &NodeInfo,
    catalog: &Catalog,
) -> Result<(), Rejection> {
    let limits = limits(csi_node);
    if limits.is_empty() || surely_fits(new, &limits, node, catalog) {
        return Ok(());
    }
    let mut attached = BTreeSet::new();
    let finder = Finder {
        catalog,
        migrates: true,
        owner: Owner::Placed,
    };
    for pod in &node.volume_pods {
        finder.find(pod, &mut attached)?;
    }
    let added = by_driver(new.volumes.difference(&attached));
    let exceeds = |held: &BTreeMap<&Arc<str>, usize>, more: usize| {
        let mut added = added.iter();
        added.any(|(driver, added)| {
            let sum = held.get(driver).copied().unwrap_or(0) + added + more;
            let limit = limits.get(*driver);
            limit.is_some_and(|limit| i64::try_from(sum).is_ok_and(|sum| sum > *limit))
        })
    };
    // Only where every attachment could matter they are looked at.
    let held = by_driver(attached.iter());
    if !exceeds(&held, catalog.attachment_count(node.name())) {
        return Ok(());
    }
    let others = others(node, &attached, catalog);
    if exceeds(&by_driver(attached.iter().chain(&others)), 0) {
        return Err(Rejection::unschedulable(REASON));
    }
    Ok(())
}

/// Whether even with every volume of the node's pods and every attachment no limit is
/// reached, and no pod there has a volume that kube-scheduler would fail on.
fn surely_fits(
    new: &New,
    limits: &BTreeMap<Arc<str>, i64>,
    node: &NodeInfo,
    catalog: &Catalog,
) -> bool {
    let volumes = || node.volume_pods.iter().flat_map(|pod| pod.volumes());
    let bound = volumes()
        .filter(|volume| attachable::counts(volume))
        .count()
        + catalog.attachment_count(node.name())
        + new.volumes.len();
    let bound = i64::try_from(bound).unwrap_or(i64::MAX);
    let limited = |volume: &Attachable| limits.get(volume.driver());
    !volumes().any(attachable::may_fail)
        && new
            .volumes
            .iter()
            .filter_map(limited)
            .all(|limit| bound <= *limit)
}

/// Volumes attached to the node that no pod there uses.
fn others(
    node: &NodeInfo,
    attached: &BTreeSet<Attachable>,
    catalog: &Catalog,
) -> BTreeSet<Attachable> {
    let attachments = catalog.attachments_to(node.name());
    let volumes = attachments.filter_map(|attachment| {
        let name = attachment.volume.as_ref()?;
        let volume = catalog.persistent_volumes.called(name)?;
        let VolumeSource::Csi { handle, .. } = &volume.source else {
            return None;
        };
        let driver = &attachment.attacher;
        (!driver.is_empty()).then(|| Attachable::handle(driver, handle))
    });
    volumes
        .filter(|volume| !attached.contains(volume))
        .collect()
}

fn by_driver<'a>(volumes: impl Iterator<Item = &'a Attachable>) -> BTreeMap<&'a Arc<str>, usize> {
    let mut counts = BTreeMap::new();
    for volume in volumes {
        *counts.entry(volume.driver()).or_default() += 1;
    }
    counts
}

/// The drivers that have a limit on the node; of one that is listed twice the last counts.
fn limits(csi_node: &CsiNode) -> BTreeMap<Arc<str>, i64> {
    let drivers = csi_node.drivers.iter();
    let limited = drivers.filter_map(|driver| Some((Arc::clone(&driver.name), driver.limit?)));
    limited
        .map(|(name, limit)| (name, i64::from(limit)))
        .collect()
}

// === impl New ===

impl New {
    /// The volumes of `pod`; `migrates` on a node that has a `CSINode`.
    fn of(pod: &Pod, catalog: &Catalog, migrates: bool) -> Result<Self, Rejection> {
        let mut volumes = BTreeSet::new();
        let finder = Finder {
            catalog,
            migrates,
            owner: Owner::Waiting,
        };
        finder.find(pod, &mut volumes)?;
        let drivers: BTreeSet<&Arc<str>> = volumes.iter().map(Attachable::driver).collect();
        let required = drivers.into_iter().filter(|driver| {
            let driver = catalog.csi_drivers.called(driver);
            driver.is_some_and(|driver| driver.required_on_node)
        });
        let required = required.cloned().collect();
        Ok(Self { volumes, required })
    }
}
