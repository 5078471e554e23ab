//! How a node that has fallen silent is judged by those that have not.
//!
//! Takes the rows of nodes that are well known (fresh, or nearly), gives a [`StandIn`].
//! Usually that is a floor, the median share in use per resource plus a margin: a node
//! whose agent died may have died of load, so it is judged no better than the middle of
//! the others. In a brown-out there is no floor, and what a silent node is expected to use
//! is scaled. Nodes that never reported are judged by neither, and where all are silent
//! there is nobody to judge by.

use plimsoll_framework::{LoadResource, NodeLoad};

use crate::figures::{PerResource, amount};
use crate::options::{LoadOptions, SILENCE_MARGIN};
use crate::scale::Scale;

/// How silent nodes are judged; the default judges nobody.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct StandIn {
    /// The least that a silent node is taken to carry.
    pub(crate) floor: Floor,
    /// By what its expected use is scaled.
    pub(crate) scale: Scale,
}

/// Shares of capacity; `None` where no well known node knows the resource. The empty floor
/// judges nobody: the fault of a pipeline is not the fault of its nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Floor(PerResource<Option<f64>>);

/// Shares in use of the well known nodes; kept to be filled again without allocating.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peers(PerResource<Vec<f64>>);

// === impl Floor ===

impl Floor {
    /// Judges nobody.
    pub(crate) const NONE: Self = Self([None; LoadResource::ALL.len()]);

    /// This share of each resource.
    #[cfg(test)]
    pub(crate) const fn of(shares: PerResource<Option<f64>>) -> Self {
        Self(shares)
    }

    /// The least that a silent node with this `capacity` is taken to carry, in the
    /// resource's unit.
    pub(crate) fn amount(&self, resource: LoadResource, capacity: Option<f64>) -> Option<f64> {
        Some(self.0[resource as usize]? * capacity?)
    }
}

// === impl Peers ===

impl Peers {
    /// Forgets all nodes.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// Takes the row of a well known node.
    pub(crate) fn add(&mut self, row: &NodeLoad) {
        for resource in LoadResource::ALL {
            let load = row.get(resource);
            let ratio = load.measured.and_then(|_| load.ratio_with(0.0));
            self.0[resource as usize].extend(ratio.and_then(amount));
        }
    }

    /// The floor: the (upper) median plus the margin.
    pub(crate) fn floor(&mut self, options: &LoadOptions) -> Floor {
        let margin = amount(options.silence_margin).unwrap_or(SILENCE_MARGIN);
        Floor(
            self.0
                .each_mut()
                .map(|ratios| Some(median(ratios)? + margin)),
        )
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let (_, median, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::{LoadResource, NodeLoad, ResourceLoad};

    use super::{Floor, Peers};
    use crate::options::LoadOptions;

    fn row(used: f64) -> NodeLoad {
        let cpu = ResourceLoad {
            measured: Some(used),
            used: Some(used),
            capacity: Some(10.0),
            ..ResourceLoad::default()
        };
        NodeLoad {
            cpu,
            ..NodeLoad::default()
        }
    }

    fn floor(used: &[f64]) -> Floor {
        let mut peers = Peers::default();
        for used in used {
            peers.add(&row(*used));
        }
        peers.floor(&LoadOptions::default())
    }

    #[test]
    fn the_floor_is_the_median_plus_the_margin() {
        let amount = floor(&[9.0, 1.0, 3.0])
            .amount(LoadResource::Cpu, Some(20.0))
            .unwrap();
        assert!((amount - (0.3 + 0.05) * 20.0).abs() < 1e-9);
    }

    #[test]
    fn where_nobody_is_known_there_is_no_floor() {
        assert_eq!(floor(&[]), Floor::default());
        assert_eq!(floor(&[]).amount(LoadResource::Cpu, Some(20.0)), None);
    }

    #[test]
    fn a_resource_that_was_not_measured_does_not_count() {
        let mut peers = Peers::default();
        let mut expected_only = row(9.0);
        expected_only.cpu.measured = None;
        peers.add(&expected_only);
        assert_eq!(peers.floor(&LoadOptions::default()), Floor::default());
    }

    #[test]
    fn the_floor_applies_only_where_capacity_is_known() {
        assert_eq!(floor(&[5.0]).amount(LoadResource::Cpu, None), None);
        assert_eq!(floor(&[5.0]).amount(LoadResource::Rx, Some(1.0)), None);
    }
}
