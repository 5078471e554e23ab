//! Which pods are like each other: every plugin that says so in its `depends` says the same
//! of both (kube-scheduler's opportunistic batching signs pods for the same purpose).

use plimsoll_objects::Pod;

/// Whether two pods differ in nothing but name, uid, times and status.
pub(crate) fn is_alike(one: &Pod, other: &Pod) -> bool {
    let (a, b) = (&one.meta, &other.meta);
    one.spec == other.spec
        && a.key.namespace == b.key.namespace
        && a.labels == b.labels
        && a.annotations == b.annotations
        && a.controller == b.controller
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::pod;

    use super::is_alike;

    #[test]
    fn pods_of_one_template_are_alike_whatever_they_are_called() {
        let web = |name| pod(name).label("app", "web").cpu("1").build();
        assert!(is_alike(&web("web-1"), &web("web-2")));
        let others = [
            pod("web-3").label("app", "web").cpu("2").build(),
            pod("web-3").label("app", "db").cpu("1").build(),
            pod("web-3")
                .label("app", "web")
                .cpu("1")
                .priority(1)
                .build(),
        ];
        for other in others {
            assert!(!is_alike(&web("web-1"), &other), "{other:?}");
        }
    }
}
