//! The address of a scheduler as an operator writes it. Takes a URL, gives what a session
//! needs to resolve and dial it, or says what is wrong with it.

use std::fmt;
use std::str::FromStr;

use tonic::transport::Uri;

/// Port of the telemetry service where the URL names none.
const DEFAULT_PORT: u16 = 7443;

/// What is wrong with a scheduler's URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a URL.
    #[error("not a URL")]
    Syntax(#[source] tonic::codegen::http::uri::InvalidUri),
    /// A scheme other than `https` and `http`.
    #[error("scheme {0:?} is not spoken, expected https://host:port")]
    Scheme(String),
    /// No host.
    #[error("no host, expected https://host:port")]
    NoHost,
    /// A port that is no number from 1 to 65535.
    #[error("the port must be 1 to 65535, expected https://host:port")]
    Port,
    /// A user or password, for which the stream has no use; not repeated, it may be a secret.
    #[error("a user before the host means nothing here, expected https://host:port")]
    User,
    /// A path or query, which telemetry has not.
    #[error("{0:?} after host and port means nothing here, expected https://host:port")]
    Path(String),
}

/// A scheduler's telemetry service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    origin: Uri,
    is_secure: bool,
    host: String,
    port: u16,
}

impl Target {
    /// The URL as given, for the `:authority` of requests and for logs.
    pub(crate) fn origin(&self) -> &Uri {
        &self.origin
    }

    /// Says whether the stream goes over TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Name or address, without brackets.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Port of the telemetry service.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let origin: Uri = text.parse().map_err(Error::Syntax)?;
        let is_secure = match origin.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            other => return Err(Error::Scheme(other.unwrap_or_default().to_owned())),
        };
        let rest = origin.path_and_query().map_or("/", |rest| rest.as_str());
        if rest != "/" {
            return Err(Error::Path(rest.to_owned()));
        }
        // An IPv6 host has brackets in a URL and none for the resolver.
        let host = origin
            .host()
            .unwrap_or_default()
            .trim_matches(['[', ']'])
            .to_owned();
        if host.is_empty() {
            return Err(Error::NoHost);
        }
        let authority = origin.authority().map_or("", |whole| whole.as_str());
        if authority.contains('@') {
            return Err(Error::User);
        }
        // What stands behind the host; `Uri` has no port where the number is out of range.
        let port = match (origin.port_u16(), authority.rsplit_once(':')) {
            (Some(0), _) => return Err(Error::Port),
            (Some(port), _) => port,
            (None, Some((_, rest))) if !rest.ends_with(']') => return Err(Error::Port),
            (None, _) => DEFAULT_PORT,
        };
        Ok(Self {
            origin,
            is_secure,
            host,
            port,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_gives_host_and_port_and_the_port_has_a_default() {
        for (url, host, port) in [
            (
                "http://plimsoll.kube-system.svc",
                "plimsoll.kube-system.svc",
                7443,
            ),
            ("http://10.0.0.1:9/", "10.0.0.1", 9),
            ("http://[fd00::1]:7444", "fd00::1", 7444),
            ("http://[fd00::1]", "fd00::1", 7443),
        ] {
            let target: Target = url.parse().unwrap();
            assert_eq!((target.host.as_str(), target.port), (host, port));
        }
    }

    #[test]
    fn a_wrong_url_is_refused_with_the_reason() {
        for (url, reason) in [
            ("ftp://a:1", "scheme \"ftp\" is not spoken"),
            ("a:1", "scheme \"\" is not spoken"),
            ("http://a:1/telemetry", "\"/telemetry\" after host and port"),
            ("http://a:0", "port must be 1 to 65535"),
            ("http://a:99999", "port must be 1 to 65535"),
            ("http://a:", "port must be 1 to 65535"),
            ("http://[fd00::1]:99999", "port must be 1 to 65535"),
            ("http://me:word@a:1", "a user before the host"),
            ("http://a b", "not a URL"),
            ("", "not a URL"),
        ] {
            let error = url.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
    }

    #[test]
    fn the_scheme_says_whether_there_is_tls() {
        for (url, is_secure) in [("https://a", true), ("http://a", false)] {
            assert_eq!(url.parse::<Target>().unwrap().is_secure(), is_secure);
        }
    }
}
