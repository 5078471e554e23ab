//! The subresource `scale`: a workload seen as a number of replicas (`autoscaling/v1`).

use axum::body::Body;
use http::Response;
use serde_json::{Value, json};

use super::{App, answer, request::Call};
use crate::{
    json,
    patch::PatchKind,
    schema,
    selector::LabelSelector,
    status::{Cause, Status},
    store::{Origin, Part, Target, Write},
    verb::Verb,
};

/// Answers with the scale of a workload.
pub(super) fn get(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let target = target(call)?;
    let object = app.store.read(|state| state.get(target).cloned())?;
    Ok(answer::json(200, &scale(&object.value())))
}

/// Changes the number of replicas by PUT or PATCH.
pub(super) fn write(app: &App, call: &Call, verb: Verb) -> Result<Response<Body>, Status> {
    let target = target(call)?;
    let write = Write {
        dry_run: call.query.dry_run()?,
        ..Write::by(Origin::Client, Part::Main)
    };
    let kind = match verb {
        Verb::Patch => Some(PatchKind::of(call.media_type())?),
        _ => None,
    };
    let body = match kind {
        Some(_) => call.json()?,
        None => call.object("autoscaling/v1", "Scale")?,
    };
    let object = app.store.write(|state| {
        state.update(target, write, |current| {
            let wanted = match kind {
                Some(kind) => kind.apply(
                    schema::of_kind("autoscaling", "Scale"),
                    &scale(current),
                    &body,
                )?,
                None => body.clone(),
            };
            scaled(current, &wanted, call.name()?)
        })
    })?;
    Ok(answer::json(200, &scale(&object.value())))
}

fn target(call: &Call) -> Result<Target<'_>, Status> {
    let place = &call.place;
    Ok(Target::new(place.resource, &place.namespace, call.name()?))
}

/// Gives the workload with the replicas of a scale.
fn scaled(current: &Value, wanted: &Value, name: &str) -> Result<Value, Status> {
    let replicas = json::at(wanted, &["spec", "replicas"])
        .and_then(Value::as_i64)
        .unwrap_or(0);
    if replicas < 0 {
        let why = "must be greater than or equal to 0";
        let cause = Cause::invalid_json("spec.replicas", &replicas, why);
        return Err(Status::invalid("Scale.autoscaling", name, vec![cause]));
    }
    let mut object = current.clone();
    // The version that the scale was made from is that of the workload: a stale one is a conflict.
    if let Some(version) = json::text(wanted, &["metadata", "resourceVersion"]) {
        json::section(&mut object, "metadata").insert("resourceVersion".to_owned(), version.into());
    }
    json::section(&mut object, "spec").insert("replicas".to_owned(), replicas.into());
    Ok(object)
}

fn scale(workload: &Value) -> Value {
    let mut metadata = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        metadata[field] = workload["metadata"][field].clone();
    }
    let number = |path: &[&str]| {
        json::at(workload, path)
            .and_then(Value::as_i64)
            .unwrap_or(0)
    };
    let mut status = json!({"replicas": number(&["status", "replicas"])});
    let selector = selector(workload);
    if !selector.is_empty() {
        status["selector"] = json!(selector);
    }
    let mut spec = json!({});
    let replicas = number(&["spec", "replicas"]);
    if replicas != 0 {
        spec["replicas"] = json!(replicas);
    }
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    })
}

/// Gives the selector as text; that of a replication controller is a plain map.
fn selector(workload: &Value) -> String {
    let selector = &workload["spec"]["selector"];
    let object = if workload["kind"] == "ReplicationController" {
        &json!({ "matchLabels": selector })
    } else {
        selector
    };
    LabelSelector::from_object(object).map_or(String::new(), |it| it.to_string())
}
