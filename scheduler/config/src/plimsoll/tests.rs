//! The file of Plimsoll's own settings: what is read, and every mistake.

use super::{Binding, PlimsollConfig, effective, is_one, load};

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

#[test]
fn link_speeds_are_bits_per_second_by_instance_type() {
    let config = load(&file(
        "load: {linkSpeeds: {m5.large: 10G, t3.micro: 100M}}\n",
    ))
    .unwrap();
    let speeds: Vec<(&str, u64)> = config
        .link_speeds
        .iter()
        .map(|(name, speed)| (&**name, *speed))
        .collect();
    assert_eq!(
        speeds,
        [("m5.large", 1_250_000_000), ("t3.micro", 12_500_000)]
    );
    assert_eq!(
        mistakes(&file("load: {linkSpeeds: {a: fast, b: 1G, c: 0}}\n")),
        [
            "load.linkSpeeds: a: \"fast\" is not a speed in bit/s such as 10G",
            "load.linkSpeeds: c: 0 is not a speed in bit/s such as 10G"
        ]
    );
}

#[test]
fn a_certificate_needs_its_key() {
    let text = file("telemetry: {tls: {certFile: a.crt, keyFile: a.key}}\n");
    let files = load(&text).unwrap().telemetry_tls.unwrap();
    assert_eq!(
        (files.cert.to_str(), files.key.to_str()),
        (Some("a.crt"), Some("a.key"))
    );
    assert_eq!(
        mistakes(&file("telemetry: {tls: {certFile: a.crt, key: ''}}\n")).len(),
        2,
        "an unknown field and a key that is missing"
    );
}

#[test]
fn what_is_in_effect_can_be_loaded_again() {
    let text = file(
        "load: {linkSpeeds: {m5.large: 10G}}\ntelemetry: {tls: {certFile: a, keyFile: b}}\nseed: 7\n",
    );
    for text in [text, file("")] {
        let config = load(&text).unwrap();
        let mut effective = effective(&config);
        effective["apiVersion"] = "plimsoll.dev/v1alpha1".into();
        effective["kind"] = "PlimsollConfiguration".into();
        assert_eq!(load(&effective.to_string()).unwrap(), config);
    }
}

#[test]
fn a_file_is_known_by_its_kind_or_version() {
    assert!(is_one(&file("")));
    assert!(is_one("kind: PlimsollConfiguration"));
    assert!(is_one("apiVersion: plimsoll.dev/v1alpha1"));
    assert!(!is_one("kind: KubeSchedulerConfiguration"));
    assert!(!is_one("{") && !is_one(""));
}

#[test]
fn a_second_document_is_a_mistake() {
    let errors = load(&file("seed: 7\n---\nseed: 8\n")).unwrap_err();
    let text = errors.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(
        text,
        "<file>: more than one YAML document: only the first would be read"
    );
}
