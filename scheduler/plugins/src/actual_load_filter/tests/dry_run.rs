//! The node of a dry run: other pods on it than the snapshot has.

use plimsoll_framework::LoadResource::Cpu;
use plimsoll_framework::test_util::{PodBuilder, Trial, cluster, load, node, pod};
use plimsoll_framework::{CycleState, FilterOutcome};
use proptest::prelude::{prop, prop_assert, proptest};
use serde_json::json;

use super::spec;

/// Whether a pod of `asked` millicores passes on a node of 4 cpus in use by `share`, with
/// `placed` pods, after `edit` of them: removed and added ones.
fn passes(
    share: f64,
    asked: u32,
    placed: &[PodBuilder],
    removed: &[&str],
    added: &[PodBuilder],
) -> bool {
    let placed = placed.iter().map(|pod| pod.clone().on("n1"));
    let cluster = cluster([node("n1")])
        .pods(placed)
        .load([load("n1").share(Cpu, share)]);
    let scene = cluster.scene(&pod("a").cpu(&format!("{asked}m")));
    let mut info = scene.node("n1").clone();
    for name in removed {
        info.remove_pod(pod(name).build().uid())
            .expect("it is there");
    }
    for pod in added {
        info.add_pod(pod.arc());
    }
    let trial = Trial::new(
        &spec(),
        &json!({"mode": "hard", "thresholds": {"cpu": 0.8}}),
    );
    let verdict = trial.filter(&scene.cycle(), &CycleState::new(), &info);
    verdict == Ok(FilterOutcome::Pass)
}

#[test]
fn a_victim_frees_its_share_of_what_is_measured() {
    let placed = [pod("p").cpu("1"), pod("q").cpu("3")];
    // 3.2 of 4 cpus in use: p's share is 0.8, q's 2.4.
    assert!(!passes(0.8, 500, &placed, &[], &[]));
    assert!(passes(0.8, 500, &placed, &["p"], &[]));
    assert!(!passes(0.8, 900, &placed, &["p"], &[]));
    assert!(passes(0.8, 2400, &placed, &["q"], &[]));
}

#[test]
fn a_victim_frees_no_more_than_it_requests_where_others_cause_the_load() {
    // All of the node is busy with work that is no pod's: evicting p cannot help.
    let placed = [pod("p").cpu("100m")];
    assert!(!passes(1.0, 500, &placed, &["p"], &[]));
}

#[test]
fn a_pod_that_is_taken_away_and_put_back_changes_nothing() {
    let placed = [pod("p").cpu("2"), pod("q").cpu("2")];
    let back = pod("p").cpu("2").on("n1");
    assert!(passes(
        0.6,
        800,
        &placed,
        &["p"],
        std::slice::from_ref(&back)
    ));
    assert!(!passes(0.6, 801, &placed, &["p"], &[back]));
}

#[test]
fn a_nominated_pod_counts_what_it_requests() {
    let nominated = [pod("n").cpu("1")];
    assert!(passes(0.4, 600, &[], &[], &nominated));
    assert!(!passes(0.4, 601, &[], &[], &nominated));
}

proptest! {
    #[test]
    fn fewer_pods_never_make_a_node_worse(
        share in 0.0..1.5_f64, asked in 0..3000_u32,
        requests in prop::collection::vec(0..2000_u32, 1..5), gone in prop::collection::vec(0..5_usize, 0..3),
    ) {
        let names: Vec<String> = (0..requests.len()).map(|index| format!("p{index}")).collect();
        let placed: Vec<PodBuilder> = names.iter().zip(&requests).map(|(name, cpu)| {
            pod(name).cpu(&format!("{cpu}m"))
        }).collect();
        let mut removed: Vec<&str> = gone.iter().filter_map(|index| names.get(*index)).map(String::as_str).collect();
        removed.sort_unstable();
        removed.dedup();
        let before = passes(share, asked, &placed, &[], &[]);
        prop_assert!(!before || passes(share, asked, &placed, &removed, &[]));
    }
}
