//! Refuses JSON that is no Kubernetes object: what a typed decoder would not take.

use serde_json::Value;

use crate::{
    json,
    resources::Resource,
    schema::{self, Strictness},
    status::Status,
};

/// Checks what every step afterwards relies on: nesting is bounded, and fields have their types. Fields
/// that the kind does not have are dropped.
pub(crate) fn check_shape(resource: &Resource, value: &mut Value) -> Result<(), Status> {
    decode(resource, value, Strictness::Ignore)?;
    Ok(())
}

/// Does the same, and gives the warnings about dropped fields, or refuses them.
pub(crate) fn decode(
    resource: &Resource,
    value: &mut Value,
    strictness: Strictness,
) -> Result<Vec<String>, Status> {
    if json::deeper_than(value, json::MAX_DEPTH) {
        let message = format!("the object nests deeper than {} levels", json::MAX_DEPTH);
        return Err(Status::bad_request(message));
    }
    let Some(of) = schema::type_of(resource) else {
        return Ok(Vec::new());
    };
    let unknown = schema::read(of, value).map_err(|why| misfit(resource, &why))?;
    match strictness {
        Strictness::Ignore => Ok(Vec::new()),
        Strictness::Strict if !unknown.is_empty() => Err(misfit(resource, &refusal(&unknown))),
        Strictness::Warn | Strictness::Strict => Ok(unknown),
    }
}

/// Says which fields were refused.
fn refusal(unknown: &[String]) -> String {
    format!("strict decoding error: {}", unknown.join(", "))
}

fn misfit(resource: &Resource, why: &str) -> Status {
    let (kind, version) = (resource.kind, resource.api_version());
    Status::bad_request(format!(
        "{kind} in version {:?} cannot be handled as a {kind}: {why}",
        version.rsplit('/').next().unwrap_or(&version)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_object_with_the_right_parts_passes() {
        let pods = Resource::named("pods").unwrap();
        let cases = [
            (
                json!({"metadata": {"name": "a", "labels": {"k": "v"}}, "spec": null}),
                true,
            ),
            (json!({}), true),
            (json!([]), false),
            (json!({"spec": "x"}), false),
            (json!({"metadata": {"name": 1}}), false),
            (json!({"metadata": {"labels": {"k": 1}}}), false),
            (json!({"metadata": {"annotations": []}}), false),
        ];
        for (mut value, passes) in cases {
            assert_eq!(check_shape(pods, &mut value).is_ok(), passes, "{value}");
        }
    }

    #[test]
    fn an_unknown_field_is_dropped_told_or_refused() {
        let pods = Resource::named("pods").unwrap();
        let pod = json!({"spec": {"colour": "red", "containers": [{"name": "a", "sise": 1}]}});
        let told = [
            "unknown field \"spec.colour\"",
            "unknown field \"spec.containers[0].sise\"",
        ];
        let mut read = pod.clone();
        assert_eq!(decode(pods, &mut read, Strictness::Warn).unwrap(), told);
        assert_eq!(read, json!({"spec": {"containers": [{"name": "a"}]}}));
        assert!(
            decode(pods, &mut pod.clone(), Strictness::Ignore)
                .unwrap()
                .is_empty()
        );
        let refused = decode(pods, &mut pod.clone(), Strictness::Strict).unwrap_err();
        assert_eq!(
            (refused.code, refused.message),
            (
                400,
                format!(
                    "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: {}",
                    told.join(", ")
                )
            )
        );
    }

    #[test]
    fn a_wrong_type_is_told_as_go_tells_it() {
        let pods = Resource::named("pods").unwrap();
        for (pod, told) in [
            (
                json!({"spec": {"priority": "high"}}),
                "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32",
            ),
            (
                json!({"spec": {"containers": {}}}),
                "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
            ),
            (
                json!({"spec": {"nodeName": true}}),
                "json: cannot unmarshal bool into Go struct field PodSpec.spec.nodeName of type string",
            ),
            (
                json!({"spec": {"overhead": {"cpu": "lots"}}}),
                crate::quantity::UNREADABLE,
            ),
        ] {
            let refused = check_shape(pods, &mut pod.clone()).unwrap_err();
            assert!(refused.message.ends_with(told), "{}", refused.message);
        }
    }
}
