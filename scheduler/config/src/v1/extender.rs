//! `extenders[]`.

use plimsoll_framework::{FieldError, FieldPath};
use plimsoll_objects::ApiDuration;
use serde_json::Value;

use crate::reader::Object;

/// Fields of an entry of `extenders`.
pub(crate) const EXTENDER_FIELDS: &[&str] = &[
    "urlPrefix",
    "filterVerb",
    "preemptVerb",
    "prioritizeVerb",
    "weight",
    "bindVerb",
    "enableHTTPS",
    "tlsConfig",
    "httpTimeout",
    "nodeCacheCapable",
    "managedResources",
    "ignorable",
];

/// One extender.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extender {
    pub(crate) url_prefix: Option<String>,
    pub(crate) filter_verb: Option<String>,
    pub(crate) preempt_verb: Option<String>,
    pub(crate) prioritize_verb: Option<String>,
    pub(crate) weight: Option<i64>,
    pub(crate) bind_verb: Option<String>,
    pub(crate) enable_https: Option<bool>,
    pub(crate) tls_config: Option<TlsConfig>,
    pub(crate) http_timeout: Option<ApiDuration>,
    pub(crate) node_cache_capable: Option<bool>,
    pub(crate) managed_resources: Vec<ManagedResource>,
    pub(crate) ignorable: Option<bool>,
}

/// `tlsConfig`. Files are not read and data is not decoded here.
#[derive(Debug, Clone, Default)]
pub(crate) struct TlsConfig {
    pub(crate) insecure: Option<bool>,
    pub(crate) server_name: Option<String>,
    pub(crate) cert_file: Option<String>,
    pub(crate) key_file: Option<String>,
    pub(crate) ca_file: Option<String>,
    pub(crate) cert_data: Option<String>,
    pub(crate) key_data: Option<String>,
    pub(crate) ca_data: Option<String>,
}

/// One entry of `managedResources`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ManagedResource {
    pub(crate) name: String,
    pub(crate) ignored_by_scheduler: Option<bool>,
}

// === impl Extender ===

impl Extender {
    /// Reads an entry of `extenders`.
    pub(super) fn read(value: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> Self {
        let mut object = Object::open(value, path, EXTENDER_FIELDS, errors);
        Self {
            url_prefix: object.scalar("urlPrefix"),
            filter_verb: object.scalar("filterVerb"),
            preempt_verb: object.scalar("preemptVerb"),
            prioritize_verb: object.scalar("prioritizeVerb"),
            weight: object.scalar("weight"),
            bind_verb: object.scalar("bindVerb"),
            enable_https: object.scalar("enableHTTPS"),
            tls_config: object
                .value("tlsConfig")
                .is_some()
                .then(|| TlsConfig::read(&mut object)),
            http_timeout: object.duration("httpTimeout"),
            node_cache_capable: object.scalar("nodeCacheCapable"),
            managed_resources: object.list("managedResources", ManagedResource::read),
            ignorable: object.scalar("ignorable"),
        }
    }
}

// === impl TlsConfig ===

impl TlsConfig {
    const FIELDS: &[&str] = &[
        "insecure",
        "serverName",
        "certFile",
        "keyFile",
        "caFile",
        "certData",
        "keyData",
        "caData",
    ];

    fn read(extender: &mut Object<'_, '_>) -> Self {
        let mut object = extender.object("tlsConfig", Self::FIELDS);
        Self {
            insecure: object.scalar("insecure"),
            server_name: object.scalar("serverName"),
            cert_file: object.scalar("certFile"),
            key_file: object.scalar("keyFile"),
            ca_file: object.scalar("caFile"),
            cert_data: object.scalar("certData"),
            key_data: object.scalar("keyData"),
            ca_data: object.scalar("caData"),
        }
    }
}

// === impl ManagedResource ===

impl ManagedResource {
    fn read(value: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> Self {
        let mut object = Object::open(value, path, &["name", "ignoredByScheduler"], errors);
        Self {
            name: object.scalar("name").unwrap_or_default(),
            ignored_by_scheduler: object.scalar("ignoredByScheduler"),
        }
    }
}
