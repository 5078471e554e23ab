//! The decision record of one attempt, filled from what the cycle looked at.

use std::sync::Arc;

use plimsoll_framework::{Cycle, NodeId, QueuedPod};

use super::decide::{Chosen, Decided};
use super::desk::Desk;
use super::{groups, select};
use crate::command::PodRef;
use crate::decision::{Candidate, Decision, KEPT_REASONS, Outcome, PluginScore, RejectionCount};
use crate::extender;
use crate::runtime::Framework;

/// The record of an attempt with `queued` that came to `decided`.
pub(crate) fn record(
    framework: &Framework,
    cycle: &Cycle<'_>,
    queued: &QueuedPod,
    desk: &Desk,
    decided: &Decided,
) -> Decision {
    let (outcome, candidates) = match decided {
        Decided::Chosen(chosen) => {
            let node = name_of(cycle, chosen.node);
            let outcome = Outcome::Chosen {
                node,
                unscored: chosen.unscored,
            };
            (outcome, candidates(cycle, desk, chosen))
        }
        Decided::Nowhere(nowhere) => (
            Outcome::Unschedulable {
                message: nowhere.message(),
            },
            Vec::new(),
        ),
        Decided::Failed(error) => (
            Outcome::Failed {
                message: error.message(),
            },
            Vec::new(),
        ),
    };
    let over = match decided {
        Decided::Chosen(chosen) => chosen.over.clone(),
        Decided::Nowhere(_) | Decided::Failed(_) => None,
    };
    Decision {
        pod: PodRef::of(cycle.pod),
        scheduler_name: Arc::clone(&framework.scheduler_name),
        attempt: queued.attempts,
        at: cycle.now.mono,
        waited: cycle.now.mono.saturating_sub(queued.first_queued_at),
        outcome,
        estimate: *cycle.estimate,
        nodes: cycle.snapshot.len(),
        evaluated: desk.found().evaluated(),
        feasible: if over.is_some() {
            desk.found().soft.len()
        } else {
            desk.found().feasible.len()
        },
        candidates,
        rejections: rejections(cycle, desk),
        over,
    }
}

fn candidates(cycle: &Cycle<'_>, desk: &Desk, chosen: &Chosen) -> Vec<Candidate> {
    if chosen.unscored.is_some() {
        return vec![Candidate {
            node: name_of(cycle, chosen.node),
            total: 0,
            scores: Vec::new(),
            load: cycle.snapshot.load(chosen.node),
        }];
    }
    let (feasible, scores) = (&desk.found().feasible, desk.scores());
    let rows = select::best_rows(feasible, &scores.totals, chosen.node);
    let candidate = |row: usize| {
        let columns = scores.columns().iter().filter_map(|column| {
            Some(PluginScore {
                plugin: column.plugin,
                weight: column.weight,
                raw: *column.raw.get(row)?,
                normalized: column.normalized.get(row)?.score,
            })
        });
        let added = scores.added.get(row).map(|added| PluginScore {
            plugin: extender::NAME,
            weight: 1,
            raw: *added,
            normalized: *added,
        });
        Candidate {
            node: name_of(cycle, feasible[row]),
            total: scores.totals[row],
            scores: columns.chain(added).collect(),
            load: cycle.snapshot.load(feasible[row]),
        }
    };
    rows.into_iter().map(candidate).collect()
}

fn rejections(cycle: &Cycle<'_>, desk: &Desk) -> Vec<RejectionCount> {
    let grouped = groups::group(&desk.found().rejected);
    let kept = grouped.iter().take(KEPT_REASONS);
    kept.map(|group| RejectionCount {
        rejection: group.rejection.clone(),
        example: name_of(cycle, group.example),
        count: group.count,
    })
    .collect()
}

fn name_of(cycle: &Cycle<'_>, id: NodeId) -> Arc<str> {
    cycle
        .snapshot
        .get(id)
        .map(|info| Arc::clone(info.name()))
        .unwrap_or_default()
}
