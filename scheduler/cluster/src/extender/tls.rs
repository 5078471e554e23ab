//! TLS to an extender, as client-go makes it (`makeTransport` of kube-scheduler's extender.go,
//! `transport.TLSConfigFor`).
//!
//! Takes `enableHTTPS` and `tlsConfig`, gives what opens connections. A CA is read once; a
//! client certificate and key that are both files are read again for every connection.

mod identity;
mod material;
mod trust;

use std::sync::Arc;

use http::Uri;
use hyper_rustls::{DefaultServerNameResolver, HttpsConnector, ResolveServerName};
use hyper_util::client::legacy::connect::HttpConnector;
use plimsoll_config::{Extender, ExtenderTls};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;

use self::identity::identity;
pub use self::material::ClientError;
use self::material::Material;

type Refused = Box<dyn std::error::Error + Send + Sync>;

/// What opens connections to `extender`, over `tcp`.
pub(super) fn connector(
    extender: &Extender,
    tcp: HttpConnector,
) -> Result<HttpsConnector<HttpConnector>, ClientError> {
    let none = ExtenderTls::default();
    let tls = extender.tls.as_ref().unwrap_or(&none);
    let config = config(extender, tls)?;
    let builder = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http();
    let name = tls.server_name.clone();
    let builder = builder.with_server_name_resolver(move |uri: &Uri| match &name {
        Some(name) => ServerName::try_from(name.clone()).map_err(Refused::from),
        None => DefaultServerNameResolver::default().resolve(uri),
    });
    Ok(builder.enable_http1().wrap_connector(tcp))
}

fn config(extender: &Extender, tls: &ExtenderTls) -> Result<ClientConfig, ClientError> {
    let ca = Material::of("caData", tls.ca_data.as_deref(), tls.ca_file.as_deref())?;
    if tls.insecure && ca.is_some() {
        return Err(ClientError::InsecureWithCa);
    }
    let insecure = tls.insecure || (extender.enable_https && ca.is_none());
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(ClientError::Tls)?;
    let verifier = if insecure {
        trust::anyone(&provider)
    } else if let Some(ca) = ca {
        trust::signed_by(&ca.read()?, &provider)?
    } else if is_https(&extender.url_prefix) {
        trust::system(&provider)
    } else {
        // Never asked: without https there is no handshake.
        trust::nobody(&provider)
    };
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    Ok(match identity(tls, &provider)? {
        Some(identity) => builder.with_client_cert_resolver(identity),
        None => builder.with_no_client_auth(),
    })
}

fn is_https(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("https")
}
