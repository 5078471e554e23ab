//! Who we are to an extender: a client certificate with its key.
//!
//! Two files are read again at every handshake, so that a renewed certificate is used without
//! a restart; else the pair is read once, and must be one.

use std::sync::Arc;

use plimsoll_config::ExtenderTls;
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use tracing::warn;

use super::material::{ClientError, Material, certificates, key};

/// Gives the certificate at a handshake.
#[derive(Debug)]
enum Identity {
    Fixed(Arc<CertifiedKey>),
    Files(Pair),
}

#[derive(Debug)]
struct Pair {
    cert: Material,
    key: Material,
    provider: Arc<CryptoProvider>,
}

/// The certificate of `tls`; `None` where it has no certificate or no key.
pub(super) fn identity(
    tls: &ExtenderTls,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ResolvesClientCert>>, ClientError> {
    let cert = Material::of(
        "certData",
        tls.cert_data.as_deref(),
        tls.cert_file.as_deref(),
    )?;
    let key = Material::of("keyData", tls.key_data.as_deref(), tls.key_file.as_deref())?;
    // What is named must be there, even where it is half of a pair.
    for material in [&cert, &key].into_iter().flatten() {
        drop(material.read()?);
    }
    let (Some(cert), Some(key)) = (cert, key) else {
        return Ok(None);
    };
    let provider = Arc::clone(provider);
    let pair = Pair {
        cert,
        key,
        provider,
    };
    Ok(Some(Arc::new(
        if pair.cert.is_file() && pair.key.is_file() {
            Identity::Files(pair)
        } else {
            Identity::Fixed(Arc::new(pair.read()?))
        },
    )))
}

// === impl Pair ===

impl Pair {
    fn read(&self) -> Result<CertifiedKey, ClientError> {
        let chain = certificates("the client certificate", &self.cert.read()?)?;
        let key = key(&self.key.read()?)?;
        CertifiedKey::from_der(chain, key, &self.provider).map_err(ClientError::Pair)
    }
}

// === impl Identity ===

impl ResolvesClientCert for Identity {
    fn resolve(
        &self,
        _root_hint_subjects: &[&[u8]],
        _sigschemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        match self {
            Self::Fixed(pair) => Some(Arc::clone(pair)),
            Self::Files(pair) => match pair.read() {
                Ok(pair) => Some(Arc::new(pair)),
                Err(error) => {
                    let cause = crate::call::chain(&error);
                    warn!(
                        cause,
                        "an extender is called without the client certificate"
                    );
                    None
                }
            },
        }
    }

    fn has_certs(&self) -> bool {
        true
    }
}
