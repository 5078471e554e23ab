//! The figures behind a verdict, for the decision record.

use plimsoll_framework::{LoadFigures, NodeLoad, SampleAge};

use super::line::Over;

/// What makes the node with this `row` be `over` its line, in shares of capacity.
pub(super) fn figures(row: &NodeLoad, over: &Over<'_>) -> LoadFigures {
    let cell = row.get(over.resource);
    // A node over a line has a capacity.
    let capacity = cell.capacity.unwrap_or(f64::NAN);
    let share = |amount: f64| (amount / capacity) as f32;
    LoadFigures {
        resource: over.resource,
        with_pod: over.ratio as f32,
        measured: cell.measured.map(share),
        in_flight: share(cell.in_flight),
        departing: share(cell.departing),
        sample: SampleAge::of(row.sample_age),
    }
}
