//! Pods over time: when they are read and what they use, on small v2 and v1 trees. How they
//! end is in `life`.

mod life;

use proptest::prelude::*;

use super::*;
use crate::sample::cgroup::Version;
use crate::sample::fixture::Tree;
use crate::usage::Resource;

const SECOND: Duration = Duration::from_secs(1);
const CPUS: u32 = 4;

struct Rig {
    tree: Tree,
    pods: Pods,
    buffer: Buffer,
    counters: Counters,
    version: Version,
}

impl Rig {
    fn new(version: Version) -> Self {
        let tree = Tree::new();
        let marker = match version {
            Version::V1 => "sys/fs/cgroup/memory/memory.usage_in_bytes",
            Version::V2 => "sys/fs/cgroup/cgroup.controllers",
        };
        tree.write(marker, "0\n");
        Self {
            tree,
            pods: Pods::default(),
            buffer: Buffer::new(),
            counters: Counters::default(),
            version,
        }
    }

    /// Sets what a pod has used so far, in microseconds; 10 MiB of memory, 4 of them given
    /// up first.
    fn used(&self, pod: &str, micros: u64) {
        let write =
            |path: String, text: &str| self.tree.write(&format!("sys/fs/cgroup/{path}"), text);
        match self.version {
            Version::V1 => {
                let nanos = format!("{}\n", micros * 1000);
                write(format!("cpuacct/kubepods/{pod}/cpuacct.usage"), &nanos);
                let memory = format!("memory/kubepods/{pod}");
                write(format!("{memory}/memory.usage_in_bytes"), "10485760\n");
                write(
                    format!("{memory}/memory.stat"),
                    "cache 1\ntotal_inactive_file 4194304\n",
                );
            }
            Version::V2 => {
                let stat = format!("usage_usec {micros}\nuser_usec 0\n");
                write(format!("kubepods/{pod}/cpu.stat"), &stat);
                write(format!("kubepods/{pod}/memory.current"), "10485760\n");
                write(
                    format!("kubepods/{pod}/memory.stat"),
                    "anon 1\ninactive_file 4194304\n",
                );
            }
        }
    }

    fn populated(&self, pod: &str, populated: u8) {
        let text = format!("populated {populated}\nfrozen 0\n");
        self.tree.write(
            &format!("sys/fs/cgroup/kubepods/{pod}/cgroup.events"),
            &text,
        );
    }

    fn remove(&self, pod: &str) {
        self.tree.remove(&format!("sys/fs/cgroup/kubepods/{pod}"));
    }

    /// A walk; newcomers are no older than `oldest` seconds.
    fn walk(&mut self, oldest: u64) {
        let walk = self.pods.walk(Some(SECOND * oldest as u32));
        let found = PodTree::find(&self.tree.root().cgroup(), walk);
        self.pods.apply(found, false);
    }

    /// The first walk of an agent, of pods that ran for an hour.
    fn walk_old(&mut self) {
        let mut found = PodTree::find(&self.tree.root().cgroup(), PodWalk::default());
        for pod in &mut found.pods {
            pod.age = Some(3600 * SECOND);
        }
        self.pods.apply(found, false);
    }

    fn step(&mut self, second: u64) -> Option<PodTable> {
        let pace = Pace::begin(Duration::from_secs(second), 3 * PODS_EVERY, None);
        let (buffer, counters) = (&mut self.buffer, &mut self.counters);
        self.pods.step(&pace, Some(CPUS), buffer, counters)
    }

    /// The only pod of a tick that reads it.
    fn only(&mut self, second: u64) -> PodUsage {
        let table = self.step(second).expect("somebody is due");
        assert_eq!(table.len(), 1, "{table:?}");
        table[0].clone()
    }
}

fn value(pod: &PodUsage, resource: Resource) -> Option<f64> {
    let figure = pod
        .figures
        .iter()
        .find(|figure| figure.resource == resource);
    figure.map(|figure| figure.value)
}

fn cpu(pod: &PodUsage) -> Option<f64> {
    value(pod, Resource::Cpu)
}

#[test]
fn a_young_pod_is_read_at_each_tick_and_has_cpu_from_the_second_on() {
    for version in [Version::V1, Version::V2] {
        let mut rig = Rig::new(version);
        rig.used("pod1", 5_000_000);
        rig.walk(0);
        let first = rig.only(100);
        assert_eq!((cpu(&first), first.age), (None, Duration::ZERO));
        assert_eq!(value(&first, Resource::Memory), Some(6.0 * 1_048_576.0));
        for second in 1..=10 {
            rig.used("pod1", 5_000_000 + second * 250_000);
            let pod = rig.only(100 + second);
            assert!((cpu(&pod).unwrap() - 250.0).abs() < 1e-9, "{pod:?}");
            assert_eq!(pod.age, SECOND * second as u32);
            assert_eq!(pod.figures[0].samples, second as u32);
            assert_eq!(pod.figures[0].window_age, pod.age);
        }
    }
}

#[test]
fn an_older_pod_is_read_each_ten_seconds_with_the_exact_mean_between() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    rig.walk(0);
    let mut read = Vec::new();
    for second in 0..=120 {
        rig.used("pod1", second * 100_000);
        read.extend(rig.step(second).map(|table| (second, cpu(&table[0]))));
    }
    let late: Vec<u64> = read
        .iter()
        .map(|(second, _)| *second)
        .filter(|s| *s > 60)
        .collect();
    assert!(
        late.windows(2).all(|pair| pair[1] - pair[0] == 10),
        "{late:?}"
    );
    assert!(late.len() >= 5, "{late:?}");
    let rates: Vec<f64> = read.iter().filter_map(|(_, rate)| *rate).collect();
    assert!(
        rates.iter().all(|rate| (rate - 100.0).abs() < 1e-9),
        "{rates:?}"
    );
}

#[test]
fn older_pods_take_turns() {
    let mut rig = Rig::new(Version::V2);
    for pod in 0..110 {
        rig.used(&format!("pod{pod}"), 0);
    }
    rig.walk_old();
    let mut per_tick = Vec::new();
    for second in 0..40 {
        let at = Duration::from_secs(second);
        let table = rig.step(second).unwrap_or_default();
        per_tick.push(table.iter().filter(|pod| pod.taken_at == at).count());
    }
    assert!(per_tick[0] == 64 && per_tick[1] < 64, "split: {per_tick:?}");
    assert!(
        per_tick[12..].iter().all(|pods| *pods == 11),
        "{per_tick:?}"
    );
}

#[test]
fn no_pod_is_due_on_most_ticks_and_then_there_is_no_table() {
    let mut rig = Rig::new(Version::V2);
    assert_eq!(rig.step(0), None);
    rig.used("pod1", 0);
    rig.walk_old();
    assert!(rig.step(1).is_some());
    let read = (2..=41).filter(|second| rig.step(*second).is_some());
    assert_eq!(read.count(), 4);
}

#[test]
fn a_counter_beyond_the_machine_or_below_its_base_has_no_value() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 1_000_000);
    rig.walk(0);
    rig.only(0);
    rig.used("pod1", 6_000_000);
    assert_eq!(cpu(&rig.only(1)), None);
    assert_eq!(rig.counters.implausible, 1);
    rig.used("pod1", 500_000);
    assert_eq!(cpu(&rig.only(2)), None);
    assert_eq!(rig.counters.rebaselined, 1);
    rig.used("pod1", 4_600_000);
    assert_eq!(
        cpu(&rig.only(3)),
        Some(4_000.0),
        "a little above is the capacity"
    );
}

#[test]
fn beyond_the_descriptors_for_pods_files_are_opened_for_each_reading() {
    let mut rig = Rig::new(Version::V2);
    let count = DESCRIPTORS / DESCRIPTORS_PER_POD + 20;
    for pod in 0..count {
        rig.used(&format!("pod{pod}"), 0);
    }
    rig.walk(0);
    let kept = rig.pods.all.iter().filter(|pod| pod.keeps_open).count();
    assert_eq!(kept, DESCRIPTORS / DESCRIPTORS_PER_POD);
    rig.pods.read_at_every_tick();
    rig.step(0);
    for pod in 0..count {
        rig.used(&format!("pod{pod}"), 100_000);
    }
    let table = rig.step(1).unwrap();
    assert_eq!(table.len(), count);
    assert!(table.iter().all(|pod| cpu(pod) == Some(100.0)));
}

#[test]
fn memory_stat_is_read_each_thirty_seconds_only() {
    let mut rig = Rig::new(Version::V2);
    rig.pods.read_at_every_tick();
    rig.used("pod1", 0);
    rig.walk(0);
    rig.only(0);
    let stat = "sys/fs/cgroup/kubepods/pod1/memory.stat";
    rig.tree.write(stat, "inactive_file 10485760\n");
    assert_eq!(
        value(&rig.only(29), Resource::Memory),
        Some(6.0 * 1_048_576.0)
    );
    assert_eq!(value(&rig.only(30), Resource::Memory), Some(0.0));
    rig.tree.write(stat, "no such key\n");
    assert_eq!(
        value(&rig.only(61), Resource::Memory),
        None,
        "missing is not zero"
    );
}

#[test]
fn after_a_gap_the_mean_begins_anew() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    rig.walk(0);
    rig.only(0);
    rig.used("pod1", 100_000);
    rig.only(1);
    rig.used("pod1", 30_000_000);
    assert_eq!(cpu(&rig.only(40)), None);
    rig.used("pod1", 30_050_000);
    assert_eq!(cpu(&rig.only(41)), Some(50.0));
}

#[test]
fn a_pod_there_at_the_start_is_as_old_as_its_folder_and_no_older_than_the_machine() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    let mut found = PodTree::find(&rig.tree.root().cgroup(), PodWalk::default());
    found.pods[0].age = Some(1000 * SECOND);
    found.newcomers_age = Some(400 * SECOND);
    rig.pods.apply(found, false);
    assert_eq!(rig.only(7).age, 400 * SECOND);
    rig.pods.all[0].next_at = Duration::ZERO;
    assert_eq!(rig.only(17).age, 410 * SECOND);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_sequence_of_readings_makes_a_rate_that_cannot_be(
        steps in prop::collection::vec(
            (1_u64..40, prop_oneof![
                (0_u64..200_000_000).prop_map(Some),
                Just(Some(0)),
                Just(Some(u64::MAX / 1000)),
                Just(None),
            ], any::<bool>()), 2..25))
    {
        let mut rig = Rig::new(Version::V2);
        rig.pods.read_at_every_tick();
        let mut at = 0;
        for (index, (seconds, usage, walks)) in steps.into_iter().enumerate() {
            at += seconds;
            match usage {
                Some(usage) => rig.used("pod1", usage),
                None if rig.tree.root().cgroup().join("kubepods/pod1").exists() => rig.remove("pod1"),
                None => {}
            }
            if walks || index == 0 {
                rig.walk(seconds);
            }
            let table = rig.step(at).unwrap_or_default();
            for pod in table.iter() {
                let used = cpu(pod);
                prop_assert!(index > 0 || used.is_none());
                prop_assert!(used.is_none_or(|used| (0.0..=f64::from(CPUS) * 1050.0).contains(&used)));
                prop_assert!(pod.taken_at <= Duration::from_secs(at));
            }
        }
    }
}
