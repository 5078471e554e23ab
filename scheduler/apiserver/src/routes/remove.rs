//! DELETE: of one object, or of the objects that a selector finds.

use axum::body::Body;
use http::Response;
use serde::Deserialize;
use serde_json::Value;

use super::{
    App,
    answer::{self, ListHead},
    list,
    request::Call,
};
use crate::{
    resources::Quirk,
    status::{Details, Status, success},
    store::{DeleteRequest, Target},
};

/// The parts of `DeleteOptions` that this server heeds.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DeleteOptions {
    grace_period_seconds: Option<i64>,
    preconditions: Option<Preconditions>,
    dry_run: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

/// Deletes one object.
pub(super) fn delete(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let (place, name) = (&call.place, call.name()?);
    let request = request(call)?;
    let target = Target::new(place.resource, &place.namespace, name);
    let deleted = app.store.write(|state| state.delete(target, &request))?;
    if !deleted.gone || place.resource.has(Quirk::ReturnsDeleted) {
        return Ok(answer::object(200, call.view, &deleted.object));
    }
    let details = Details {
        uid: deleted.object.uid().to_owned(),
        ..Details::of(place.resource, name)
    };
    Ok(answer::json(200, &success(None, Some(&details))))
}

/// Deletes what the selectors find, and answers with the list of it.
pub(super) fn delete_collection(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let place = &call.place;
    let request = request(call)?;
    let selection = list::selection(call)?;
    let (found, _) = app.store.select(place.resource, place.scope(), &selection);
    for object in &found {
        let target = Target::new(place.resource, object.namespace(), object.name());
        match app.store.write(|state| state.delete(target, &request)) {
            Err(status) if status.code != 404 => return Err(status),
            // Another client may have been faster.
            Ok(_) | Err(_) => {}
        }
    }
    let revision = app.store.resource_version();
    let head = ListHead {
        revision,
        token: None,
        remaining: None,
    };
    Ok(answer::list(call.view, &found, head))
}

/// Reads `DeleteOptions`.
pub(super) fn read_options(options: Option<&Value>) -> Result<DeleteRequest, Status> {
    let options = match options {
        None | Some(Value::Null) => DeleteOptions::default(),
        Some(value) => DeleteOptions::deserialize(value).map_err(|error| {
            Status::bad_request(format!("DeleteOptions cannot be handled: {error}"))
        })?,
    };
    let preconditions = options.preconditions.unwrap_or_default();
    Ok(DeleteRequest {
        uid: preconditions.uid,
        resource_version: preconditions.resource_version,
        grace_s: options.grace_period_seconds,
        dry_run: options.dry_run.is_some_and(|it| !it.is_empty()),
    })
}

fn request(call: &Call) -> Result<DeleteRequest, Status> {
    let mut request = read_options(call.optional_json()?.as_ref())?;
    request.dry_run |= call.query.dry_run()?;
    if request.grace_s.is_none() {
        let text = call.query.text("gracePeriodSeconds");
        request.grace_s = text.parse().ok();
    }
    Ok(request)
}
