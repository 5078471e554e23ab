//! Tables: takes the figures of runs, gives text with medians, ratios and what was asked for.

use super::burst::{Burst, Outcome};
use super::contender::Contender;

/// Head of the lines of single runs, and of the table of medians.
pub(crate) const RUN_HEAD: &str = "scheduler kind    nodes run  pods/s  whole ms  sched ms  \
     server ms  etcd ms  peak MiB   429  events  first s  others";

/// One run.
pub(crate) fn run(burst: &Burst, run: usize, outcome: &Outcome) -> String {
    row(burst, &(run + 1).to_string(), outcome)
}

/// Medians of all runs of a field, and the ratios of the two schedulers.
pub(crate) fn bursts(done: &[(Burst, Outcome)]) -> String {
    let mut text = format!("\nmedians\n{RUN_HEAD}\n");
    let mut fields: Vec<Burst> = Vec::new();
    for (burst, _) in done {
        if !fields.contains(burst) {
            fields.push(*burst);
        }
    }
    for field in &fields {
        let (runs, outcome) = medians(done, *field);
        text += &row(field, &format!("x{runs}"), &outcome);
        text.push('\n');
    }
    text += "\nratios: pods/s of plimsoll to stock (bar 1.3; spread on 5,000 nodes 2), CPU and \
             memory of stock to plimsoll (bar 3)\n";
    text += "kind    nodes  pods/s  whole CPU  CPU first to last  peak memory  429 of plimsoll\n";
    let theirs = fields
        .iter()
        .filter(|field| field.contender == Contender::Stock);
    for field in theirs {
        let ours = Burst {
            contender: Contender::Plimsoll,
            ..*field
        };
        let ((_, stock), (runs, ours)) = (medians(done, *field), medians(done, ours));
        if runs == 0 {
            continue;
        }
        text += &ratios(field, &stock, &ours);
    }
    text
}

/// The middle one, or the mean of the two in the middle; not a number without any.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// The value that this share of all does not exceed.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    let found = sorted.get(rank.saturating_sub(1));
    found.copied().unwrap_or(f64::NAN)
}

fn medians(done: &[(Burst, Outcome)], field: Burst) -> (usize, Outcome) {
    let runs: Vec<&Outcome> = done
        .iter()
        .filter(|(burst, _)| *burst == field)
        .map(|(_, outcome)| outcome)
        .collect();
    let of = |figure: fn(&Outcome) -> f64| {
        median(&runs.iter().map(|run| figure(run)).collect::<Vec<_>>())
    };
    let outcome = Outcome {
        pods_per_second: of(|run| run.pods_per_second),
        whole_ms: of(|run| run.whole_ms),
        scheduler_ms: of(|run| run.scheduler_ms),
        server_ms: of(|run| run.server_ms),
        etcd_ms: of(|run| run.etcd_ms),
        peak_mib: of(|run| run.peak_mib),
        refused: of(|run| run.refused),
        events: of(|run| run.events),
        first_s: of(|run| run.first_s),
        others: of(|run| run.others),
    };
    (runs.len(), outcome)
}

fn ratios(field: &Burst, stock: &Outcome, ours: &Outcome) -> String {
    format!(
        "{:<7} {:>5}  {:>6.2}  {:>9.2}  {:>17.2}  {:>11.2}  {:>15}\n",
        format!("{:?}", field.kind).to_lowercase(),
        field.nodes,
        ours.pods_per_second / stock.pods_per_second,
        stock.whole_ms / ours.whole_ms,
        stock.scheduler_ms / ours.scheduler_ms,
        stock.peak_mib / ours.peak_mib,
        ours.refused,
    )
}

fn row(burst: &Burst, run: &str, of: &Outcome) -> String {
    format!(
        "{burst} {run:>4} {:>7.0} {:>9.2} {:>9.2} {:>10.2} {:>8.2} {:>9.0} {:>5} {:>7} {:>8.2} {:>7.2}",
        of.pods_per_second,
        of.whole_ms,
        of.scheduler_ms,
        of.server_ms,
        of.etcd_ms,
        of.peak_mib,
        of.refused,
        of.events,
        of.first_s,
        of.others,
    )
}
