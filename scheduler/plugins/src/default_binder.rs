//! `DefaultBinder`: binds by a `Binding`.
//!
//! kube-scheduler `plugins/defaultbinder`. The engine writes `pods/{name}/binding` with the
//! pod's uid, so that a pod of the same name made meanwhile is not bound by mistake.

use std::sync::Arc;

use plimsoll_framework::{
    Bind, BindOutcome, CycleState, Depends, Hooks, PluginSpec, Point, Rejection,
};
use plimsoll_objects::Pod;

use crate::unread_args;

/// The plugin's name.
pub const NAME: &str = "DefaultBinder";

struct DefaultBinder;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::Bind],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| Hooks::default().with_bind(&Arc::new(DefaultBinder)),
    }
}

impl Bind for DefaultBinder {
    fn bind(&self, _pod: &Pod, _state: &CycleState, _node: &str) -> Result<BindOutcome, Rejection> {
        Ok(BindOutcome::Binding)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::{check_args, check_bind, pod};
    use serde_json::{Value, json};

    use super::spec;

    #[test]
    fn every_pod_is_bound_by_a_binding() {
        assert_eq!(
            check_bind(&spec(), &Value::Null, &pod("a"), "n1"),
            "Binding"
        );
    }

    #[test]
    fn args_are_kept_unread_as_kube_scheduler_keeps_them() {
        let args = json!({"retries": 3});
        assert_eq!(check_args(&spec(), &args), Ok(args));
    }
}
