//! PUT and PATCH: of an object, or of its status.

use axum::body::Body;
use http::Response;
use serde_json::Value;

use super::{App, answer, request::Call};
use crate::{
    admission::{check_address, check_shape},
    patch::PatchKind,
    resources::Subresource,
    status::{Cause, Status},
    store::{Origin, Part, Target, Write},
};

/// Replaces an object, or makes it where its kind may be made so.
pub(super) fn update(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let (place, name) = (&call.place, call.name()?);
    let mut object = call.resource_object()?;
    check_shape(place.resource, &object)?;
    check_address(&mut object, &place.namespace, Some(name))?;
    let target = Target::new(place.resource, &place.namespace, name);
    let write = write_of(call)?;
    let (object, made) = app
        .store
        .write(|state| state.update_or_create(target, write, object))?;
    Ok(answer::object(
        if made { 201 } else { 200 },
        call.view,
        &object,
    ))
}

/// Patches an object; an apply patch makes it where it is missing.
pub(super) fn patch(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let (place, name) = (&call.place, call.name()?);
    let kind = PatchKind::of(&call.media_type)?;
    let patch = call.json()?;
    check_manager(kind, call)?;
    let target = Target::new(place.resource, &place.namespace, name);
    let write = write_of(call)?;
    let (object, made) = app.store.write(|state| {
        if kind == PatchKind::Apply && write.part == Part::Main && state.get(target).is_err() {
            let object = applied(call, &patch, name)?;
            return Ok((state.create(place.resource, object, write)?, true));
        }
        let object = state.update(target, write, |current| kind.apply(current, &patch))?;
        Ok::<_, Status>((object, false))
    })?;
    Ok(answer::object(
        if made { 201 } else { 200 },
        call.view,
        &object,
    ))
}

fn write_of(call: &Call) -> Result<Write, Status> {
    let part = match call.place.subresource {
        Some(Subresource::Status) => Part::Status,
        _ => Part::Main,
    };
    Ok(Write {
        dry_run: call.query.dry_run()?,
        ..Write::by(Origin::Client, part)
    })
}

/// Gives the object that an apply patch makes.
fn applied(call: &Call, patch: &Value, name: &str) -> Result<Value, Status> {
    let nothing = Value::Object(serde_json::Map::new());
    let mut object = PatchKind::Apply.apply(&nothing, patch)?;
    check_shape(call.place.resource, &object)?;
    check_address(&mut object, &call.place.namespace, Some(name))?;
    Ok(object)
}

fn check_manager(kind: PatchKind, call: &Call) -> Result<(), Status> {
    if kind != PatchKind::Apply || !call.query.text("fieldManager").is_empty() {
        return Ok(());
    }
    let cause = Cause::required("fieldManager", "is required for apply patch");
    Err(Status::invalid("PatchOptions.meta.k8s.io", "", vec![cause]))
}
