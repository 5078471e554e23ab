//! Handshakes over loopback with certificates of all kinds, and the words about them.

use std::error::Error as StdError;
use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

/// An authority, whose certificate is in a file.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        let file = std::env::temp_dir().join(format!("plimsoll-ca-{}-{name}", std::process::id()));
        fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, file }
    }

    fn options(&self) -> TlsOptions {
        TlsOptions {
            ca: self.file.clone(),
            server_name: None,
        }
    }

    /// A scheduler with a certificate for `names`, on a port; takes one connection.
    async fn scheduler(&self, change: impl FnOnce(&mut CertificateParams)) -> u16 {
        let names = ["127.0.0.1".to_owned(), "plimsoll".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async move {
                let listener = TcpListener::from_std(listener.into_std().unwrap()).unwrap();
                let (socket, _) = listener.accept().await.unwrap();
                drop(TlsAcceptor::from(Arc::new(config)).accept(socket).await);
            });
        });
        port
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.file));
    }
}

async fn try_port(port: u16, tls: Option<&TlsOptions>) -> Result<Socket, String> {
    let target: Target = format!("https://127.0.0.1:{port}").parse().unwrap();
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    dial(address, &target, tls).await.map_err(|error| {
        let source = error.source().map(|source| format!(": {source}"));
        format!("{error}{}", source.unwrap_or_default())
    })
}

#[tokio::test]
async fn a_scheduler_whose_certificate_is_signed_by_the_file_is_spoken_to() {
    let authority = Authority::new("good");
    let port = authority.scheduler(|_| {}).await;
    let socket = try_port(port, Some(&authority.options())).await.unwrap();
    assert!(matches!(socket, Socket::Secure(_)));
}

#[tokio::test]
async fn each_wrong_certificate_is_told_in_words() {
    let (authority, other) = (Authority::new("one"), Authority::new("other"));
    let file = |path: &Path| path.display().to_string();

    let port = authority.scheduler(|_| {}).await;
    let words = try_port(port, Some(&other.options())).await.unwrap_err();
    let expected = "the scheduler's certificate is not signed by ";
    assert_eq!(words, format!("{expected}{}", file(&other.file)));

    let old = |params: &mut CertificateParams| params.not_after = date_time_ymd(2020, 1, 1);
    let port = authority.scheduler(old).await;
    let words = try_port(port, Some(&authority.options()))
        .await
        .unwrap_err();
    assert!(words.contains("has expired"), "{words}");

    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(4000, 1, 1);
    let port = authority.scheduler(early).await;
    let words = try_port(port, Some(&authority.options()))
        .await
        .unwrap_err();
    assert!(words.contains("not valid yet"), "{words}");

    let port = authority.scheduler(|_| {}).await;
    let named = TlsOptions {
        server_name: Some(ServerName::try_from("elsewhere").unwrap()),
        ..authority.options()
    };
    let words = try_port(port, Some(&named)).await.unwrap_err();
    assert!(words.contains("is not for elsewhere but for"), "{words}");
    assert!(words.contains("--tls-server-name"), "{words}");
}

#[tokio::test]
async fn a_name_may_be_given_that_the_url_does_not_have() {
    let authority = Authority::new("named");
    let port = authority.scheduler(|_| {}).await;
    let named = TlsOptions {
        server_name: Some(ServerName::try_from("plimsoll").unwrap()),
        ..authority.options()
    };
    assert!(try_port(port, Some(&named)).await.is_ok());
}

#[tokio::test]
async fn a_wrong_file_is_named() {
    let authority = Authority::new("file");
    let port = authority.scheduler(|_| {}).await;
    let file = authority.file.display().to_string();
    let words = try_port(port, None).await.unwrap_err();
    assert!(words.contains("--tls-ca"), "{words}");
    for (text, expected) in [
        (Some(""), "there is no certificate in FILE"),
        (
            Some("-----BEGIN CERTIFICATE-----\nMA==\n"),
            "FILE is not a PEM file",
        ),
        (
            Some("-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"),
            "a certificate in FILE cannot be an authority",
        ),
        (None, "cannot read FILE"),
    ] {
        match text {
            Some(text) => fs::write(&authority.file, text).unwrap(),
            None => fs::remove_file(&authority.file).unwrap(),
        }
        // The file is read only once there is somebody to speak to.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let words = try_port(port, Some(&authority.options()))
            .await
            .unwrap_err();
        assert!(
            words.replace(&file, "FILE").starts_with(expected),
            "{words}"
        );
    }
}

#[tokio::test]
async fn nobody_there_and_no_tls_there_are_told_apart() {
    let authority = Authority::new("nobody");
    let words = try_port(1, Some(&authority.options())).await.unwrap_err();
    assert!(words.starts_with("no connection"), "{words}");

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let options = authority.options();
    let (tried, ()) = tokio::join!(try_port(port, Some(&options)), async {
        let (socket, _) = listener.accept().await.unwrap();
        drop(socket);
    });
    let words = tried.unwrap_err();
    assert!(words.starts_with("no TLS with the scheduler"), "{words}");
}
