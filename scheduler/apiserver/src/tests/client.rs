//! A plain HTTP client: one connection per request, JSON in and out, and the lines of a watch.

use std::{net::SocketAddr, time::Duration};

use axum::body::Body;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, task::JoinSet, time::timeout};

use crate::ApiServer;

/// How long a test waits for an answer before it fails; never waited for when the server is right.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Client {
    address: SocketAddr,
}

/// An answer, and its body as JSON (`Null` if it is none).
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

/// An open watch.
pub(super) struct Lines {
    body: Incoming,
    buffer: Vec<u8>,
    _connection: JoinSet<()>,
}

impl Client {
    pub(super) fn of(server: &ApiServer) -> Self {
        Self {
            address: server.address(),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", None).await
    }

    /// Gets with an `Accept` header.
    pub(super) async fn get_as(&self, path: &str, accept: &str) -> Answer {
        let request = Request::get(path)
            .header("host", "localhost")
            .header("accept", accept)
            .body(Body::empty())
            .unwrap();
        self.answer(request).await.unwrap()
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, "application/json", Some(body))
            .await
    }

    pub(super) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, "application/json", Some(body))
            .await
    }

    pub(super) async fn delete(&self, path: &str, body: Option<Value>) -> Answer {
        self.send(Method::DELETE, path, "application/json", body)
            .await
    }

    /// Sends a PATCH of the media type `application/<kind>-patch+json`.
    pub(super) async fn patch(&self, kind: &str, path: &str, body: Value) -> Answer {
        let media_type = format!("application/{kind}-patch+json");
        self.send(Method::PATCH, path, &media_type, Some(body))
            .await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: Option<Value>,
    ) -> Answer {
        self.try_send(method, path, media_type, body).await.unwrap()
    }

    /// Sends a request; an error is a connection that closed without an answer.
    pub(super) async fn try_send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: Option<Value>,
    ) -> Result<Answer, hyper::Error> {
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("user-agent", "test")
            .header("content-type", media_type)
            .body(body)
            .unwrap();
        self.answer(request).await
    }

    /// Posts bytes of a media type.
    pub(super) async fn post_bytes(&self, path: &str, media_type: &str, bytes: Vec<u8>) -> Answer {
        let request = Request::post(path)
            .header("host", "localhost")
            .header("content-type", media_type)
            .body(Body::from(bytes))
            .unwrap();
        self.answer(request).await.unwrap()
    }

    async fn answer(&self, request: Request<Body>) -> Result<Answer, hyper::Error> {
        let (response, _connection) = self.open(request).await?;
        let (parts, body) = response.into_parts();
        let bytes = timeout(PATIENCE, body.collect()).await.unwrap()?.to_bytes();
        Ok(Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        })
    }

    /// Opens a watch.
    pub(super) async fn watch(&self, path: &str) -> Lines {
        let request = Request::get(path)
            .header("host", "localhost")
            .body(Body::empty())
            .unwrap();
        let (response, connection) = self.open(request).await.unwrap();
        assert_eq!(response.status(), 200);
        Lines {
            body: response.into_body(),
            buffer: Vec::new(),
            _connection: connection,
        }
    }

    async fn open(
        &self,
        request: Request<Body>,
    ) -> Result<(http::Response<Incoming>, JoinSet<()>), hyper::Error> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            drop(connection.await);
        });
        let response = timeout(PATIENCE, sender.send_request(request))
            .await
            .unwrap()?;
        Ok((response, tasks))
    }
}

impl Lines {
    /// Gives the next event, nothing when the watch has ended.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.unwrap()?;
            self.buffer
                .extend_from_slice(frame.ok()?.data_ref().unwrap());
        }
    }

    /// Gives the next event as `TYPE name`.
    pub(super) async fn told(&mut self) -> String {
        match self.next().await {
            Some(event) => {
                let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
                format!(
                    "{} {}",
                    text(&event["type"]),
                    text(&event["object"]["metadata"]["name"])
                )
            }
            None => "end".to_owned(),
        }
    }
}
