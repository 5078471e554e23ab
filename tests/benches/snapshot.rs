//! What one cycle pays for a fresh snapshot: after nothing changed, after samples of some
//! nodes, after samples of all.
//!
//! `cargo bench -p plimsoll-tests --bench snapshot`

use std::io::Write;
use std::time::Duration;

use plimsoll_core::Event;
use plimsoll_framework::Now;
use plimsoll_tests::{Bench, WITH_LOAD, sample, thread_cpu};

/// Sizes of the clusters.
const NODES: [usize; 3] = [100, 1_000, 5_000];
/// Running pods per node.
const PODS_PER_NODE: usize = 10;
/// Repetitions of each measurement.
const ROUNDS: u64 = 50;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "snapshot: CPU of taking samples and bringing the snapshot up to date, us"
    )?;
    writeln!(
        out,
        "{:>6} {:>14} {:>14} {:>14}",
        "nodes", "1 sample", "1% of nodes", "all nodes"
    )?;
    for nodes in NODES {
        let mut bench = Bench::new(WITH_LOAD, nodes, PODS_PER_NODE);
        let mut sequence = 1;
        let mut cells = Vec::new();
        for changed in [1, (nodes / 100).max(1), nodes] {
            let begin = thread_cpu();
            for _ in 0..ROUNDS {
                sequence += 1;
                let now = bench.now + Duration::from_secs(1);
                bench.now = now;
                let samples = (0..changed)
                    .map(|index| sample(index, sequence, now))
                    .collect();
                bench.step(Event::Samples(samples));
                std::hint::black_box(bench.engine.snapshot(Now::at(bench.now)));
            }
            let spent = thread_cpu().saturating_sub(begin);
            cells.push(spent.as_secs_f64() * 1e6 / ROUNDS as f64);
        }
        writeln!(
            out,
            "{nodes:>6} {:>14.1} {:>14.1} {:>14.1}",
            cells[0], cells[1], cells[2]
        )?;
    }
    Ok(())
}
