//! The rule written down plainly, over random clusters: what the plugin says is the same.

use std::collections::BTreeMap;

use plimsoll_framework::test_util::{Cluster, PodBuilder, Scene, Trial, cluster, node};
use plimsoll_framework::{CycleState, NodeInfo, Rejection};
use plimsoll_objects::Pod;
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::super::{REASON, REASON_NO_LABEL, spec};
use super::{app, hard, spread, with};

/// Key, skew, `minDomains`, app that is counted (0 for an empty selector).
type Rule = (u8, i32, i32, u8);
/// Per node: its zone and its rack, 0 for none.
type Place = (u8, u8);
/// Node's index, app, whether it is being deleted.
type Placed = (usize, u8, bool);

const KEYS: [&str; 2] = ["zone", "rack"];

fn places() -> impl Strategy<Value = Vec<Place>> {
    prop::collection::vec((0..4_u8, 0..3_u8), 1..7)
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec((0..2_u8, 1..3_i32, 1..5_i32, 0..3_u8), 1..4)
}

fn made(places: &[Place], placed: &[Placed]) -> Cluster {
    let nodes = places.iter().enumerate().map(|(index, (zone, rack))| {
        let mut made = node(&format!("n{index}"));
        for (key, value) in KEYS.iter().zip([zone, rack]) {
            if *value > 0 {
                made = made.label(key, &value.to_string());
            }
        }
        made
    });
    let pods = placed
        .iter()
        .enumerate()
        .map(|(number, (on, kind, deleting))| {
            let pod = app(&format!("p{number}"), &kind.to_string());
            let pod = pod.on(&format!("n{}", on % places.len()));
            if *deleting {
                pod.deleted("2026-01-01T00:00:00Z")
            } else {
                pod
            }
        });
    cluster(nodes).pods(pods)
}

fn asking(rules: &[Rule]) -> PodBuilder {
    let constraints = rules.iter().map(|(key, max_skew, min_domains, kind)| {
        let selector = match kind {
            0 => json!({}),
            kind => json!({"matchLabels": {"app": kind.to_string()}}),
        };
        let fields = json!({"minDomains": min_domains, "labelSelector": selector});
        with(hard(KEYS[usize::from(*key)], *max_skew), fields)
    });
    let constraints: Vec<Value> = constraints.collect();
    spread(app("new", "1"), &constraints)
}

fn matches(rule: &Rule, pod: &Pod) -> bool {
    rule.3 == 0 || *pod.meta.labels["app"] == *rule.3.to_string()
}

/// Whether `node` can do, by the letter; `extra` counts for the node of its index.
fn judged(
    scene: &Scene,
    rules: &[Rule],
    node: &NodeInfo,
    extra: &[(u32, Pod, i64)],
) -> Result<(), Rejection> {
    let key = |rule: &Rule| KEYS[usize::from(rule.0)];
    let labels = |info: &NodeInfo| info.node.meta.labels.clone();
    let complete = |info: &NodeInfo| {
        rules
            .iter()
            .all(|rule| labels(info).contains_key(key(rule)))
    };
    for rule in rules {
        let mut domains: BTreeMap<String, i64> = BTreeMap::new();
        for info in scene.snapshot.nodes().filter(|info| complete(info)) {
            let counted = info
                .pods
                .iter()
                .filter(|pod| rule.3 != 0 && !pod.is_deleting() && matches(rule, pod));
            let more = extra
                .iter()
                .filter(|(on, pod, _)| *on == info.id.0 && matches(rule, pod));
            let more: i64 = more.map(|(_, _, by)| by).sum();
            let domain = labels(info)[key(rule)].to_string();
            *domains.entry(domain).or_default() += counted.count() as i64 + more;
        }
        let Some(domain) = labels(node).get(key(rule)).cloned() else {
            return Err(Rejection::unresolvable(REASON_NO_LABEL));
        };
        let least = domains
            .values()
            .min()
            .copied()
            .unwrap_or(i64::from(i32::MAX));
        let least = if (domains.len() as i32) < rule.2 {
            0
        } else {
            least
        };
        let own = i64::from(matches(rule, &scene.pod));
        let there = domains.get(&*domain).copied().unwrap_or(0);
        if there + own - least > i64::from(rule.1) {
            return Err(Rejection::unschedulable(REASON));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config::with_cases(150))]

    #[test]
    fn verdicts_are_those_of_the_plain_rule_before_and_in_dry_runs(
        places in places(),
        placed in prop::collection::vec((0..9_usize, 1..3_u8, any::<bool>()), 0..12),
        rules in rules(),
        steps in prop::collection::vec((0..9_usize, any::<bool>()), 0..6),
    ) {
        let scene = made(&places, &placed).scene(&asking(&rules));
        let (cycle, trial) = (scene.cycle(), Trial::new(&spec(), &Value::Null));
        let hook = trial.hooks.pre_filter.as_deref().expect("it has one");
        let mut state = CycleState::new();
        hook.pre_filter(&cycle, &mut state).expect("it is ready");
        let mut extra = Vec::new();
        for (on, adds) in steps.iter().map(Some).chain([None]).map(|step| step.copied().unwrap_or((0, true))) {
            for node in scene.snapshot.nodes() {
                let ours = trial.filter(&cycle, &state, node).map(|_| ());
                prop_assert_eq!(ours, judged(&scene, &rules, node, &extra), "{}", node.name());
            }
            let info = scene.snapshot.nodes().nth(on % places.len()).expect("a node");
            let other = app("x", &(1 + on % 2).to_string()).build();
            let told = if adds {
                hook.add_pod(&cycle, &mut state, &other, info)
            } else {
                hook.remove_pod(&cycle, &mut state, &other, info)
            };
            told.expect("no error");
            extra.push((info.id.0, other, if adds { 1 } else { -1 }));
        }
    }
}
