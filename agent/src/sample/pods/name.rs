//! The names of a kubelet's cgroup folders: takes a name and what the folder above is called,
//! gives what it stands for. Both drivers (`kubepods-burstable-podUID.slice` of systemd,
//! `burstable/podUID` of cgroupfs) and any prefix of a nested kubelet (kind).

/// Ends the folders of the systemd driver.
const SLICE: &str = ".slice";
/// Groups of the two lower classes of service; Guaranteed pods have none.
const CLASSES: [&str; 2] = ["burstable", "besteffort"];
/// A uid is 36 bytes, the hash of a static pod's manifest 32; a manifest may set its own.
const LONGEST_UID: usize = 128;

/// True for the folder that holds all pods of a kubelet: `kubepods`, `kubepods.slice`, or
/// with the kubelet's own root before it, `kubelet-kubepods.slice`.
pub(super) fn is_kubepods(name: &str) -> bool {
    match name.strip_suffix(SLICE) {
        Some(stem) => stem == "kubepods" || stem.ends_with("-kubepods"),
        None => name == "kubepods",
    }
}

/// True if `name`, below the kubepods folder `above`, is that of a class of service.
pub(super) fn is_class(name: &str, above: &str) -> bool {
    let class = below(name, above).unwrap_or(name);
    CLASSES.contains(&class)
}

/// The uid of a pod's folder `name` below `above`: `metadata.uid`, or the hash of a static
/// pod's manifest as it stands.
pub(super) fn pod_uid(name: &str, above: &str) -> Option<String> {
    let uid = match below(name, above) {
        // systemd takes `-` for a step down the tree, so the kubelet writes `_`.
        Some(pod) => pod.strip_prefix("pod")?.replace('_', "-"),
        None => name.strip_prefix("pod")?.to_owned(),
    };
    let may_be = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_uid = !uid.is_empty()
        && uid.len() <= LONGEST_UID
        && uid.bytes().all(may_be)
        && !uid.ends_with(SLICE);
    is_uid.then_some(uid)
}

/// The last part of a slice's name: `pod1` of `kubepods-burstable-pod1.slice` below
/// `kubepods-burstable.slice`.
fn below<'a>(name: &'a str, above: &str) -> Option<&'a str> {
    let stem = above.strip_suffix(SLICE)?;
    name.strip_suffix(SLICE)?
        .strip_prefix(stem)?
        .strip_prefix('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_all_pods_is_known_under_either_driver_and_a_prefix() {
        for name in [
            "kubepods",
            "kubepods.slice",
            "kubelet-kubepods.slice",
            "a-b-kubepods.slice",
        ] {
            assert!(is_kubepods(name), "{name}");
        }
        for name in [
            "kubepods-burstable.slice",
            "mykubepods.slice",
            "kubelet-kubepods",
            "kubelet.slice",
            "system.slice",
            "kubepods.slice:cri:1",
            "",
        ] {
            assert!(!is_kubepods(name), "{name}");
        }
    }

    #[test]
    fn a_class_of_service_carries_the_name_of_the_slice_above() {
        assert!(is_class("burstable", "kubepods"));
        assert!(is_class("kubepods-besteffort.slice", "kubepods.slice"));
        assert!(is_class(
            "kubelet-kubepods-burstable.slice",
            "kubelet-kubepods.slice"
        ));
        assert!(!is_class(
            "kubepods-burstable.slice",
            "kubelet-kubepods.slice"
        ));
        assert!(!is_class("guaranteed", "kubepods"));
    }

    #[test]
    fn the_uid_of_a_pod_is_read_from_its_folder() {
        let uid = "1c0a6f2e-7b1d-4e0a-9d55-0f6f0f5f3a11";
        let hash = "3f2a9c7d1e4b5a6978c0d1e2f3a4b5c6";
        let slice = "kubepods-burstable-pod1c0a6f2e_7b1d_4e0a_9d55_0f6f0f5f3a11.slice";
        for (name, above, expected) in [
            (slice, "kubepods-burstable.slice", Some(uid)),
            (&*format!("pod{uid}"), "burstable", Some(uid)),
            (&*format!("pod{uid}"), "kubepods", Some(uid)),
            (&*format!("pod{hash}"), "kubepods", Some(hash)),
            (
                &*format!("kubepods-pod{hash}.slice"),
                "kubepods.slice",
                Some(hash),
            ),
            (
                &*format!("kubelet-kubepods-pod{hash}.slice"),
                "kubelet-kubepods.slice",
                Some(hash),
            ),
            (slice, "kubepods-besteffort.slice", None),
            ("pod", "kubepods", None),
            ("pod..slice", "kubepods", None),
            ("podman", "system", Some("man")),
            ("burstable", "kubepods", None),
            ("pod a", "kubepods", None),
            ("pod\u{e4}", "kubepods", None),
        ] {
            assert_eq!(pod_uid(name, above).as_deref(), expected, "{name}");
        }
        let long = format!("pod{}", "a".repeat(LONGEST_UID + 1));
        assert_eq!(pod_uid(&long, "kubepods"), None);
    }
}
