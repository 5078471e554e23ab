//! Resource names: which ones the scheduler counts beside cpu, memory and storage.
//!
//! The rules of `pkg/apis/core/v1/helper` and `schedutil.IsScalarResourceName`.

/// Prefix of huge pages, such as `hugepages-2Mi`.
pub const HUGEPAGES_PREFIX: &str = "hugepages-";
/// Prefix of the extended resource that each device class has by its own name.
pub const DEVICE_CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";
/// Prefix of limits of attached volumes.
const ATTACHABLE_VOLUMES_PREFIX: &str = "attachable-volumes-";
/// Prefix of quota names, which no pod may request.
const QUOTA_PREFIX: &str = "requests.";
/// The namespace of Kubernetes' own resources.
const NATIVE_NAMESPACE: &str = "kubernetes.io/";
/// Longest name part (RFC 1123 label length, `IsQualifiedName`).
const NAME_MAX: usize = 63;
/// Longest DNS subdomain.
const SUBDOMAIN_MAX: usize = 253;

/// Whether `name` is counted as a scalar: extended, huge pages, prefixed native, or
/// attachable volumes. All other names are ignored.
pub fn is_scalar(name: &str) -> bool {
    name.starts_with(HUGEPAGES_PREFIX)
        || name.starts_with(ATTACHABLE_VOLUMES_PREFIX)
        || name.contains(NATIVE_NAMESPACE)
        || is_extended(name)
}

/// Whether `name` is an extended resource: `domain/name` outside `kubernetes.io`.
pub fn is_extended(name: &str) -> bool {
    let Some((domain, rest)) = name.split_once('/') else {
        return false;
    };
    !name.contains(NATIVE_NAMESPACE)
        && !name.starts_with(QUOTA_PREFIX)
        && domain.len() + QUOTA_PREFIX.len() <= SUBDOMAIN_MAX
        && domain.split('.').all(is_dns_label)
        && is_name_part(rest)
}

/// Whether devices may stand behind `name`: an extended resource, or the name that a device
/// class has by itself (`schedutil.IsDRAExtendedResourceName`).
pub fn may_be_devices(name: &str) -> bool {
    is_extended(name) || name.starts_with(DEVICE_CLASS_PREFIX)
}

/// Whether the pod level of a pod may state an amount of `name`.
pub(crate) fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with(HUGEPAGES_PREFIX)
}

fn is_dns_label(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    ends_with_allowed(text, allowed) && text.bytes().all(|b| allowed(b) || b == b'-')
}

fn is_name_part(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric();
    text.len() <= NAME_MAX
        && ends_with_allowed(text, allowed)
        && text
            .bytes()
            .all(|b| allowed(b) || matches!(b, b'-' | b'_' | b'.'))
}

fn ends_with_allowed(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|b| allowed(*b)) && bytes.last().is_some_and(|b| allowed(*b))
}

#[cfg(test)]
mod tests {
    use super::{is_extended, is_scalar};

    #[test]
    fn extended_names_have_a_domain_of_their_own() {
        for name in ["nvidia.com/gpu", "example.com/a.b-c_D", "a/b", "x-y.z/1"] {
            assert!(is_extended(name) && is_scalar(name), "{name}");
        }
        for name in [
            "cpu",
            "gpu",
            "requests.nvidia.com/gpu",
            "kubernetes.io/batch",
            "a.kubernetes.io/b",
            "/gpu",
            "a/",
            "a/b/c",
            "A.com/gpu",
            "a..b/c",
            "-a.com/b",
            "a.com/-b",
            "a.com/b c",
        ] {
            assert!(!is_extended(name), "{name}");
        }
        assert!(is_extended(&format!("a.com/{}", "b".repeat(63))));
        assert!(!is_extended(&format!("a.com/{}", "b".repeat(64))));
    }

    #[test]
    fn native_scalars_count_without_being_extended() {
        for name in [
            "hugepages-2Mi",
            "attachable-volumes-aws-ebs",
            "kubernetes.io/batch",
        ] {
            assert!(is_scalar(name) && !is_extended(name), "{name}");
        }
        for name in [
            "cpu",
            "memory",
            "ephemeral-storage",
            "pods",
            "gpu",
            "requests.a.com/b",
        ] {
            assert!(!is_scalar(name), "{name}");
        }
    }
}
