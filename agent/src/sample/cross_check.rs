//! A second opinion of the machine: takes what two samplers see of it, gives the differences
//! in words. Who measures against a wrong number of CPUs measures nothing.

use crate::usage::Machine;

/// What two opinions of a machine differ in, in words.
pub(super) fn differences(ours: Machine, other: Machine) -> Vec<String> {
    let mut words = Vec::new();
    if let Some((ours, other)) = ours.cpus.zip(other.cpus).filter(|(a, b)| a != b) {
        words.push(format!("{ours} CPUs are online, sysinfo sees {other}"));
    }
    if let Some((ours, other)) = ours
        .memory_bytes
        .zip(other.memory_bytes)
        .filter(|(a, b)| a != b)
    {
        words.push(format!("MemTotal is {ours} bytes, sysinfo sees {other}"));
    }
    words
}
