//! What the queue is told with every change: the instant, and the objects at it.

use std::time::Duration;

use plimsoll_framework::{Catalog, Now, Snapshot};

/// An instant of the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub(crate) now: Duration,
    pub(crate) catalog: &'a Catalog,
}

/// The instant `now`, with the objects of `snapshot`.
pub(crate) fn moment(now: Now, snapshot: &Snapshot) -> Moment<'_> {
    Moment {
        now: now.mono,
        catalog: snapshot.catalog(),
    }
}
