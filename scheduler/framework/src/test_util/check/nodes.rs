//! Checks what a plugin says of each node: verdicts and scores.

use serde_json::Value;

use super::rejection_text;
use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::{NodeId, NodeInfo};
use crate::plugin::{FilterOutcome, PreFilterOutcome};
use crate::spec::PluginSpec;
use crate::test_util::cluster::Cluster;
use crate::test_util::pod::PodBuilder;
use crate::test_util::trial::Trial;

/// Judges every node: `n1: Pass`, `n2: Unschedulable: Insufficient cpu`,
/// `n3: Soft 0.050: reason`, in the order of the cluster. A node that `PreFilter` leaves out
/// reads `n4: not among PreFilter's nodes`. A `PreFilter` that skips or rejects gives a
/// single line: `PreFilter: Skip`, `PreFilter: UnschedulableAndUnresolvable: reason`.
///
/// # Panics
/// The test is written wrongly (see [`Trial::new`], [`Cluster::snapshot`]).
pub fn check_filter(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
) -> Vec<String> {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let cycle = scene.cycle();
    let mut state = CycleState::new();
    let outcome = match trial.pre_filter(&cycle, &mut state) {
        Ok(outcome) => outcome,
        Err(rejection) => return vec![format!("PreFilter: {}", rejection_text(&rejection))],
    };
    if outcome == PreFilterOutcome::Skip {
        return vec!["PreFilter: Skip".to_owned()];
    }
    let nodes = scene.snapshot.nodes();
    nodes
        .map(|node| {
            let verdict = if outcome.admits(node.id) {
                verdict_text(&trial, &cycle, &state, node)
            } else {
                "not among PreFilter's nodes".to_owned()
            };
            format!("{}: {verdict}", node.name())
        })
        .collect()
}

/// Scores every node that passes the plugin's own `Filter`: `n1: 3 -> 40`, the raw score and
/// the one after `normalize`, in the order of the cluster. A `PreScore` that skips gives the
/// single line `PreScore: Skip`; a rejection by any hook gives its text.
///
/// # Panics
/// The test is written wrongly, or the plugin has no `Score`.
pub fn check_score(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
) -> Vec<String> {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let cycle = scene.cycle();
    let mut state = CycleState::new();
    let feasible = match trial.pre_filter(&cycle, &mut state) {
        Ok(outcome) => feasible(&trial, &cycle, &state, &outcome),
        Err(rejection) => return vec![rejection_text(&rejection)],
    };
    match trial.scores(&cycle, &mut state, &feasible) {
        Err(rejection) => vec![rejection_text(&rejection)],
        Ok(None) => vec!["PreScore: Skip".to_owned()],
        Ok(Some(scored)) => {
            let name = |id| scene.snapshot.get(id).map_or("", |info| &**info.name());
            let rows = scored.iter();
            rows.map(|row| format!("{}: {} -> {}", name(row.node), row.raw, row.normalised))
                .collect()
        }
    }
}

fn verdict_text(trial: &Trial, cycle: &Cycle<'_>, state: &CycleState, node: &NodeInfo) -> String {
    match trial.filter(cycle, state, node) {
        Ok(FilterOutcome::Pass) => "Pass".to_owned(),
        Ok(FilterOutcome::Soft {
            excess,
            reason,
            detail,
        }) => match detail {
            Some(detail) => format!("Soft {excess:.3}: {reason} ({detail})"),
            None => format!("Soft {excess:.3}: {reason}"),
        },
        Err(rejection) => rejection_text(&rejection),
    }
}

fn feasible(
    trial: &Trial,
    cycle: &Cycle<'_>,
    state: &CycleState,
    outcome: &PreFilterOutcome,
) -> Vec<NodeId> {
    let passes = |node: &NodeInfo| {
        *outcome == PreFilterOutcome::Skip
            || outcome.admits(node.id) && trial.filter(cycle, state, node).is_ok()
    };
    let nodes = cycle.snapshot.nodes();
    nodes
        .filter(|node| passes(node))
        .map(|node| node.id)
        .collect()
}
