//! The texts that people read when a pod finds no node, letter by letter those of
//! kube-scheduler (`framework/types.go` `FitError.Error`).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use plimsoll_framework::Rejection;

/// Longest note of an event (API validation `NoteLengthLimit`).
const NOTE_MAX: usize = 1024;
/// End of a note that was cut.
const NOTE_CUT: &str = " ...";

/// Counts nodes per reason.
#[derive(Debug, Default)]
pub(crate) struct Histogram<'a>(BTreeMap<&'a str, usize>);

// === impl Histogram ===

impl<'a> Histogram<'a> {
    /// Counts `nodes` nodes that gave `rejection`.
    pub(crate) fn add(&mut self, rejection: &'a Rejection, nodes: usize) {
        for reason in rejection.reasons.iter().filter(|_| nodes > 0) {
            *self.0.entry(reason).or_default() += nodes;
        }
    }

    /// `1 a, 10 b, 2 c`: sorted as text.
    fn text(&self) -> String {
        let mut entries: Vec<_> = self
            .0
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        entries.sort_unstable();
        entries.join(", ")
    }
}

/// `0/N nodes are available: ` and the histogram.
pub(crate) fn by_filter(nodes: usize, histogram: &Histogram<'_>) -> String {
    available(nodes, &histogram.text())
}

/// `0/N nodes are available: ` and what a `PreFilter` said.
pub(crate) fn by_pre_filter(nodes: usize, rejection: &Rejection) -> String {
    available(nodes, &rejection.message())
}

/// What one plugin said of the one chosen node (Reserve, Permit).
pub(crate) fn by_one(rejection: &Rejection) -> String {
    let mut histogram = Histogram::default();
    histogram.add(rejection, 1);
    by_filter(1, &histogram)
}

/// A message of the above with what the `PostFilter`s say at its end.
pub(crate) fn with_help(message: &str, post_filter: &str) -> String {
    let space = if post_filter.is_empty() { "" } else { " " };
    format!("{message}{space}{post_filter}")
}

fn available(nodes: usize, reasons: &str) -> String {
    let mut text = format!("0/{nodes} nodes are available:");
    // Writing to a string cannot fail.
    if !reasons.is_empty() {
        let _ = write!(text, " {reasons}.");
    }
    text
}

/// Cuts the note of an event to what the API takes.
pub(crate) fn note(message: &str) -> String {
    if message.len() <= NOTE_MAX {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(NOTE_MAX - NOTE_CUT.len());
    format!("{}{NOTE_CUT}", &message[..end])
}

/// A duration as Go prints it: `30s`, `1m30s`, `1h0m0s`, `250ms`, `1.5s`.
pub(crate) fn go_duration(time: Duration) -> String {
    let (seconds, nanos) = (time.as_secs(), time.subsec_nanos());
    if seconds == 0 {
        return match nanos {
            0 => "0s".to_owned(),
            1..1_000 => format!("{nanos}ns"),
            1_000..1_000_000 => format!("{}µs", decimal(u64::from(nanos), 3)),
            _ => format!("{}ms", decimal(u64::from(nanos), 6)),
        };
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = format!(
        "{}s",
        decimal((seconds % 60) * 1_000_000_000 + u64::from(nanos), 9)
    );
    match (hours, minutes) {
        (0, 0) => rest,
        (0, _) => format!("{minutes}m{rest}"),
        _ => format!("{hours}h{minutes}m{rest}"),
    }
}

/// `value / 10^places` without zeros at the end.
fn decimal(value: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let fraction = format!("{:0width$}", value % unit, width = places as usize);
    let fraction = fraction.trim_end_matches('0');
    let whole = value / unit;
    if fraction.is_empty() {
        whole.to_string()
    } else {
        format!("{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_framework::Rejection;

    use super::{Histogram, by_filter, by_one, by_pre_filter, go_duration, note, with_help};

    #[test]
    fn entries_are_sorted_as_text_not_as_numbers() {
        let (a, b) = (Rejection::unschedulable("y"), Rejection::unschedulable("x"));
        let mut histogram = Histogram::default();
        histogram.add(&a, 2);
        histogram.add(&b, 10);
        assert_eq!(
            by_filter(12, &histogram),
            "0/12 nodes are available: 10 x, 2 y."
        );
    }

    #[test]
    fn every_reason_of_a_node_counts() {
        let mut rejection = Rejection::unschedulable("Insufficient cpu");
        rejection.reasons.push("Too many pods".into());
        let mut histogram = Histogram::default();
        histogram.add(&rejection, 1);
        histogram.add(&rejection, 1);
        let text = with_help(&by_filter(2, &histogram), "preemption: none");
        let expected =
            "0/2 nodes are available: 2 Insufficient cpu, 2 Too many pods. preemption: none";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_pre_filter_speaks_for_all_nodes() {
        let rejection = Rejection::unresolvable("claim not found");
        let text = with_help(&by_pre_filter(21, &rejection), "not found");
        assert_eq!(text, "0/21 nodes are available: claim not found. not found");
        assert_eq!(
            by_one(&rejection),
            "0/1 nodes are available: 1 claim not found."
        );
    }

    #[test]
    fn a_long_note_is_cut_to_1024_bytes_between_characters() {
        assert_eq!(note(&"x".repeat(1024)).len(), 1024);
        let cut = note(&"x".repeat(1025));
        assert_eq!((cut.len(), cut.ends_with("x ...")), (1024, true));
        let cut = note(&"ä".repeat(600));
        assert!(cut.len() <= 1024 && cut.ends_with("ä ..."), "{}", cut.len());
    }

    #[test]
    fn durations_read_as_go_prints_them() {
        let cases = [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (250_000_000, "250ms"),
            (1_500_000_000, "1.5s"),
            (30_000_000_000, "30s"),
            (90_000_000_000, "1m30s"),
            (3_600_000_000_000, "1h0m0s"),
        ];
        for (nanos, expected) in cases {
            assert_eq!(go_duration(Duration::from_nanos(nanos)), expected);
        }
    }
}
