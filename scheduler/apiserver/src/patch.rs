//! The four kinds of PATCH: takes an object and a patch and gives the patched object.

mod operations;
mod strategic;

use serde_json::Value;

use crate::{
    schema::{self, Type},
    status::Status,
};

/// What the body of a PATCH is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchKind {
    /// RFC 6902: a list of operations.
    Json,
    /// RFC 7386: an object whose fields replace those of the target.
    Merge,
    /// As merge, with the lists that Kubernetes merges by key.
    Strategic,
    /// Server-side apply, which is no function of object and patch alone: see `owners`.
    Apply,
}

/// The media types of patches.
const MEDIA_TYPES: [(&str, PatchKind); 5] = [
    ("application/json-patch+json", PatchKind::Json),
    ("application/merge-patch+json", PatchKind::Merge),
    (
        "application/strategic-merge-patch+json",
        PatchKind::Strategic,
    ),
    ("application/apply-patch+yaml", PatchKind::Apply),
    ("application/apply-patch+json", PatchKind::Apply),
];

impl PatchKind {
    /// Reads the kind from a media type without parameters.
    pub(crate) fn of(media_type: &str) -> Result<Self, Status> {
        let known = MEDIA_TYPES.iter().find(|(name, _)| *name == media_type);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            let names = MEDIA_TYPES.map(|(name, _)| name);
            Status::unsupported_media_type(media_type, &names)
        })
    }

    /// Applies a patch to an object of a type.
    pub(crate) fn apply(
        self,
        of: Option<&Type>,
        target: &Value,
        patch: &Value,
    ) -> Result<Value, Status> {
        let mut object = target.clone();
        match self {
            Self::Json => operations::apply(&mut object, patch)?,
            Self::Merge => json_patch::merge(&mut object, an_object(patch)?),
            Self::Strategic => {
                strategic::merge(of, &mut object, an_object(patch)?)?;
            }
            Self::Apply => {
                let message = "this part of an object takes no apply patch";
                return Err(Status::bad_request(message));
            }
        }
        Ok(object)
    }
}

fn an_object(patch: &Value) -> Result<&Value, Status> {
    if patch.is_object() {
        return Ok(patch);
    }
    let found = schema::go_kind(patch);
    Err(Status::bad_request(format!(
        "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_merge_patch_replaces_lists_and_removes_nulls() {
        let target = json!({"a": {"b": 1, "c": [1, 2]}});
        let patch = json!({"a": {"b": null, "c": [3]}});
        assert_eq!(
            PatchKind::Merge.apply(None, &target, &patch).unwrap(),
            json!({"a": {"c": [3]}})
        );
        assert_eq!(
            PatchKind::Merge
                .apply(None, &target, &json!([]))
                .unwrap_err()
                .code,
            400
        );
    }

    #[test]
    fn another_media_type_is_no_patch() {
        assert_eq!(PatchKind::of("application/json").unwrap_err().code, 415);
        assert_eq!(
            PatchKind::of("application/apply-patch+yaml"),
            Ok(PatchKind::Apply)
        );
    }
}
