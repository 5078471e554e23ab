//! Resources behind which devices stand: on a node that does not offer them itself they are
//! for `DynamicResources` to judge.
//!
//! Takes what a pod asks for and the device classes, gives the names; kube-scheduler
//! `shouldDelegateResourceToDRA`, `extendedresourcecache`.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::resource_name::DEVICE_CLASS_PREFIX;
use plimsoll_objects::{DeviceClass, Resources};

use crate::dynamic_resources::extended::class_behind;

/// The resources a pod asks for that some device class stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ByDevices(BTreeSet<Arc<str>>);

// === impl ByDevices ===

impl ByDevices {
    /// Those of `asked`.
    pub(super) fn of(asked: &Resources, catalog: &Catalog) -> Self {
        if asked.scalar.is_empty() || catalog.device_classes.is_empty() {
            return Self::default();
        }
        let has_class = |name: &str| class_behind(catalog, name).is_some();
        let names = asked.scalar.keys().filter(|name| has_class(name));
        Self(names.cloned().collect())
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the resource `name`, of which a node offers `allocatable`, is not the node's.
    pub(super) fn cover(&self, name: &str, allocatable: i64) -> bool {
        !self.0.is_empty() && allocatable <= 0 && self.0.contains(name)
    }
}

/// Whether a pod gets devices of `class` for the resource `name`.
fn stands_for(class: &DeviceClass, name: &str) -> bool {
    class.extended_resource.as_deref() == Some(name)
        || name.strip_prefix(DEVICE_CLASS_PREFIX) == Some(&class.meta.key.name)
}

/// Whether a device class that is new, or that was `old`, may give `asked` what it lacks
/// (`isSchedulableAfterDeviceClassEvent`).
pub(super) fn may_help(asked: &Resources, old: Option<&DeviceClass>, new: &DeviceClass) -> bool {
    let explicit = new.extended_resource.as_deref();
    if let Some(old) = old {
        let before = old.extended_resource.as_deref();
        return before.unwrap_or("") != explicit.unwrap_or("")
            && explicit.is_some_and(|name| asked.scalar.contains_key(name));
    }
    asked.scalar.keys().any(|name| stands_for(new, name))
}
