//! Events on the wire: one JSON object per line. The object's own JSON is copied, never made anew.

use serde_json::json;

use crate::{resources::Resource, schema, status::Status, store::Object, view::View};

/// The annotation of the bookmark behind the initial events (KEP-3157).
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What happened to an object, as a watch sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Added,
    Modified,
    Deleted,
}

impl Kind {
    const fn head(self) -> &'static [u8] {
        match self {
            Self::Added => br#"{"type":"ADDED","object":"#,
            Self::Modified => br#"{"type":"MODIFIED","object":"#,
            Self::Deleted => br#"{"type":"DELETED","object":"#,
        }
    }
}

/// Appends an event about an object.
pub(super) fn event(out: &mut Vec<u8>, kind: Kind, view: View, object: &Object) {
    out.extend_from_slice(kind.head());
    view.write(object, out);
    out.extend_from_slice(b"}\n");
}

/// Appends a bookmark: all changes up to the revision have been sent.
pub(super) fn bookmark(out: &mut Vec<u8>, resource: &Resource, revision: u64, ends_initial: bool) {
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if ends_initial {
        metadata["annotations"] = json!({INITIAL_EVENTS_END: "true"});
    }
    let mut object = json!({
        "kind": resource.kind,
        "apiVersion": resource.api_version(),
        "metadata": metadata,
    });
    if let Some(of) = schema::type_of(resource) {
        schema::fill(of, &mut object);
    }
    line(out, &json!({"type": "BOOKMARK", "object": object}));
}

/// Appends the event that ends a watch with a refusal.
pub(super) fn error(out: &mut Vec<u8>, status: &Status) {
    line(out, &json!({"type": "ERROR", "object": status.to_json()}));
}

fn line(out: &mut Vec<u8>, event: &serde_json::Value) {
    out.extend_from_slice(event.to_string().as_bytes());
    out.push(b'\n');
}
