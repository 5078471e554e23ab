//! One page of an admin port, fetched or posted to, and single series read out of it.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug, Clone)]
pub struct Page {
    /// HTTP code.
    pub code: u16,
    /// The body.
    pub text: String,
}

// === impl Page ===

impl Page {
    /// Fetches a page.
    ///
    /// # Errors
    /// Nobody listens, or the answer is no HTTP.
    pub async fn get(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        Self::ask(address, "GET", path, "").await
    }

    /// Posts nothing to a page, with these header lines, each ended by `\r\n`.
    ///
    /// # Errors
    /// Nobody listens, or the answer is no HTTP.
    pub async fn post(address: SocketAddr, path: &str, headers: &str) -> anyhow::Result<Self> {
        Self::ask(address, "POST", path, headers).await
    }

    async fn ask(
        address: SocketAddr,
        method: &str,
        path: &str,
        headers: &str,
    ) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address)
            .await
            .context("nobody listens")?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: 0\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (head, text) = answer
            .split_once("\r\n\r\n")
            .context("no end of the head")?;
        let code = head.split(' ').nth(1).context("no code")?.parse()?;
        Ok(Self {
            code,
            text: text.to_owned(),
        })
    }

    /// The value of a series, named with all its labels as the page has them.
    pub fn series(&self, name: &str) -> Option<f64> {
        let mut lines = self.text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_series_is_found_by_its_whole_name_only() {
        let text = "# TYPE a counter\na_total{x=\"1\"} 3\na_total 4\n".to_owned();
        let page = Page { code: 200, text };
        assert_eq!(page.series("a_total"), Some(4.0));
        assert_eq!(page.series("a_total{x=\"1\"}"), Some(3.0));
        assert_eq!(page.series("a"), None);
    }
}
