//! Plugins that a profile lists at `filter` or `score` without the point before: what they
//! cannot judge they refuse, in the words of kube-scheduler.

use plimsoll_framework::CycleState;
use plimsoll_framework::PluginSpec;
use plimsoll_framework::test_util::{Trial, cluster, node, pod};
use serde_json::Value;

use crate::volume_fixtures::{bound_claim, csi_node, volume, waiting_class, with_claims};

#[test]
fn filter_without_pre_filter_is_an_error_where_its_state_is_needed() {
    let cases: [(PluginSpec, &str); 3] = [
        (crate::volume_binding::spec(), "not found"),
        (
            crate::volume_restrictions::spec(),
            "cannot read \"PreFilterVolumeRestrictions\" from cycleState",
        ),
        (
            crate::pod_topology_spread::spec(),
            "reading \"PreFilterPodTopologySpread\" from cycleState: not found",
        ),
    ];
    let scene = cluster([node("n1")]).scene(&pod("a"));
    for (spec, expected) in cases {
        let trial = Trial::new(&spec, &Value::Null);
        let said = trial.filter(&scene.cycle(), &CycleState::new(), scene.node("n1"));
        let said = said.map_err(|error| error.message());
        assert_eq!(said, Err(expected.to_owned()), "{}", spec.name);
    }
}

#[test]
fn spread_is_not_scored_without_pre_score() {
    let scene = cluster([node("n1")]).scene(&pod("a"));
    let trial = Trial::new(&crate::pod_topology_spread::spec(), &Value::Null);
    let hook = trial.hooks.score.as_ref().expect("it scores");
    let said = hook.score(&scene.cycle(), &CycleState::new(), scene.node("n1"));
    assert_eq!(
        said.map_err(|error| error.message()),
        Err("error reading \"PreScorePodTopologySpread\" from cycleState: not found".to_owned())
    );
}

#[test]
fn a_pod_that_asks_for_nothing_is_balanced_nowhere_without_pre_score_too() {
    let scene = cluster([node("n1")]).scene(&pod("a"));
    let spec = crate::node_resources_balanced_allocation::spec();
    let trial = Trial::new(&spec, &Value::Null);
    let hook = trial.hooks.score.as_ref().expect("it scores");
    let said = hook.score(&scene.cycle(), &CycleState::new(), scene.node("n1"));
    assert_eq!(said, Ok(0));
}

#[test]
fn volume_limits_hold_without_pre_filter_too() {
    let scene = cluster([node("n1")])
        .objects([
            csi_node("n1", &[("csi.example.com", Some(0))]),
            waiting_class("fast", "csi.example.com"),
            volume("v", "fast"),
            bound_claim("c", "fast", "v"),
        ])
        .scene(&with_claims("a", &["c"]));
    let trial = Trial::new(&crate::node_volume_limits::spec(), &Value::Null);
    let said = trial.filter(&scene.cycle(), &CycleState::new(), scene.node("n1"));
    assert_eq!(
        said.map_err(|error| error.message()),
        Err("node(s) exceed max volume count".to_owned())
    );
}
