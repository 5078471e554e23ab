//! `kubescheduler.config.k8s.io/v1`, field by field as the file has it.
//!
//! Takes the JSON value of a file, gives structs in which an absent field is `None` and
//! every unknown field or wrong type is an error. No defaults, no rules: those are the
//! next two stages.

pub(crate) mod extender;
pub(crate) mod old;
pub(crate) mod profile;
pub(crate) mod sections;

use plimsoll_framework::{FieldError, FieldPath, Stage};
use serde_json::Value;

use self::extender::Extender;
use self::profile::Profile;
use self::sections::{ClientConnection, LeaderElection};
use crate::reader::Object;

/// Group and version of the file and of args.
pub(crate) const API_VERSION: &str = "kubescheduler.config.k8s.io/v1";
/// Group of the file, whatever the version.
pub(crate) const API_GROUP: &str = "kubescheduler.config.k8s.io/";
/// Kind of the file.
pub(crate) const KIND: &str = "KubeSchedulerConfiguration";

/// Fields of the file.
pub(crate) const FILE_FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "parallelism",
    "leaderElection",
    "clientConnection",
    "enableProfiling",
    "enableContentionProfiling",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "profiles",
    "extenders",
    "delayCacheUntilActive",
];
/// Fields of an entry of `profiles`.
pub(crate) const PROFILE_FIELDS: &[&str] = &[
    "schedulerName",
    "percentageOfNodesToScore",
    "plugins",
    "pluginConfig",
];

/// The file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Configuration {
    pub(crate) parallelism: Option<i32>,
    pub(crate) leader_election: LeaderElection,
    pub(crate) client_connection: ClientConnection,
    pub(crate) enable_profiling: Option<bool>,
    pub(crate) enable_contention_profiling: Option<bool>,
    pub(crate) percentage_of_nodes_to_score: Option<i32>,
    pub(crate) pod_initial_backoff_seconds: Option<i64>,
    pub(crate) pod_max_backoff_seconds: Option<i64>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) extenders: Vec<Extender>,
    pub(crate) delay_cache_until_active: Option<bool>,
}

/// Reads the file. `None` where it is not of this kind: then nothing else in it is looked
/// at. A file of an old version is looked at, for it is to be mended in one go.
pub(crate) fn read(file: &Value, errors: &mut Vec<FieldError>) -> Option<Configuration> {
    check_type(file, errors)?;
    let object = &mut Object::open(file, FieldPath::default(), FILE_FIELDS, errors);
    Some(Configuration {
        parallelism: object.scalar("parallelism"),
        leader_election: LeaderElection::read(object),
        client_connection: ClientConnection::read(object),
        enable_profiling: object.scalar("enableProfiling"),
        enable_contention_profiling: object.scalar("enableContentionProfiling"),
        percentage_of_nodes_to_score: object.scalar("percentageOfNodesToScore"),
        pod_initial_backoff_seconds: object.scalar("podInitialBackoffSeconds"),
        pod_max_backoff_seconds: object.scalar("podMaxBackoffSeconds"),
        profiles: object.list("profiles", Profile::read),
        extenders: object.list("extenders", Extender::read),
        delay_cache_until_active: object.scalar("delayCacheUntilActive"),
    })
}

fn check_type(file: &Value, errors: &mut Vec<FieldError>) -> Option<()> {
    if !file.is_null() && !file.is_object() {
        Object::open(file, FieldPath::default(), FILE_FIELDS, errors);
        return None;
    }
    let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or("");
    let (version, kind) = (text("apiVersion"), text("kind"));
    let (field, problem) = if kind.is_empty() {
        ("kind", format!("required: must be {KIND}"))
    } else if version.is_empty() {
        ("apiVersion", format!("required: must be {API_VERSION}"))
    } else if version != API_VERSION {
        ("apiVersion", old::version(version, kind, file))
    } else if kind != KIND {
        ("kind", old::kind(kind))
    } else {
        return Some(());
    };
    let path = FieldPath::new(field);
    errors.push(FieldError::new(Stage::Decode, path, problem));
    let only_old = kind == KIND && version.starts_with(API_GROUP) && version != API_VERSION;
    only_old.then_some(())
}
