//! What an engine refuses to be built from.

use std::sync::Arc;

use plimsoll_core::{BuildError, Engine, EngineOptions};
use plimsoll_framework::{Args, Depends, Hooks, PluginSpec, Point, Registry};

use crate::fakes;

fn build(registry: &Registry, plugins: &str) -> Result<Engine, BuildError> {
    let text = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
         profiles:\n- schedulerName: x\n  plugins:\n    multiPoint:\n      disabled: \
         [{{name: '*'}}]\n      enabled: [{plugins}]\n"
    );
    let config = plimsoll_config::load(&text, registry).expect("a right file");
    Engine::new(&config, EngineOptions::default())
}

fn empty(name: &'static str, points: &'static [Point]) -> PluginSpec {
    PluginSpec {
        name,
        points,
        depends: Depends::Node,
        decode_args: |_, _, _| Args::none(),
        build: |_| Hooks::default(),
    }
}

#[test]
fn a_plugin_that_does_not_build_the_hook_it_declares_is_named() {
    let registry = fakes::registry();
    let registry = registry
        .with(empty("Hollow", &[Point::Filter]))
        .expect("a new name");
    let error = build(&registry, "{name: Sort}, {name: Hollow}, {name: Binder}");
    let expected = BuildError::MissingHook {
        profile: Arc::from("x"),
        plugin: "Hollow",
        point: Point::Filter,
    };
    assert_eq!(error.err(), Some(expected.clone()));
    assert_eq!(
        expected.to_string(),
        "profile x: plugin Hollow has no hook for filter"
    );
}
