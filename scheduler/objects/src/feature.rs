//! What a pod needs of the kubelet beyond the ordinary, by the names under which nodes
//! declare it.
//!
//! Takes names, gives a small set; k8s.io/component-helpers `nodedeclaredfeatures`. Only
//! the features that bear on where a pod may run are in it.

use std::ops::BitOr;

/// A set of features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeFeatures(u8);

// === impl NodeFeatures ===

impl NodeFeatures {
    /// A container's exit may restart all containers (`restartPolicyRules`).
    pub const RESTART_ALL_CONTAINERS: Self = Self(1);
    /// A user namespace on the node's own network (`hostNetwork` with `hostUsers: false`).
    pub const USER_NAMESPACES_HOST_NETWORK: Self = Self(1 << 1);
    /// Options of a bind mount (`volumeMounts[].bindMountOptions`).
    pub const VOLUME_BIND_MOUNT_OPTIONS: Self = Self(1 << 2);

    /// All of them with their names in `status.declaredFeatures`, sorted by name.
    const NAMES: [(Self, &'static str); 3] = [
        (
            Self::RESTART_ALL_CONTAINERS,
            "RestartAllContainersOnContainerExits",
        ),
        (
            Self::USER_NAMESPACES_HOST_NETWORK,
            "UserNamespacesHostNetworkSupport",
        ),
        (Self::VOLUME_BIND_MOUNT_OPTIONS, "VolumeBindMountOptions"),
    ];

    /// Those among the names that a node declares. The list is taken to be sorted, which the
    /// API server sees to: as in kube-scheduler (`TryMap`), a name after a larger one is not
    /// found.
    pub fn declared<T: AsRef<str>>(names: &[T]) -> Self {
        let mut found = Self::default();
        let mut known = Self::NAMES.as_slice();
        for name in names {
            let name = name.as_ref();
            let smaller = known.partition_point(|(_, known)| *known < name);
            known = &known[smaller..];
            if let [(feature, known_name), rest @ ..] = known
                && *known_name == name
            {
                found = found | *feature;
                known = rest;
            }
        }
        found
    }

    /// Whether all of `others` are among them.
    pub fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = Self::NAMES.into_iter();
        known
            .filter(move |(feature, _)| self.0 & feature.0 != 0)
            .map(|(_, name)| name)
    }

    /// The set, if `needed`; none otherwise.
    #[must_use]
    pub fn when(self, needed: bool) -> Self {
        if needed { self } else { Self::default() }
    }
}

impl BitOr for NodeFeatures {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::NodeFeatures;

    #[test]
    fn a_node_declares_what_its_sorted_list_names() {
        let (restart, users, mounts) = (
            "RestartAllContainersOnContainerExits",
            "UserNamespacesHostNetworkSupport",
            "VolumeBindMountOptions",
        );
        let cases: [(&[&str], &[&str]); 6] = [
            (&[], &[]),
            (&["A", restart, "S", users, "Z"], &[restart, users]),
            (&[restart, users, mounts], &[restart, users, mounts]),
            (&[restart, restart], &[restart]),
            // What stands behind a larger name is not found.
            (&[users, restart, mounts], &[users, mounts]),
            (&["Z", restart], &[]),
        ];
        for (declared, found) in cases {
            let names: Vec<_> = NodeFeatures::declared(declared).names().collect();
            assert_eq!(names, found, "{declared:?}");
        }
        let both = NodeFeatures::declared(&[restart, users]);
        assert!(both.contains(NodeFeatures::RESTART_ALL_CONTAINERS));
        assert!(!both.contains(NodeFeatures::VOLUME_BIND_MOUNT_OPTIONS));
    }

    #[test]
    fn a_set_knows_the_names_of_its_features() {
        let both = NodeFeatures::VOLUME_BIND_MOUNT_OPTIONS | NodeFeatures::RESTART_ALL_CONTAINERS;
        let names: Vec<_> = both.names().collect();
        assert_eq!(
            names,
            [
                "RestartAllContainersOnContainerExits",
                "VolumeBindMountOptions"
            ]
        );
        let none = NodeFeatures::USER_NAMESPACES_HOST_NETWORK.when(false);
        assert!(none.is_empty() && none.names().next().is_none());
    }
}
