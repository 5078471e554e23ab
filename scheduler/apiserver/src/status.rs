//! The Kubernetes `Status`: the one error type of the server, and what it looks like on the wire.
//!
//! Takes what went wrong and gives the code, reason, message and details of kube-apiserver
//! (`k8s.io/apimachinery/pkg/api/errors`).

mod cause;

use serde_json::{Map, Value, json};

pub use cause::Cause;

use crate::resources::Resource;

/// A refusal in the words of the Kubernetes API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// The HTTP code.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`.
    pub reason: &'static str,
    /// The text for people.
    pub message: String,
    /// What the refusal is about.
    pub details: Option<Box<Details>>,
    /// A token to go on with, where a list token has expired.
    pub continue_token: Option<String>,
}

/// The `details` of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// The name of the object.
    pub name: String,
    /// The API group, empty for core.
    pub group: String,
    /// The plural of the resource, or the kind where the object is invalid.
    pub kind: String,
    /// The uid of the object.
    pub uid: String,
    /// Each single mistake.
    pub causes: Vec<Cause>,
    /// How long to wait before the next try, in seconds.
    pub retry_after_s: Option<u32>,
}

impl Status {
    /// Makes a status without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            continue_token: None,
        }
    }

    /// 500: the server failed.
    pub fn internal(message: &str) -> Self {
        let message = format!("Internal error occurred: {message}");
        Self::new(500, "InternalError", message)
    }

    /// 429: the client shall come again after `retry_after_s` seconds.
    pub fn too_many_requests(message: impl Into<String>, retry_after_s: u32) -> Self {
        Self::new(429, "TooManyRequests", message).with(Details {
            retry_after_s: Some(retry_after_s),
            ..Details::default()
        })
    }

    /// 410: the asked resource version is no longer kept.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 400: the request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 500: the server has no word for what went wrong.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 409: the write would undo another one.
    pub fn conflict(resource: &str, name: &str, why: &str) -> Self {
        let (kind, group) = resource.split_once('.').unwrap_or((resource, ""));
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
        Self::new(409, "Conflict", message).with(Details::named(name, group, kind))
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", resource.qualified());
        Self::new(404, "NotFound", message).with(Details::of(resource, name))
    }

    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message).with(Details::default())
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", resource.qualified());
        Self::new(409, "AlreadyExists", message).with(Details::of(resource, name))
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", resource.qualified());
        Self::new(403, "Forbidden", message).with(Details::of(resource, name))
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with(Details::default())
    }

    pub(crate) fn unsupported_media_type(got: &str, known: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format ({got:?}) - accepted media types include: {}",
            known.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn too_large_version(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self::new(504, "Timeout", message).with(Details {
            causes: vec![Cause {
                reason: "ResourceVersionTooLarge",
                message: "Too large resource version".to_owned(),
                field: String::new(),
            }],
            retry_after_s: Some(1),
            ..Details::default()
        })
    }

    /// 422: the object breaks a rule; `kind` is the kind with its group.
    pub(crate) fn invalid(kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let texts: Vec<String> = causes.iter().map(ToString::to_string).collect();
        let text = match texts.as_slice() {
            [only] => only.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let (bare, group) = kind.split_once('.').unwrap_or((kind, ""));
        let details = Details {
            causes,
            ..Details::named(name, group, bare)
        };
        let message = format!("{kind} \"{name}\" is invalid: {text}");
        Self::new(422, "Invalid", message).with(details)
    }

    pub(crate) fn with(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Gives the seconds of a `Retry-After` header.
    pub(crate) fn retry_after_s(&self) -> Option<u32> {
        self.details.as_ref()?.retry_after_s
    }

    /// Gives the JSON object that goes over the wire.
    pub(crate) fn to_json(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.continue_token {
            metadata.insert("continue".to_owned(), json!(token));
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            status["details"] = details.to_json();
        }
        status
    }
}

impl Details {
    pub(crate) fn of(resource: &Resource, name: &str) -> Self {
        Self::named(name, resource.group, resource.plural)
    }

    fn named(name: &str, group: &str, kind: &str) -> Self {
        Self {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            ..Self::default()
        }
    }

    fn to_json(&self) -> Value {
        let mut map = Map::new();
        let texts = [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
            ("uid", &self.uid),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                map.insert(key.to_owned(), json!(text));
            }
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(Cause::to_json).collect();
            map.insert("causes".to_owned(), Value::Array(causes));
        }
        if let Some(seconds) = self.retry_after_s {
            map.insert("retryAfterSeconds".to_owned(), json!(seconds));
        }
        Value::Object(map)
    }
}

/// Gives the `Status` of a write that has no object to answer with.
pub(crate) fn success(code: Option<u16>, details: Option<&Details>) -> Value {
    let mut status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
    });
    if let Some(code) = code {
        status["code"] = json!(code);
    }
    if let Some(details) = details {
        status["details"] = details.to_json();
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_object_is_told_as_kube_apiserver_tells_it() {
        let leases = Resource::named("leases.coordination.k8s.io").unwrap();
        assert_eq!(
            Status::not_found(leases, "a").to_json(),
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "leases.coordination.k8s.io \"a\" not found", "reason": "NotFound",
                "details": {"name": "a", "group": "coordination.k8s.io", "kind": "leases"},
                "code": 404,
            })
        );
    }

    #[test]
    fn several_mistakes_stand_in_brackets() {
        let causes = vec![
            Cause::required("spec.a", ""),
            Cause::forbidden("spec.b", "not now"),
        ];
        let status = Status::invalid("Deployment.apps", "x", causes);
        assert_eq!(
            status.message,
            "Deployment.apps \"x\" is invalid: [spec.a: Required value, spec.b: Forbidden: not now]"
        );
        let details = status.details.unwrap();
        assert_eq!(
            (details.kind.as_str(), details.group.as_str()),
            ("Deployment", "apps")
        );
    }
}
