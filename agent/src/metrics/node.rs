//! The node's newest figures and what went wrong while sampling, read at each scrape. A
//! figure that could not be measured has no line: missing is not zero.

use std::fmt;
use std::time::Duration;

use plimsoll_kernel::Kernel;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use tokio::sync::watch;

use crate::stream::Feed;
use crate::usage::{Counters, NodeUsage, Resource, UsageFigure};

/// Millicores of one core.
const MILLI: f64 = 1000.0;

/// Exports the newest reading.
#[derive(Debug)]
pub(super) struct Node {
    feed: Feed,
    counters: watch::Receiver<Counters>,
}

/// One gauge per meter; the label `kernel` says how samples became the value.
struct Meter {
    name: &'static str,
    help: &'static str,
    /// Which resources it shows, each with its `resource` label if there are several.
    resources: &'static [(Resource, Option<&'static str>)],
    /// Divides the wire's unit to get the base unit.
    divisor: f64,
}

const METERS: [Meter; 5] = [
    Meter {
        name: "node_cpu_cores",
        help: "CPU in use on the node, in cores",
        resources: &[(Resource::Cpu, None)],
        divisor: MILLI,
    },
    Meter {
        name: "node_memory_bytes",
        help: "Memory in use on the node",
        resources: &[(Resource::Memory, None)],
        divisor: 1.0,
    },
    Meter {
        name: "node_receive_bytes_per_second",
        help: "Traffic received by the node's physical links",
        resources: &[(Resource::Rx, None)],
        divisor: 1.0,
    },
    Meter {
        name: "node_transmit_bytes_per_second",
        help: "Traffic sent by the node's physical links",
        resources: &[(Resource::Tx, None)],
        divisor: 1.0,
    },
    Meter {
        name: "node_pressure_ratio",
        help: "Share of time in which some task waited for the resource",
        resources: &[
            (Resource::PsiCpu, Some("cpu")),
            (Resource::PsiMemory, Some("memory")),
            (Resource::PsiIo, Some("io")),
        ],
        divisor: 1.0,
    },
];

impl Node {
    pub(super) fn new(feed: Feed, counters: watch::Receiver<Counters>) -> Self {
        Self { feed, counters }
    }
}

impl Collector for Node {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        encode_counters(&mut encoder, *self.counters.borrow())?;
        // Taken out of the slot, so that a slow scrape never holds the next tick up.
        let reading = self.feed.borrow().clone();
        let Some(reading) = reading else {
            return Ok(());
        };
        let usage = &reading.usage;
        for meter in &METERS {
            meter.encode(&mut encoder, usage)?;
        }
        let steal = usage.steal.map(f64::from);
        gauge(
            &mut encoder,
            "node_steal_ratio",
            "CPU time that the hypervisor took",
            steal,
        )?;
        let link = usage.link_bytes_per_second.map(|speed| speed as f64);
        let help = "Sum of the physical links' speeds, one direction";
        gauge(&mut encoder, "node_link_bytes_per_second", help, link)?;
        let untrusted = f64::from(u8::from(usage.untrusted.is_some()));
        let help = "1 while the node's figures cannot be trusted and are not sent";
        gauge(&mut encoder, "node_untrusted", help, Some(untrusted))
    }
}

impl Meter {
    fn encode(&self, encoder: &mut DescriptorEncoder<'_>, usage: &NodeUsage) -> fmt::Result {
        let label = |figure: &UsageFigure| {
            let known = self
                .resources
                .iter()
                .find(|(resource, _)| *resource == figure.resource);
            known.map(|(_, label)| *label)
        };
        if !usage.figures.iter().any(|figure| label(figure).is_some()) {
            return Ok(());
        }
        let mut family =
            encoder.encode_descriptor(self.name, self.help, None, MetricType::Gauge)?;
        for figure in &usage.figures {
            let value = figure.value / self.divisor;
            let kernel = ("kernel", kernel_name(figure.kernel));
            match label(figure) {
                Some(Some(resource)) => {
                    let labels = [("resource", resource.to_owned()), kernel];
                    family.encode_family(&labels)?.encode_gauge(&value)?;
                }
                Some(None) => family.encode_family(&[kernel])?.encode_gauge(&value)?,
                None => {}
            }
        }
        Ok(())
    }
}

fn encode_counters(encoder: &mut DescriptorEncoder<'_>, counters: Counters) -> fmt::Result {
    let mut unreadable = encoder.encode_descriptor(
        "unreadable",
        "Reads that failed, by file",
        None,
        MetricType::Counter,
    )?;
    for (file, count) in counters.unreadable.by_file() {
        let labels = [("file", file)];
        let mut line = unreadable.encode_family(&labels)?;
        line.encode_counter::<NoLabelSet, u64, f64>(&count, None)?;
    }
    for (name, help, count) in [
        (
            "clamped_reads",
            "Reads in which a field was held at its bound",
            counters.clamped_reads,
        ),
        (
            "rebaselined_reads",
            "Reads in which a counter went back",
            counters.rebaselined,
        ),
        (
            "glitched_reads",
            "Readings of 0 from a counter that was not 0",
            counters.glitches,
        ),
        (
            "gaps",
            "Samples dropped because more than 3 periods had passed",
            counters.gaps,
        ),
        (
            "implausible_values",
            "Values dropped as far beyond capacity",
            counters.implausible,
        ),
        (
            "untrusted_samples",
            "Samples of files of another machine",
            counters.untrusted,
        ),
        (
            "cross_check_failures",
            "Samples in which cgroup counters missed too much of the CPU time",
            counters.cross_check_failed,
        ),
        (
            "slow_speeds",
            "Looks at links whose speed the kernel did not give in time",
            counters.slow_speeds,
        ),
        (
            "inventory_mismatches",
            "Facts of the machine on which sysinfo has another opinion",
            counters.inventory_mismatches,
        ),
    ] {
        encoder
            .encode_descriptor(name, help, None, MetricType::Counter)?
            .encode_counter::<NoLabelSet, u64, f64>(&count, None)?;
    }
    Ok(())
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: Option<f64>,
) -> fmt::Result {
    let Some(value) = value else { return Ok(()) };
    encoder
        .encode_descriptor(name, help, None, MetricType::Gauge)?
        .encode_gauge(&value)
}

/// The value of the label `kernel`: `last`, `ewma_10s`, `p95_60s`.
fn kernel_name(kernel: Kernel) -> String {
    let seconds = |width: Duration| width.as_secs_f64();
    match kernel {
        Kernel::Instant => "last".to_owned(),
        Kernel::Ewma { tau } => format!("ewma_{}s", seconds(tau)),
        Kernel::Box { width } => format!("mean_{}s", seconds(width)),
        Kernel::Quantile { q, width } => format!("p{:.0}_{}s", q * 100.0, seconds(width)),
        Kernel::Max { width } => format!("max_{}s", seconds(width)),
    }
}
