//! `PreEnqueue`: may this pod be looked at, at all?

use plimsoll_objects::Pod;

use crate::catalog::Catalog;
use crate::rejection::Rejection;

/// Holds a pod back from the active queue. A pod that is held (gated) costs no cycle, gets no
/// event and no condition; it is asked about again when an event of the plugin that holds it
/// comes.
pub trait PreEnqueue: Send + Sync {
    /// Lets the pod into the active queue.
    ///
    /// # Errors
    /// Any rejection holds the pod.
    fn pre_enqueue(&self, pod: &Pod, catalog: &Catalog) -> Result<(), Rejection>;
}
