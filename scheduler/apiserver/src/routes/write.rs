//! PUT, and PATCH in its plain forms: of an object, or of its status.

use axum::body::Body;
use http::Response;
use serde_json::Value;

use super::{App, answer, apply, request::Call};
use crate::{
    admission::{check_address, decode},
    json, owners,
    patch::PatchKind,
    resources::{Quirk, Resource, Subresource},
    schema,
    status::{Cause, Status},
    store::{Origin, Part, Target, Write},
};

/// Replaces an object, or makes it where its kind may be made so.
pub(super) fn update(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let (place, name) = (&call.place, call.name()?);
    let (mut object, warnings) = call.resource_object()?;
    check_address(&mut object, &place.namespace, Some(name))?;
    let target = Target::new(place.resource, &place.namespace, name);
    let write = write_of(call)?;
    let makes = place.resource.has(Quirk::CreateOnUpdate) && write.part == Part::Main;
    let (object, made) = app.store.write(|state| {
        if makes && state.get(target).is_err() {
            return Ok((state.create(place.resource, object, write)?, true));
        }
        let write = Write {
            owned: true,
            ..write
        };
        let object = state.update(target, write, |current| Ok(owned(call, current, object)))?;
        Ok::<_, Status>((object, false))
    })?;
    let response = answer::object(code(made), call.view, &object);
    Ok(answer::warned(response, &warnings))
}

/// Gives the wanted state of an object with the owners that its fields have then.
fn owned(call: &Call, current: &Value, mut wanted: Value) -> Value {
    if let Some(of) = schema::type_of(call.place.resource) {
        owners::track(of, current, &mut wanted, call.manager());
    }
    wanted
}

pub(super) const fn code(made: bool) -> u16 {
    if made { 201 } else { 200 }
}

/// Patches an object.
pub(super) fn patch(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let (place, name) = (&call.place, call.name()?);
    let kind = PatchKind::of(call.media_type())?;
    if kind == PatchKind::Apply {
        return apply::apply(app, call);
    }
    let patch = call.json()?;
    let target = Target::new(place.resource, &place.namespace, name);
    let write = Write {
        owned: true,
        ..write_of(call)?
    };
    let strictness = call.query.strictness()?;
    let of = schema::type_of(place.resource);
    let mut warnings = Vec::new();
    let object = app.store.write(|state| {
        state.update(target, write, |current| {
            let mut object = kind.apply(of, current, &patch)?;
            check_uid(place.resource, current, &object)?;
            warnings = decode(place.resource, &mut object, strictness)
                .map_err(|status| unfit(kind, &patch, status))?;
            Ok(owned(call, current, object))
        })
    })?;
    let response = answer::object(200, call.view, &object);
    Ok(answer::warned(response, &warnings))
}

/// Tells of a patch that makes no object what kube-apiserver tells: the patch itself is invalid.
fn unfit(kind: PatchKind, patch: &Value, status: Status) -> Status {
    let why = status.message.split_once(": ").map(|(_, why)| why);
    match (kind, why) {
        (PatchKind::Merge | PatchKind::Strategic, Some(why)) => {
            let cause = Cause::invalid("patch", &schema::go_text(patch), why);
            Status::invalid("", "", vec![cause])
        }
        _ => status,
    }
}

/// Refuses a patch that makes another object of this one.
fn check_uid(resource: &Resource, current: &Value, patched: &Value) -> Result<(), Status> {
    let uid = |of| json::text(of, &["metadata", "uid"]).unwrap_or("");
    if uid(patched).is_empty() || uid(patched) == uid(current) {
        return Ok(());
    }
    let name = json::text(current, &["metadata", "name"]).unwrap_or("");
    let cause = Cause::invalid("metadata.uid", uid(patched), "field is immutable");
    Err(Status::invalid(
        &resource.qualified_kind(),
        name,
        vec![cause],
    ))
}

/// Says how a request writes.
pub(super) fn write_of(call: &Call) -> Result<Write, Status> {
    let part = match call.place.subresource {
        Some(Subresource::Status) => Part::Status,
        _ => Part::Main,
    };
    Ok(Write {
        dry_run: call.query.dry_run()?,
        ..Write::by(Origin::Client, part)
    })
}
