//! Effects of plugins, carried out.
//!
//! Takes an effect as data, gives the one request that it is. What may be done twice is
//! tried again; creating and replacing are not.

use kube::core::{ApiResource, GroupVersionKind, TypeMeta};
use plimsoll_core::{Failure, FailureKind, PodRef};
use plimsoll_framework::{Effect, ObjectWrite, WriteVerb};
use serde_json::json;

use crate::call::{Api, Call, accepted};
use crate::path;
use crate::retry::call_again;

/// Carries out `effect` for `pod`.
///
/// # Errors
/// How it failed.
pub(crate) async fn apply(api: &Api, pod: &PodRef, effect: &Effect) -> Result<(), Failure> {
    match effect {
        Effect::AnnotatePod(annotations) => {
            let metadata = json!({"uid": &*pod.uid.0, "annotations": annotations});
            let body = json!({ "metadata": metadata });
            let call = Call::merge_patch("pods", &path::pod(&pod.key, "")?, &body)?;
            call_again(api, call).await?;
            Ok(())
        }
        Effect::Write(write) => self::write(api, write).await,
    }
}

async fn write(api: &Api, write: &ObjectWrite) -> Result<(), Failure> {
    let target = Target::of(write)?;
    let resource = target.resource;
    match &write.verb {
        WriteVerb::Create(body) => {
            accepted(api.call(Call::create(resource, &target.path, body)?).await)?;
        }
        WriteVerb::Update(body) => {
            accepted(api.call(Call::update(resource, &target.path, body)?).await)?;
        }
        WriteVerb::MergePatch(body) => {
            call_again(api, Call::merge_patch(resource, &target.path, body)?).await?;
        }
        WriteVerb::StrategicPatch(body) => {
            call_again(api, Call::strategic_patch(resource, &target.path, body)?).await?;
        }
        WriteVerb::Delete { uid } => {
            let options = json!({
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": {"uid": uid},
            });
            let deleted = call_again(api, Call::delete(resource, &target.path, &options)?).await;
            match deleted {
                // Gone already is what was wanted.
                Err(Failure {
                    kind: FailureKind::NotFound,
                    ..
                }) => {}
                answered => drop(answered?),
            }
        }
    }
    Ok(())
}

/// Where a write goes, and what the metrics call it.
struct Target {
    path: String,
    resource: String,
}

// === impl Target ===

impl Target {
    fn of(write: &ObjectWrite) -> Result<Self, Failure> {
        let types = TypeMeta {
            api_version: write.api_version.clone(),
            kind: write.kind.clone(),
        };
        let kind = GroupVersionKind::try_from(&types).map_err(|error| Failure {
            kind: FailureKind::Refused,
            message: format!("`{}` is not an API version: {error}", write.api_version),
        })?;
        let plural = ApiResource::from_gvk(&kind).plural;
        let version = path::segment(&kind.version)?;
        let root = match kind.group.as_str() {
            "" => format!("/api/{version}"),
            group => format!("/apis/{}/{version}", path::segment(group)?),
        };
        let is_new = matches!(write.verb, WriteVerb::Create(_)) && write.subresource.is_empty();
        let path = if is_new {
            path::collection(&root, &plural, &write.key.namespace)?
        } else {
            path::item(&root, &plural, &write.key, &write.subresource)?
        };
        let resource = match write.subresource.as_str() {
            "" => plural,
            subresource => format!("{plural}/{subresource}"),
        };
        Ok(Self { path, resource })
    }
}

#[cfg(test)]
mod tests;
