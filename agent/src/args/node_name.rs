//! Names of nodes, as Kubernetes allows them: DNS-1123 subdomains.

/// Longest name of an object.
const MAX_BYTES: usize = 253;

/// Reads a node's name.
///
/// # Errors
/// In words, if no Node object can have this name.
pub(super) fn parse_node_name(text: &str) -> Result<String, String> {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().copied().is_some_and(is_end)
            && bytes.last().copied().is_some_and(is_end)
            && bytes.iter().all(|byte| is_end(*byte) || *byte == b'-')
    };
    if text.len() <= MAX_BYTES && text.split('.').all(is_label) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "is not a node's name: at most {MAX_BYTES} of a-z, 0-9, '-' and '.', each part beginning \
         and ending with a letter or digit"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_node_can_have_are_taken() {
        for name in ["a", "node-1", "ip-10-0-0-1.eu-west-1.compute.internal"] {
            assert_eq!(parse_node_name(name).as_deref(), Ok(name));
        }
        for name in ["", "A", "a_b", "-a", "a-", "a..b", "a b", &"a".repeat(254)] {
            assert!(parse_node_name(name).is_err(), "{name}");
        }
    }
}
