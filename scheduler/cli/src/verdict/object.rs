//! One object of a case: JSON to what the engine is told.
//!
//! Decodes as the scheduler does; beside that, a field that the kind does not have is a
//! mistake, since a case is written by hand. Kinds that the scheduler does not read are
//! taken and not looked at.

use std::sync::Arc;

use anyhow::{Context, bail};
use plimsoll_objects::{Node, Object, ObjectKind, Pod, decode_node, decode_pod};
use serde_json::Value;

/// An object by what it is to the engine.
pub(super) enum Known {
    Node(Arc<Node>),
    Pod(Arc<Pod>),
    Other(Object),
    /// Nothing reads it.
    Unread,
}

/// Decodes an object, which names its kind.
///
/// # Errors
/// It has no kind, or a mistake; names the place in it.
pub(super) fn decode(value: &Value) -> anyhow::Result<Known> {
    let api_version = text(value, "apiVersion")?.context("apiVersion is missing")?;
    let kind = text(value, "kind")?.context("kind is missing")?;
    Ok(match (api_version, kind) {
        ("v1", "Pod") => Known::Pod(pod(value)?),
        ("v1", "Node") => {
            let node = decode_node(&json(value))?;
            check(api_version, kind, value)?;
            Known::Node(Arc::new(node))
        }
        _ => match ObjectKind::of(api_version, kind) {
            None => Known::Unread,
            Some(known) => {
                let object = Object::decode(known, &json(value))?;
                check(api_version, kind, value)?;
                Known::Other(object)
            }
        },
    })
}

/// Decodes an object that must be a pod; it need not say so.
///
/// # Errors
/// It is something else, or has a mistake.
pub(super) fn decode_as_pod(value: &Value) -> anyhow::Result<Arc<Pod>> {
    let api_version = text(value, "apiVersion")?.unwrap_or("v1");
    let kind = text(value, "kind")?.unwrap_or("Pod");
    if (api_version, kind) != ("v1", "Pod") {
        bail!("expected a Pod, found {api_version} {kind}");
    }
    pod(value)
}

fn pod(value: &Value) -> anyhow::Result<Arc<Pod>> {
    let pod = decode_pod(&json(value))?;
    check("v1", "Pod", value)?;
    Ok(Arc::new(pod))
}

fn json(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// The text at `field`; an empty one counts as missing.
fn text<'v>(value: &'v Value, field: &str) -> anyhow::Result<Option<&'v str>> {
    match &value[field] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        other => bail!("{field}: expected a text, found {other}"),
    }
}

/// Looks for what the decoder skips; its own mistakes, with their paths, come first.
fn check(api_version: &str, kind: &str, value: &Value) -> anyhow::Result<()> {
    let found = plimsoll_apiserver::unknown_fields(api_version, kind, value);
    match found.map_err(anyhow::Error::msg)?.as_slice() {
        [] => Ok(()),
        unknown => bail!("{}", unknown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Known, decode, decode_as_pod};

    fn mistake(value: &Value) -> String {
        decode(value)
            .err()
            .map_or_else(String::new, |problem| format!("{problem:#}"))
    }

    #[test]
    fn a_kind_that_nothing_reads_is_not_looked_at() {
        let odd = json!({"apiVersion": "example.com/v7", "kind": "Odd", "spec": {"x": [1]}});
        assert!(matches!(decode(&odd), Ok(Known::Unread)));
    }

    #[test]
    fn mistakes_name_the_field() {
        let pod = |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "spec": spec});
        assert_eq!(mistake(&json!({"kind": "Pod"})), "apiVersion is missing");
        assert_eq!(
            mistake(&json!({"apiVersion": "v1", "kind": ""})),
            "kind is missing"
        );
        assert_eq!(
            mistake(&pod(json!({"containers": [{"nam": "x"}]}))),
            "unknown field \"spec.containers[0].nam\""
        );
        let text = mistake(&pod(json!({"priority": "high"})));
        assert!(text.contains("spec.priority"), "{text}");
    }

    #[test]
    fn a_pod_of_a_list_of_pods_need_not_say_that_it_is_one() {
        let bare = decode_as_pod(&json!({"metadata": {"name": "a"}}));
        assert_eq!(bare.expect("a pod").key().to_string(), "default/a");
        let node = decode_as_pod(&json!({"apiVersion": "v1", "kind": "Node"}));
        let text = node.expect_err("no pod").to_string();
        assert_eq!(text, "expected a Pod, found v1 Node");
    }
}
