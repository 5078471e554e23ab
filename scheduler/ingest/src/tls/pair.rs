//! One pair of files: read, parsed, and checked to belong together.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{Error as TlsError, InconsistentKeys, ServerConfig, version};
use x509_cert::Certificate as Parsed;
use x509_cert::der::Decode;

use super::Files;

/// The one protocol that is spoken over the connection.
const ALPN: &[u8] = b"h2";

/// Why a certificate cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{path} is not a PEM file")]
    Pem {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: pem::Error,
    },
    /// A file without a certificate.
    #[error("there is no certificate in {path}")]
    NoCertificate {
        /// Which.
        path: PathBuf,
    },
    /// A file without a private key.
    #[error("there is no private key in {path}")]
    NoKey {
        /// Which.
        path: PathBuf,
    },
    /// The two are not a pair.
    #[error("the key in {key} does not belong to the certificate in {cert}")]
    Mismatch {
        /// File of the certificate.
        cert: PathBuf,
        /// File of the key.
        key: PathBuf,
    },
    /// A certificate or key of a form that is not served.
    #[error("the certificate in {cert} with the key in {key} cannot be used")]
    Unusable {
        /// File of the certificate.
        cert: PathBuf,
        /// File of the key.
        key: PathBuf,
        /// Why not.
        #[source]
        source: TlsError,
    },
}

/// What stands in the two files.
#[derive(PartialEq, Eq)]
pub(super) struct Content {
    cert: Vec<u8>,
    key: Vec<u8>,
}

/// What is made of it.
pub(super) struct Pair {
    pub(super) config: Arc<ServerConfig>,
    pub(super) not_after: Option<Duration>,
}

// === impl Content ===

impl Content {
    pub(super) fn read(files: &Files) -> Result<Self, Error> {
        Ok(Self {
            cert: read(&files.cert)?,
            key: read(&files.key)?,
        })
    }
}

/// A key is not for the log.
impl std::fmt::Debug for Content {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Content").finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let path = path.to_owned();
    std::fs::read(&path).map_err(|source| Error::Read { path, source })
}

// === impl Pair ===

impl Pair {
    pub(super) fn parse(content: &Content, files: &Files) -> Result<Self, Error> {
        let chain = chain(&content.cert, &files.cert)?;
        let key = key(&content.key, &files.key)?;
        let not_after = not_after(&chain[0]);
        let config = config(chain, key).map_err(|source| unusable(source, files))?;
        Ok(Self {
            config: Arc::new(config),
            not_after,
        })
    }
}

/// The certificates of a file, at least one.
fn chain(text: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let path = path.to_owned();
    match CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>() {
        Ok(chain) if chain.is_empty() => Err(Error::NoCertificate { path }),
        Ok(chain) => Ok(chain),
        Err(source) => Err(Error::Pem { path, source }),
    }
}

fn key(text: &[u8], path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let path = path.to_owned();
    PrivateKeyDer::from_pem_slice(text).map_err(|source| match source {
        pem::Error::NoItemsFound => Error::NoKey { path },
        source => Error::Pem { path, source },
    })
}

/// TLS 1.3 only: both ends are ours. No resumption: an agent connects once in days, and
/// remembered sessions would cost memory for each.
fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, TlsError> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(config)
}

fn unusable(source: TlsError, files: &Files) -> Error {
    let (cert, key) = (files.cert.clone(), files.key.clone());
    match source {
        TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => Error::Mismatch { cert, key },
        source => Error::Unusable { cert, key, source },
    }
}

fn not_after(leaf: &CertificateDer<'_>) -> Option<Duration> {
    let parsed = Parsed::from_der(leaf).ok()?;
    let validity = parsed.tbs_certificate().validity();
    Some(validity.not_after.to_unix_duration())
}
