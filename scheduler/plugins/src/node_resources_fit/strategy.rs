//! The three scoring strategies (kube-scheduler `least_allocated.go`, `most_allocated.go`,
//! `requested_to_capacity_ratio.go`).

use plimsoll_framework::NodeInfo;
use plimsoll_objects::Requests;

use crate::allocation::{
    Allocation, Basis, WeightedResource, least_allocated, most_allocated, share,
};
use crate::shape::Shape;

/// Utilization of a resource that is used up.
const FULL: i64 = 100;

/// How requested shares become a score.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The emptier the better.
    #[default]
    LeastAllocated,
    /// The fuller the better.
    MostAllocated,
    /// By a function of utilization.
    RequestedToCapacityRatio(Shape),
}

// === impl Strategy ===

impl Strategy {
    /// The score 0..=100 of `node` for a pod.
    pub(super) fn score(
        &self,
        resources: &[WeightedResource],
        node: &NodeInfo,
        pod: &Requests,
    ) -> i64 {
        match self {
            Self::LeastAllocated => least_allocated(resources, node, pod),
            Self::MostAllocated => most_allocated(resources, node, pod),
            Self::RequestedToCapacityRatio(shape) => by_shape(shape, resources, node, pod),
        }
    }
}

/// Resources that the function scores 0 do not enter the mean, which is rounded to nearest.
fn by_shape(shape: &Shape, resources: &[WeightedResource], node: &NodeInfo, pod: &Requests) -> i64 {
    let (mut sum, mut weights) = (0, 0);
    for entry in resources {
        let amounts = entry.resource.allocation(node, pod, Basis::WithDefaults);
        let score = amounts.map_or(0, |amounts| shape.score(utilization(amounts)));
        if score > 0 {
            sum += score * entry.weight;
            weights += entry.weight;
        }
    }
    if weights == 0 {
        0
    } else {
        (sum as f64 / weights as f64).round() as i64
    }
}

fn utilization(amounts: Allocation) -> i64 {
    let requested = amounts.requested();
    if requested > amounts.allocatable {
        FULL
    } else {
        share(requested, amounts.allocatable)
    }
}
