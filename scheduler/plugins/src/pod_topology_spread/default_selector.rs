//! The selector of default constraints: what the pod's services and owner select.
//!
//! kube-scheduler `plugins/helper.DefaultSelector`.

use std::sync::Arc;

use plimsoll_framework::{Catalog, Shelf};
use plimsoll_objects::{
    LabelSelector, Labels, ObjectKey, OwnerReference, Pod, Workload, WorkloadSelector,
};

use super::constraint::Selector;

/// What the services that select `pod` and its owner select, all together.
pub(super) fn default_selector(pod: &Pod, catalog: &Catalog) -> Selector {
    let mut labels = Labels::default();
    for service in catalog.services.in_namespace(&pod.meta.key.namespace) {
        // They all match the pod: no two of them want two values of one label.
        if let WorkloadSelector::Labels(Some(wanted)) = &service.selector
            && selects(wanted, &pod.meta.labels)
        {
            add(&mut labels, wanted);
        }
    }
    let mut selectors = Vec::new();
    match pod
        .meta
        .controller
        .as_ref()
        .and_then(|owner| owner_of(pod, owner, catalog))
    {
        Some(WorkloadSelector::Labels(Some(wanted))) => add(&mut labels, wanted),
        // One that is not there or has a mistake adds nothing.
        Some(WorkloadSelector::Selector(selector))
            if !selector.is_nothing() && selector.mistake().is_none() =>
        {
            selectors.push(selector.clone());
        }
        Some(WorkloadSelector::Labels(None) | WorkloadSelector::Selector(_)) | None => {}
    }
    let pairs = labels.iter().map(|(key, value)| (&**key, &**value));
    selectors.push(LabelSelector::new(pairs, &[]));
    Selector(selectors)
}

/// The selector of the pod's owner, if that is of a kind that has one.
fn owner_of<'a>(
    pod: &Pod,
    owner: &OwnerReference,
    catalog: &'a Catalog,
) -> Option<&'a WorkloadSelector> {
    let shelf: &Shelf<Workload> = match (&*owner.api_version, &*owner.kind) {
        ("v1", "ReplicationController") => &catalog.replication_controllers,
        ("apps/v1", "ReplicaSet") => &catalog.replica_sets,
        ("apps/v1", "StatefulSet") => &catalog.stateful_sets,
        _ => return None,
    };
    let key = ObjectKey {
        namespace: Arc::clone(&pod.meta.key.namespace),
        name: Arc::clone(&owner.name),
    };
    shelf.get(&key).map(|workload| &workload.selector)
}

fn selects(wanted: &Labels, labels: &Labels) -> bool {
    let mut wanted = wanted.iter();
    wanted.all(|(key, value)| labels.get(key) == Some(value))
}

fn add(labels: &mut Labels, more: &Labels) {
    let more = more.iter();
    labels.extend(more.map(|(key, value)| (Arc::clone(key), Arc::clone(value))));
}
