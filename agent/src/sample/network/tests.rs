//! Rates of links that come, go, reset and exceed their speed.

use std::time::Duration;

use proptest::prelude::*;

use super::{AskSpeeds, Links, Network, NetworkPlan, Rates};
use crate::sample::counter::Tick;
use crate::sample::counters::Counters;
use crate::sample::file::Buffer;
use crate::sample::fixture::Tree;

/// A node's links, one second per tick.
struct Rig {
    tree: Tree,
    network: Network,
    buffer: Buffer,
    counters: Counters,
    at: Duration,
}

impl Rig {
    fn new(nics: &[(&str, &str)]) -> Self {
        let tree = Tree::new();
        for (name, megabits) in nics {
            tree.nic(name, 1_000, 1_000, megabits);
        }
        let mut rig = Self {
            network: Network::new(&tree.root()),
            tree,
            buffer: Buffer::new(),
            counters: Counters::default(),
            at: Duration::ZERO,
        };
        rig.walk();
        rig.tick();
        rig
    }

    fn walk(&mut self) {
        let root = self.tree.root();
        let links = Links::find(&root.net_class(), &AskSpeeds::default());
        self.network.apply(&root, NetworkPlan::choose(&root, links));
    }

    fn tick(&mut self) -> Rates {
        self.at += Duration::from_secs(1);
        let tick = Tick {
            at: self.at,
            longest: Duration::from_secs(3),
        };
        self.network
            .step(tick, &mut self.buffer, &mut self.counters)
    }
}

#[test]
fn both_directions_are_told_apart() {
    let mut rig = Rig::new(&[("eth0", "1000")]);
    rig.tree.traffic("eth0", 1_500, 3_000);
    let rates = rig.tick();
    assert_eq!((rates.rx, rates.tx), (Some(500.0), Some(2_000.0)));
}

#[test]
fn a_burst_above_the_speed_is_the_speed_and_a_leap_is_nothing() {
    let mut rig = Rig::new(&[("eth0", "1000")]);
    rig.tree
        .traffic("eth0", 1_000 + 250_000_000, 1_000 + 900_000_000);
    let rates = rig.tick();
    assert_eq!((rates.rx, rates.tx), (Some(125e6), None));
    assert_eq!(
        (rig.counters.clamped_reads, rig.counters.implausible),
        (1, 1)
    );
}

#[test]
fn a_link_without_a_speed_is_bounded_all_the_same() {
    let mut rig = Rig::new(&[("eth0", "-1")]);
    rig.tree.traffic("eth0", u64::MAX, 2_000);
    let rates = rig.tick();
    assert_eq!((rates.rx, rates.tx), (None, Some(1_000.0)));
}

#[test]
fn one_link_without_a_value_leaves_no_sum() {
    let mut rig = Rig::new(&[("eth0", "1000"), ("eth1", "1000")]);
    rig.tree.traffic("eth0", 2_000, 2_000);
    rig.tree.traffic("eth1", 10, 2_000);
    let rates = rig.tick();
    assert_eq!((rates.rx, rates.tx), (None, Some(2_000.0)));
}

#[test]
fn a_link_that_is_gone_is_missed_once_and_then_forgotten() {
    let mut rig = Rig::new(&[("eth0", "1000"), ("eth1", "1000")]);
    rig.tree.remove("sys/class/net/eth1");
    // Reads through a kept descriptor of a plain file still succeed; sysfs says ENODEV,
    // and the walk sees the folder gone.
    rig.walk();
    rig.tree.traffic("eth0", 2_000, 2_000);
    assert_eq!(rig.tick().rx, Some(1_000.0));
    assert_eq!(rig.network.capacity(), Some(125_000_000));
}

#[test]
fn a_counter_that_is_no_number_asks_for_a_walk() {
    let mut rig = Rig::new(&[("eth0", "1000")]);
    assert!(!rig.network.wants_walk());
    rig.tree
        .write("sys/class/net/eth0/statistics/rx_bytes", "\n");
    assert_eq!(rig.tick().rx, None);
    assert!(rig.network.wants_walk());
    assert_eq!(rig.counters.unreadable.network, 1);
    rig.tree.traffic("eth0", 3_000, 1_000);
    assert_eq!(rig.tick().rx, Some(1_000.0), "over both periods");
}

#[test]
fn a_new_link_waits_for_its_second_reading() {
    let mut rig = Rig::new(&[("eth0", "1000")]);
    rig.tree.nic("eth1", 900_000, 900_000, "1000");
    rig.walk();
    assert_eq!(rig.tick().rx, None);
    rig.tree.traffic("eth1", 900_500, 900_000);
    assert_eq!(rig.tick().rx, Some(500.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_readings_make_a_rate_below_zero_or_above_the_link(readings in
            prop::collection::vec(prop_oneof![any::<u64>(), 0_u64..1_000_000_000], 1..20)) {
        let mut rig = Rig::new(&[("eth0", "1000")]);
        for reading in readings {
            rig.tree.traffic("eth0", reading, reading / 2);
            let rates = rig.tick();
            for rate in [rates.rx, rates.tx].into_iter().flatten() {
                prop_assert!((0.0..=125e6 * 1.05).contains(&rate), "{rate}");
            }
        }
    }
}
