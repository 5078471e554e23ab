//! Whether the certificates of an extender can be used, as kube-scheduler finds out when it
//! builds the extender (`client-go/transport.TLSConfigFor`).
//!
//! Takes `tlsConfig` and a way to read files, keeps one mistake per extender. Whether a key
//! belongs to its certificate is not looked at.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_framework::{FieldError, FieldPath, Stage};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::v1::extender::{Extender, TlsConfig};

/// Gives what is in a file, or why it cannot be read.
pub type ReadFile<'f> = &'f dyn Fn(&str) -> Result<Vec<u8>, String>;

/// A certificate or key: inline, else in a file.
struct Material<'t> {
    data: Option<Vec<u8>>,
    file: Option<&'t str>,
}

/// Checks every extender. Without `read_file` files are taken to be right.
pub(crate) fn check(
    extenders: &[Extender],
    read_file: Option<ReadFile<'_>>,
    errors: &mut Vec<FieldError>,
) {
    let list = FieldPath::new("extenders");
    for (i, extender) in extenders.iter().enumerate() {
        let Some(tls) = &extender.tls_config else {
            continue;
        };
        let path = list.index(i).field("tlsConfig");
        if let Err(problem) = usable(tls, read_file, (&path, errors)) {
            errors.push(FieldError::new(Stage::Profile, path, problem));
        }
    }
}

fn usable(
    tls: &TlsConfig,
    read_file: Option<ReadFile<'_>>,
    (path, errors): (&FieldPath, &mut Vec<FieldError>),
) -> Result<(), String> {
    let mut inline = |name: &str, data: Option<&String>| decoded(path.field(name), data, errors);
    let ca = Material::new(
        inline("caData", tls.ca_data.as_ref()),
        tls.ca_file.as_deref(),
    );
    let cert = Material::new(
        inline("certData", tls.cert_data.as_ref()),
        tls.cert_file.as_deref(),
    );
    let key = Material::new(
        inline("keyData", tls.key_data.as_ref()),
        tls.key_file.as_deref(),
    );
    if ca.is_given() && tls.insecure == Some(true) {
        return Err("`insecure` and a CA exclude each other: remove one of them".to_owned());
    }
    let (roots, chain, secret) = (
        ca.read(read_file)?,
        cert.read(read_file)?,
        key.read(read_file)?,
    );
    if let Some(roots) = roots.filter(|roots| !roots.is_empty())
        && !blocks(&roots).any(|(label, der)| is_certificate(label, &der))
    {
        return Err("there is no certificate (PEM) in the CA".to_owned());
    }
    // A pair of files is read again at every connection, and only then looked into.
    let pair_of_files = cert.is_file() && key.is_file();
    if cert.is_given() && key.is_given() && !pair_of_files {
        check_pair(chain, secret)?;
    }
    Ok(())
}

fn check_pair(chain: Option<Vec<u8>>, key: Option<Vec<u8>>) -> Result<(), String> {
    if let Some(chain) = chain
        && !blocks(&chain).any(|(label, der)| is_certificate(label, &der))
    {
        return Err("there is no certificate (PEM) beside the key".to_owned());
    }
    if let Some(key) = key
        && !blocks(&key).any(|(label, _)| label.ends_with("PRIVATE KEY"))
    {
        return Err("there is no private key (PEM) beside the certificate".to_owned());
    }
    Ok(())
}

/// Inline data; a field that is no base64 is a mistake of reading, and empty.
fn decoded(
    path: FieldPath,
    text: Option<&String>,
    errors: &mut Vec<FieldError>,
) -> Option<Vec<u8>> {
    let text = text.filter(|text| !text.is_empty())?;
    let compact = text.replace(['\n', '\r'], "");
    let bytes = STANDARD.decode(compact);
    if let Err(problem) = &bytes {
        let problem = format!("must be base64 of a PEM file: {problem}");
        errors.push(FieldError::new(Stage::Decode, path, problem));
    }
    bytes.ok()
}

/// The PEM blocks of a file that can be decoded, each with its label.
fn blocks(pem: &[u8]) -> impl Iterator<Item = (&str, Vec<u8>)> {
    let text = std::str::from_utf8(pem).unwrap_or("");
    text.split("-----BEGIN ").skip(1).filter_map(|block| {
        let (label, rest) = block.split_once("-----")?;
        let (body, _) = rest.split_once("-----END ")?;
        // Headers, as old encrypted keys have them, come before an empty line.
        let body = body.rsplit("\n\n").next().unwrap_or(body);
        let compact: String = body.split_ascii_whitespace().collect();
        Some((label, STANDARD.decode(compact).ok()?))
    })
}

fn is_certificate(label: &str, der: &[u8]) -> bool {
    label == "CERTIFICATE" && Certificate::from_der(der).is_ok()
}

// === impl Material ===

impl<'t> Material<'t> {
    fn new(data: Option<Vec<u8>>, file: Option<&'t str>) -> Self {
        Self {
            data: data.filter(|data| !data.is_empty()),
            file: file.filter(|file| !file.is_empty()),
        }
    }

    fn is_given(&self) -> bool {
        self.data.is_some() || self.file.is_some()
    }

    fn is_file(&self) -> bool {
        self.data.is_none() && self.file.is_some()
    }

    /// The bytes; `None` where there are none, or nobody looks.
    fn read(&self, read_file: Option<ReadFile<'_>>) -> Result<Option<Vec<u8>>, String> {
        match (&self.data, self.file, read_file) {
            (Some(data), _, _) => Ok(Some(data.clone())),
            (None, Some(file), Some(read_file)) => read_file(file).map(Some),
            (None, _, _) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
