//! Paths of objects in the API.
//!
//! Takes names as they come from objects, gives a path that means that object and no
//! other, or refuses the name.

use plimsoll_objects::ObjectKey;

/// A name that cannot be part of a path. The API server gives no such names to objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be part of a path")]
pub(crate) struct BadName(String);

/// `/api/v1/namespaces/{namespace}/pods/{name}`, with a subresource where it is not empty.
pub(crate) fn pod(key: &ObjectKey, subresource: &str) -> Result<String, BadName> {
    item("/api/v1", "pods", key, subresource)
}

/// The path of one object under `root` (`/api/v1`, `/apis/{group}/{version}`).
pub(crate) fn item(
    root: &str,
    plural: &str,
    key: &ObjectKey,
    subresource: &str,
) -> Result<String, BadName> {
    let mut path = collection(root, plural, &key.namespace)?;
    path.push('/');
    path.push_str(segment(&key.name)?);
    if !subresource.is_empty() {
        path.push('/');
        path.push_str(segment(subresource)?);
    }
    Ok(path)
}

/// The path of all objects of one kind in a namespace; an empty one is for kinds without.
pub(crate) fn collection(root: &str, plural: &str, namespace: &str) -> Result<String, BadName> {
    let plural = segment(plural)?;
    if namespace.is_empty() {
        return Ok(format!("{root}/{plural}"));
    }
    Ok(format!(
        "{root}/namespaces/{}/{plural}",
        segment(namespace)?
    ))
}

/// `text`, if it is one segment of a path and needs no escaping.
pub(crate) fn segment(text: &str) -> Result<&str, BadName> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~".contains(&byte);
    if text.is_empty() || text == "." || text == ".." || !text.bytes().all(plain) {
        return Err(BadName(text.to_owned()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::ObjectKey;

    use super::{BadName, item, pod};

    #[test]
    fn a_pod_is_found_by_namespace_and_name() {
        let key = ObjectKey::new("team-a", "web-0");
        assert_eq!(
            pod(&key, "").as_deref(),
            Ok("/api/v1/namespaces/team-a/pods/web-0")
        );
        assert_eq!(
            pod(&key, "binding").as_deref(),
            Ok("/api/v1/namespaces/team-a/pods/web-0/binding")
        );
    }

    #[test]
    fn a_kind_without_namespace_has_none_in_its_path() {
        let path = item(
            "/apis/storage.k8s.io/v1",
            "csinodes",
            &ObjectKey::new("", "n1"),
            "",
        );
        assert_eq!(path.as_deref(), Ok("/apis/storage.k8s.io/v1/csinodes/n1"));
    }

    #[test]
    fn a_name_that_would_lead_elsewhere_is_refused() {
        for name in ["", ".", "..", "a/b", "a?b", "a#b", "a%2fb", "a b", "ä"] {
            let refused = pod(&ObjectKey::new("ns", name), "");
            assert_eq!(refused, Err(BadName(name.to_owned())));
        }
    }
}
