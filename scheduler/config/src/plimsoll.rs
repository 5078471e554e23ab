//! Plimsoll's own settings: the file of `--plimsoll-config`.
//!
//! Takes text, gives [`PlimsollConfig`] with defaults filled in, or every mistake. All
//! fields but `apiVersion` and `kind` may be left out, and so may the file.
//!
//! ```yaml
//! apiVersion: plimsoll.dev/v1alpha1
//! kind: PlimsollConfiguration
//! load:
//!   enabled: true                            # judge nodes by load
//!   linkSpeeds: {m5.large: 10G}              # bit/s by node.kubernetes.io/instance-type
//! telemetry:
//!   listen: "0.0.0.0:7443"                   # where agents send their figures
//!   tls: {certFile: tls.crt, keyFile: tls.key}
//! admin: {listen: "0.0.0.0:10259"}           # metrics and health
//! binding: {maxInFlight: 32, minInFlight: 4} # binding requests at a time
//! seed: 42                                   # of the choice among equal nodes
//! ```

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_framework::{FieldError, FieldPath, Stage};
use plimsoll_objects::bandwidth::bytes_per_sec;
use serde_json::{Value, json};

use crate::reader::Object;
use crate::yaml;

/// Version of the file.
pub const API_VERSION: &str = "plimsoll.dev/v1alpha1";
/// Kind of the file.
pub const KIND: &str = "PlimsollConfiguration";

/// Sections of the file.
pub(crate) const FIELDS: [&str; 5] = ["load", "telemetry", "admin", "binding", "seed"];

/// A link's speed is in bit/s in the file.
const BITS_PER_BYTE: u64 = 8;
/// Port of the telemetry stream.
const TELEMETRY_PORT: u16 = 7443;
/// Port of metrics and health: the one of kube-scheduler.
const ADMIN_PORT: u16 = 10259;
/// Binding requests at a time while the API server answers quickly: more gain nothing
/// there and bring answers 429, for each is a connection and a write of its own.
const MAX_IN_FLIGHT: u16 = 32;
/// Binding requests at a time that are always allowed, however slow the answers.
const MIN_IN_FLIGHT: u16 = 4;
/// More binding requests at a time than any API server admits from one client by default.
const IN_FLIGHT_LIMIT: u16 = 400;

/// Plimsoll's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlimsollConfig {
    /// `load.enabled`: whether agents are listened to; read at start.
    pub load_enabled: bool,
    /// `load.linkSpeeds`: by `node.kubernetes.io/instance-type`, bytes per second.
    pub link_speeds: BTreeMap<Arc<str>, u64>,
    /// `telemetry.listen`.
    pub telemetry_listen: SocketAddr,
    /// `telemetry.tls`: the certificate by which agents know the scheduler.
    pub telemetry_tls: Option<TlsFiles>,
    /// `admin.listen`.
    pub admin_listen: SocketAddr,
    /// `binding`.
    pub binding: Binding,
    /// `seed` of the choice among equal nodes; `None`: the engine's own, the same at every start.
    pub seed: Option<u64>,
}

/// A certificate chain and its key, PEM; read again while the process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain, leaf first.
    pub cert: PathBuf,
    /// The leaf's private key.
    pub key: PathBuf,
}

/// Bounds of the binding requests that are under way at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// At most, however quick the API server.
    pub max_in_flight: u16,
    /// At least, however slow; 1 to `max_in_flight`.
    pub min_in_flight: u16,
}

/// Loads a file.
///
/// # Errors
/// Every mistake in it.
pub fn load(text: &str) -> Result<PlimsollConfig, Vec<FieldError>> {
    let mut errors = Vec::new();
    let config = yaml::parse(text, &mut errors).and_then(|file| read(&file, &mut errors));
    if yaml::has_more(text) {
        let problem = "more than one YAML document: only the first would be read";
        errors.push(FieldError::new(
            Stage::Decode,
            FieldPath::default(),
            problem,
        ));
    }
    errors.sort_by_key(|error| error.stage);
    config.filter(|_| errors.is_empty()).ok_or(errors)
}

/// Whether a text is meant for [`load`], by its kind or version.
pub fn is_one(text: &str) -> bool {
    let file = yaml::parse(text, &mut Vec::new()).unwrap_or_default();
    let is = |field, value| file.get(field).and_then(Value::as_str) == Some(value);
    is("kind", KIND) || is("apiVersion", API_VERSION)
}

/// The settings as a file would have them, with nothing left out but the seed of the engine.
pub fn effective(config: &PlimsollConfig) -> Value {
    let speeds: BTreeMap<&str, String> = config
        .link_speeds
        .iter()
        .map(|(kind, bytes)| (&**kind, bytes.saturating_mul(BITS_PER_BYTE).to_string()))
        .collect();
    let mut file = json!({
        "load": {"enabled": config.load_enabled, "linkSpeeds": speeds},
        "telemetry": {"listen": config.telemetry_listen.to_string()},
        "admin": {"listen": config.admin_listen.to_string()},
        "binding": {
            "maxInFlight": config.binding.max_in_flight,
            "minInFlight": config.binding.min_in_flight,
        },
    });
    if let Some(tls) = &config.telemetry_tls {
        file["telemetry"]["tls"] = json!({"certFile": tls.cert, "keyFile": tls.key});
    }
    if let Some(seed) = config.seed {
        file["seed"] = seed.into();
    }
    file
}

fn read(file: &Value, errors: &mut Vec<FieldError>) -> Option<PlimsollConfig> {
    if !check_type(file, errors) {
        return None;
    }
    let known: Vec<_> = ["apiVersion", "kind"].into_iter().chain(FIELDS).collect();
    let mut object = Object::open(file, FieldPath::default(), &known, errors);
    let default = PlimsollConfig::default();
    let mut load = object.object("load", &["enabled", "linkSpeeds"]);
    let load_enabled = load.scalar("enabled");
    let link_speeds = link_speeds(&mut load);
    let (telemetry_listen, telemetry_tls) = telemetry(&mut object);
    Some(PlimsollConfig {
        load_enabled: load_enabled.unwrap_or(default.load_enabled),
        link_speeds,
        telemetry_listen: telemetry_listen.unwrap_or(default.telemetry_listen),
        telemetry_tls,
        admin_listen: listen(&mut object.object("admin", &["listen"]))
            .unwrap_or(default.admin_listen),
        binding: Binding::read(&mut object),
        seed: object.scalar("seed"),
    })
}

fn check_type(file: &Value, errors: &mut Vec<FieldError>) -> bool {
    let mut right = true;
    for (field, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        let given = file.get(field).and_then(Value::as_str).unwrap_or("");
        if given != expected {
            let problem = format!("must be {expected}, is `{given}`");
            errors.push(FieldError::new(
                Stage::Decode,
                FieldPath::new(field),
                problem,
            ));
            right = false;
        }
    }
    right
}

/// `telemetry`: where agents connect, and by which certificate they know us.
fn telemetry(file: &mut Object<'_, '_>) -> (Option<SocketAddr>, Option<TlsFiles>) {
    let mut object = file.object("telemetry", &["listen", "tls"]);
    let address = listen(&mut object);
    if object.value("tls").is_none() {
        return (address, None);
    }
    let mut tls = object.object("tls", &["certFile", "keyFile"]);
    let (cert, key) = (path(&mut tls, "certFile"), path(&mut tls, "keyFile"));
    let files = cert.zip(key).map(|(cert, key)| TlsFiles { cert, key });
    (address, files)
}

/// A path that must be there.
fn path(object: &mut Object<'_, '_>, name: &str) -> Option<PathBuf> {
    let given = object.value(name);
    let path = given
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty());
    if path.is_none() {
        let problem = match given {
            None => "is required beside its sibling: a certificate needs its key",
            Some(_) => "must be the path of a file",
        };
        object.reject(name, Stage::Validate, problem.to_owned());
    }
    path.map(PathBuf::from)
}

/// `load.linkSpeeds`: a quantity in bit/s per instance type.
fn link_speeds(load: &mut Object<'_, '_>) -> BTreeMap<Arc<str>, u64> {
    let mut speeds = BTreeMap::new();
    let Some(table) = load.value("linkSpeeds") else {
        return speeds;
    };
    let Some(table) = table.as_object() else {
        let problem = "must be an object of instance types, each with a speed such as 10G";
        load.reject("linkSpeeds", Stage::Decode, problem.to_owned());
        return speeds;
    };
    for (instance_type, value) in table {
        let speed = value.as_str().and_then(bytes_per_sec);
        match speed {
            Some(speed) => {
                speeds.insert(Arc::from(instance_type.as_str()), speed);
            }
            None => load.reject(
                "linkSpeeds",
                Stage::Validate,
                format!("{instance_type}: {value} is not a speed in bit/s such as 10G"),
            ),
        }
    }
    speeds
}

/// `listen`: an address to bind, not a host name.
fn listen(object: &mut Object<'_, '_>) -> Option<SocketAddr> {
    let text: String = object.scalar("listen")?;
    let address = text.parse().ok();
    if address.is_none() {
        let example = "such as 0.0.0.0:7443 or [::1]:7443";
        let problem = format!("`{text}` is not an address with a port, {example}");
        object.reject("listen", Stage::Validate, problem);
    }
    address
}

// === impl PlimsollConfig ===

impl Default for PlimsollConfig {
    fn default() -> Self {
        let everywhere = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
        Self {
            load_enabled: true,
            link_speeds: BTreeMap::new(),
            telemetry_listen: everywhere(TELEMETRY_PORT),
            telemetry_tls: None,
            admin_listen: everywhere(ADMIN_PORT),
            binding: Binding::default(),
            seed: None,
        }
    }
}

// === impl Binding ===

impl Binding {
    fn read(file: &mut Object<'_, '_>) -> Self {
        let mut object = file.object("binding", &["maxInFlight", "minInFlight"]);
        let max: Option<u16> = object.scalar("maxInFlight");
        let min: Option<u16> = object.scalar("minInFlight");
        let default = Self::default();
        let max_in_flight = max.unwrap_or(default.max_in_flight);
        // A low maximum alone lowers the minimum: that is what it asks for.
        let min_in_flight = min.unwrap_or(default.min_in_flight.min(max_in_flight));
        if !(1..=IN_FLIGHT_LIMIT).contains(&max_in_flight) {
            let problem = format!("must be 1 to {IN_FLIGHT_LIMIT}, is {max_in_flight}");
            object.reject("maxInFlight", Stage::Validate, problem);
        } else if !(1..=max_in_flight).contains(&min_in_flight) {
            let problem = format!("must be 1 to maxInFlight ({max_in_flight}), is {min_in_flight}");
            object.reject("minInFlight", Stage::Validate, problem);
        }
        Self {
            max_in_flight,
            min_in_flight,
        }
    }
}

impl Default for Binding {
    fn default() -> Self {
        Self {
            max_in_flight: MAX_IN_FLIGHT,
            min_in_flight: MIN_IN_FLIGHT,
        }
    }
}

#[cfg(test)]
mod tests;
