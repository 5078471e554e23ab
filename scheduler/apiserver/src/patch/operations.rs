//! JSON patches (RFC 6902): applies the operations one by one, under bounds.
//!
//! A `copy` doubles what it copies, so a short patch could ask for endless depth or size; the bounds of
//! kube-apiserver (`handlers/patch.go`) are checked after each operation.

use json_patch::{Patch, PatchOperation};
use serde_json::Value;

use crate::{json, schema::go_kind, status::Status};

/// The most operations in one patch, as kube-apiserver.
const MAX_OPERATIONS: usize = 10_000;

/// How large `copy` operations may make an object, in bytes of memory: what the largest body that a
/// client may send (3 MiB) takes when it is parsed.
const MAX_COPIED: usize = 16 * 1024 * 1024;

/// Applies a patch to an object.
pub(super) fn apply(object: &mut Value, patch: &Value) -> Result<(), Status> {
    if !patch.is_array() {
        let found = go_kind(patch);
        return Err(Status::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
        )));
    }
    let Patch(operations) = serde_json::from_value(patch.clone())
        .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
    let count = operations.len();
    if count > MAX_OPERATIONS {
        return Err(too_large(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}"
        )));
    }
    for operation in operations {
        let copies = matches!(operation, PatchOperation::Copy(_));
        json_patch::patch(object, &[operation]).map_err(|error| {
            // kube-apiserver does not tell the client which operation failed.
            tracing::debug!(%error, "a json patch does not apply");
            let message = "the server rejected our request due to an error in our request";
            Status::new(422, "Invalid", message)
        })?;
        if json::deeper_than(object, json::MAX_DEPTH)
            || (copies && json::weight(object) > MAX_COPIED)
        {
            return Err(too_large("the patch makes the object too large".to_owned()));
        }
    }
    Ok(())
}

fn too_large(message: String) -> Status {
    Status::new(413, "RequestEntityTooLarge", message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(patch: &Value) -> Result<Value, u16> {
        let mut object = json!({"a": 1});
        apply(&mut object, patch).map_err(|status| status.code)?;
        Ok(object)
    }

    #[test]
    fn a_patch_that_cannot_be_read_or_applied_is_refused() {
        assert_eq!(
            code(&json!([{"op": "replace", "path": "/a", "value": 2}])),
            Ok(json!({"a": 2}))
        );
        assert_eq!(
            code(&json!([{"op": "test", "path": "/a", "value": 2}])),
            Err(422)
        );
        assert_eq!(code(&json!([{"op": "remove", "path": "/b"}])), Err(422));
        assert_eq!(code(&json!([{"op": "fly"}])), Err(400));
        assert_eq!(code(&json!({"a": 2})), Err(400));
    }

    #[test]
    fn a_patch_cannot_grow_an_object_without_end() {
        let wide: Vec<Value> = (0..60)
            .map(|at| json!({"op": "copy", "from": "", "path": format!("/w{at}")}))
            .collect();
        assert_eq!(code(&json!(wide)), Err(413));
        let deep: Vec<Value> = (0..60)
            .map(|at| json!({"op": "copy", "from": "", "path": "/d".repeat(1 << at.min(10))}))
            .collect();
        assert_eq!(code(&json!(deep)), Err(413));
        let many = vec![json!({"op": "test", "path": "/a", "value": 1}); MAX_OPERATIONS + 1];
        assert_eq!(code(&json!(many)), Err(413));
    }
}
