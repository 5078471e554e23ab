//! Server-side apply: a PATCH that says what its sender wants of an object, and makes it where it is
//! missing.

use axum::body::Body;
use http::Response;
use serde_json::{Map, Value};

use super::{App, answer, request::Call, write};
use crate::{
    admission::{check_address, decode},
    json,
    owners::{self, Applier},
    schema,
    status::{Cause, Status},
    store::{Part, Target, Write},
};

/// Applies a configuration.
pub(super) fn apply(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let (place, name) = (&call.place, call.name()?);
    let manager = call.query.text("fieldManager");
    if manager.is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(Status::invalid("PatchOptions.meta.k8s.io", "", vec![cause]));
    }
    let mut config = call.json()?;
    let warnings = decode(place.resource, &mut config, call.query.strictness()?)?;
    if !json::list(&config, &["metadata", "managedFields"]).is_empty() {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    check_address(&mut config, &place.namespace, Some(name))?;
    let of = schema::type_of(place.resource).ok_or_else(Status::no_such_resource)?;
    let applier = Applier {
        manager,
        force: call.query.flag("force"),
    };
    let target = Target::new(place.resource, &place.namespace, name);
    let write = Write {
        owned: true,
        ..write::write_of(call)?
    };
    let (object, made) = app.store.write(|state| {
        if write.part == Part::Main && state.get(target).is_err() {
            let nothing = Value::Object(Map::new());
            let object = owners::apply(of, &nothing, &config, applier)?;
            return Ok((state.create(place.resource, object, write)?, true));
        }
        let object = state.update(target, write, |current| {
            owners::apply(of, current, &config, applier)
        })?;
        Ok::<_, Status>((object, false))
    })?;
    let response = answer::object(write::code(made), call.view, &object);
    Ok(answer::warned(response, &warnings))
}
