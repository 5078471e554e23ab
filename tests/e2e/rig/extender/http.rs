//! As much HTTP/1.1 as an extender needs: requests with a length, one after the other.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Value,
}

/// A connection with a client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

// === impl Connection ===

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        let stream = BufReader::new(stream);
        Self { stream }
    }

    /// The next request; `None` when the client has closed, or speaks no HTTP.
    pub(super) fn next(&mut self) -> Option<Request> {
        let first = self.line()?;
        let path = first.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).ok()?;
        Some(Request { path, body })
    }

    /// Answers.
    pub(super) fn say(&mut self, status: u16, body: &str) -> io::Result<()> {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        let stream = self.stream.get_mut();
        stream.write_all((head + body).as_bytes())
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.stream.read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end().to_owned())
    }
}
