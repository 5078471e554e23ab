//! A tick on this machine's own `/proc` and `/sys` allocates nothing once the buffers have
//! their size: the sampler and the windows both. With pods, neither does a tick on which none
//! of them is due; one that reads pods makes a new table and no more.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plimsoll_agent::sample::{HostRoot, NodeSampler};
use plimsoll_agent::usage::Source;
use plimsoll_agent::window::Window;

const PERIOD: Duration = Duration::from_secs(1);

#[test]
fn a_tick_after_warm_up_allocates_nothing() {
    let mut sampler = NodeSampler::open(HostRoot::default(), PERIOD);
    let mut window = Window::new(PERIOD);
    let mut at = Duration::ZERO;
    let mut tick = || {
        at += PERIOD;
        // Not the pods: this machine may run some, and a table of what is due is made anew.
        window.push(sampler.sample(at)).figures.len()
    };
    for _ in 0..3 {
        tick();
    }
    let mut figures = 0;
    let counted = allocation_counter::measure(|| {
        for _ in 0..400 {
            figures = tick();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(figures > 0, "nothing was measured");
}

/// A cgroup tree of pods that are old, removed at the end.
struct Pods(PathBuf);

impl Pods {
    fn make(count: usize) -> Self {
        let name = format!("plimsoll-allocations-{}", std::process::id());
        let pods = Self(std::env::temp_dir().join(name));
        let cgroup = pods.0.join("sys/fs/cgroup");
        write(&cgroup, "cgroup.controllers", "cpu memory\n");
        for pod in 0..count {
            let folder = cgroup.join(format!("kubepods/burstable/pod{pod}"));
            write(&folder, "cpu.stat", "usage_usec 1000000\n");
            write(&folder, "memory.current", "1048576\n");
            write(&folder, "memory.stat", "inactive_file 0\n");
            write(&folder, "cgroup.events", "populated 1\n");
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            fs::File::open(folder)
                .and_then(|folder| folder.set_modified(long_ago))
                .expect("the folder was just made");
        }
        pods
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        // A tree that cannot be removed is no reason to fail a test.
        drop(fs::remove_dir_all(&self.0));
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).expect("the temporary folder is writable");
    fs::write(folder.join(name), text).expect("the temporary folder is writable");
}

#[test]
fn with_pods_only_a_tick_that_reads_some_of_them_allocates() {
    let tree = Pods::make(3);
    let mut sampler = NodeSampler::open(HostRoot::below(&tree.0), PERIOD);
    let (mut idle, mut busy) = (0, 0);
    for second in 0..200 {
        let at = second * PERIOD;
        let mut table = None;
        let counted = allocation_counter::measure(|| {
            sampler.sample(at);
            table = sampler.pods(at);
        });
        if second < 20 {
            continue;
        }
        let pods = table.map_or(0, |table| table.len() as u64);
        idle += u64::from(pods == 0);
        busy += u64::from(pods > 0);
        // The table while it grows, its shared form, and the figures of each pod.
        let allowed = if pods == 0 { 0 } else { 2 * pods + 4 };
        assert!(counted.count_total <= allowed, "{second} s: {counted:?}");
    }
    assert!(
        idle >= 120 && busy >= 50,
        "{idle} idle ticks, {busy} with pods"
    );
}
