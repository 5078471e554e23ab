//! One line per resource, and how far a node is over it.

use plimsoll_framework::{LoadResource, NodeLoad, PodEstimate, Reason, ResourceLoad};

use super::args::{Statistic, Thresholds};

/// Shares this close to a threshold are at it, not over it: more than sums of numbers can
/// be off by, less than any measurement can tell.
const TOLERANCE: f64 = 1e-9;

/// A threshold and what it is held against.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Judged by the larger of them: the network has two directions.
    resources: &'static [LoadResource],
    threshold: f64,
    statistic: Statistic,
    reason: Reason,
}

/// A node over a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over<'l> {
    /// Which figure.
    pub(super) resource: LoadResource,
    /// Its share of capacity after the pod.
    pub(super) ratio: f64,
    /// How far that is over the threshold.
    pub(super) excess: f64,
    /// Why the node is turned down.
    pub(super) reason: &'l Reason,
}

/// The lines of the resources that have a threshold.
pub(super) fn lines(thresholds: &Thresholds, statistic: Statistic) -> Vec<Line> {
    let named: [(&str, &'static [LoadResource], Option<f64>); 3] = [
        ("cpu", &[LoadResource::Cpu], thresholds.cpu),
        ("memory", &[LoadResource::Memory], thresholds.memory),
        (
            "network",
            &[LoadResource::Rx, LoadResource::Tx],
            thresholds.network,
        ),
    ];
    let lines = named
        .into_iter()
        .filter_map(|(name, resources, threshold)| {
            threshold.map(|threshold| Line {
                resources,
                threshold,
                statistic,
                reason: format!("node(s) over {name} load {threshold}").into(),
            })
        });
    lines.collect()
}

// === impl Line ===

impl Line {
    /// How far a node with this `row` is over the line once `extra` is added; `None` if it
    /// is not, or if that cannot be told.
    pub(super) fn over(&self, row: &NodeLoad, extra: &PodEstimate) -> Option<Over<'_>> {
        let judged = self.resources.iter().filter_map(|resource| {
            let ratio = self.ratio(row, *resource, extra)?;
            Some((*resource, ratio))
        });
        let (resource, ratio) = judged.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let excess = ratio - self.threshold;
        (excess > TOLERANCE).then_some(Over {
            resource,
            ratio,
            excess,
            reason: &self.reason,
        })
    }

    fn ratio(&self, row: &NodeLoad, resource: LoadResource, extra: &PodEstimate) -> Option<f64> {
        let cell = row.get(resource);
        let is_network = matches!(resource, LoadResource::Rx | LoadResource::Tx);
        // What pods are expected to use is no measurement. (Bandwidth that they declared
        // is theirs to take at any time: it counts.)
        if cell.measured.is_none() && !is_network {
            return None;
        }
        let used = match self.statistic {
            Statistic::Mean => cell.used,
            Statistic::P95 => cell.used_p95.or(cell.used),
        };
        let ratio = ResourceLoad { used, ..*cell }.ratio_with(extra.get(resource))?;
        (!ratio.is_nan()).then_some(ratio)
    }
}

// === impl Over ===

impl Over<'_> {
    /// The one further over its line; the first of equals.
    pub(super) fn worse(self, other: Self) -> Self {
        if other.excess > self.excess {
            other
        } else {
            self
        }
    }
}
