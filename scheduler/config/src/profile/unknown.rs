//! What to say about a plugin name that no plugin of this binary has.

use plimsoll_framework::Registry;

use super::others;
use crate::defaults::{GATED_PLUGINS, PLUGINS};
use crate::names::nearest;

/// Whether kube-scheduler has a plugin of this name.
pub(super) fn is_upstream(name: &str) -> bool {
    let default = PLUGINS.iter().any(|(own, _)| *own == name);
    default || GATED_PLUGINS.iter().any(|(own, _)| *own == name)
}

/// The problem, with the name that was probably meant or what to use instead.
pub(super) fn describe(name: &str, registry: &Registry) -> String {
    if is_upstream(name) {
        return format!("plugin `{name}` of kube-scheduler is not part of this build");
    }
    if let Some(advice) = others::instead_of(name) {
        return format!("unknown plugin `{name}`: {advice}");
    }
    match meant(name, registry) {
        Some(meant) => format!("unknown plugin `{name}` (did you mean `{meant}`?)"),
        None => format!("unknown plugin `{name}`"),
    }
}

/// The plugin whose name is most like `name`.
pub(super) fn meant<'r>(name: &str, registry: &'r Registry) -> Option<&'r str> {
    let own = registry.iter().map(|spec| spec.name);
    let upstream = PLUGINS
        .iter()
        .map(|(own, _)| *own)
        .chain(GATED_PLUGINS.iter().map(|(own, _)| *own));
    nearest(name, own.chain(upstream))
}
