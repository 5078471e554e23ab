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
pub const RIGHTS: [Right; 5] = [
    Right {
        group: "",
        resource: "nodes",
        verbs: &["list", "watch"],
    },
    // `get` is the second look after a doubtful answer to a binding.
    Right {
        group: "",
        resource: "pods",
        verbs: &["get", "list", "watch"],
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
    // `patch` counts a repeated event in its series.
    Right {
        group: "events.k8s.io",
        resource: "events",
        verbs: &["create", "patch"],
    },
];
