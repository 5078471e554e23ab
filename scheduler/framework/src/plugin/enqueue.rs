//! `EnqueueExtensions`: what may turn a plugin's verdict.

use plimsoll_objects::Pod;

use crate::catalog::Catalog;
use crate::event::{Change, ClusterEvent, Hint};

/// Names the events after which a pod that this plugin rejected is worth another look. A
/// plugin without it hears of every event.
pub trait EnqueueExtensions: Send + Sync {
    /// The kinds of events.
    fn events(&self) -> Vec<ClusterEvent>;

    /// Whether this very change may turn the verdict on `pod`; `catalog` has the objects
    /// after the change. May wake in vain, must never sleep wrongly.
    fn hint(&self, pod: &Pod, event: ClusterEvent, change: &Change<'_>, catalog: &Catalog) -> Hint {
        let _: (&Pod, ClusterEvent, &Change<'_>, &Catalog) = (pod, event, change, catalog);
        Hint::Queue
    }
}
