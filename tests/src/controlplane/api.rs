//! The Kubernetes API as one user: takes JSON, gives JSON. One connection a request, plain
//! HTTP 1.0, so that an answer ends with its connection: slow and simple.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::line::Line;
use super::pki::Identity;

/// A request that takes longer hangs.
const BOUND: Duration = Duration::from_mins(1);

/// A way to an API server.
#[derive(Debug, Clone)]
pub struct Api {
    address: String,
    tls: Arc<ClientConfig>,
}

/// What the API server said.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP code.
    pub code: u16,
    /// The body; text that is no JSON is a string.
    pub body: Value,
}

/// Changes as they come, one JSON object each; ends with the connection.
#[derive(Debug)]
pub struct Watch {
    lines: BufReader<Connection>,
}

pub(super) type Connection = StreamOwned<ClientConnection, TcpStream>;

// === impl Api ===

impl Api {
    /// A way to `address` (`127.0.0.1:port`), whose certificate `authority` (PEM) has signed.
    ///
    /// # Errors
    /// A certificate or key is none.
    pub fn new(address: String, authority: &str, identity: &Identity) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.as_bytes())?)?;
        let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes())?;
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate], key)?;
        let tls = Arc::new(tls);
        Ok(Self { address, tls })
    }

    /// The same user at another address.
    #[must_use]
    pub fn at(&self, address: &str) -> Self {
        let tls = Arc::clone(&self.tls);
        let address = address.to_owned();
        Self { address, tls }
    }

    /// Opens a connection that is used again and again.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn line(&self) -> anyhow::Result<Line> {
        Line::new(self)
    }

    /// Asks once; every answer is one, whatever its code.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn call(&self, verb: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind = match verb {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let mut connection = self.send(verb, path, kind, &body)?;
        let mut bytes = Vec::new();
        // A peer that ends TLS rudely has said all that it had to say.
        let ended = connection.read_to_end(&mut bytes);
        let answer = String::from_utf8(bytes).context("the answer is not text")?;
        let Some((head, text)) = answer.split_once("\r\n\r\n") else {
            ended?;
            bail!("{verb} {path}: an answer without an end of the head");
        };
        let code = code_of(head)?;
        let body = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        Ok(Answer { code, body })
    }

    /// Reads an object or a list.
    ///
    /// # Errors
    /// It is not there.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.demand("GET", path, None)
    }

    /// Creates an object in the collection `path`.
    ///
    /// # Errors
    /// The API server's own words.
    pub fn create(&self, path: &str, object: &Value) -> anyhow::Result<Value> {
        self.demand("POST", path, Some(object))
    }

    /// Changes an object by a merge patch.
    ///
    /// # Errors
    /// The API server's own words.
    pub fn patch(&self, path: &str, patch: &Value) -> anyhow::Result<Value> {
        self.demand("PATCH", path, Some(patch))
    }

    /// Deletes an object at once, or all of a collection.
    ///
    /// # Errors
    /// The API server's own words.
    pub fn delete(&self, path: &str) -> anyhow::Result<Value> {
        let options = serde_json::json!({"gracePeriodSeconds": 0});
        self.demand("DELETE", path, Some(&options))
    }

    /// Whether a path answers 200.
    pub fn is_ok(&self, path: &str) -> bool {
        let answer = self.call("GET", path, None);
        answer.is_ok_and(|answer| answer.code == 200)
    }

    /// Watches a collection; `path` has the query, with `watch=true`.
    ///
    /// # Errors
    /// It is refused.
    pub fn watch(&self, path: &str) -> anyhow::Result<Watch> {
        let connection = self.send("GET", path, "application/json", "")?;
        let mut lines = BufReader::new(connection);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            ensure!(lines.read_line(&mut head)? > 0, "{path}: no answer");
        }
        let code = code_of(&head)?;
        ensure!(code == 200, "{path}: {code}");
        Ok(Watch { lines })
    }

    fn demand(&self, verb: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let Answer { code, body } = self.call(verb, path, body)?;
        ensure!(
            (200..300).contains(&code),
            "{verb} {path}: {code}: {}",
            body["message"]
        );
        Ok(body)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn connect(&self) -> anyhow::Result<Connection> {
        let address = &self.address;
        let stream = TcpStream::connect(address).with_context(|| format!("no {address}"))?;
        stream.set_read_timeout(Some(BOUND))?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("127.0.0.1")?;
        let tls = ClientConnection::new(Arc::clone(&self.tls), name)?;
        Ok(StreamOwned::new(tls, stream))
    }

    fn send(&self, verb: &str, path: &str, kind: &str, body: &str) -> anyhow::Result<Connection> {
        let address = &self.address;
        let mut connection = self.connect()?;
        let request = format!(
            "{verb} {path} HTTP/1.0\r\nHost: {address}\r\nAccept: application/json\r\n\
             Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.write_all(request.as_bytes())?;
        connection.flush()?;
        Ok(connection)
    }
}

// === impl Watch ===

impl Iterator for Watch {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}

pub(super) fn code_of(head: &str) -> anyhow::Result<u16> {
    let code = head.split(' ').nth(1).context("no code")?;
    code.parse().context("the code is no number")
}
