//! POST: a new object, a binding, an eviction.

use axum::body::Body;
use http::Response;
use serde_json::Value;

use super::{App, answer, remove, request::Call};
use crate::{
    admission::check_address,
    json,
    resources::Subresource,
    status::{Cause, Status, success},
    store::{Binding, Origin, Part, Write},
};

/// Serves a POST.
pub(super) fn post(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    match call.place.subresource {
        None => create(app, call),
        Some(Subresource::Binding) => bind(app, call),
        Some(Subresource::Eviction) => evict(app, call),
        Some(Subresource::Status | Subresource::Scale) => Err(Status::method_not_allowed()),
    }
}

fn create(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let place = &call.place;
    let (mut object, warnings) = call.resource_object()?;
    check_address(&mut object, &place.namespace, None)?;
    let write = Write {
        dry_run: call.query.dry_run()?,
        ..Write::by(Origin::Client, Part::Main)
    };
    let object = app
        .store
        .write(|state| state.create(place.resource, object, write))?;
    Ok(answer::warned(
        answer::object(201, call.view, &object),
        &warnings,
    ))
}

fn bind(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let name = call.name()?;
    let body = call.object("v1", "Binding")?;
    if json::text(&body, &["metadata", "name"]) != Some(name) {
        let message = "name in URL does not match name in Binding object";
        return Err(Status::bad_request(message));
    }
    let binding = read_binding(&body, name)?;
    let dry_run = call.query.dry_run()?;
    let key = (call.place.namespace.as_str(), name);
    app.store
        .write(|state| state.bind(key, &binding, dry_run))?;
    Ok(answer::json(201, &success(Some(201), None)))
}

fn read_binding(body: &Value, name: &str) -> Result<Binding, Status> {
    let mut causes = Vec::new();
    let kind = json::text(body, &["target", "kind"]).unwrap_or("");
    if !matches!(kind, "" | "Node") {
        causes.push(Cause::unsupported(
            "target.kind",
            kind,
            &["Node", "<empty>"],
        ));
    }
    let node = json::text(body, &["target", "name"]);
    if node.is_none() {
        causes.push(Cause::required("target.name", ""));
    }
    let (Some(node), true) = (node, causes.is_empty()) else {
        return Err(Status::invalid("Binding", name, causes));
    };
    let meta = |field| json::text(body, &["metadata", field]).map(str::to_owned);
    let texts = |field| {
        let map = json::at(body, &["metadata", field]).and_then(Value::as_object);
        let pairs = map.into_iter().flatten();
        pairs
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    };
    Ok(Binding {
        node: node.to_owned(),
        uid: meta("uid"),
        resource_version: meta("resourceVersion"),
        annotations: texts("annotations"),
        labels: texts("labels"),
    })
}

fn evict(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let name = call.name()?;
    let body = call.object("policy/v1", "Eviction")?;
    if json::text(&body, &["metadata", "name"]).is_some_and(|own| own != name) {
        return Err(Status::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let mut request = remove::read_options(body.get("deleteOptions"))?;
    request.dry_run |= call.query.dry_run()?;
    let key = (call.place.namespace.as_str(), name);
    app.store.write(|state| state.evict(key, &request))?;
    Ok(answer::json(201, &success(Some(201), None)))
}
