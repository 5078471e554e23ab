//! Certificates for tests: an authority, and pairs of files that a scheduler serves.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_agent::stream::TlsOptions;
use plimsoll_ingest::tls::Files;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// A folder that is gone with the test.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-rpc-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn files(&self) -> Files {
        Files {
            cert: self.0.join("tls.crt"),
            key: self.0.join("tls.key"),
        }
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Signs schedulers' certificates.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    /// Its certificate is in a file of `folder`.
    pub(super) fn new(folder: &Folder, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        let file = folder.path().join(name);
        fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, file }
    }

    /// What an agent believes.
    pub(super) fn options(&self) -> TlsOptions {
        TlsOptions {
            ca: self.file.clone(),
            server_name: None,
        }
    }

    /// Puts a new certificate of this machine with its key into the folder's files.
    pub(super) fn issue(&self, folder: &Folder) {
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(folder.files().cert, cert.pem()).unwrap();
        fs::write(folder.files().key, key.serialize_pem()).unwrap();
    }
}
