//! Which source is the figure, on small trees.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Cpu, CpuReading, CpuSource, Tick};
use crate::sample::cgroup::CgroupTree;
use crate::sample::counters::Counters;
use crate::sample::file::Buffer;
use crate::sample::fixture::Tree;
use crate::usage::Untrusted;

/// A node with `cpus` CPUs, one second per tick.
struct Rig {
    tree: Tree,
    cpu: Cpu,
    buffer: Buffer,
    counters: Counters,
    at: Duration,
    ticks: [u64; 2],
}

impl Rig {
    fn new(cpus: u32) -> Self {
        let tree = Tree::of(&[(
            "sys/devices/system/cpu/online",
            &format!("0-{}\n", cpus - 1),
        )]);
        Self {
            cpu: Cpu::new(&tree.root()),
            tree,
            buffer: Buffer::new(),
            counters: Counters::default(),
            at: Duration::ZERO,
            ticks: [0, 0],
        }
    }

    fn walk(&mut self) {
        let root = self.tree.root();
        let found = CgroupTree::find(&root.cgroup());
        self.cpu.apply(&root, found);
    }

    fn write(&self, path: &str, text: &str) {
        self.tree.write(path, text);
    }

    /// One second in which each of `lines` CPUs spent `busy` of 100 ticks.
    fn second(&mut self, lines: u32, busy: u64) -> CpuReading {
        self.ticks = [self.ticks[0] + busy, self.ticks[1] + 100 - busy];
        let [user, idle] = self.ticks;
        let mut text = format!("cpu {user} 0 0 {idle}\n");
        for cpu in 0..lines {
            let _ = writeln!(text, "cpu{cpu} {user} 0 0 {idle} 0 0 0 0 0 0");
        }
        self.write("proc/stat", &text);
        self.read()
    }

    /// Reads after another second.
    fn read(&mut self) -> CpuReading {
        self.at += Duration::from_secs(1);
        let tick = Tick {
            at: self.at,
            longest: Duration::from_secs(3),
        };
        self.cpu.step(tick, &mut self.buffer, &mut self.counters)
    }

    fn used_by_group(&self, group: &str, micros: u64) {
        let text = format!("usage_usec {micros}\nsystem_usec 0\n");
        self.write(&format!("sys/fs/cgroup/{group}/cpu.stat"), &text);
    }
}

#[test]
fn exact_counters_win_over_ticks() {
    let mut rig = Rig::new(4);
    rig.used_by_group("kubepods.slice", 0);
    rig.walk();
    assert_eq!(rig.second(4, 50).millicores, None);
    rig.used_by_group("kubepods.slice", 236_000);
    let reading = rig.second(4, 3);
    assert_eq!(reading.millicores, Some(236.0));
    assert_eq!(reading.source, Some(CpuSource::CgroupV2));
    assert_eq!(reading.tick_ratio, Some(0.03));
}

#[test]
fn a_tick_without_counters_falls_back_to_stat() {
    let mut rig = Rig::new(4);
    rig.used_by_group("kubepods.slice", 0);
    rig.walk();
    rig.second(4, 50);
    rig.write("sys/fs/cgroup/kubepods.slice/cpu.stat", "broken\n");
    let reading = rig.second(4, 50);
    assert_eq!(reading.millicores, Some(2_000.0));
    assert_eq!(reading.source, Some(CpuSource::ProcStat));
}

#[test]
fn counters_above_the_capacity_are_not_believed() {
    let mut rig = Rig::new(4);
    rig.used_by_group("kubepods.slice", 0);
    rig.walk();
    rig.second(4, 50);
    rig.used_by_group("kubepods.slice", 5_000_000);
    assert_eq!(rig.second(4, 50).source, Some(CpuSource::ProcStat));
    assert_eq!(rig.counters.implausible, 1);
}

#[test]
fn a_little_above_the_capacity_is_the_capacity() {
    let mut rig = Rig::new(4);
    rig.used_by_group("kubepods.slice", 0);
    rig.walk();
    rig.second(4, 100);
    rig.used_by_group("kubepods.slice", 4_100_000);
    assert_eq!(rig.second(4, 100).millicores, Some(4_000.0));
}

#[test]
fn a_tree_that_is_not_the_whole_machine_is_given_up() {
    let mut rig = Rig::new(4);
    rig.used_by_group("system.slice", 0);
    rig.walk();
    let mut used = 0;
    let mut readings = Vec::new();
    for _ in 0..40 {
        used += 40_000;
        rig.used_by_group("system.slice", used);
        readings.push(rig.second(4, 80));
    }
    assert_eq!(readings[10].source, Some(CpuSource::CgroupV2));
    assert!(rig.cpu.wants_walk());
    assert_eq!(readings[39].source, Some(CpuSource::ProcStat));
    assert_eq!(readings[39].millicores, Some(3_200.0));
    assert!(rig.counters.cross_check_failed > 0);
}

#[test]
fn a_kind_node_is_its_own_container_and_not_the_host() {
    let mut rig = Rig::new(4);
    rig.write("sys/fs/cgroup/cgroup.type", "domain\n");
    rig.write("sys/fs/cgroup/cpu.stat", "usage_usec 0\n");
    rig.used_by_group("kubelet.slice", 0);
    rig.walk();
    rig.second(4, 90);
    rig.write("sys/fs/cgroup/cpu.stat", "usage_usec 500000\n");
    let reading = rig.second(4, 90);
    assert_eq!(reading.millicores, Some(500.0));
    assert_eq!(reading.source, Some(CpuSource::CgroupV2));
}

#[test]
fn one_look_at_another_number_of_cpus_is_no_verdict_and_two_are() {
    let mut rig = Rig::new(4);
    rig.second(4, 50);
    let first = rig.second(5, 50);
    assert_eq!((first.millicores, first.untrusted), (None, None));
    let second = rig.second(5, 50);
    let reason = Untrusted::CpuLines { stat: 5, online: 4 };
    assert_eq!((second.millicores, second.untrusted), (None, Some(reason)));
    rig.write("sys/devices/system/cpu/online", "0-4\n");
    let third = rig.second(5, 50);
    assert_eq!((third.millicores, third.untrusted), (Some(2_500.0), None));
    assert_eq!(rig.second(6, 50).untrusted, None, "the count begins anew");
}

#[test]
fn without_an_online_list_the_lines_are_the_cpus() {
    let mut rig = Rig::new(4);
    rig.tree.remove("sys/devices");
    rig.second(6, 50);
    let reading = rig.second(6, 50);
    assert_eq!((reading.cpus, reading.millicores), (Some(6), Some(3_000.0)));
}

#[test]
fn a_total_alone_gives_shares_though_no_count_of_cpus_makes_millicores_of_them() {
    let mut rig = Rig::new(4);
    rig.tree.remove("sys/devices");
    rig.write("proc/stat", "cpu  100 0 0 100 0 0 0 0 0 0\n");
    rig.read();
    rig.write("proc/stat", "cpu  155 0 0 135 0 0 0 10 0 0\n");
    let reading = rig.read();
    assert_eq!((reading.tick_ratio, reading.steal), (Some(0.55), Some(0.1)));
    assert_eq!((reading.cpus, reading.millicores), (None, None));
}

#[test]
fn without_any_file_there_is_no_figure() {
    let mut rig = Rig::new(4);
    rig.tree.remove("sys/devices");
    let tick = Tick {
        at: Duration::from_secs(1),
        longest: Duration::from_secs(3),
    };
    for _ in 0..2 {
        let reading = rig.cpu.step(tick, &mut rig.buffer, &mut rig.counters);
        assert_eq!(reading, CpuReading::default());
    }
    assert_eq!(rig.counters.unreadable.stat, 2);
}
