//! The sampler as a whole: first sample, gaps, surveys, and hostile trees.

use std::time::Duration;

use proptest::prelude::*;

use super::fixture::Tree;
use super::{NodeSampler, Source};
use crate::clock::Clock;

const PERIOD: Duration = Duration::from_secs(1);

fn node() -> Tree {
    let tree = Tree::of(&[
        ("proc/stat", "cpu 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\n"),
        ("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n"),
        (
            "proc/pressure/cpu",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n",
        ),
        ("sys/devices/system/cpu/online", "0\n"),
    ]);
    tree.nic("eth0", 1_000, 1_000, "1000");
    tree
}

fn grow(tree: &Tree) {
    tree.write("proc/stat", "cpu 0 0 0 0\ncpu0 150 0 0 130 0 0 0 20 0 0\n");
    tree.write(
        "proc/pressure/cpu",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=251000\n",
    );
    tree.traffic("eth0", 1_500, 1_250);
}

#[test]
fn the_first_sample_has_no_rates() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    let first = sampler.sample(PERIOD);
    assert_eq!(first.interval, Duration::ZERO);
    assert_eq!(
        (first.cpu_millicores, first.rx_bytes_per_second),
        (None, None)
    );
    assert_eq!((first.pressure.cpu, first.steal), (None, None));
}

#[test]
fn the_second_sample_has_all_that_the_tree_holds() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    sampler.sample(PERIOD);
    grow(&tree);
    let second = sampler.sample(2 * PERIOD).clone();
    assert_eq!(second.interval, PERIOD);
    assert_eq!(second.cpu_millicores, Some(500.0));
    assert_eq!(second.steal, Some(0.2));
    assert_eq!(second.memory_bytes, Some(600 * 1024));
    assert_eq!(second.rx_bytes_per_second, Some(500.0));
    assert_eq!(second.tx_bytes_per_second, Some(250.0));
    assert_eq!(second.pressure.cpu, Some(0.25));
    assert_eq!((second.pressure.memory, second.pressure.io), (None, None));
    assert_eq!(second.link_bytes_per_second, Some(125_000_000));
}

#[test]
fn the_machine_is_known_before_the_first_sample() {
    let tree = node();
    let machine = NodeSampler::open(tree.root(), PERIOD).machine();
    assert_eq!(machine.cpus, Some(1));
    assert_eq!(machine.memory_bytes, Some(1000 * 1024));
    assert_eq!(machine.link_bytes_per_second, Some(125_000_000));
}

#[test]
fn after_a_gap_the_rates_begin_anew() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    sampler.sample(PERIOD);
    grow(&tree);
    let late = sampler.sample(5 * PERIOD);
    assert_eq!(
        (late.cpu_millicores, late.rx_bytes_per_second),
        (None, None)
    );
    assert_eq!(late.memory_bytes, Some(600 * 1024));
    assert_eq!(sampler.counters().gaps, 1);
    tree.traffic("eth0", 1_600, 1_250);
    assert_eq!(sampler.sample(6 * PERIOD).rx_bytes_per_second, Some(100.0));
}

/// The agent's own CPU limit may hold a tick up between the node's files and the pods'.
#[tokio::test(start_paused = true)]
async fn a_tick_that_is_held_up_before_the_pods_takes_no_time_from_them() {
    let tree = node();
    tree.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    let used = |micros: u64| {
        let text = format!("usage_usec {micros}\n");
        tree.write("sys/fs/cgroup/kubepods/pod1/cpu.stat", &text);
    };
    used(0);
    let mut sampler = NodeSampler::open(tree.root(), PERIOD)
        .with_clock(Clock::start())
        .with_pods_at_every_tick();
    sampler.sample(PERIOD);
    tokio::time::advance(PERIOD / 2).await;
    sampler.pods(PERIOD);
    // Half a period later the next tick, which nothing holds up.
    used(100_000);
    sampler.sample(2 * PERIOD);
    let table = sampler.pods(2 * PERIOD).unwrap();
    assert_eq!(table[0].figures[0].value, 200.0, "{table:?}");
}

#[test]
fn a_longer_period_makes_longer_gaps_welcome() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    sampler.sample(PERIOD);
    sampler.set_period(10 * PERIOD);
    grow(&tree);
    assert_eq!(sampler.sample(11 * PERIOD).rx_bytes_per_second, Some(50.0));
}

#[test]
fn surveys_are_due_each_ten_seconds_and_read_speeds_each_sixty() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    let mut walks = Vec::new();
    for second in 0..=121_u64 {
        let at = Duration::from_secs(second);
        sampler.sample(at);
        if let Some(survey) = sampler.survey(at) {
            walks.push((second, survey.machine.as_ref().unwrap().again));
            sampler.apply(survey.run());
        }
    }
    let expected: Vec<_> = (1..=12).map(|n| (n * 10, n % 6 == 0)).collect();
    assert_eq!(walks, expected);
}

#[test]
fn a_survey_finds_what_came_later() {
    let tree = node();
    tree.remove("proc/pressure");
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    sampler.sample(Duration::ZERO);
    assert!(sampler.survey(Duration::ZERO).is_none());
    tree.nic("eth1", 7, 7, "1000");
    tree.write(
        "proc/pressure/io",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    );
    sampler.set_period(10 * PERIOD);
    sampler.sample(10 * PERIOD);
    let survey = sampler.survey(10 * PERIOD).unwrap();
    sampler.apply(survey.run());
    sampler.sample(20 * PERIOD);
    let sample = sampler.sample(30 * PERIOD);
    assert_eq!(sample.pressure.io, Some(0.0));
    assert_eq!(sample.rx_bytes_per_second, Some(0.0));
    assert_eq!(sample.link_bytes_per_second, Some(250_000_000));
}

#[test]
fn a_lost_link_brings_the_survey_forward() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    sampler.sample(Duration::ZERO);
    assert!(sampler.survey(Duration::ZERO).is_none());
    tree.write("sys/class/net/eth0/statistics/rx_bytes", "gone\n");
    sampler.sample(PERIOD);
    assert!(
        sampler.survey(PERIOD).is_none(),
        "not sooner than two seconds"
    );
    sampler.sample(2 * PERIOD);
    assert!(sampler.survey(2 * PERIOD).is_some());
}

#[test]
fn a_new_pod_is_walked_for_at_the_next_tick_and_read_at_the_one_after() {
    let tree = node();
    let pod = |name: &str| {
        let path = format!("sys/fs/cgroup/kubepods/burstable/{name}/cpu.stat");
        tree.write(&path, "usage_usec 5000000\n");
    };
    tree.write("sys/fs/cgroup/cgroup.controllers", "cpu\n");
    pod("pod1");
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    for second in 0..3 {
        sampler.sample(PERIOD * second);
        assert!(
            sampler
                .pods(PERIOD * second)
                .is_some_and(|pods| pods.len() == 1)
        );
        assert!(sampler.survey(PERIOD * second).is_none());
    }
    pod("pod2");
    sampler.sample(3 * PERIOD);
    let survey = sampler.survey(3 * PERIOD).expect("something came");
    assert!(survey.machine.is_none(), "links need no walk for it");
    sampler.apply(survey.run());
    let pods = sampler.pods(4 * PERIOD).unwrap();
    assert_eq!((&*pods[1].uid, pods[1].taken_at), ("2", 4 * PERIOD));
    assert!(pods[1].age <= 3 * PERIOD, "no older than the walk before");
    assert!(sampler.survey(4 * PERIOD).is_none());
}

#[test]
fn what_the_operator_says_of_the_links_goes_before_what_the_drivers_say() {
    let tree = node();
    let mut sampler = NodeSampler::open(tree.root(), PERIOD).with_link_speed(Some(7));
    assert_eq!(sampler.machine().link_bytes_per_second, Some(7));
    assert_eq!(sampler.sample(PERIOD).link_bytes_per_second, Some(7));
}

#[test]
fn a_bond_that_fails_over_between_two_walks_has_its_new_speed_after_the_next() {
    let tree = node();
    tree.nic("eth1", 0, 0, "10000");
    tree.write("sys/class/net/bond0/bonding/mode", "active-backup 1\n");
    tree.write("sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
    tree.write("sys/class/net/bond0/bonding/active_slave", "eth0\n");
    let mut sampler = NodeSampler::open(tree.root(), PERIOD);
    assert!(sampler.survey(Duration::ZERO).is_none());
    assert_eq!(sampler.machine().link_bytes_per_second, Some(125_000_000));
    tree.write("sys/class/net/bond0/bonding/active_slave", "eth1\n");
    let survey = sampler.survey(10 * PERIOD).unwrap();
    sampler.apply(survey.run());
    assert_eq!(sampler.machine().link_bytes_per_second, Some(1_250_000_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_content_of_the_files_makes_a_figure_that_cannot_be(texts in prop::collection::vec(
            ("(cpu[0-2]?( [0-9]{0,6}){0,10}\n){0,4}", ".{0,40}", "[0-9]{0,12}\n?"), 2..8)) {
        let tree = node();
        let mut sampler = NodeSampler::open(tree.root(), PERIOD);
        for (second, (stat, noise, number)) in texts.iter().enumerate() {
            tree.write("proc/stat", stat);
            tree.write("proc/meminfo", &format!("MemTotal: {number}\nMemAvailable: {noise}"));
            tree.write("proc/pressure/cpu", &format!("some total={number}"));
            tree.write("sys/class/net/eth0/statistics/rx_bytes", number);
            tree.write("sys/devices/system/cpu/online", noise);
            let at = PERIOD * u32::try_from(second).unwrap();
            let used = sampler.sample(at).cpu_millicores;
            let cores = f64::from(sampler.readings().cpu.cpus.unwrap_or(0));
            prop_assert!(second > 0 || used.is_none());
            prop_assert!(used.is_none_or(|used| (0.0..=cores * 1050.0).contains(&used)));
            let shares = sample_shares(&sampler);
            prop_assert!(shares.iter().flatten().all(|share| (0.0..=1.0).contains(share)));
        }
    }
}

fn sample_shares(sampler: &NodeSampler) -> [Option<f64>; 3] {
    let readings = sampler.readings();
    [
        readings.pressure.cpu,
        readings.cpu.tick_ratio,
        readings.cpu.steal.map(f64::from),
    ]
}
