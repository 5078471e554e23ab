//! Groups by the pod labels `gang` and `gang-size`, or `gang-batch` for one by count.

use std::sync::Arc;

use plimsoll_framework::{
    Catalog, Cycle, CycleState, Filter, FilterOutcome, GroupSize, Grouping, Membership, NodeInfo,
    PreEnqueue, Rejection,
};
use plimsoll_objects::{ObjectKey, Pod};

use super::{label, note};

pub(super) struct Gang;

impl Grouping for Gang {
    fn group_of(&self, pod: &Pod, _: &Catalog) -> Option<Membership> {
        let number = |key| label(pod, key).map(|size| size.parse().expect("a number"));
        let size = match (number("gang-size"), number("gang-batch")) {
            (Some(size), _) => GroupSize::AtLeast(size),
            (None, Some(size)) => GroupSize::Exactly(size),
            (None, None) => GroupSize::Unknown("the size is not known".into()),
        };
        let key = ObjectKey {
            namespace: Arc::clone(&pod.key().namespace),
            name: label(pod, "gang")?.into(),
        };
        Some(Membership { key, size })
    }
}

/// It needs a point to be enabled at.
impl PreEnqueue for Gang {
    fn pre_enqueue(&self, _: &Pod, _: &Catalog) -> Result<(), Rejection> {
        Ok(())
    }
}

/// Pod label `apart`: not on a node with a pod that has the same value.
pub(super) struct Apart;

impl Filter for Apart {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        note(format!(
            "judged {} on {}",
            cycle.pod.key().name,
            node.name()
        ));
        let wanted = label(cycle.pod, "apart");
        let mut others = node.pods.iter();
        if wanted.is_some() && others.any(|other| label(other, "apart") == wanted) {
            return Err(Rejection::unschedulable("not beside its like"));
        }
        Ok(FilterOutcome::Pass)
    }
}
