//! What a scrape shows.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_kernel::Kernel;
use prometheus_client::encoding::text::encode;

use super::*;
use crate::report::Reading;
use crate::usage::{NodeUsage, PodTable, Resource, UsageFigure};

fn scrape(metrics: &Metrics, usage: Option<NodeUsage>) -> String {
    let reading = usage.map(|usage| {
        Arc::new(Reading {
            sequence: 1,
            usage,
            pods: PodTable::default(),
        })
    });
    let feed = watch::Sender::new(reading);
    let mut text = String::new();
    encode(&mut text, &metrics.registry(feed.subscribe())).unwrap();
    text
}

fn figure(resource: Resource, kernel: Kernel, value: f64) -> UsageFigure {
    UsageFigure {
        resource,
        kernel,
        value,
        window_age: Duration::from_secs(1),
        samples: 1,
    }
}

#[test]
fn figures_are_gauges_in_base_units_with_their_kernel() {
    let usage = NodeUsage {
        figures: vec![
            figure(
                Resource::Cpu,
                Kernel::Ewma {
                    tau: Duration::from_secs(10),
                },
                1500.0,
            ),
            figure(Resource::PsiIo, Kernel::Instant, 0.25),
        ],
        ..NodeUsage::default()
    };
    let text = scrape(&Metrics::new(), Some(usage));
    assert!(
        text.contains("plimsoll_agent_node_cpu_cores{kernel=\"ewma_10s\"} 1.5\n"),
        "{text}"
    );
    let pressure = "plimsoll_agent_node_pressure_ratio{resource=\"io\",kernel=\"last\"} 0.25\n";
    assert!(text.contains(pressure), "{text}");
}

#[test]
fn what_was_not_measured_has_no_line() {
    for usage in [None, Some(NodeUsage::default())] {
        let text = scrape(&Metrics::new(), usage);
        for name in [
            "cpu_cores",
            "memory_bytes",
            "receive",
            "pressure",
            "steal",
            "link",
        ] {
            assert!(
                !text.contains(&format!("plimsoll_agent_node_{name}")),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn events_are_counted_by_reason_and_file() {
    let metrics = Metrics::new();
    metrics.samples.inc();
    metrics.count_reconnect(Reconnect::Refused);
    metrics
        .counters
        .send_modify(|counters| counters.unreadable.stat = 3);
    let text = scrape(&metrics, None);
    for line in [
        "plimsoll_agent_samples_total 1\n",
        "plimsoll_agent_reconnects_total{reason=\"refused\"} 1\n",
        "plimsoll_agent_unreadable_total{file=\"stat\"} 3\n",
        "plimsoll_agent_clamped_reads_total 0\n",
        "plimsoll_agent_stream_connected 0\n",
        "# TYPE plimsoll_agent_process_cpu_seconds counter\n",
        "# TYPE plimsoll_agent_sample_duration_seconds histogram\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}
