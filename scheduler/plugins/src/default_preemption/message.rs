//! The texts that people read, letter by letter those of kube-scheduler.

use std::collections::BTreeMap;

use plimsoll_framework::Rejection;

/// Said of every node where no dry run was worth it.
const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";

/// Room can be made on `node`.
pub(super) fn found(node: &str, victims: usize) -> String {
    format!(
        "preemption: found a potential placement for pod on node {node}, preempting {victims} victims"
    )
}

/// Room can be made on none of `nodes` nodes: dry runs on some of them ended with
/// `rejected` (`FitError.Error` over the dry runs).
pub(super) fn nothing_helps(nodes: usize, rejected: &[Rejection]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in rejected.iter().flat_map(|rejection| &rejection.reasons) {
        *counts.entry(reason).or_default() += 1;
    }
    let others = nodes.saturating_sub(rejected.len());
    if others > 0 {
        *counts.entry(NOT_HELPFUL).or_default() += others;
    }
    let counts = counts.iter();
    let mut entries: Vec<String> = counts
        .map(|(reason, nodes)| format!("{nodes} {reason}"))
        .collect();
    entries.sort_unstable();
    let reasons = entries.join(", ");
    format!("preemption: 0/{nodes} nodes are available: {reasons}.")
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::Rejection;

    use super::nothing_helps;

    #[test]
    fn nodes_are_counted_by_reason_and_entries_sorted_as_text() {
        let mut short = Rejection::unschedulable("Insufficient cpu");
        short.reasons.push("Too many pods".into());
        let none = Rejection::unresolvable("No preemption victims found for incoming pod");
        assert_eq!(
            nothing_helps(14, &[short.clone(), none, short]),
            "preemption: 0/14 nodes are available: 1 No preemption victims found for incoming pod, \
             11 Preemption is not helpful for scheduling, 2 Insufficient cpu, 2 Too many pods."
        );
        assert_eq!(
            nothing_helps(1, &[Rejection::unschedulable("Insufficient cpu")]),
            "preemption: 0/1 nodes are available: 1 Insufficient cpu."
        );
    }
}
