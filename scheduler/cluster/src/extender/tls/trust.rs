//! Whose certificate is believed: anyone's, that of an authority, or one that is itself among
//! the authorities, which Go believes and webpki does not (`openssl req -x509` makes such).

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error as TlsError};
use rustls::{RootCertStore, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use super::material::{ClientError, certificates};

/// Looks at the certificate of a server.
#[derive(Debug)]
pub(super) struct Trust {
    belief: Belief,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Belief {
    Anyone,
    Authorities {
        /// `None` where there is no authority at all.
        chains: Option<Arc<WebPkiServerVerifier>>,
        /// The certificates of the authorities.
        themselves: Vec<CertificateDer<'static>>,
    },
}

/// No check.
pub(super) fn anyone(provider: &CryptoProvider) -> Arc<Trust> {
    Trust::new(Belief::Anyone, provider)
}

/// The authorities in `pem`; nobody if it is empty, as with client-go.
pub(super) fn signed_by(
    pem: &[u8],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<Trust>, ClientError> {
    if pem.is_empty() {
        return Ok(authorities(Vec::new(), provider));
    }
    let trust = authorities(certificates("the CA", pem)?, provider);
    match &trust.belief {
        Belief::Authorities { chains: None, .. } => Err(ClientError::NoCertificate("the CA")),
        _ => Ok(trust),
    }
}

/// The authorities of the system.
pub(super) fn system(provider: &Arc<CryptoProvider>) -> Arc<Trust> {
    // What cannot be read is not believed; the handshake says so.
    authorities(rustls_native_certs::load_native_certs().certs, provider)
}

/// Nobody.
pub(super) fn nobody(provider: &Arc<CryptoProvider>) -> Arc<Trust> {
    authorities(Vec::new(), provider)
}

fn authorities(
    themselves: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Arc<Trust> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(themselves.iter().cloned());
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let chains = chains.build().ok();
    Trust::new(Belief::Authorities { chains, themselves }, provider)
}

// === impl Trust ===

impl Trust {
    fn new(belief: Belief, provider: &CryptoProvider) -> Arc<Self> {
        let algorithms = provider.signature_verification_algorithms;
        Arc::new(Self { belief, algorithms })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Belief::Authorities { chains, themselves } = &self.belief else {
            return Ok(ServerCertVerified::assertion());
        };
        if themselves.iter().any(|authority| authority == end_entity) {
            return verify_itself(end_entity, server_name, now);
        }
        let Some(chains) = chains else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, cert, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, cert, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// A certificate that is believed for itself: its time and its names must be right.
fn verify_itself(
    certificate: &CertificateDer<'_>,
    server_name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, TlsError> {
    let parsed = Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let validity = parsed.tbs_certificate().validity();
    if now.as_secs() < validity.not_before.to_unix_duration().as_secs() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now.as_secs() > validity.not_after.to_unix_duration().as_secs() {
        return Err(CertificateError::Expired.into());
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
    Ok(ServerCertVerified::assertion())
}
