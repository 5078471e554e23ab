//! Plimsoll's own settings: the file of `--plimsoll-config`.
//!
//! Takes text, gives [`PlimsollConfig`] with defaults filled in, or every mistake. All
//! fields but `apiVersion` and `kind` may be left out, and so may the file.
//!
//! ```yaml
//! apiVersion: plimsoll.dev/v1alpha1
//! kind: PlimsollConfiguration
//! load: {enabled: true}                      # judge nodes by load
//! telemetry: {listen: "0.0.0.0:7443"}        # where agents send their figures
//! admin: {listen: "0.0.0.0:10259"}           # metrics and health
//! binding: {maxInFlight: 32, minInFlight: 4} # binding requests at a time
//! seed: 42                                   # of the choice among equal nodes
//! ```

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use plimsoll_framework::{FieldError, FieldPath, Stage};
use serde_json::Value;

use crate::reader::Object;
use crate::yaml;

/// Version of the file.
pub const API_VERSION: &str = "plimsoll.dev/v1alpha1";
/// Kind of the file.
pub const KIND: &str = "PlimsollConfiguration";

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
    /// `telemetry.listen`.
    pub telemetry_listen: SocketAddr,
    /// `admin.listen`.
    pub admin_listen: SocketAddr,
    /// `binding`.
    pub binding: Binding,
    /// `seed` of the choice among equal nodes; `None`: the engine's own, the same at every start.
    pub seed: Option<u64>,
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
    errors.sort_by_key(|error| error.stage);
    config.filter(|_| errors.is_empty()).ok_or(errors)
}

fn read(file: &Value, errors: &mut Vec<FieldError>) -> Option<PlimsollConfig> {
    if !check_type(file, errors) {
        return None;
    }
    let known = [
        "apiVersion",
        "kind",
        "load",
        "telemetry",
        "admin",
        "binding",
        "seed",
    ];
    let mut object = Object::open(file, FieldPath::default(), &known, errors);
    let default = PlimsollConfig::default();
    let load_enabled = object.object("load", &["enabled"]).scalar("enabled");
    Some(PlimsollConfig {
        load_enabled: load_enabled.unwrap_or(default.load_enabled),
        telemetry_listen: listen(&mut object, "telemetry").unwrap_or(default.telemetry_listen),
        admin_listen: listen(&mut object, "admin").unwrap_or(default.admin_listen),
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

/// `{section}.listen`: an address to bind, not a host name.
fn listen(file: &mut Object<'_, '_>, section: &str) -> Option<SocketAddr> {
    let mut object = file.object(section, &["listen"]);
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
            telemetry_listen: everywhere(TELEMETRY_PORT),
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
mod tests {
    use super::{Binding, PlimsollConfig, load};

    fn file(rest: &str) -> String {
        format!("apiVersion: plimsoll.dev/v1alpha1\nkind: PlimsollConfiguration\n{rest}")
    }

    fn mistakes(text: &str) -> Vec<String> {
        load(text)
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        let config = load(&file("")).unwrap();
        assert_eq!(config, PlimsollConfig::default());
        assert_eq!(config.telemetry_listen.to_string(), "0.0.0.0:7443");
        assert_eq!(config.admin_listen.to_string(), "0.0.0.0:10259");
        assert_eq!(
            config.binding,
            Binding {
                max_in_flight: 32,
                min_in_flight: 4
            }
        );
    }

    #[test]
    fn every_field_is_read() {
        let config = load(&file(
            "load: {enabled: false}\ntelemetry: {listen: '[::1]:1'}\nadmin: {listen: '127.0.0.1:0'}\n\
             binding: {maxInFlight: 2}\nseed: 7\n",
        ));
        let config = config.unwrap();
        assert!(!config.load_enabled);
        assert_eq!(config.telemetry_listen.to_string(), "[::1]:1");
        assert_eq!(config.admin_listen.port(), 0);
        assert_eq!(
            config.binding,
            Binding {
                max_in_flight: 2,
                min_in_flight: 2
            }
        );
        assert_eq!(config.seed, Some(7));
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let text = file(
            "load: {enable: true}\ntelemetry: {listen: 'localhost:7443'}\nadmin: {listen: 10259}\n\
             binding: {maxInFlight: 0, minInFlight: 3}\nseed: -1\nleaderElection: {}\nseeds: 1\n",
        );
        let messages = mistakes(&text);
        let paths: Vec<&str> = messages
            .iter()
            .filter_map(|m| m.split(':').next())
            .collect();
        assert_eq!(
            paths,
            [
                "leaderElection",
                "seeds",
                "load.enable",
                "admin.listen",
                "seed",
                "telemetry.listen",
                "binding.maxInFlight"
            ]
        );
        assert!(messages[0].contains("belongs to the top level of a KubeSchedulerConfiguration"));
        assert!(messages[1].contains("did you mean `seed`"));
        assert_eq!(
            mistakes(&file("binding: {minInFlight: 40}")),
            ["binding.minInFlight: must be 1 to maxInFlight (32), is 40"]
        );
    }

    #[test]
    fn another_kind_or_version_is_refused() {
        assert_eq!(
            mistakes("apiVersion: plimsoll.dev/v1\nkind: PlimsollConfig\n"),
            [
                "apiVersion: must be plimsoll.dev/v1alpha1, is `plimsoll.dev/v1`",
                "kind: must be PlimsollConfiguration, is `PlimsollConfig`"
            ]
        );
        assert_eq!(mistakes("[1]").len(), 2);
    }
}
