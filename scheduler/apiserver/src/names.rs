//! Checks names as RFC 1123 and kube-apiserver want them (`k8s.io/apimachinery/pkg/util/validation`).

use serde_json::Value;

use crate::{
    json,
    resources::{Quirk, Resource},
    status::Cause,
};

/// The longest DNS subdomain (RFC 1123), in bytes.
const MAX_SUBDOMAIN: usize = 253;

/// The longest DNS label (RFC 1123), in bytes.
const MAX_LABEL: usize = 63;

const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// Checks the name of an object.
pub(super) fn check(resource: &Resource, value: &Value) -> Vec<Cause> {
    let Some(name) = json::text(value, &["metadata", "name"]) else {
        let cause = Cause::required("metadata.name", "name or generateName is required");
        return vec![cause];
    };
    let (valid, rule) = if resource.has(Quirk::LabelName) {
        (is_label(name), LABEL_RULE)
    } else {
        (is_subdomain(name), SUBDOMAIN_RULE)
    };
    if valid {
        return Vec::new();
    }
    vec![Cause::invalid("metadata.name", name, rule)]
}

/// Checks the name of a part of an object, such as a container.
pub(super) fn check_label(field: &str, name: &str) -> Option<Cause> {
    (!is_label(name)).then(|| Cause::invalid(field, name, LABEL_RULE))
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= MAX_SUBDOMAIN && name.split('.').all(is_label_text)
}

fn is_label(name: &str) -> bool {
    name.len() <= MAX_LABEL && is_label_text(name)
}

fn is_label_text(name: &str) -> bool {
    let plain = |letter: &u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.first().is_some_and(plain)
        && bytes.last().is_some_and(plain)
        && bytes.iter().all(|letter| plain(letter) || *letter == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_judged_by_the_dns_rules() {
        let cases = [
            ("a", true, true),
            ("a-1", true, true),
            ("a.b", true, false),
            ("", false, false),
            ("-a", false, false),
            ("a-", false, false),
            ("A", false, false),
            ("a..b", false, false),
            ("a_b", false, false),
        ];
        for (name, subdomain, label) in cases {
            assert_eq!(
                (is_subdomain(name), is_label(name)),
                (subdomain, label),
                "{name}"
            );
        }
        assert!(!is_label(&"a".repeat(64)));
        assert!(is_subdomain(&"a".repeat(253)));
        assert!(!is_subdomain(&"a".repeat(254)));
    }
}
