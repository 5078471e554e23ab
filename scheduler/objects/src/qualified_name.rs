//! Kubernetes' rules for names such as `example.com/gpu`, and for values of labels.
//!
//! Takes a text, gives every way in which it breaks the rule, in the words of
//! `apimachinery/pkg/util/validation` (`IsQualifiedName`, `IsValidLabelValue`).

/// Longest name part, and longest value of a label.
const NAME_MAX: usize = 63;
/// Longest DNS subdomain.
const PREFIX_MAX: usize = 253;

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
     start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
     regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric \
     characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
     'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const PREFIX_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
     characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
     'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with `value` as the value of a label: empty if nothing is.
pub fn value_mistakes(value: &str) -> Vec<String> {
    let mut mistakes = Vec::new();
    if value.len() > NAME_MAX {
        mistakes.push(format!("must be no more than {NAME_MAX} bytes"));
    }
    if !value.is_empty() && !is_framed(value, |b| b.is_ascii_alphanumeric(), b"-_.") {
        mistakes.push(VALUE_RULE.to_owned());
    }
    mistakes
}

/// What is wrong with `text` as a name: empty if nothing is.
pub fn mistakes(text: &str) -> Vec<String> {
    let mut mistakes = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            check_prefix(prefix, &mut mistakes);
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {NAME_RULE} with an optional DNS subdomain prefix and '/' \
                 (e.g. 'example.com/MyName')"
            )];
        }
    };
    check_name(name, &mut mistakes);
    mistakes
}

fn check_prefix(prefix: &str, mistakes: &mut Vec<String>) {
    if prefix.is_empty() {
        mistakes.push("prefix part must be non-empty".to_owned());
        return;
    }
    if prefix.len() > PREFIX_MAX {
        mistakes.push(format!(
            "prefix part must be no more than {PREFIX_MAX} bytes"
        ));
    }
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if !prefix.split('.').all(|label| is_framed(label, lower, b"-")) {
        mistakes.push(format!("prefix part {PREFIX_RULE}"));
    }
}

fn check_name(name: &str, mistakes: &mut Vec<String>) {
    if name.is_empty() {
        mistakes.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_MAX {
        mistakes.push(format!("name part must be no more than {NAME_MAX} bytes"));
    }
    if !is_framed(name, |b| b.is_ascii_alphanumeric(), b"-_.") {
        mistakes.push(format!("name part {NAME_RULE}"));
    }
}

/// Whether `text` begins and ends with an `outer` byte and has only those and `inner` ones.
fn is_framed(text: &str, outer: impl Fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|b| outer(*b))
        && bytes.last().is_some_and(|b| outer(*b))
        && bytes.iter().all(|b| outer(*b) || inner.contains(b))
}

#[cfg(test)]
mod tests {
    use super::{mistakes, value_mistakes};

    #[test]
    fn names_with_and_without_a_domain_are_right() {
        for text in ["cpu", "example.com/gpu", "a.b-c/D_e.f", "A", "1/2"] {
            assert_eq!(mistakes(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn each_mistake_is_named() {
        let cases = [
            (
                "",
                ["name part must be non-empty", "name part must consist"].as_slice(),
            ),
            ("bad name", &["name part must consist"]),
            ("-a", &["name part must consist"]),
            ("a/b/c", &["a valid label key must consist"]),
            ("/gpu", &["prefix part must be non-empty"]),
            (
                "Example.com/gpu",
                &["prefix part a lowercase RFC 1123 subdomain"],
            ),
            ("a..b/gpu", &["prefix part a lowercase RFC 1123 subdomain"]),
            (
                "a_b/-",
                &["prefix part a lowercase", "name part must consist"],
            ),
        ];
        for (text, expected) in cases {
            let found = mistakes(text);
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{text}: {found}");
            }
        }
    }

    #[test]
    fn lengths_are_bounded() {
        assert!(mistakes(&"a".repeat(63)).is_empty());
        assert_eq!(
            mistakes(&"a".repeat(64)),
            ["name part must be no more than 63 bytes"]
        );
        let long = format!("{}/a", "a".repeat(254));
        assert!(mistakes(&long)[0].starts_with("prefix part must be no more than 253"));
    }

    #[test]
    fn the_value_of_a_label_may_be_empty_and_is_bounded() {
        for value in ["", "a", "A_b.c-1", &"a".repeat(63)] {
            assert_eq!(value_mistakes(value), [""; 0], "{value}");
        }
        for value in ["-5", "a b", "a-", "a/b"] {
            assert_eq!(value_mistakes(value).len(), 1, "{value}");
        }
        let long = format!("{}-", "a".repeat(63));
        assert_eq!(value_mistakes(&long)[0], "must be no more than 63 bytes");
        assert_eq!(value_mistakes(&long).len(), 2);
    }
}
