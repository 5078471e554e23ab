//! Sums of counters while groups come, go and fail.

use std::time::Duration;

use super::{CgroupTree, ExactCpu};
use crate::sample::counter::Tick;
use crate::sample::counters::Counters;
use crate::sample::file::Buffer;
use crate::sample::fixture::Tree;

/// A v2 tree and its reader, one second per tick.
struct Rig {
    tree: Tree,
    exact: ExactCpu,
    buffer: Buffer,
    counters: Counters,
    at: Duration,
}

impl Rig {
    fn new(groups: &[(&str, u64)]) -> Self {
        let mut rig = Self {
            tree: Tree::new(),
            exact: ExactCpu::default(),
            buffer: Buffer::new(),
            counters: Counters::default(),
            at: Duration::ZERO,
        };
        rig.set(groups);
        rig.walk();
        rig
    }

    fn set(&self, groups: &[(&str, u64)]) {
        for (name, micros) in groups {
            let text = format!(
                "usage_usec {micros}\nuser_usec 0\nsystem_usec {}\n",
                micros / 4
            );
            self.tree
                .write(&format!("sys/fs/cgroup/{name}/cpu.stat"), &text);
        }
    }

    fn walk(&mut self) {
        self.exact
            .apply(CgroupTree::find(&self.tree.root().cgroup()));
    }

    /// Total and system millicores.
    fn tick(&mut self) -> Option<(f64, Option<f64>)> {
        self.at += Duration::from_secs(1);
        let tick = Tick {
            at: self.at,
            longest: Duration::from_secs(3),
        };
        let found = self.exact.step(tick, &mut self.buffer, &mut self.counters);
        found.map(|exact| (exact.millicores, exact.system_millicores))
    }
}

#[test]
fn groups_are_added_up() {
    let mut rig = Rig::new(&[("kubepods.slice", 1_000_000), ("system.slice", 8_000_000)]);
    assert_eq!(rig.tick(), None);
    rig.set(&[("kubepods.slice", 1_400_000), ("system.slice", 8_200_000)]);
    assert_eq!(rig.tick(), Some((600.0, Some(150.0))));
}

#[test]
fn a_new_group_counts_from_its_second_reading_on() {
    let mut rig = Rig::new(&[("kubepods.slice", 1_000_000)]);
    rig.tick();
    rig.set(&[("kubepods.slice", 1_400_000), ("user.slice", 90_000_000)]);
    rig.walk();
    assert_eq!(rig.tick(), Some((400.0, Some(100.0))));
    rig.set(&[("kubepods.slice", 1_400_000), ("user.slice", 90_100_000)]);
    assert_eq!(rig.tick(), Some((100.0, Some(25.0))));
}

#[test]
fn a_group_that_is_gone_uses_nothing() {
    let mut rig = Rig::new(&[("kubepods.slice", 1_000_000), ("user.slice", 90_000_000)]);
    rig.tick();
    rig.set(&[("kubepods.slice", 1_400_000)]);
    rig.tree.remove("sys/fs/cgroup/user.slice");
    rig.walk();
    assert_eq!(rig.tick(), Some((400.0, Some(100.0))));
}

#[test]
fn a_group_that_cannot_be_read_leaves_no_sum() {
    let mut rig = Rig::new(&[("kubepods.slice", 1_000_000), ("system.slice", 8_000_000)]);
    rig.tick();
    rig.tree
        .write("sys/fs/cgroup/kubepods.slice/cpu.stat", "nonsense\n");
    assert_eq!(rig.tick(), None);
    assert_eq!(rig.counters.unreadable.cgroup, 1);
    rig.set(&[("kubepods.slice", 2_000_000), ("system.slice", 8_000_000)]);
    assert_eq!(
        rig.tick().map(|(total, _)| total),
        Some(500.0),
        "over both periods"
    );
}

#[test]
fn a_counter_that_goes_back_leaves_no_sum_for_one_tick() {
    let mut rig = Rig::new(&[("kubepods.slice", 1_000_000), ("system.slice", 8_000_000)]);
    rig.tick();
    rig.set(&[("kubepods.slice", 10_000), ("system.slice", 8_100_000)]);
    assert_eq!(rig.tick(), None);
    rig.set(&[("kubepods.slice", 110_000), ("system.slice", 8_200_000)]);
    assert_eq!(rig.tick().map(|(total, _)| total), Some(200.0));
}

#[test]
fn nanoseconds_of_v1_are_told_from_microseconds_of_v2() {
    let mut rig = Rig::new(&[]);
    let usage = "sys/fs/cgroup/cpuacct/cpuacct.usage";
    rig.tree.write("sys/fs/cgroup/cpuacct/release_agent", "\n");
    rig.tree.write(usage, "1000000000\n");
    rig.walk();
    rig.tick();
    rig.tree.write(usage, "1250000000\n");
    assert_eq!(rig.tick(), Some((250.0, None)));
}
