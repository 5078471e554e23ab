//! How well the pod's volumes fit their class on a node (kube-scheduler `scorer.go`).
//!
//! Per class what is asked for is held against what there is: the sizes of the volumes it
//! would take, or else the capacity they would be made of. Sums wrap around as in Go.

use std::collections::BTreeMap;

use super::find::PodVolumes;
use crate::shape::{Shape, ShapePoint};

/// Utilization of a class that is full.
const FULL_PERCENT: i64 = 100;

/// The function from utilization to score.
#[derive(Debug, Clone)]
pub(super) struct Scorer {
    shape: Shape,
}

/// Bytes of one class.
#[derive(Debug, Clone, Copy, Default)]
struct Amounts {
    requested: i64,
    capacity: i64,
}

// === impl Scorer ===

impl Scorer {
    /// A scorer by the `shape` of the args.
    pub(super) fn new(shape: &[ShapePoint]) -> Self {
        Self {
            shape: Shape::new(shape.into()),
        }
    }

    /// The mean over the classes, rounded; 0 if no class is known.
    pub(super) fn score(&self, volumes: &PodVolumes) -> i64 {
        let classes = by_class(volumes);
        let sum: i64 = classes
            .values()
            .map(|amounts| self.of_class(*amounts))
            .sum();
        let count = classes.len() as i64;
        if count == 0 {
            return 0;
        }
        // Scores lie in 0..=100: half and more is rounded up.
        (2 * sum + count) / (2 * count)
    }

    fn of_class(&self, amounts: Amounts) -> i64 {
        let Amounts {
            requested,
            capacity,
        } = amounts;
        if capacity == 0 || requested > capacity {
            return self.shape.score(FULL_PERCENT);
        }
        let percent = requested.wrapping_mul(FULL_PERCENT).wrapping_div(capacity);
        self.shape.score(percent)
    }
}

/// `Differs:` kube-scheduler crashes on a capacity object without `capacity`, and on a class
/// that is named by annotation alone.
fn by_class(volumes: &PodVolumes) -> BTreeMap<&str, Amounts> {
    let mut classes: BTreeMap<&str, Amounts> = BTreeMap::new();
    for found in &volumes.matches {
        let class = classes.entry(&found.volume.spec_class).or_default();
        let requested = found.claim.requested.unwrap_or_default().value();
        class.requested = class.requested.wrapping_add(requested);
        let capacity = found.volume.capacity.value();
        class.capacity = class.capacity.wrapping_add(capacity);
    }
    if !volumes.matches.is_empty() {
        return classes;
    }
    for made in &volumes.provisions {
        let Some(capacity) = &made.capacity else {
            continue;
        };
        let class = classes.entry(made.claim.class.as_deref().unwrap_or_default());
        let class = class.or_default();
        // Two claims share one capacity: it counts once.
        class.capacity = capacity.capacity.unwrap_or_default().value();
        let requested = made.claim.requested.unwrap_or_default().value();
        class.requested = class.requested.wrapping_add(requested);
    }
    classes
}
