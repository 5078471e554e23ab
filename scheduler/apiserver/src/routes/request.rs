//! Reads a request: its verb, its query, its body.

use axum::body::{Body, Bytes, to_bytes};
use http::{
    HeaderName, Method, Request,
    header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
};
use serde_json::Value;

use super::{path::Place, query::Query};
use crate::{
    admission::decode,
    resources::{Resource, Subresource},
    schema,
    status::Status,
    verb::Verb,
    view::View,
};

/// The media types of objects.
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The largest body that is read, in bytes, as kube-apiserver.
const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// A request that has been read.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) place: Place,
    pub(super) query: Query,
    /// How the client wants to see objects.
    pub(super) view: View,
    /// The name that the client's program gives itself.
    agent: String,
    entity: Entity,
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct Entity {
    /// The media type, without parameters.
    media_type: String,
    bytes: Bytes,
}

impl Call {
    pub(super) async fn read(place: Place, request: Request<Body>) -> Result<Self, Status> {
        let query = Query::parse(request.uri())?;
        let view = View::of(place.resource, header(&request, ACCEPT));
        let agent = header(&request, USER_AGENT);
        let agent = agent.split('/').next().unwrap_or("").to_owned();
        let entity = Entity::read(request).await?;
        Ok(Self {
            place,
            query,
            view,
            agent,
            entity,
        })
    }

    /// Gives the name of the object that the path names.
    pub(super) fn name(&self) -> Result<&str, Status> {
        self.place
            .name
            .as_deref()
            .ok_or_else(Status::method_not_allowed)
    }

    /// Names who writes, as the owners of fields are named.
    pub(super) fn manager(&self) -> &str {
        match self.query.text("fieldManager") {
            "" => &self.agent,
            manager => manager,
        }
    }

    /// Gives the media type of the body, without parameters.
    pub(super) fn media_type(&self) -> &str {
        &self.entity.media_type
    }

    /// Parses the body, whatever it is.
    pub(super) fn json(&self) -> Result<Value, Status> {
        self.entity.json()
    }

    /// Parses the body if there is one.
    pub(super) fn optional_json(&self) -> Result<Option<Value>, Status> {
        if self.entity.bytes.is_empty() {
            return Ok(None);
        }
        self.json().map(Some)
    }

    /// Parses the body as an object of a type, which may be left out.
    pub(super) fn object(&self, api_version: &str, kind: &str) -> Result<Value, Status> {
        self.entity.object(api_version, kind)
    }

    /// Parses the body as an object of the path's resource; gives what the client is warned of, too.
    pub(super) fn resource_object(&self) -> Result<(Value, Vec<String>), Status> {
        let resource: &Resource = self.place.resource;
        let mut object = self.object(&resource.api_version(), resource.kind)?;
        let warnings = decode(resource, &mut object, self.query.strictness()?)?;
        Ok((object, warnings))
    }
}

impl Entity {
    pub(super) async fn read(request: Request<Body>) -> Result<Self, Status> {
        let media_type = header(&request, CONTENT_TYPE);
        let media_type = media_type.split(';').next().unwrap_or("").trim().to_owned();
        let bytes = to_bytes(request.into_body(), MAX_BODY_BYTES)
            .await
            .map_err(|_| {
                let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
                Status::new(413, "RequestEntityTooLarge", message)
            })?;
        Ok(Self { media_type, bytes })
    }

    /// Parses the body: protobuf where its media type says so, JSON otherwise.
    fn json(&self) -> Result<Value, Status> {
        if self.media_type == PROTOBUF {
            let read = schema::message(&self.bytes);
            return read.ok_or_else(|| Status::unsupported_media_type(PROTOBUF, &[JSON]));
        }
        serde_json::from_slice(&self.bytes).map_err(|error| {
            Status::bad_request(format!(
                "couldn't get version/kind; json parse error: {error}"
            ))
        })
    }

    /// Parses the body as an object of a type, which may be left out.
    pub(super) fn object(&self, api_version: &str, kind: &str) -> Result<Value, Status> {
        match self.media_type.as_str() {
            "" | JSON | PROTOBUF | "*/*" => {}
            other => return Err(Status::unsupported_media_type(other, &[JSON, PROTOBUF])),
        }
        let object = self.json()?;
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or("");
        for (what, found, expected) in [
            ("API version", text("apiVersion"), api_version),
            ("kind", text("kind"), kind),
        ] {
            if !found.is_empty() && found != expected {
                return Err(Status::bad_request(format!(
                    "the {what} in the data ({found}) does not match the expected {what} ({expected})"
                )));
            }
        }
        Ok(object)
    }
}

/// Reads a header, empty if it is missing or no text.
pub(super) fn header(request: &Request<Body>, name: HeaderName) -> &str {
    request
        .headers()
        .get(name)
        .and_then(|it| it.to_str().ok())
        .unwrap_or("")
}

/// Gives the verb of a request, or the refusal that its path does not have it.
pub(super) fn verb(request: &Request<Body>, place: &Place) -> Result<Verb, Status> {
    let named = place.name.is_some();
    let posts = matches!(
        place.subresource,
        Some(Subresource::Binding | Subresource::Eviction)
    );
    let creates_here = !named && (!place.resource.namespaced || !place.namespace.is_empty());
    match *request.method() {
        Method::POST if posts || creates_here => Ok(Verb::Create),
        _ if posts => Err(Status::method_not_allowed()),
        Method::GET if named => Ok(Verb::Get),
        Method::GET if Query::parse(request.uri())?.flag("watch") => Ok(Verb::Watch),
        Method::GET => Ok(Verb::List),
        Method::PUT if named => Ok(Verb::Update),
        Method::PATCH if named => Ok(Verb::Patch),
        Method::DELETE if named && place.subresource.is_none() => Ok(Verb::Delete),
        Method::DELETE if creates_here => Ok(Verb::DeleteCollection),
        _ => Err(Status::method_not_allowed()),
    }
}
