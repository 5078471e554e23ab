//! `PrioritySort`: higher priority first, then who has waited longer.
//!
//! kube-scheduler `plugins/queuesort`. Time is that of the last entry into the queue, not
//! of creation.

use std::cmp::Ordering;
use std::sync::Arc;

use plimsoll_framework::{Depends, Entity, Hooks, PluginSpec, Point, QueueSort};

use crate::unread_args;

/// The plugin's name.
pub const NAME: &str = "PrioritySort";

struct PrioritySort;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::QueueSort],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| Hooks::default().with_queue_sort(&Arc::new(PrioritySort)),
    }
}

impl QueueSort for PrioritySort {
    fn compare(&self, a: &Entity, b: &Entity) -> Ordering {
        let priority = b.priority().cmp(&a.priority());
        priority.then_with(|| a.queued_at().cmp(&b.queued_at()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_framework::test_util::{check_queue_sort, pod, queued};
    use plimsoll_framework::{Entity, QueuedGroup, QueuedPod};
    use plimsoll_objects::ObjectKey;
    use serde_json::Value;

    use super::spec;

    #[test]
    fn priority_counts_before_time_and_equals_stay_in_order() {
        let entities = [
            queued(&pod("late"), 9),
            queued(&pod("early"), 1),
            queued(&pod("negative").priority(-1), 0),
            queued(&pod("important").priority(1000), 20),
            queued(&pod("also-late"), 9),
        ];
        assert_eq!(
            check_queue_sort(&spec(), &Value::Null, &entities),
            ["important", "early", "late", "also-late", "negative"]
        );
    }

    #[test]
    fn the_extremes_of_priority_are_ordered() {
        let entities = [
            queued(&pod("least").priority(i32::MIN), 0),
            queued(&pod("none"), 0),
            queued(&pod("most").priority(i32::MAX), 0),
        ];
        let order = check_queue_sort(&spec(), &Value::Null, &entities);
        assert_eq!(order, ["most", "none", "least"]);
    }

    #[test]
    fn a_group_has_the_priority_of_its_first_and_the_time_of_its_oldest_member() {
        let member = |name: &str, priority: i32, first: u64| QueuedPod {
            pod: pod(name).priority(priority).arc(),
            queued_at: Duration::from_secs(100),
            first_queued_at: Duration::from_secs(first),
            attempts: 1,
        };
        let group = Entity::Group(QueuedGroup {
            key: ObjectKey::new("default", "gang"),
            members: vec![member("m1", 0, 8), member("m2", 5, 4)],
        });
        let entities = [
            queued(&pod("after").priority(5), 6),
            group,
            queued(&pod("before").priority(5), 2),
        ];
        let order = check_queue_sort(&spec(), &Value::Null, &entities);
        assert_eq!(order, ["before", "default/gang", "after"]);
    }
}
