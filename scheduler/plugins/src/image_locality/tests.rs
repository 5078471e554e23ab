//! Sizes, spread, names, and both ways to the same number.

use plimsoll_framework::test_util::{Cluster, PodBuilder, Trial, check_score, cluster, node, pod};
use plimsoll_framework::{CycleState, NodeId};
use proptest::prelude::{prop, prop_assert_eq, proptest};
use serde_json::Value;

use super::{MAX_BYTES_PER_IMAGE, MIB, MIN_BYTES, score, spec};

fn scores(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_score(&spec(), &Value::Null, cluster, pod)
}

#[test]
fn the_score_runs_from_one_threshold_to_the_other() {
    let cases = [
        (0, 1, 0),
        (MIN_BYTES, 1, 0),
        (MAX_BYTES_PER_IMAGE, 1, 100),
        (i64::MAX, 1, 100),
        (MAX_BYTES_PER_IMAGE, 2, 49),
        (MIN_BYTES + (MAX_BYTES_PER_IMAGE - MIN_BYTES) / 2, 1, 50),
        (i64::MAX, 0, 0),
        (-1, 3, 0),
    ];
    for (bytes, images, expected) in cases {
        assert_eq!(score(bytes, images), expected, "{bytes} of {images}");
    }
}

#[test]
fn an_image_counts_by_the_share_of_nodes_that_have_it() {
    let nodes = [
        node("n1").image("app:1", 1000 * MIB),
        node("n2").image("app:1", 1000 * MIB),
        node("n3"),
        node("n4"),
    ];
    // Half of the nodes have it, so it counts 500 MiB: (500 - 23) / (1000 - 23).
    assert_eq!(
        scores(&cluster(nodes), &pod("a").image("app:1")),
        ["n1: 48 -> 48", "n2: 48 -> 48", "n3: 0 -> 0", "n4: 0 -> 0"]
    );
}

#[test]
fn a_name_without_a_tag_means_latest() {
    let names = [
        ("app", "app:latest"),
        ("host:5000/app", "host:5000/app:latest"),
        ("app:2", "app:2"),
        ("app@sha256:0", "app@sha256:0"),
    ];
    for (asked, listed) in names {
        let cluster = cluster([node("n1").image(listed, 1000 * MIB)]);
        assert_eq!(
            scores(&cluster, &pod("a").image(asked)),
            ["n1: 100 -> 100"],
            "{asked}"
        );
    }
}

#[test]
fn every_container_counts_and_raises_the_threshold() {
    let cluster = cluster([node("n1").image("big:1", 1000 * MIB)]);
    let twice = pod("a").image("big:1").container("b").image("big:1");
    assert_eq!(scores(&cluster, &twice), ["n1: 100 -> 100"]);
    let once = pod("a").image("big:1").container("b").image("other:1");
    assert_eq!(scores(&cluster, &once), ["n1: 49 -> 49"]);
}

#[test]
fn the_first_node_tells_the_size() {
    let nodes = [
        node("n1").image("app:1", 500 * MIB),
        node("n2").image("app:1", 900 * MIB),
    ];
    assert_eq!(
        scores(&cluster(nodes), &pod("a").image("app:1")),
        ["n1: 48 -> 48", "n2: 48 -> 48"]
    );
}

#[test]
fn sizes_that_are_nonsense_do_not_overflow() {
    let node = node("n1")
        .image("a:1", i64::MAX)
        .image("b:1", i64::MAX)
        .image("c:1", i64::MIN);
    let cluster = cluster([node]);
    let twice = pod("a").image("a:1").container("b").image("b:1");
    assert_eq!(scores(&cluster, &twice), ["n1: 100 -> 100"]);
    let least = pod("a").image("c:1").container("b").image("c:1");
    assert_eq!(scores(&cluster, &least), ["n1: 0 -> 0"]);
}

#[test]
fn images_that_are_nowhere_score_nothing() {
    let cluster = cluster([node("n1").image("app:1", 1000 * MIB), node("n2")]);
    assert_eq!(
        scores(&cluster, &pod("a").image("new:1")),
        ["n1: 0 -> 0", "n2: 0 -> 0"]
    );
}

proptest! {
    #[test]
    fn a_score_is_the_same_without_pre_score(
        held in prop::collection::vec(prop::collection::vec((0..4_u8, 0..2000_i64), 0..4), 1..6),
        asked in prop::collection::vec(0..5_u8, 1..4),
    ) {
        let nodes = held.iter().enumerate().map(|(index, images)| {
            let bare = node(&format!("n{index}"));
            let put = |made: plimsoll_framework::test_util::NodeBuilder, (name, size): &(u8, i64)| {
                made.image(&format!("i{name}:1"), size * MIB)
            };
            images.iter().fold(bare, put)
        });
        let first = pod("a").image(&format!("i{}:1", asked[0]));
        let wanted = asked[1..].iter().fold(first, |made, name| {
            made.container("more").image(&format!("i{name}:1"))
        });
        let scene = cluster(nodes).scene(&wanted);
        let trial = Trial::new(&spec(), &Value::Null);
        let ids: Vec<NodeId> = scene.snapshot.order().to_vec();
        let cycle = scene.cycle();
        let prepared = trial.scores(&cycle, &mut CycleState::new(), &ids);
        let rows = prepared.expect("no failure").expect("no skip");
        let hook = trial.hooks.score.as_ref().expect("it scores");
        for row in rows {
            let info = scene.snapshot.get(row.node).expect("a node");
            let alone = hook.score(&cycle, &CycleState::new(), info);
            prop_assert_eq!(alone, Ok(row.raw));
        }
    }
}
