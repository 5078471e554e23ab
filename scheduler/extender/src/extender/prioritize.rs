//! What the answer to a prioritize call adds to the scores (`prioritizeNodes`).

use std::collections::BTreeMap;

use crate::wire::HostPriority;

/// `MaxNodeScore / MaxExtenderPriority`: from an extender's 0..10 to 0..100.
const SCALE: i64 = 10;

/// Adds `score * weight * 10` to the total of each host. Scores are not checked, a host that
/// is named twice counts twice, and hosts that nobody asked about are passed over by who
/// reads `totals`. `Differs:` sums stop at the ends of `i64`; kube-scheduler's wrap around.
pub fn add_scores(totals: &mut BTreeMap<String, i64>, weight: i64, scores: Vec<HostPriority>) {
    for HostPriority { host, score } in scores {
        let total = totals.entry(host).or_default();
        *total = total.saturating_add(score.saturating_mul(weight).saturating_mul(SCALE));
    }
}
