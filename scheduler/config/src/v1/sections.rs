//! `leaderElection` and `clientConnection`.

use plimsoll_objects::ApiDuration;

use crate::reader::Object;

/// `leaderElection`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeaderElection {
    pub(crate) leader_elect: Option<bool>,
    pub(crate) lease_duration: Option<ApiDuration>,
    pub(crate) renew_deadline: Option<ApiDuration>,
    pub(crate) retry_period: Option<ApiDuration>,
    pub(crate) resource_lock: Option<String>,
    pub(crate) resource_namespace: Option<String>,
    pub(crate) resource_name: Option<String>,
}

/// `clientConnection`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientConnection {
    pub(crate) kubeconfig: Option<String>,
    pub(crate) accept_content_types: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) qps: Option<f64>,
    pub(crate) burst: Option<i32>,
}

// === impl LeaderElection ===

impl LeaderElection {
    const FIELDS: &[&str] = &[
        "leaderElect",
        "leaseDuration",
        "renewDeadline",
        "retryPeriod",
        "resourceLock",
        "resourceNamespace",
        "resourceName",
    ];

    /// Reads the section of `file`.
    pub(super) fn read(file: &mut Object<'_, '_>) -> Self {
        let mut object = file.object("leaderElection", Self::FIELDS);
        Self {
            leader_elect: object.scalar("leaderElect"),
            lease_duration: object.duration("leaseDuration"),
            renew_deadline: object.duration("renewDeadline"),
            retry_period: object.duration("retryPeriod"),
            resource_lock: object.scalar("resourceLock"),
            resource_namespace: object.scalar("resourceNamespace"),
            resource_name: object.scalar("resourceName"),
        }
    }
}

// === impl ClientConnection ===

impl ClientConnection {
    const FIELDS: &[&str] = &[
        "kubeconfig",
        "acceptContentTypes",
        "contentType",
        "qps",
        "burst",
    ];

    /// Reads the section of `file`.
    pub(super) fn read(file: &mut Object<'_, '_>) -> Self {
        let mut object = file.object("clientConnection", Self::FIELDS);
        Self {
            kubeconfig: object.scalar("kubeconfig"),
            accept_content_types: object.scalar("acceptContentTypes"),
            content_type: object.scalar("contentType"),
            qps: object.scalar("qps"),
            burst: object.scalar("burst"),
        }
    }
}
