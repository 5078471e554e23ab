//! The plugins: one file each, a folder beside it where args or maths need one.
//!
//! Takes nothing, gives the list. To add a plugin, write its file with a `spec()` and add
//! one line to [`specs`]; a binary of your own adds it with [`Registry::with`] instead.
//! A plugin sees values of the contract (`plimsoll-framework`) and does no IO.
//!
//! Behaviour is that of kube-scheduler v1.37; where it is not, the code says `Differs:`.

pub mod actual_load_filter;
pub mod actual_load_score;
mod allocation;
pub mod default_binder;
pub mod default_preemption;
pub mod dynamic_resources;
#[cfg(test)]
mod half_enabled;
mod hints;
pub mod image_locality;
pub mod inter_pod_affinity;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_balanced_allocation;
pub mod node_resources_fit;
pub mod node_unschedulable;
pub mod node_volume_limits;
mod normalize;
pub mod pod_topology_spread;
pub mod priority_sort;
mod resource_list;
pub mod scheduling_gates;
mod shape;
pub mod taint_toleration;
mod unread_args;
pub mod volume_binding;
mod volume_claims;
#[cfg(test)]
mod volume_fixtures;
pub mod volume_restrictions;
pub mod volume_zone;

use plimsoll_framework::{PluginSpec, Registry};

/// Every plugin of this crate: first kube-scheduler's, in its order, then Plimsoll's own.
pub fn specs() -> Vec<PluginSpec> {
    vec![
        scheduling_gates::spec(),
        priority_sort::spec(),
        node_name::spec(),
        node_unschedulable::spec(),
        taint_toleration::spec(),
        node_affinity::spec(),
        node_ports::spec(),
        node_resources_fit::spec(),
        volume_restrictions::spec(),
        node_volume_limits::spec(),
        volume_binding::spec(),
        volume_zone::spec(),
        pod_topology_spread::spec(),
        inter_pod_affinity::spec(),
        default_preemption::spec(),
        node_resources_balanced_allocation::spec(),
        dynamic_resources::spec(),
        image_locality::spec(),
        default_binder::spec(),
        node_declared_features::spec(),
        actual_load_filter::spec(),
        actual_load_score::spec(),
    ]
}

/// All of them, by name.
///
/// # Panics
/// Never: a test holds the names apart.
pub fn registry() -> Registry {
    Registry::new(specs()).expect("the names of the list differ")
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::Trial;
    use serde_json::Value;

    use super::{registry, specs};

    #[test]
    fn no_two_plugins_have_one_name() {
        assert_eq!(registry().iter().count(), specs().len());
    }

    #[test]
    fn every_plugin_builds_without_args_and_serves_the_points_it_declares() {
        for spec in specs() {
            let trial = Trial::new(&spec, &Value::Null);
            assert!(!trial.hooks.points().is_empty(), "{}", spec.name);
        }
    }
}
