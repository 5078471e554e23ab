//! Checks what a plugin says of pods that wait: gate, order, wake-up.

use std::time::Duration;

use serde_json::Value;

use super::rejection_text;
use crate::entity::{Entity, QueuedPod};
use crate::event::{Change, ClusterEvent, Hint};
use crate::plugin::QueueSort;
use crate::spec::PluginSpec;
use crate::test_util::cluster::{Cluster, cluster};
use crate::test_util::pod::PodBuilder;
use crate::test_util::trial::Trial;

/// `pod` in the queue, put there `seconds` after the epoch.
///
/// # Panics
/// The pod cannot be built.
pub fn queued(pod: &PodBuilder, seconds: u64) -> Entity {
    let at = Duration::from_secs(seconds);
    Entity::Pod(QueuedPod {
        pod: pod.arc(),
        queued_at: at,
        first_queued_at: at,
        attempts: 0,
    })
}

/// Asks whether `pod` may enter the active queue: `Pass`, or the rejection.
///
/// # Panics
/// The test is written wrongly, or the plugin has no `PreEnqueue`.
pub fn check_pre_enqueue(spec: &PluginSpec, args: &Value, pod: &PodBuilder) -> String {
    check_pre_enqueue_in(spec, args, &cluster([]), pod)
}

/// The same, with the objects of a cluster.
///
/// # Panics
/// As [`check_pre_enqueue`].
pub fn check_pre_enqueue_in(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
) -> String {
    let trial = Trial::new(spec, args);
    let hook = trial
        .hooks
        .pre_enqueue
        .expect("the plugin has a PreEnqueue hook");
    match hook.pre_enqueue(&pod.build(), cluster.snapshot().catalog()) {
        Ok(()) => "Pass".to_owned(),
        Err(rejection) => rejection_text(&rejection),
    }
}

/// Sorts `entities` as the active queue would: the names of the pods (of groups, the keys),
/// first one first; equals stay in the order given.
///
/// # Panics
/// The test is written wrongly, the plugin has no `QueueSort`, or its answers are no order:
/// `compare(a, b)` is not the reverse of `compare(b, a)`.
pub fn check_queue_sort(spec: &PluginSpec, args: &Value, entities: &[Entity]) -> Vec<String> {
    let trial = Trial::new(spec, args);
    let hook = trial
        .hooks
        .queue_sort
        .expect("the plugin has a QueueSort hook");
    assert_antisymmetric(&*hook, entities);
    let mut sorted: Vec<&Entity> = entities.iter().collect();
    sorted.sort_by(|a, b| hook.compare(a, b));
    sorted.into_iter().map(name).collect()
}

/// What the plugin makes of one change for a pod that it rejected; `None` if it registered
/// for no such event.
///
/// # Panics
/// The test is written wrongly, or the plugin has no `EnqueueExtensions`.
pub fn check_hint(
    spec: &PluginSpec,
    args: &Value,
    pod: &PodBuilder,
    event: ClusterEvent,
    change: &Change<'_>,
) -> Option<Hint> {
    check_hint_in((spec, args), &cluster([]), pod, event, change)
}

/// The same, with the objects of a cluster, as they are after the change.
///
/// # Panics
/// As [`check_hint`].
pub fn check_hint_in(
    (spec, args): (&PluginSpec, &Value),
    cluster: &Cluster,
    pod: &PodBuilder,
    event: ClusterEvent,
    change: &Change<'_>,
) -> Option<Hint> {
    let trial = Trial::new(spec, args);
    let hook = trial
        .hooks
        .enqueue
        .expect("the plugin has EnqueueExtensions");
    let listens = hook
        .events()
        .iter()
        .any(|registered| registered.matches(event));
    let snapshot = cluster.snapshot();
    listens.then(|| hook.hint(&pod.build(), event, change, snapshot.catalog()))
}

fn assert_antisymmetric(hook: &dyn QueueSort, entities: &[Entity]) {
    for a in entities {
        for b in entities {
            let (one, other) = (hook.compare(a, b), hook.compare(b, a));
            assert_eq!(
                one,
                other.reverse(),
                "{} and {}: no order",
                name(a),
                name(b)
            );
        }
    }
}

fn name(entity: &Entity) -> String {
    match entity {
        Entity::Pod(queued) => queued.pod.key().name.to_string(),
        Entity::Group(group) => group.key.to_string(),
    }
}
