//! A connection to one address of a scheduler, with or without TLS. Takes the address and
//! whose certificates are believed; gives a socket, or says in words what stands in the way.
//!
//! Only the certificates of a given file are believed, never those of the system: a scheduler
//! is part of the cluster, and its authority is too. The file is read at each connection.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error as TlsError, RootCertStore, version};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::target::Target;

/// Time for the TCP handshake.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Time for the TLS handshake.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);
/// The one protocol that is spoken over the connection.
const ALPN: &[u8] = b"h2";

/// By what a scheduler is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// PEM file of the authorities that may sign its certificate.
    pub ca: PathBuf,
    /// The name that the certificate must have; `None`: the host of the URL.
    pub server_name: Option<ServerName<'static>>,
}

/// Why there is no connection. `Display` never prints the source.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("an https scheduler needs --tls-ca FILE: the system's authorities are not believed")]
    NoAuthority,
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not a PEM file", path.display())]
    Pem { path: PathBuf, source: pem::Error },
    #[error("there is no certificate in {}", path.display())]
    NoCertificate { path: PathBuf },
    #[error("a certificate in {} cannot be an authority", path.display())]
    BadAuthority { path: PathBuf, source: TlsError },
    #[error("{host:?} is no name that a certificate can have, give --tls-server-name")]
    Name { host: String },
    #[error("no connection")]
    Connect(#[source] io::Error),
    #[error("no connection within {} s", CONNECT_WITHIN.as_secs())]
    Unreachable,
    #[error("no TLS within {} s, is the scheduler's port plain text?", HANDSHAKE_WITHIN.as_secs())]
    Mute,
    #[error("the scheduler's certificate is not signed by {}", path.display())]
    Unsigned { path: PathBuf },
    #[error("the scheduler's certificate has expired, or this node's clock is wrong")]
    Expired,
    #[error("the scheduler's certificate is not valid yet, or this node's clock is wrong")]
    NotYetValid,
    #[error(
        "the scheduler's certificate is not for {name} but for {presented}; give \
         --tls-server-name if that is right"
    )]
    OtherName { name: String, presented: String },
    #[error("no TLS with the scheduler")]
    Handshake(#[source] io::Error),
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Without TLS.
    Plain(TcpStream),
    /// With TLS.
    Secure(Box<TlsStream<TcpStream>>),
}

/// Connects to `address`, where `target` is said to be.
///
/// # Errors
/// See [`Error`].
pub(crate) async fn dial(
    address: std::net::SocketAddr,
    target: &Target,
    tls: Option<&TlsOptions>,
) -> Result<Socket, Error> {
    let secure = match (target.is_secure(), tls) {
        (false, _) => None,
        (true, None) => return Err(Error::NoAuthority),
        (true, Some(tls)) => Some((name(target, tls)?, tls)),
    };
    let connected = timeout(CONNECT_WITHIN, TcpStream::connect(address)).await;
    let socket = connected
        .map_err(|_| Error::Unreachable)?
        .map_err(Error::Connect)?;
    socket.set_nodelay(true).map_err(Error::Connect)?;
    let Some((name, tls)) = secure else {
        return Ok(Socket::Plain(socket));
    };
    let ca = tls.ca.clone();
    let config = spawn_blocking(move || config(&ca)).await;
    let config = config.map_err(|broken| Error::Handshake(io::Error::other(broken)))??;
    let shaken = TlsConnector::from(Arc::new(config)).connect(name.clone(), socket);
    match timeout(HANDSHAKE_WITHIN, shaken).await {
        Ok(Ok(stream)) => Ok(Socket::Secure(Box::new(stream))),
        Ok(Err(error)) => Err(refused(error, &name, &tls.ca)),
        Err(_) => Err(Error::Mute),
    }
}

fn name(target: &Target, tls: &TlsOptions) -> Result<ServerName<'static>, Error> {
    if let Some(name) = &tls.server_name {
        return Ok(name.clone());
    }
    let host = target.host().to_owned();
    ServerName::try_from(host.clone()).map_err(|_| Error::Name { host })
}

/// Believes the certificates of one file. TLS 1.3 only, since both ends are ours; nothing is
/// remembered, since connections are rare.
fn config(ca: &Path) -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| Error::Handshake(io::Error::other(error)))?
        .with_root_certificates(authorities(ca)?)
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn authorities(ca: &Path) -> Result<RootCertStore, Error> {
    let path = ca.to_owned();
    let text = match std::fs::read(ca) {
        Ok(text) => text,
        Err(source) => return Err(Error::Read { path, source }),
    };
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let certificates = match certificates {
        Ok(certificates) if certificates.is_empty() => return Err(Error::NoCertificate { path }),
        Ok(certificates) => certificates,
        Err(source) => return Err(Error::Pem { path, source }),
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        if let Err(source) = roots.add(certificate) {
            return Err(Error::BadAuthority { path, source });
        }
    }
    Ok(roots)
}

/// What a failed handshake means for the operator.
fn refused(error: io::Error, name: &ServerName<'_>, ca: &Path) -> Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    let Some(TlsError::InvalidCertificate(problem)) = cause else {
        return Error::Handshake(error);
    };
    match problem {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => Error::Unsigned {
            path: ca.to_owned(),
        },
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Error::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Error::NotYetValid
        }
        CertificateError::NotValidForNameContext { presented, .. } => Error::OtherName {
            name: name.to_str().into_owned(),
            presented: names(presented),
        },
        _ => Error::Handshake(error),
    }
}

/// The names of a certificate, which rustls gives as `DnsName("host")`.
fn names(presented: &[String]) -> String {
    let plain = |name: &String| {
        let quoted = name.split_once('(').map_or(name.as_str(), |(_, rest)| rest);
        quoted.trim_end_matches(')').trim_matches('"').to_owned()
    };
    presented.iter().map(plain).collect::<Vec<_>>().join(", ")
}

// === impl Socket ===

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Secure(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Secure(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Secure(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Secure(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Secure(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Secure(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests;
