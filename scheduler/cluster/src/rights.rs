//! The rights this crate needs at the API server.
//!
//! Stands beside the paths that use them; the chart's role and `docs/configuration.md` are
//! compared with it, and so is what a flow really asked for.

/// Verbs on one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// API group; empty is core.
    pub group: &'static str,
    /// Plural name, with the subresource after a slash.
    pub resource: &'static str,
    /// RBAC verbs, sorted.
    pub verbs: &'static [&'static str],
}

/// All that the scheduler with its own plugins asks for, over the whole cluster. Effects of
/// other plugins (annotations, objects they write, victims they evict) need rights of their own.
pub const RIGHTS: [Right; 23] = [
    Right {
        group: "",
        resource: "namespaces",
        verbs: &["list", "watch"],
    },
    Right {
        group: "",
        resource: "nodes",
        verbs: &["list", "watch"],
    },
    // `patch` chooses the node or the volume of a claim.
    Right {
        group: "",
        resource: "persistentvolumeclaims",
        verbs: &["list", "patch", "watch"],
    },
    Right {
        group: "",
        resource: "persistentvolumes",
        verbs: &["list", "patch", "watch"],
    },
    // `get` is the second look after a doubtful answer to a binding; `delete` is preemption.
    Right {
        group: "",
        resource: "pods",
        verbs: &["delete", "get", "list", "watch"],
    },
    Right {
        group: "",
        resource: "pods/binding",
        verbs: &["create"],
    },
    Right {
        group: "",
        resource: "pods/status",
        verbs: &["patch"],
    },
    Right {
        group: "",
        resource: "replicationcontrollers",
        verbs: &["list", "watch"],
    },
    Right {
        group: "",
        resource: "services",
        verbs: &["list", "watch"],
    },
    Right {
        group: "apps",
        resource: "replicasets",
        verbs: &["list", "watch"],
    },
    Right {
        group: "apps",
        resource: "statefulsets",
        verbs: &["list", "watch"],
    },
    // `patch` counts a repeated event in its series.
    Right {
        group: "events.k8s.io",
        resource: "events",
        verbs: &["create", "patch"],
    },
    Right {
        group: "policy",
        resource: "poddisruptionbudgets",
        verbs: &["list", "watch"],
    },
    Right {
        group: "resource.k8s.io",
        resource: "deviceclasses",
        verbs: &["list", "watch"],
    },
    // `patch` adds the finalizer of a claim that is allocated; `create` and `delete` are of
    // claims for extended resources that devices stand for.
    Right {
        group: "resource.k8s.io",
        resource: "resourceclaims",
        verbs: &["create", "delete", "list", "patch", "watch"],
    },
    // No request names it: the API server looks for it where the allocation or the consumers
    // of a claim change by `resourceclaims/status`.
    Right {
        group: "resource.k8s.io",
        resource: "resourceclaims/binding",
        verbs: &["patch"],
    },
    Right {
        group: "resource.k8s.io",
        resource: "resourceclaims/status",
        verbs: &["patch"],
    },
    Right {
        group: "resource.k8s.io",
        resource: "resourceslices",
        verbs: &["list", "watch"],
    },
    Right {
        group: "storage.k8s.io",
        resource: "csidrivers",
        verbs: &["list", "watch"],
    },
    Right {
        group: "storage.k8s.io",
        resource: "csinodes",
        verbs: &["list", "watch"],
    },
    Right {
        group: "storage.k8s.io",
        resource: "csistoragecapacities",
        verbs: &["list", "watch"],
    },
    Right {
        group: "storage.k8s.io",
        resource: "storageclasses",
        verbs: &["list", "watch"],
    },
    Right {
        group: "storage.k8s.io",
        resource: "volumeattachments",
        verbs: &["list", "watch"],
    },
];

/// What leader election asks for, in the namespace of the lease: `get` and `update` of this one
/// lease, `create` of any, as a name cannot bound it.
pub const LEASE_RIGHTS: [Right; 1] = [Right {
    group: "coordination.k8s.io",
    resource: "leases",
    verbs: &["create", "get", "update"],
}];
