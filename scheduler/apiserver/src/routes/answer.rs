//! Writes answers: objects, lists, `Status` and texts.

use std::sync::Arc;

use axum::body::Body;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER, WARNING},
};
use serde_json::{Map, Value, json};

use crate::{status::Status, store::Object, view::View};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// The head of a list.
#[derive(Debug)]
pub(super) struct ListHead {
    pub(super) revision: u64,
    pub(super) token: Option<String>,
    pub(super) remaining: Option<u64>,
}

/// Answers with a document.
pub(super) fn json(code: u16, document: &Value) -> Response<Body> {
    let mut text = document.to_string().into_bytes();
    text.push(b'\n');
    response(code, JSON, text)
}

/// Answers with a refusal.
pub(super) fn status(status: &Status) -> Response<Body> {
    let mut response = json(status.code, &status.to_json());
    if let Some(seconds) = status.retry_after_s() {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Answers with an object as the client asked to see it.
pub(super) fn object(code: u16, view: View, object: &Object) -> Response<Body> {
    let mut out = Vec::new();
    view.write(object, &mut out);
    out.push(b'\n');
    response(code, JSON, out)
}

/// Adds warnings to an answer (RFC 7234, code 299, as kube-apiserver writes them).
pub(super) fn warned(mut response: Response<Body>, warnings: &[String]) -> Response<Body> {
    for warning in warnings {
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::try_from(format!("299 - \"{text}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

/// Answers with a list of objects.
pub(super) fn list(view: View, items: &[Arc<Object>], head: ListHead) -> Response<Body> {
    let mut metadata = Map::new();
    metadata.insert(
        "resourceVersion".to_owned(),
        json!(head.revision.to_string()),
    );
    if let Some(token) = head.token {
        metadata.insert("continue".to_owned(), json!(token));
    }
    if let Some(remaining) = head.remaining {
        metadata.insert("remainingItemCount".to_owned(), json!(remaining));
    }
    let mut out = Vec::new();
    view.write_list(
        items.iter().map(AsRef::as_ref),
        &Value::Object(metadata),
        &mut out,
    );
    out.push(b'\n');
    response(200, JSON, out)
}

/// Answers with a text.
pub(super) fn text(text: &'static str) -> Response<Body> {
    response(200, TEXT, text)
}

/// Answers with bytes of a media type.
pub(super) fn bytes(kind: &'static str, bytes: Vec<u8>) -> Response<Body> {
    response(200, HeaderValue::from_static(kind), bytes)
}

/// Answers with a stream of events.
pub(super) fn stream(body: Body) -> Response<Body> {
    response(200, JSON, body)
}

fn response(code: u16, kind: HeaderValue, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
