//! Errors of sockets and of TLS in the words of Go, which people know from kube-scheduler.

use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError, InvalidMessage};

/// What the system says, without Rust's number of it.
pub(super) fn io_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Why there is no TLS.
pub(super) fn tls_words(error: &TlsError) -> String {
    match error {
        TlsError::InvalidCertificate(problem) => {
            let problem = certificate_words(problem);
            format!("tls: failed to verify certificate: x509: {problem}")
        }
        TlsError::AlertReceived(alert) => format!("remote error: tls: {}", alert_words(*alert)),
        TlsError::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "http: server gave HTTP response to HTTPS client".to_owned()
        }
        other => format!("tls: {other}"),
    }
}

fn certificate_words(problem: &CertificateError) -> String {
    match problem {
        // A signature that is wrong is that of another authority of the same name.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let presented = names(presented);
            format!(
                "certificate is valid for {presented}, not {}",
                expected.to_str()
            )
        }
        other => other.to_string(),
    }
}

/// The names of a certificate, which rustls gives as `DnsName("host")`.
fn names(presented: &[String]) -> String {
    let plain = |name: &String| {
        let quoted = name.split_once('(').map_or(name.as_str(), |(_, rest)| rest);
        quoted.trim_end_matches(')').trim_matches('"').to_owned()
    };
    let names: Vec<String> = presented.iter().map(plain).collect();
    names.join(", ")
}

/// Alerts about a client's certificate (Go `crypto/tls.alertText`).
fn alert_words(alert: AlertDescription) -> String {
    let text = match alert {
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::InternalError => "internal error",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::CertificateRequired => "certificate required",
        other => return format!("{other:?}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::io_words;

    #[test]
    fn errors_of_the_system_read_as_go_has_them() {
        let refused = io::Error::from_raw_os_error(111);
        assert_eq!(io_words(&refused), "connection refused");
        let reset = io::Error::from_raw_os_error(104);
        assert_eq!(io_words(&reset), "connection reset by peer");
    }
}
