//! TLS: whose certificate is believed, and who we are.

use std::fs;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll_config::{Extender, ExtenderTls};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::server::Server;
use super::{extender, failure, filter};
use crate::extender::{Client, ClientError};
use crate::metrics::Metrics;

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]";

/// A certificate and its key, both PEM.
struct Pair {
    cert: String,
    key: String,
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn signed(authority: &Authority, names: &[&str]) -> Pair {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(names).unwrap();
    pair(&params.signed_by(&key, authority).unwrap(), &key)
}

/// As `openssl req -x509` makes it: an authority and a server in one.
fn signed_by_itself(edit: impl FnOnce(&mut CertificateParams)) -> Pair {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    edit(&mut params);
    pair(&params.self_signed(&key).unwrap(), &key)
}

fn pair(certificate: &Certificate, key: &KeyPair) -> Pair {
    Pair {
        cert: certificate.pem(),
        key: key.serialize_pem(),
    }
}

/// A server with that certificate, which wants to see one of `clients`.
async fn server(pair: &Pair, clients: Option<&Authority>) -> Server {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let chain = vec![CertificateDer::from_pem_slice(pair.cert.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
    let config = builder.with_single_cert(chain, key).unwrap();
    Server::with(&[ANSWER], Some(TlsAcceptor::from(Arc::new(config)))).await
}

fn secure(server: &Server, tls: Option<ExtenderTls>) -> Extender {
    let mut extender = extender(&format!("https://localhost:{}", server.port()));
    extender.tls = tls;
    extender
}

/// As a field of the file has it.
fn inline(pem: &str) -> String {
    STANDARD.encode(pem)
}

fn ca(pem: &str) -> ExtenderTls {
    ExtenderTls {
        ca_data: Some(inline(pem)),
        ..ExtenderTls::default()
    }
}

#[tokio::test]
async fn a_certificate_of_the_given_authority_is_believed() {
    let authority = authority();
    let server = server(&signed(&authority, &["localhost"]), None).await;
    let answer = filter(&secure(&server, Some(ca(&authority.pem())))).await;
    assert_eq!(answer.unwrap(), b"[]");
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_not_believed() {
    let server = server(&signed(&authority(), &["localhost"]), None).await;
    let extender = secure(&server, Some(ca(&authority().pem())));
    let text = format!(
        "Post \"{}/filter\": tls: failed to verify certificate: x509: certificate signed by \
         unknown authority",
        extender.url_prefix
    );
    assert_eq!(failure(&extender).await, ("tls", text.clone()));
    // Nor with the authorities of the system.
    assert_eq!(failure(&secure(&server, None)).await, ("tls", text));
    assert_eq!(server.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn an_empty_file_of_authorities_believes_nobody() {
    let file = std::env::temp_dir().join(format!("plimsoll-extender-ca-{}", std::process::id()));
    fs::write(&file, "").unwrap();
    let server = server(&signed(&authority(), &["localhost"]), None).await;
    let tls = ExtenderTls {
        ca_file: Some(file.to_string_lossy().into_owned()),
        ..ExtenderTls::default()
    };
    assert_eq!(failure(&secure(&server, Some(tls))).await.0, "tls");
    fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn https_is_not_checked_where_it_is_enabled_without_an_authority() {
    let server = server(&signed(&authority(), &["elsewhere"]), None).await;
    let mut extender = secure(&server, None);
    extender.enable_https = true;
    assert_eq!(filter(&extender).await.unwrap(), b"[]");
}

#[tokio::test]
async fn a_certificate_for_another_name_needs_a_server_name() {
    let authority = authority();
    let server = server(&signed(&authority, &["scheduling.example"]), None).await;
    let mut tls = ca(&authority.pem());
    let extender = secure(&server, Some(tls.clone()));
    let text = format!(
        "Post \"{}/filter\": tls: failed to verify certificate: x509: certificate is valid for \
         scheduling.example, not localhost",
        extender.url_prefix
    );
    assert_eq!(failure(&extender).await, ("tls", text));
    tls.server_name = Some("scheduling.example".to_owned());
    assert_eq!(filter(&secure(&server, Some(tls))).await.unwrap(), b"[]");
}

#[tokio::test]
async fn a_certificate_that_is_its_own_authority_is_believed_for_its_name_and_time() {
    let own = signed_by_itself(|_| ());
    let server_of = async |pair: &Pair| {
        let server = server(pair, None).await;
        (secure(&server, Some(ca(&pair.cert))), server)
    };
    let (extender, _server) = server_of(&own).await;
    assert_eq!(filter(&extender).await.unwrap(), b"[]");
    let old = signed_by_itself(|params| params.not_after = date_time_ymd(2020, 1, 1));
    let (extender, _server) = server_of(&old).await;
    let (outcome, text) = failure(&extender).await;
    assert!(
        text.ends_with("x509: certificate has expired or is not yet valid"),
        "{text}"
    );
    assert_eq!(outcome, "tls");
    let mut other = extender;
    let (named, _server) = server_of(&own).await;
    other.url_prefix = named.url_prefix.replace("localhost", "127.0.0.1");
    other.tls = named.tls;
    let (_, text) = failure(&other).await;
    assert!(
        text.ends_with("x509: certificate is valid for localhost, not 127.0.0.1"),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_wants_a_certificate_gets_ours() {
    let (theirs, ours) = (authority(), authority());
    let server = server(&signed(&theirs, &["localhost"]), Some(&ours)).await;
    let mut tls = ca(&theirs.pem());
    let (outcome, text) = failure(&secure(&server, Some(tls.clone()))).await;
    assert!(
        text.ends_with("remote error: tls: certificate required"),
        "{text}"
    );
    assert_eq!(outcome, "tls");
    let client = signed(&ours, &["scheduler"]);
    tls.cert_data = Some(inline(&client.cert));
    tls.key_data = Some(inline(&client.key));
    assert_eq!(filter(&secure(&server, Some(tls))).await.unwrap(), b"[]");
}

#[tokio::test]
async fn a_renewed_certificate_of_ours_is_used_without_a_restart() {
    let (theirs, old, new) = (authority(), authority(), authority());
    let server = server(&signed(&theirs, &["localhost"]), Some(&new)).await;
    let dir = std::env::temp_dir().join(format!("plimsoll-extender-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let files = [dir.join("tls.crt"), dir.join("tls.key")];
    let write = |pair: &Pair| {
        fs::write(&files[0], &pair.cert).unwrap();
        fs::write(&files[1], &pair.key).unwrap();
    };
    write(&signed(&old, &["scheduler"]));
    let mut tls = ca(&theirs.pem());
    tls.cert_file = Some(files[0].to_string_lossy().into_owned());
    tls.key_file = Some(files[1].to_string_lossy().into_owned());
    let client = Client::new(&secure(&server, Some(tls)), &Metrics::default()).unwrap();
    let ask = || client.post(plimsoll_extender::Verb::Filter, b"{}".to_vec());
    assert!(ask().await.is_err());
    write(&signed(&new, &["scheduler"]));
    assert_eq!(ask().await.unwrap(), b"[]");
    fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn plain_text_where_tls_is_expected_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut extender = extender(&format!("https://{}", listener.local_addr().unwrap()));
    extender.enable_https = true;
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _hello = stream.read(&mut [0; 4096]).await.unwrap();
        let answer = b"HTTP/1.0 400 Bad Request\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        stream
    };
    let (found, _stream) = tokio::join!(failure(&extender), serve);
    let text = format!(
        "Post \"{}/filter\": http: server gave HTTP response to HTTPS client",
        extender.url_prefix
    );
    assert_eq!(found, ("tls", text));
}

#[tokio::test]
async fn what_cannot_be_used_is_told_at_the_start() {
    let pair = signed(&authority(), &["scheduler"]);
    let stranger = signed(&authority(), &["scheduler"]);
    let new = |tls: ExtenderTls| {
        let mut extender = extender("https://h");
        extender.tls = Some(tls);
        Client::new(&extender, &Metrics::default()).map(drop)
    };
    let mut both = ca(&authority().pem());
    both.insecure = true;
    assert!(matches!(new(both), Err(ClientError::InsecureWithCa)));
    assert!(matches!(
        new(ca("nonsense")),
        Err(ClientError::NoCertificate("the CA"))
    ));
    let no_base64 = ExtenderTls {
        ca_data: Some("%".to_owned()),
        ..ExtenderTls::default()
    };
    assert!(matches!(
        new(no_base64),
        Err(ClientError::Base64 {
            field: "caData",
            ..
        })
    ));
    let no_file = ExtenderTls {
        ca_file: Some("/no/such/file".to_owned()),
        ..ExtenderTls::default()
    };
    assert!(matches!(new(no_file), Err(ClientError::Read { .. })));
    let no_pair = ExtenderTls {
        cert_data: Some(inline(&pair.cert)),
        key_data: Some(inline(&stranger.key)),
        ..ExtenderTls::default()
    };
    assert!(matches!(new(no_pair), Err(ClientError::Pair(_))));
    let half = ExtenderTls {
        cert_data: Some(inline(&pair.cert)),
        ..ExtenderTls::default()
    };
    assert!(new(half).is_ok());
}
