//! The rules of names, labels and keys (`k8s.io/apimachinery/pkg/util/validation`): each takes a text and
//! gives what is wrong with it, in the words of kube-apiserver.

/// The longest DNS subdomain (RFC 1123), in bytes.
const MAX_SUBDOMAIN: usize = 253;

/// The longest DNS label (RFC 1123), and the longest name part and value of a label, in bytes.
const MAX_LABEL: usize = 63;

/// The longest name of a port (RFC 6335), in bytes.
const MAX_PORT_NAME: usize = 15;

const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const NAME_PART_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const LABEL_VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const CONFIG_KEY_RULE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// Judges a DNS subdomain: the name of most objects.
pub(crate) fn subdomain(text: &str) -> Vec<String> {
    judge(
        text,
        MAX_SUBDOMAIN,
        text.split('.').all(is_label_text),
        SUBDOMAIN_RULE,
    )
}

/// Judges a DNS label: the name of a namespace or a container.
pub(crate) fn label(text: &str) -> Vec<String> {
    judge(text, MAX_LABEL, is_label_text(text), LABEL_RULE)
}

/// Judges the key of a label, a taint or an annotation: `[prefix/]name`.
pub(crate) fn qualified(text: &str) -> Vec<String> {
    let (prefix, name) = match text.split_once('/') {
        None => (None, text),
        Some((prefix, name)) if !name.contains('/') => (Some(prefix), name),
        Some(_) => {
            return vec![format!(
                "a valid label key {NAME_PART_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    let mut wrong = Vec::new();
    match prefix {
        Some("") => wrong.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => wrong.extend(
            subdomain(prefix)
                .into_iter()
                .map(|it| format!("prefix part {it}")),
        ),
        None => {}
    }
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_LABEL {
        wrong.push(format!("name part {}", too_long(MAX_LABEL)));
    }
    if !is_name_part(name) {
        wrong.push(format!("name part {NAME_PART_RULE}"));
    }
    wrong
}

/// Judges the value of a label.
pub(crate) fn label_value(text: &str) -> Vec<String> {
    judge(
        text,
        MAX_LABEL,
        text.is_empty() || is_name_part(text),
        LABEL_VALUE_RULE,
    )
}

/// Judges the name of a port.
pub(crate) fn port_name(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut add = |is_wrong: bool, why: &str| {
        if is_wrong {
            wrong.push(why.to_owned());
        }
    };
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    add(text.len() > MAX_PORT_NAME, &too_long(MAX_PORT_NAME));
    add(
        !text.bytes().all(plain),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    add(
        !text.bytes().any(|byte| byte.is_ascii_lowercase()),
        "must contain at least one letter (a-z)",
    );
    add(text.contains("--"), "must not contain consecutive hyphens");
    add(
        text.starts_with('-') || text.ends_with('-'),
        "must not begin or end with a hyphen",
    );
    wrong
}

/// Judges a key of a config map.
pub(crate) fn config_key(text: &str) -> Vec<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let fits = !text.is_empty() && text.bytes().all(plain);
    let mut wrong = judge(text, MAX_SUBDOMAIN, fits, CONFIG_KEY_RULE);
    match text {
        "." => wrong.push("must not be '.'".to_owned()),
        ".." => wrong.push("must not be '..'".to_owned()),
        text if text.starts_with("..") => wrong.push("must not start with '..'".to_owned()),
        _ => {}
    }
    wrong
}

/// Judges the number of a port.
pub(crate) fn port_number(number: i64) -> Option<String> {
    (!(1..=65535).contains(&number)).then(|| "must be between 1 and 65535, inclusive".to_owned())
}

fn judge(text: &str, most: usize, fits: bool, rule: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > most {
        wrong.push(too_long(most));
    }
    if !fits {
        wrong.push(rule.to_owned());
    }
    wrong
}

fn too_long(most: usize) -> String {
    format!("must be no more than {most} characters")
}

fn is_label_text(name: &str) -> bool {
    let plain = |letter: &u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.first().is_some_and(plain)
        && bytes.last().is_some_and(plain)
        && bytes.iter().all(|letter| plain(letter) || *letter == b'-')
}

fn is_name_part(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
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
        for (name, is_subdomain, is_label) in cases {
            assert_eq!(
                (subdomain(name).is_empty(), label(name).is_empty()),
                (is_subdomain, is_label),
                "{name}"
            );
        }
        assert_eq!(
            label(&"a".repeat(64)),
            ["must be no more than 63 characters"]
        );
        assert!(subdomain(&"a".repeat(253)).is_empty());
        assert_eq!(subdomain(&"a".repeat(254)).len(), 1);
    }

    #[test]
    fn a_label_has_a_key_with_an_optional_prefix_and_a_plain_value() {
        for (key, mistakes) in [
            ("app", 0),
            ("example.org/App_1", 0),
            ("a b", 1),
            ("x/y/z", 1),
            ("/a", 1),
            ("Example/a", 1),
            ("example.org/", 2),
            ("", 2),
        ] {
            assert_eq!(qualified(key).len(), mistakes, "{key}");
        }
        for (value, mistakes) in [("", 0), ("v1.2_x", 0), ("e f", 1), ("-a", 1)] {
            assert_eq!(label_value(value).len(), mistakes, "{value}");
        }
        assert_eq!(label_value(&"-".repeat(64)).len(), 2);
    }

    #[test]
    fn ports_and_keys_have_rules_of_their_own() {
        for (name, mistakes) in [("http", 0), ("UPPER", 2), ("1", 1), ("a--b", 1), ("-a", 1)] {
            assert_eq!(port_name(name).len(), mistakes, "{name}");
        }
        for (key, mistakes) in [("a.conf", 0), ("a b", 1), ("..", 1), ("..a", 1), (".", 1)] {
            assert_eq!(config_key(key).len(), mistakes, "{key}");
        }
        assert!(port_number(80).is_none());
        assert!(port_number(70_000).is_some());
    }
}
