//! The figures behind a verdict, for the decision record.
//!
//! A busy cluster has thousands of nodes over a line for each pod: numbers are written as
//! whole hundredths, at a third of the cost of a fraction.

use std::fmt::Write;
use std::time::Duration;

use plimsoll_framework::NodeLoad;

use super::line::Over;

/// Bytes of a usual text.
const USUAL_LENGTH: usize = 80;

/// `cpu 0.97 with the pod: measured 0.80, in flight 0.12, sample 1 s old`; shares of
/// capacity.
pub(super) fn detail(row: &NodeLoad, over: &Over<'_>) -> Box<str> {
    let cell = row.get(over.resource);
    let capacity = cell.capacity.unwrap_or(f64::NAN);
    let mut text = String::with_capacity(USUAL_LENGTH);
    text.push_str(over.resource.as_str());
    push_share(&mut text, over.ratio);
    text.push_str(" with the pod: ");
    let parts = [
        ("measured", cell.measured),
        ("in flight", Some(cell.in_flight).filter(|part| *part > 0.0)),
        ("departing", Some(cell.departing).filter(|part| *part > 0.0)),
    ];
    for (name, amount) in parts {
        if let Some(amount) = amount {
            text.push_str(name);
            push_share(&mut text, amount / capacity);
            text.push_str(", ");
        }
    }
    push_age(&mut text, row.sample_age);
    text.into()
}

/// `sample 1 s old`, or that there is none.
pub(super) fn age(age: Option<Duration>) -> String {
    let mut text = String::new();
    push_age(&mut text, age);
    text
}

fn push_age(text: &mut String, age: Option<Duration>) {
    // Writing to a text cannot fail.
    let _written = match age {
        Some(age) => write!(text, "sample {} s old", age.as_secs_f64().round() as u64),
        None => text.write_str("no sample"),
    };
}

/// ` 0.97`.
fn push_share(text: &mut String, share: f64) {
    let hundredths = (share * 100.0).round() as u64;
    let _written = write!(text, " {}.{:02}", hundredths / 100, hundredths % 100);
}
