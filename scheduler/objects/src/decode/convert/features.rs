//! The wire's pod -> what it needs of the kubelet (component-helpers `InferForScheduling`).

use super::wire;
use crate::feature::NodeFeatures;

/// The action of a restart rule that restarts the whole pod.
const RESTART_ALL: &str = "RestartAllContainers";

/// The features without which a node cannot run the pod.
pub(super) fn needs(wire: &wire::PodSpec<'_>) -> NodeFeatures {
    let containers = || wire.containers.0.iter().chain(&wire.init_containers.0);
    let mut rules = containers().flat_map(|container| &container.restart_policy_rules.0);
    let ephemeral = wire.ephemeral_containers.0.iter();
    let mut mounts = containers()
        .flat_map(|container| &container.volume_mounts.0)
        .chain(ephemeral.flat_map(|container| &container.volume_mounts.0));
    let own_users_on_host = wire.host_network == Some(true) && wire.host_users == Some(false);
    NodeFeatures::RESTART_ALL_CONTAINERS.when(rules.any(|rule| rule.action.0 == RESTART_ALL))
        | NodeFeatures::USER_NAMESPACES_HOST_NETWORK.when(own_users_on_host)
        | NodeFeatures::VOLUME_BIND_MOUNT_OPTIONS
            .when(mounts.any(|mount| !mount.bind_mount_options.0.is_empty()))
}
