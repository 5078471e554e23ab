//! One HTTP extender, as the file configures it.

pub(crate) mod tls;

use std::time::Duration;

use plimsoll_objects::ApiDuration;

pub use self::tls::ReadFile;
use crate::v1;

/// Time-out of a call where the file gives none (kube-scheduler `DefaultExtenderTimeout`).
const HTTP_TIMEOUT: ApiDuration = ApiDuration::from_secs(5);

/// `extenders[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extender {
    /// `urlPrefix`, unchecked: kube-scheduler does not look at it before the first call.
    pub url_prefix: String,
    /// Path of the filter call; `None` where it is not called.
    pub filter_verb: Option<String>,
    /// Path of the preempt call.
    pub preempt_verb: Option<String>,
    /// Path of the prioritize call.
    pub prioritize_verb: Option<String>,
    /// Path of the bind call.
    pub bind_verb: Option<String>,
    /// Factor for the scores of the prioritize call.
    pub weight: i64,
    /// `enableHTTPS`.
    pub enable_https: bool,
    /// `tlsConfig`.
    pub tls: Option<ExtenderTls>,
    /// Time-out of one call.
    pub http_timeout: Duration,
    /// Whether calls carry node names instead of nodes.
    pub node_cache_capable: bool,
    /// Only pods that ask for one of these are sent; empty: all pods.
    pub managed_resources: Vec<ManagedResource>,
    /// Whether scheduling goes on when this extender fails. Such extenders are called after
    /// the others.
    pub ignorable: bool,
}

/// `extenders[].tlsConfig`. Nothing here has been read or decoded yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtenderTls {
    /// No check of the server's certificate.
    pub insecure: bool,
    /// Name that the certificate must have; `None`: the host of the URL.
    pub server_name: Option<String>,
    /// Path of the client certificate.
    pub cert_file: Option<String>,
    /// Path of the client key.
    pub key_file: Option<String>,
    /// Path of the trusted roots.
    pub ca_file: Option<String>,
    /// Client certificate, base64 of PEM; wins over the file.
    pub cert_data: Option<String>,
    /// Client key, base64 of PEM; wins over the file.
    pub key_data: Option<String>,
    /// Trusted roots, base64 of PEM; win over the file.
    pub ca_data: Option<String>,
}

/// `extenders[].managedResources[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedResource {
    /// Name of the extended resource.
    pub name: String,
    /// Whether the scheduler leaves the amounts of this resource to the extender.
    pub ignored_by_scheduler: bool,
}

// === impl Extender ===

impl Extender {
    /// Out of the file, which has been checked.
    pub(crate) fn new(file: &v1::extender::Extender) -> Self {
        let timeout = file.http_timeout.filter(|timeout| timeout.is_positive());
        let resources = file.managed_resources.iter();
        Self {
            url_prefix: file.url_prefix.clone().unwrap_or_default(),
            filter_verb: non_empty(file.filter_verb.as_ref()),
            preempt_verb: non_empty(file.preempt_verb.as_ref()),
            prioritize_verb: non_empty(file.prioritize_verb.as_ref()),
            bind_verb: non_empty(file.bind_verb.as_ref()),
            weight: file.weight.unwrap_or(0),
            enable_https: file.enable_https.unwrap_or(false),
            tls: file.tls_config.as_ref().map(ExtenderTls::new),
            http_timeout: timeout.unwrap_or(HTTP_TIMEOUT).to_std(),
            node_cache_capable: file.node_cache_capable.unwrap_or(false),
            managed_resources: resources.map(ManagedResource::new).collect(),
            ignorable: file.ignorable.unwrap_or(false),
        }
    }
}

// === impl ExtenderTls ===

impl ExtenderTls {
    fn new(file: &v1::extender::TlsConfig) -> Self {
        Self {
            insecure: file.insecure.unwrap_or(false),
            server_name: non_empty(file.server_name.as_ref()),
            cert_file: non_empty(file.cert_file.as_ref()),
            key_file: non_empty(file.key_file.as_ref()),
            ca_file: non_empty(file.ca_file.as_ref()),
            cert_data: non_empty(file.cert_data.as_ref()),
            key_data: non_empty(file.key_data.as_ref()),
            ca_data: non_empty(file.ca_data.as_ref()),
        }
    }
}

// === impl ManagedResource ===

impl ManagedResource {
    fn new(file: &v1::extender::ManagedResource) -> Self {
        let ignored_by_scheduler = file.ignored_by_scheduler.unwrap_or(false);
        Self {
            name: file.name.clone(),
            ignored_by_scheduler,
        }
    }
}

fn non_empty(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}
