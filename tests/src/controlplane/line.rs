//! A connection that stays open: takes one request after the other, gives the code and the
//! text of each answer. For those who create thousands of objects; HTTP/1.1 as far as the
//! API server uses it (a length, or chunks).

use std::io::{BufRead, BufReader, Read, Write};

use anyhow::{Context, ensure};

use super::api::{Api, Connection, code_of};

/// Most of an answer that is taken, in bytes: what is read here are single objects.
const ANSWER_MAX: usize = 64 << 20;

/// An open connection.
#[derive(Debug)]
pub struct Line {
    host: String,
    connection: BufReader<Connection>,
}

// === impl Line ===

impl Line {
    pub(super) fn new(api: &Api) -> anyhow::Result<Self> {
        Ok(Self {
            host: api.address().to_owned(),
            connection: BufReader::new(api.connect()?),
        })
    }

    /// Creates an object, given as JSON, in the collection `path`.
    ///
    /// # Errors
    /// The API server's own words, or the connection broke.
    pub fn create(&mut self, path: &str, json: &str) -> anyhow::Result<()> {
        let (code, text) = self.call("POST", path, json)?;
        ensure!((200..300).contains(&code), "POST {path}: {code}: {text}");
        Ok(())
    }

    /// Asks once; every answer is one, whatever its code.
    ///
    /// # Errors
    /// The connection broke.
    pub fn call(&mut self, verb: &str, path: &str, body: &str) -> anyhow::Result<(u16, String)> {
        let request = format!(
            "{verb} {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        let out = self.connection.get_mut();
        out.write_all(request.as_bytes())?;
        out.flush()?;
        let head = self.head()?;
        let code = code_of(&head)?;
        let text = match field(&head, "content-length") {
            Some(length) => self.exactly(length.parse()?)?,
            None => self.chunks()?,
        };
        Ok((code, String::from_utf8(text)?))
    }

    fn head(&mut self) -> anyhow::Result<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.connection.read_line(&mut head)?;
            ensure!(read > 0, "the connection ended");
        }
        Ok(head)
    }

    fn chunks(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            let mut length = String::new();
            self.connection.read_line(&mut length)?;
            let length = usize::from_str_radix(length.trim(), 16).context("no chunk")?;
            text.extend(self.exactly(length)?);
            // The end of the line that the chunk is.
            self.exactly(2)?;
            if length == 0 {
                return Ok(text);
            }
            ensure!(text.len() <= ANSWER_MAX, "the answer does not end");
        }
    }

    fn exactly(&mut self, length: usize) -> anyhow::Result<Vec<u8>> {
        ensure!(length <= ANSWER_MAX, "an answer of {length} bytes");
        let mut text = vec![0; length];
        self.connection.read_exact(&mut text)?;
        Ok(text)
    }
}

/// A field of a head, by its name in small letters.
fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim())
}
