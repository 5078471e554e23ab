//! Keys and certificates of a control plane: takes names, gives PEM and kubeconfigs.

use std::fs;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use serde_json::json;

/// An authority that signs servers and their clients.
#[derive(Debug)]
pub struct Issuer {
    authority: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key, both PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key, PKCS #8.
    pub key: String,
}

// === impl Issuer ===

impl Issuer {
    /// A new authority of this name.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self { authority })
    }

    /// The authority's certificate, PEM.
    pub fn certificate(&self) -> String {
        self.authority.pem()
    }

    /// The authority's key, PEM.
    pub(super) fn key(&self) -> String {
        self.authority.key().serialize_pem()
    }

    /// A server that answers to these names and addresses.
    ///
    /// # Errors
    /// A name is none.
    pub fn server(&self, names: &[&str]) -> anyhow::Result<Identity> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "server");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// A client whom Kubernetes knows by this name, in these groups.
    ///
    /// # Errors
    /// A name is none.
    pub fn client(&self, user: &str, groups: &[&str]) -> anyhow::Result<Identity> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        for group in groups {
            params
                .distinguished_name
                .push(DnType::OrganizationName, *group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// Writes a kubeconfig, and beside it the files that it names.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn write_kubeconfig(
        &self,
        path: &Path,
        server: &str,
        identity: &Identity,
    ) -> anyhow::Result<()> {
        let file = |extension| path.with_extension(extension);
        let (authority, certificate, key) = (file("ca.crt"), file("crt"), file("key"));
        fs::write(&authority, self.certificate())?;
        identity.write(&certificate, &key)?;
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {
                "server": server, "certificate-authority": authority}}],
            "users": [{"name": "test", "user": {
                "client-certificate": certificate, "client-key": key}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        });
        Ok(fs::write(path, format!("{config:#}\n"))?)
    }

    fn sign(&self, mut params: CertificateParams) -> anyhow::Result<Identity> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        Ok(Identity {
            certificate: params.signed_by(&key, &self.authority)?.pem(),
            key: key.serialize_pem(),
        })
    }
}

// === impl Identity ===

impl Identity {
    /// Writes both.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, certificate: &Path, key: &Path) -> anyhow::Result<()> {
        fs::write(certificate, &self.certificate)?;
        Ok(fs::write(key, &self.key)?)
    }
}
