//! The report as text for people: what happened twice, and what to conclude.

use std::fmt::Write as _;

use super::cast::HOT;
use super::report::{RealNode, Report, RunReport, Verdict};

/// Owners shown in the list of unused requests.
const SHOWN_OWNERS: usize = 3;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// The whole summary.
pub(crate) fn summary(report: &Report) -> String {
    let mut text = String::new();
    for run in &report.runs {
        run_lines(&mut text, run);
    }
    real_node_lines(&mut text, &report.real_node);
    conclusion_lines(&mut text, report);
    text
}

fn run_lines(text: &mut String, run: &RunReport) {
    let _ = writeln!(text, "{}", title(run.policy));
    let _ = writeln!(
        text,
        "  nodes over {:.0} % CPU: {:<3} max {:.0} %, p99 {:.0} %, mean {:.0} %",
        HOT * 100.0,
        run.hot_nodes.len(),
        run.max_load * 100.0,
        run.p99_load * 100.0,
        run.mean_load * 100.0,
    );
    if !run.hot_nodes.is_empty() {
        let _ = writeln!(text, "    {}", run.hot_nodes.join(" "));
    }
    let _ = writeln!(text, "  pods bound {}, pending {}", run.bound, run.pending);
    for (reason, count) in &run.pending_reasons {
        let _ = writeln!(text, "    {count} x {reason}");
    }
    if let Some(age) = run.sample_age {
        let _ = writeln!(
            text,
            "  age of the measurements at decision: median {:.2} s, p99 {:.2} s",
            age.p50_seconds, age.p99_seconds,
        );
    }
    let _ = writeln!(
        text,
        "  API writes: {} bindings, {} pod status, {} events, {} for load\n",
        run.api.bindings, run.api.pod_status, run.api.events, run.api.other,
    );
}

fn real_node_lines(text: &mut String, node: &RealNode) {
    let _ = writeln!(text, "This machine ({}), by the real agent", node.name);
    let Some(sample) = node.last_sample else {
        let _ = writeln!(
            text,
            "  no sample came: run again with --log plimsoll_agent=info\n"
        );
        return;
    };
    let pair = |used: Option<f64>, of: Option<f64>, scale: f64, unit: &str| match (used, of) {
        (Some(used), Some(of)) => format!("{:.2} of {:.2} {unit}", used / scale, of / scale),
        (Some(used), None) => format!("{:.2} {unit}", used / scale),
        _ => "not measured".to_owned(),
    };
    let _ = writeln!(
        text,
        "  CPU {}, memory {}, received {}, sent {}; {:.1} s old\n",
        pair(
            sample.cpu_millicores,
            sample.capacity_millicores,
            1000.0,
            "cores"
        ),
        pair(
            sample.memory_bytes,
            sample.capacity_memory_bytes,
            GIB,
            "GiB"
        ),
        pair(sample.rx_bytes_per_second.map(bits), None, 1e6, "Mbit/s"),
        pair(sample.tx_bytes_per_second.map(bits), None, 1e6, "Mbit/s"),
        sample.age_seconds,
    );
}

fn conclusion_lines(text: &mut String, report: &Report) {
    let _ = writeln!(text, "What to conclude");
    hidden_load_lines(text, &report.verdict);
    if let Some(last) = report.runs.last().filter(|run| run.pending > 0) {
        unused_request_lines(text, last);
    }
    let _ = writeln!(
        text,
        "  Both runs use all default plugins. Replicas that a ReplicaSet owns are also spread by\n  \
         them; one replica more is enough to take a busy node over {:.0} %.",
        HOT * 100.0,
    );
}

fn hidden_load_lines(text: &mut String, verdict: &Verdict) {
    let new = if verdict.newly_hot.is_empty() {
        String::new()
    } else {
        format!(", of which new: {}", verdict.newly_hot.join(" "))
    };
    let _ = writeln!(
        text,
        "  1. Hidden load. By requests alone busy nodes look empty: {} of the simulated nodes\n     \
         went over {:.0} %. By measured load: {}{new}.",
        verdict.hot_requests_only,
        HOT * 100.0,
        verdict.hot_plimsoll,
    );
    let advice = if verdict.ok {
        "Mend: enable ActualLoadScore with weight 30 in the profile (README)."
    } else {
        "This time measured load did no better: worth a report, with the output of --json."
    };
    let _ = writeln!(text, "     {advice}");
}

fn unused_request_lines(text: &mut String, run: &RunReport) {
    let _ = writeln!(
        text,
        "  2. Unused requests. {} pods are pending although the nodes are {:.0} % busy: no\n     \
         scheduler can mend that, for the kubelet admits by requests. Who holds most:",
        run.pending,
        run.mean_load * 100.0,
    );
    for owner in run.unused_requests.iter().take(SHOWN_OWNERS) {
        let _ = writeln!(
            text,
            "     {:<17} {:>3} pods, {:>2} nodes, request {:>5.1} cores, use {:>4.1}",
            owner.owner, owner.pods, owner.nodes, owner.requested_cores, owner.used_cores,
        );
    }
    if let Some(first) = run.unused_requests.first() {
        let _ = writeln!(
            text,
            "     Mend: lower the requests of {}, up to {:.1} cores are free to ask for.",
            first.owner,
            first.requested_cores - first.used_cores,
        );
    }
}

fn title(policy: &str) -> &str {
    match policy {
        "requests-only" => "Requests only (what kube-scheduler sees)",
        _ => "Plimsoll (requests and measured load)",
    }
}

fn bits(bytes: f64) -> f64 {
    bytes * 8.0
}
