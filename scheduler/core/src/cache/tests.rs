//! Whatever comes in whatever order: the snapshot brought up to date step by step equals one
//! made anew, and both equal a plain model of the cluster.

mod ops;
mod same;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::test_util::{node, pod};
use plimsoll_framework::{Now, Snapshot};
use plimsoll_load::LoadOptions;
use proptest::prelude::*;

use self::ops::{Model, Op, apply, name, ops};
use self::same::{assert_same, rebuilt};
use super::Cache;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_snapshot_kept_up_to_date_equals_one_made_anew(ops in ops()) {
        let mut cache = Cache::new(LoadOptions::default());
        let mut model = Model::default();
        let mut now = Now::at(Duration::from_secs(100));
        let mut snapshot = Snapshot::empty(now);
        for op in ops.iter().chain([&Op::Snapshot]) {
            now = Now::at(now.mono + Duration::from_millis(30));
            apply(&mut cache, op, now);
            model.apply(op);
            if matches!(op, Op::Snapshot) {
                cache.update_snapshot(&mut snapshot, now);
                assert_same(&snapshot, &rebuilt(&cache, now));
                model.check(&cache, &snapshot);
            }
        }
    }
}

#[test]
fn an_update_touches_only_what_changed() {
    let mut cache = Cache::new(LoadOptions::default());
    let now = Now::at(Duration::from_secs(1));
    for number in 0..3 {
        cache.set_node(&node(&name("n", number)).arc(), now);
    }
    let mut snapshot = Snapshot::empty(now);
    cache.update_snapshot(&mut snapshot, now);
    let before: Vec<_> = snapshot.nodes().map(Arc::clone).collect();
    cache.assume(&pod("p").cpu("1").build(), &"n1".into(), now);
    cache.update_snapshot(&mut snapshot, now);
    let same: Vec<bool> = snapshot
        .nodes()
        .zip(&before)
        .map(|(now, then)| Arc::ptr_eq(now, then))
        .collect();
    assert_eq!(same, [true, false, true]);
    assert_eq!(
        before[1].pods.len(),
        0,
        "an older snapshot keeps what it had"
    );
}

#[test]
fn nodes_stand_zone_by_zone_in_turn() {
    let mut cache = Cache::new(LoadOptions::default());
    let now = Now::at(Duration::from_secs(1));
    let mut snapshot = Snapshot::empty(now);
    let mut names = |cache: &mut Cache| {
        cache.update_snapshot(&mut snapshot, now);
        snapshot
            .nodes()
            .map(|info| info.name().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (number, zone) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c"), (6, "c")] {
        cache.set_node(&node(&name("n", number)).zone(zone).arc(), now);
    }
    assert_eq!(names(&mut cache), "n1 n4 n5 n2 n6 n3");
    cache.set_node(&node("n1").zone("b").arc(), now);
    assert_eq!(names(&mut cache), "n2 n4 n5 n3 n1 n6");
    cache.remove_node("n4");
    cache.remove_node("n1");
    assert_eq!(names(&mut cache), "n2 n5 n3 n6");
}
