//! How agents get in. Takes the certificate of the settings and the consent to plain text;
//! gives the door of the telemetry port, or none: a port without either stays closed.

use anyhow::Context;
use plimsoll_config::plimsoll::TlsFiles;
use plimsoll_ingest::tls::{Certificate, Door, Files};
use tracing::warn;

/// Decides how agents get in; `None`: not at all.
///
/// # Errors
/// The certificate cannot be served.
pub(crate) fn door(
    tls: Option<TlsFiles>,
    insecure_plaintext: bool,
) -> anyhow::Result<Option<Door>> {
    let Some(TlsFiles { cert, key }) = tls else {
        if insecure_plaintext {
            warn!("agents need no TLS: whoever reaches the telemetry port can speak for a node");
            return Ok(Some(Door::Plaintext));
        }
        warn!(
            "the telemetry port stays closed and pods are placed by requests: set telemetry.tls \
             in the PlimsollConfiguration, or give --insecure-plaintext to accept agents without \
             TLS"
        );
        return Ok(None);
    };
    if insecure_plaintext {
        warn!("telemetry.tls is set: agents need TLS, and --insecure-plaintext has no effect");
    }
    let certificate = Certificate::load(Files { cert, key });
    let certificate = certificate.context("telemetry.tls of the PlimsollConfiguration")?;
    Ok(Some(Door::Tls(certificate)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn missing() -> TlsFiles {
        TlsFiles {
            cert: PathBuf::from("/no/tls.crt"),
            key: PathBuf::from("/no/tls.key"),
        }
    }

    #[test]
    fn without_tls_and_consent_the_port_stays_closed() {
        assert!(door(None, false).unwrap().is_none());
        assert!(matches!(door(None, true).unwrap(), Some(Door::Plaintext)));
    }

    #[test]
    fn a_certificate_that_cannot_be_served_never_opens_the_port_without_it() {
        for insecure_plaintext in [false, true] {
            let error = door(Some(missing()), insecure_plaintext).unwrap_err();
            let words = format!("{error:#}");
            assert!(
                words.starts_with(
                    "telemetry.tls of the PlimsollConfiguration: cannot read /no/tls.crt: "
                ),
                "{words}"
            );
        }
    }
}
