//! A dry run: pods thought to come and go end in the verdicts of a cluster made so.

use plimsoll_framework::test_util::{PodBuilder, Trial, cluster, node};
use plimsoll_framework::{CycleState, FilterOutcome, PreFilterOutcome, Rejection};
use proptest::prelude::{prop, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::super::spec;
use super::{HOST, WithTerms, ZONE, app, host, near, near_in};

const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];

fn term(number: u8) -> Value {
    let key = [HOST, ZONE, "rack"][usize::from(number % 3)];
    let app = format!("a{}", number % 4);
    match number % 5 {
        0 => near_in(key, &app, &json!({})),
        _ => near(key, &app),
    }
}

/// Pod number `n`: one of four apps, with terms or not.
fn numbered(n: u8) -> PodBuilder {
    let pod = app(&format!("p{n}"), &format!("a{}", n % 4));
    let pod = pod.namespace(if n.is_multiple_of(7) {
        "other"
    } else {
        "default"
    });
    match n % 3 {
        0 => pod.avoids(&[term(n / 3), term(n / 5)]),
        1 => pod.wants(&[term(n / 4), term(n / 4)]),
        _ => pod,
    }
}

fn verdicts(
    trial: &Trial,
    scene: &plimsoll_framework::test_util::Scene,
    state: &CycleState,
) -> Vec<Result<FilterOutcome, Rejection>> {
    let nodes = NODES.iter().map(|name| scene.node(name));
    nodes
        .map(|node| trial.filter(&scene.cycle(), state, node))
        .collect()
}

proptest! {
    #[test]
    fn pods_that_come_and_go_in_thought_are_judged_as_if_they_had(
        newcomer in (0_u8..60, prop::option::of(0_u8..20), prop::option::of(0_u8..20)),
        stay in prop::collection::vec((0_u8..60, 0_usize..4), 0..5),
        go in prop::collection::vec((60_u8..120, 0_usize..4), 0..4),
        come in prop::collection::vec((120_u8..180, 0_usize..4), 0..4),
    ) {
        let nodes = || [host("n1", "a").label("rack", "1"), host("n2", "a"), host("n3", "b"), node("n4")];
        let on = |pods: &[(u8, usize)]| -> Vec<PodBuilder> {
            let pods = pods.iter();
            pods.map(|(n, index)| numbered(*n).on(NODES[*index])).collect()
        };
        let (number, wants, avoids) = newcomer;
        let mut pod = app("new", &format!("a{}", number % 4));
        if let Some(wanted) = wants {
            pod = pod.wants(&[term(wanted), term(wanted / 2)]);
        }
        // One that keeps the plugin from skipping.
        pod = pod.avoids(&[term(avoids.unwrap_or(1)), near("none", "none")]);

        let before = cluster(nodes()).pods(on(&stay)).pods(on(&go)).scene(&pod);
        let after = cluster(nodes()).pods(on(&stay)).pods(on(&come)).scene(&pod);
        let trial = Trial::new(&spec(), &Value::Null);
        let (mut thought, mut anew) = (CycleState::new(), CycleState::new());
        let ready = trial.pre_filter(&before.cycle(), &mut thought);
        prop_assert_eq!(ready, Ok(PreFilterOutcome::Ready));
        drop(trial.pre_filter(&after.cycle(), &mut anew));
        let at_first = thought.clone();
        let seen = verdicts(&trial, &before, &at_first);

        let hook = trial.hooks.pre_filter.as_ref().expect("it has one");
        for (n, index) in &go {
            let node = before.node(NODES[*index]);
            hook.remove_pod(&before.cycle(), &mut thought, &numbered(*n).build(), node).unwrap();
        }
        for (n, index) in &come {
            let node = before.node(NODES[*index]);
            hook.add_pod(&before.cycle(), &mut thought, &numbered(*n).build(), node).unwrap();
        }
        prop_assert_eq!(verdicts(&trial, &before, &thought), verdicts(&trial, &after, &anew));
        prop_assert_eq!(verdicts(&trial, &before, &at_first), seen, "a clone is its own");
    }
}
