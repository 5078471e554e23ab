//! The situations of the field, by their ids, on recorded trees under
//! `tests/fixtures/proc`: what `plimsoll-agent sample --from --to --json` says of each.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_agent::inspect::{Clock, SampleInput, SampleOptions, run_sample};
use plimsoll_agent::sample::{HostRoot, NodeSampler};
use plimsoll_agent::usage::{NodeSample, Source};
use serde_json::Value;

const PERIOD: Duration = Duration::from_secs(10);

fn tree(case: &str, moment: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/proc")
        .join(case)
        .join(moment)
}

/// Recorded trees need no clock.
struct Stopped;

impl Clock for Stopped {
    fn now(&mut self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&mut self, _time: Duration) {}
}

/// The JSON of a case, its trees ten seconds apart.
fn sample(case: &str) -> Value {
    let options = SampleOptions {
        input: SampleInput::Recorded {
            from: tree(case, "t0"),
            to: tree(case, "t1"),
            elapsed: PERIOD,
        },
        json: true,
        pods: true,
    };
    let mut out = Vec::new();
    run_sample(&options, &mut out, &mut Stopped).expect("the trees are there");
    serde_json::from_slice(&out).expect("one JSON object")
}

/// The samples of a series of trees, ten seconds apart, less the first.
fn series(case: &str) -> Vec<NodeSample> {
    let mut sampler = NodeSampler::open(HostRoot::below(&tree(case, "t0")), PERIOD);
    sampler.sample(Duration::ZERO);
    let mut samples = Vec::new();
    for (moment, at) in [("t1", PERIOD), ("t2", 2 * PERIOD)] {
        sampler.move_to(HostRoot::below(&tree(case, moment)));
        samples.push(sampler.sample(at).clone());
    }
    samples
}

#[track_caller]
fn assert_near(found: &Value, expected: f64) {
    let number = found.as_f64().unwrap_or(f64::NAN);
    let error = (number - expected).abs();
    assert!(error <= expected.abs() * 1e-9, "{found} is not {expected}");
}

#[test]
fn cpu_a1_guest_time_is_not_counted_twice() {
    let found = sample("cpu-a1");
    assert_near(&found["cpu"]["ratio"], 0.55);
    assert_near(&found["cpu"]["millicores"], 2_200.0);
    assert_eq!(found["cpu"]["source"], "proc-stat");
}

#[test]
fn cpu_a2_iowait_that_goes_back_counts_as_none() {
    for case in ["cpu-a2", "cpu-a2-total-only"] {
        let found = sample(case);
        assert_near(&found["cpu"]["ratio"], 0.25);
        assert_eq!(found["counters"]["clampedReads"], 1, "{case}");
        assert_eq!(found["counters"]["rebaselined"], 0, "{case}");
        assert_eq!(found["counters"]["gaps"], 0, "{case}");
    }
}

#[test]
fn cpu_a3_cpu_numbers_with_holes_are_six_cpus() {
    let found = sample("cpu-a3");
    assert_eq!(found["cpu"]["cpus"], 6);
    assert_near(&found["cpu"]["ratio"], 0.5);
    assert_eq!(found["untrusted"], Value::Null);
}

#[test]
fn cpu_a3_a_cpu_that_goes_and_comes_back_makes_no_gap_and_no_spike() {
    let mut sampler = NodeSampler::open(HostRoot::below(&tree("cpu-a3-hotplug", "t0")), PERIOD);
    sampler.sample(Duration::ZERO);
    for (moment, at, cpus) in [("t1", 1, 3), ("t2", 2, 4), ("t3", 3, 4)] {
        sampler.move_to(HostRoot::below(&tree("cpu-a3-hotplug", moment)));
        let used = sampler.sample(at * PERIOD).cpu_millicores;
        assert_eq!(used, Some(f64::from(cpus) * 500.0), "{moment}");
        assert_eq!(sampler.readings().cpu.cpus, Some(cpus), "{moment}");
    }
    assert_eq!(sampler.counters().rebaselined, 0);
}

#[test]
fn cpu_a4_a_node_in_a_container_is_measured_by_its_cgroup() {
    let found = sample("cpu-a4-lxc");
    assert_near(&found["cpu"]["ratio"], 0.1);
    assert_eq!(found["cpu"]["cpus"], 5);
    assert_eq!(found["cpu"]["source"], "cgroup-v2");
    assert_eq!(found["untrusted"], Value::Null);
}

#[test]
fn cpu_a4_the_limit_of_the_agent_does_not_shrink_the_node() {
    let found = sample("cpu-a4-limited-agent");
    assert_near(&found["cpu"]["ratio"], 0.4);
    assert_eq!(found["cpu"]["cpus"], 4);
    assert_eq!(found["cpu"]["source"], "proc-stat");
}

#[test]
fn cpu_a4_another_machines_stat_without_the_nodes_cgroup_is_untrusted() {
    let found = sample("cpu-a4-agent-in-lxc");
    assert_eq!(found["cpu"]["millicores"], Value::Null);
    let reason = found["untrusted"].as_str().unwrap();
    assert!(reason.contains("32 CPUs but 5 are online"), "{reason}");
    assert_eq!(found["counters"]["untrusted"], 1);
}

#[test]
fn mem_a1_the_zfs_cache_is_not_used_memory() {
    let found = sample("mem-a1");
    assert_near(&found["memory"]["ratio"], 0.25);
    assert_eq!(found["memory"]["arcReclaimableBytes"], 36_u64 << 30);
    assert_eq!(found["memory"]["totalBytes"], 64_u64 << 30);
}

#[test]
fn mem_a1_without_zfs_nothing_is_corrected() {
    let found = sample("mem-a1-no-zfs");
    assert_near(&found["memory"]["ratio"], 0.8125);
    assert_eq!(found["memory"]["arcReclaimableBytes"], Value::Null);
    assert_eq!(found["counters"]["unreadable"]["arcstats"], 0);
}

#[test]
fn mem_a1_a_cache_below_its_minimum_gives_nothing_back() {
    let found = sample("mem-a1-small-arc");
    assert_near(&found["memory"]["ratio"], 0.8125);
    assert_eq!(found["memory"]["arcReclaimableBytes"], 0);
}

#[test]
fn net_a1_members_of_a_bond_are_counted_once() {
    let found = &sample("net-a1")["network"];
    assert_near(&found["rxBytesPerSecond"], 177.5e6 / 8.0);
    assert_near(&found["txBytesPerSecond"], 12_500_000.0);
    assert_near(&found["linkBytesPerSecond"], 20e9 / 8.0);
    assert_near(&found["ratio"], 177.5 / 20_000.0);
    let names: Vec<_> = found["interfaces"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0]["name"], "eth0");
}

#[test]
fn net_a1_an_active_backup_bond_has_the_capacity_of_one_member() {
    let found = &sample("net-a1-active-backup")["network"];
    assert_near(&found["rxBytesPerSecond"], 10_000_000.0);
    assert_near(&found["linkBytesPerSecond"], 10e9 / 8.0);
}

#[test]
fn net_a1_a_bond_with_one_member_is_that_member() {
    let found = &sample("net-a1-one-member")["network"];
    assert_near(&found["rxBytesPerSecond"], 10_000_000.0);
    assert_near(&found["linkBytesPerSecond"], 10e9 / 8.0);
}

#[test]
fn net_a1_a_bond_that_fails_over_has_the_capacity_of_the_new_member() {
    let root = |moment| HostRoot::below(&tree("net-a1-failover", moment));
    let mut sampler = NodeSampler::open(root("t0"), PERIOD);
    assert_eq!(
        sampler.sample(Duration::ZERO).link_bytes_per_second,
        Some(125_000_000)
    );
    sampler.move_to(root("t1"));
    let after = sampler.sample(PERIOD);
    assert_eq!(after.link_bytes_per_second, Some(1_250_000_000));
    assert_eq!(after.rx_bytes_per_second, Some(12_500_000.0));
}

#[test]
fn net_a1_vlans_virtual_functions_and_teams_carry_no_byte_of_their_own() {
    for (case, megabits, links) in [
        ("net-a1-vlan", 10_000.0, 1),
        ("net-a1-sriov", 25_000.0, 1),
        ("net-a1-team", 20_000.0, 2),
    ] {
        let found = &sample(case)["network"];
        assert_near(&found["rxBytesPerSecond"], 12_500_000.0);
        assert_near(&found["linkBytesPerSecond"], megabits * 1e6 / 8.0);
        assert_eq!(
            found["interfaces"].as_array().unwrap().len(),
            links,
            "{case}"
        );
    }
}

#[test]
fn net_a2_the_hosts_sysfs_gives_the_hosts_bandwidth() {
    let found = &sample("net-a2-sysfs")["network"];
    assert_near(&found["rxBytesPerSecond"], 12_500_000.0);
    assert_near(&found["txBytesPerSecond"], 6_250_000.0);
    assert_eq!(found["source"], "sysfs");
    assert_near(&found["linkBytesPerSecond"], 1e9 / 8.0);
}

#[test]
fn net_a2_process_one_gives_it_where_the_counters_of_sysfs_are_not_readable() {
    let found = &sample("net-a2-names-only")["network"];
    assert_near(&found["rxBytesPerSecond"], 12_500_000.0);
    assert_eq!(found["source"], "proc1");
    assert_near(&found["linkBytesPerSecond"], 1e9 / 8.0);
}

#[test]
fn net_a2_process_one_gives_it_where_sysfs_is_the_pods() {
    let found = &sample("net-a2-proc1")["network"];
    assert_near(&found["rxBytesPerSecond"], 12_500_000.0);
    assert_eq!(found["source"], "proc1");
    assert_eq!(found["linkBytesPerSecond"], Value::Null);
}

#[test]
fn net_a2_the_pods_own_interface_is_never_the_node() {
    let cases = [
        ("net-a2-nothing", "not readable"),
        ("net-a2-own-namespace", "the agent's own interfaces"),
        ("net-a2-many-interfaces", "does not tell physical links"),
    ];
    for (case, words) in cases {
        let found = &sample(case)["network"];
        assert_eq!(found["rxBytesPerSecond"], Value::Null, "{case}");
        assert_eq!(found["txBytesPerSecond"], Value::Null, "{case}");
        assert_eq!(found["interfaces"], Value::Array(Vec::new()), "{case}");
        let reason = found["reason"].as_str().unwrap();
        assert!(reason.contains(words), "{case}: {reason}");
    }
}

#[test]
fn net_a3_a_reset_counter_has_no_value_for_one_step() {
    let samples = series("net-a3-reset");
    assert_eq!(samples[0].rx_bytes_per_second, None);
    assert_eq!(samples[1].rx_bytes_per_second, Some(100_000.0 / 8.0));
    assert_eq!(samples[1].tx_bytes_per_second, Some(100_000.0 / 8.0));
}

#[test]
fn net_a3_a_single_zero_is_no_new_base() {
    let samples = series("net-a3-glitch");
    assert_eq!(samples[0].rx_bytes_per_second, None);
    assert_eq!(samples[1].rx_bytes_per_second, Some(20_000.0 / 8.0));
}

#[test]
fn pods_are_found_and_measured_in_every_layout() {
    let burstable = "1c0a6f2e-7b1d-4e0a-9d55-0f6f0f5f3a11";
    let guaranteed = "5b7e2d90-13aa-4c6f-8e21-77d0c1b2a3f4";
    for case in [
        "pods-v2-systemd",
        "pods-v2-cgroupfs",
        "pods-v1",
        "pods-hybrid",
        "pods-kind",
    ] {
        let found = sample(case);
        let pods = found["pods"].as_array().unwrap();
        assert_eq!(pods.len(), 2, "{case}: {pods:?}");
        for (pod, uid, millicores, mebibytes) in [
            (&pods[0], burstable, 500.0, 64.0),
            (&pods[1], guaranteed, 1_250.0, 512.0),
        ] {
            assert_eq!(pod["uid"], uid, "{case}");
            assert_near(&pod["cpuMillicores"], millicores);
            assert_near(&pod["memoryBytes"], mebibytes * 1_048_576.0);
            assert_eq!(pod["ended"], false, "{case}");
        }
    }
}

#[test]
fn a_static_pod_is_told_by_the_hash_that_its_folder_carries_and_an_ended_one_says_so() {
    let found = sample("pods-static");
    let (ended, running) = (&found["pods"][0], &found["pods"][1]);
    assert_eq!(running["uid"], "3f2a9c7d1e4b5a6978c0d1e2f3a4b5c6");
    assert_near(&running["cpuMillicores"], 30.0);
    assert_eq!(
        (&running["ended"], &ended["ended"]),
        (&false.into(), &true.into())
    );
}

#[test]
fn what_a_tree_does_not_hold_is_null_and_not_zero() {
    let found = sample("cpu-a1");
    for (block, key) in [
        ("memory", "usedBytes"),
        ("memory", "ratio"),
        ("network", "rxBytesPerSecond"),
        ("psi", "cpu"),
    ] {
        assert_eq!(found[block][key], Value::Null, "{block}.{key}");
    }
    assert_eq!(found["counters"]["unreadable"]["meminfo"], 2);
}
