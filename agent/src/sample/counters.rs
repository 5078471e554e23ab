//! What went wrong while sampling, by reason: plain numbers since the start of the agent,
//! for its metrics and for `plimsoll-agent sample`.

use serde::Serialize;

/// Events since the start, each counted at most once per read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    /// Reads in which a field was held at its bound: iowait that went back counts as 0, a
    /// link or pressure figure a little above its capacity counts as the capacity.
    pub clamped_reads: u64,
    /// Reads in which a counter went back: it has a new base and the step no value.
    pub rebaselined: u64,
    /// Readings of exactly 0 from a counter that was not 0, until the next one decides.
    pub glitches: u64,
    /// Samples dropped because more than three periods had passed.
    pub gaps: u64,
    /// Values dropped because they are far beyond the capacity.
    pub implausible: u64,
    /// Samples without figures because the files describe another machine.
    pub untrusted: u64,
    /// Samples in which the cgroup counters missed too much of what `/proc/stat` shows, so
    /// that `/proc/stat` was taken.
    pub cross_check_failed: u64,
    /// Looks at links whose speed the kernel did not give in time: the speeds known before
    /// stand.
    pub slow_speeds: u64,
    /// Facts of the machine (CPUs, memory) on which sysinfo has another opinion.
    pub inventory_mismatches: u64,
    /// Reads that failed, by file.
    pub unreadable: Unreadable,
}

/// Reads that failed, by file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreadable {
    /// `/proc/stat`.
    pub stat: u64,
    /// `/proc/meminfo`.
    pub meminfo: u64,
    /// `/proc/spl/kstat/zfs/arcstats`, where there is one.
    pub arcstats: u64,
    /// A CPU counter of a cgroup.
    pub cgroup: u64,
    /// A counter of a physical link.
    pub network: u64,
    /// `/proc/pressure/*`, where there are such files.
    pub pressure: u64,
    /// A file of a pod's cgroup.
    pub pod: u64,
}

impl Unreadable {
    /// Each count with the name of its file, for a metric with a label.
    pub fn by_file(self) -> [(&'static str, u64); 7] {
        [
            ("stat", self.stat),
            ("meminfo", self.meminfo),
            ("arcstats", self.arcstats),
            ("cgroup", self.cgroup),
            ("network", self.network),
            ("pressure", self.pressure),
            ("pod", self.pod),
        ]
    }
}
