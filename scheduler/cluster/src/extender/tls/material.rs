//! Certificates and keys where the file has them: inline, else in files of their own.

use std::fs;
use std::io;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::Error as TlsError;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Why there is no client of an extender.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Both a CA and no check at all.
    #[error("specifying a root certificates file with the insecure flag is not allowed")]
    InsecureWithCa,
    /// Inline data is no base64.
    #[error("{field} of the extender is not base64")]
    Base64 {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        #[source]
        source: base64::DecodeError,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// What should be PEM is not.
    #[error("{what} of the extender is not PEM")]
    Pem {
        /// What.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        source: pem::Error,
    },
    /// PEM without a certificate.
    #[error("there is no certificate in {0} of the extender")]
    NoCertificate(&'static str),
    /// A certificate and a key that are no pair, or of a form that is not used.
    #[error("the client certificate of the extender cannot be used with its key")]
    Pair(#[source] TlsError),
    /// TLS cannot be set up at all.
    #[error("no TLS")]
    Tls(#[source] TlsError),
}

/// PEM, where it is.
#[derive(Clone)]
pub(super) enum Material {
    Inline(Vec<u8>),
    File(PathBuf),
}

/// A key is not for the log.
impl std::fmt::Debug for Material {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inline(_) => out.write_str("Inline"),
            Self::File(path) => out.debug_tuple("File").field(path).finish(),
        }
    }
}

// === impl Material ===

impl Material {
    /// What `field` says inline, else what is in `file`; `None` where neither is given.
    pub(super) fn of(
        field: &'static str,
        data: Option<&str>,
        file: Option<&str>,
    ) -> Result<Option<Self>, ClientError> {
        let compact = data.unwrap_or_default().replace(['\n', '\r'], "");
        let bytes = STANDARD.decode(compact);
        let bytes = bytes.map_err(|source| ClientError::Base64 { field, source })?;
        if !bytes.is_empty() {
            return Ok(Some(Self::Inline(bytes)));
        }
        Ok(file.map(|file| Self::File(PathBuf::from(file))))
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// The PEM itself.
    pub(super) fn read(&self) -> Result<Vec<u8>, ClientError> {
        match self {
            Self::Inline(bytes) => Ok(bytes.clone()),
            Self::File(path) => fs::read(path).map_err(|source| {
                let path = path.clone();
                ClientError::Read { path, source }
            }),
        }
    }
}

/// The certificates in `pem`, at least one.
pub(super) fn certificates(
    what: &'static str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match found {
        Ok(found) if found.is_empty() => Err(ClientError::NoCertificate(what)),
        Ok(found) => Ok(found),
        Err(source) => Err(ClientError::Pem { what, source }),
    }
}

/// The first private key in `pem`.
pub(super) fn key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, ClientError> {
    let what = "the client key";
    PrivateKeyDer::from_pem_slice(pem).map_err(|source| ClientError::Pem { what, source })
}
