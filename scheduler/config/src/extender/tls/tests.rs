//! Certificates of extenders: what is there, what is not, what is something else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::check;
use crate::v1::extender::{Extender, TlsConfig};

/// A certificate for `example` that nobody trusts.
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUf0zBg9afrZdzsT5OhMopQFvSfCkwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMzAyMDIxMTRaGA8yMTI2MTEwNjIw
MjExNFowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABOjCDoT+gznhFSww4yPG14Zu1uoPKXKhdKz75B/TX+lMRj1ny6wKNXm/JG0i
HTnSDAfHhGR6MlyeohNY2W7Z3ImjUzBRMB0GA1UdDgQWBBRvt6jXk7RIRcVHrGLz
G+aZbTOr2zAfBgNVHSMEGDAWgBRvt6jXk7RIRcVHrGLzG+aZbTOr2zAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIEhC39LcEOUyf1EZSGsShnWQHFG1
/c43Nx18l01zMO22AiEAugiWIqOJQzMgI4/nh2VFlgB/uK3fgeP/Ibe+I7rzojA=
-----END CERTIFICATE-----
";
/// Looks like a key; nobody looks closer here.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n";

fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// The one file that is there.
fn read_file(path: &str) -> Result<Vec<u8>, String> {
    match path {
        "ca.crt" => Ok(CERTIFICATE.into()),
        "empty" => Ok(Vec::new()),
        _ => Err(format!("open {path}: no such file or directory")),
    }
}

fn mistakes(tls: TlsConfig) -> Vec<String> {
    let extender = Extender {
        tls_config: Some(tls),
        ..Extender::default()
    };
    let mut errors = Vec::new();
    check(&[extender], Some(&read_file), &mut errors);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn certificates_that_can_be_read_are_fine() {
    let inline = TlsConfig {
        ca_data: Some(base64(CERTIFICATE)),
        cert_data: Some(base64(CERTIFICATE)),
        key_data: Some(base64(KEY)),
        ..TlsConfig::default()
    };
    assert_eq!(mistakes(inline), [""; 0]);
    let file = TlsConfig {
        ca_file: Some("ca.crt".to_owned()),
        server_name: Some("example".to_owned()),
        ..TlsConfig::default()
    };
    assert_eq!(mistakes(file), [""; 0]);
    let nothing = TlsConfig {
        ca_file: Some("empty".to_owned()),
        cert_data: Some(String::new()),
        ..TlsConfig::default()
    };
    assert_eq!(mistakes(nothing), [""; 0]);
}

#[test]
fn what_is_no_certificate_is_said_so() {
    let ca = |ca_data| TlsConfig {
        ca_data,
        ..TlsConfig::default()
    };
    let none = "extenders[0].tlsConfig: there is no certificate (PEM) in the CA";
    assert_eq!(mistakes(ca(Some(base64("not a certificate")))), [none]);
    assert_eq!(mistakes(ca(Some(base64(KEY)))), [none]);
    let seen = mistakes(ca(Some("%".to_owned())));
    assert!(
        seen[0].starts_with("extenders[0].tlsConfig.caData: must be base64"),
        "{seen:?}"
    );
    let swapped = TlsConfig {
        cert_data: Some(base64(KEY)),
        key_data: Some(base64(CERTIFICATE)),
        ..TlsConfig::default()
    };
    assert_eq!(
        mistakes(swapped),
        ["extenders[0].tlsConfig: there is no certificate (PEM) beside the key"]
    );
    let no_key = TlsConfig {
        cert_data: Some(base64(CERTIFICATE)),
        key_data: Some(base64(CERTIFICATE)),
        ..TlsConfig::default()
    };
    assert_eq!(
        mistakes(no_key),
        ["extenders[0].tlsConfig: there is no private key (PEM) beside the certificate"]
    );
}

#[test]
fn a_ca_and_insecure_exclude_each_other_and_a_file_must_be_there() {
    let both = TlsConfig {
        insecure: Some(true),
        ca_data: Some(base64(CERTIFICATE)),
        ..TlsConfig::default()
    };
    assert!(mistakes(both)[0].contains("exclude each other"));
    let missing = TlsConfig {
        cert_file: Some("tls.crt".to_owned()),
        ..TlsConfig::default()
    };
    assert_eq!(
        mistakes(missing),
        ["extenders[0].tlsConfig: open tls.crt: no such file or directory"]
    );
}

#[test]
fn without_a_way_to_read_files_they_are_taken_to_be_right() {
    let tls = TlsConfig {
        ca_file: Some("/nowhere".to_owned()),
        ..TlsConfig::default()
    };
    let extender = Extender {
        tls_config: Some(tls),
        ..Extender::default()
    };
    let mut errors = Vec::new();
    check(&[extender], None, &mut errors);
    assert_eq!(errors, []);
}
