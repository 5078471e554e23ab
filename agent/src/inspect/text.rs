//! One sample for people: takes the JSON's values, writes a few lines. Bandwidth is in bit/s
//! here, as people know links; what was not measured is a dash.

use std::io::{self, Write};

use super::json::SampleJson;

const MIB: f64 = 1024.0 * 1024.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const BITS: f64 = 8.0;
const MEGA: f64 = 1e6;

/// Writes the lines of one sample and an empty one.
pub(super) fn write(sample: &SampleJson, out: &mut dyn Write) -> io::Result<()> {
    let cpu = &sample.cpu;
    let cpus = cpu.cpus.map_or_else(dash, |cpus| cpus.to_string());
    writeln!(
        out,
        "cpu      {} of {cpus} CPUs, {} millicores (by ticks {}, steal {})",
        percent(cpu.ratio),
        number(cpu.millicores, 1.0, 0),
        percent(cpu.tick_ratio),
        percent(cpu.steal.map(f64::from)),
    )?;
    let memory = &sample.memory;
    writeln!(
        out,
        "memory   {} of MemTotal, {} of {} GiB",
        percent(memory.ratio),
        number(memory.used_bytes.map(|bytes| bytes as f64), GIB, 2),
        number(memory.total_bytes.map(|bytes| bytes as f64), GIB, 2),
    )?;
    let network = &sample.network;
    writeln!(
        out,
        "network  {} of the links, {} Mbit/s in, {} out, of {}",
        percent(network.ratio),
        megabits(network.rx_bytes_per_second),
        megabits(network.tx_bytes_per_second),
        megabits(network.link_bytes_per_second.map(|speed| speed as f64)),
    )?;
    if let Some(reason) = &network.reason {
        writeln!(out, "         {reason}")?;
    }
    for link in &network.interfaces {
        writeln!(
            out,
            "         {}: {} Mbit/s in, {} out, of {}",
            link.name,
            megabits(link.rx_bytes_per_second),
            megabits(link.tx_bytes_per_second),
            megabits(link.speed_bytes_per_second.map(|speed| speed as f64)),
        )?;
    }
    let psi = &sample.psi;
    writeln!(
        out,
        "pressure cpu {}, memory {}, io {}",
        percent(psi.cpu),
        percent(psi.memory),
        percent(psi.io)
    )?;
    for pod in sample.pods.iter().flatten() {
        writeln!(
            out,
            "pod      {}: {} millicores, {} MiB, {:.0} s old{}",
            pod.uid,
            number(pod.cpu_millicores, 1.0, 0),
            number(pod.memory_bytes, MIB, 1),
            pod.age_seconds,
            if pod.ended { ", ended" } else { "" },
        )?;
    }
    if let Some(reason) = &sample.untrusted {
        writeln!(out, "untrusted: {reason}")?;
    }
    writeln!(out)
}

fn dash() -> String {
    "-".to_owned()
}

fn number(value: Option<f64>, unit: f64, digits: usize) -> String {
    value.map_or_else(dash, |value| format!("{:.digits$}", value / unit))
}

fn megabits(bytes: Option<f64>) -> String {
    number(bytes.map(|bytes| bytes * BITS), MEGA, 3)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(dash, |share| format!("{:.1} %", share * 100.0))
}
