//! The shape of the answers: the keys of the oracle, in its order, empty ones left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_core::Unscored;
use plimsoll_core::verdict::{
    NodeVerdict, Placement, PostFilterVerdict, PreFilterVerdict, ScorePlugin, Status, Verdict,
};
use serde::Serialize;

/// The kube-scheduler whose words are spoken.
const KUBERNETES: &str = "v1.37.2";

/// The answer of `verdict`.
#[derive(Serialize)]
pub(super) struct VerdictAnswer<'a> {
    kubernetes: &'static str,
    pods: Vec<PodOut<'a>>,
}

/// The answer of `sequence`.
#[derive(Serialize)]
pub(crate) struct SequenceAnswer<'a> {
    kubernetes: &'static str,
    placements: Vec<PlacementOut<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PodOut<'a> {
    pod: String,
    profile: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_enqueue: Option<StatusOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_filter: Option<PreFilterOut<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    nodes: BTreeMap<&'a str, NodeOut<'a>>,
    feasible: usize,
    #[serde(skip_serializing_if = "no_items")]
    skipped_score: &'a [&'static str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    score_plugins: Vec<ScorePluginOut>,
    #[serde(skip_serializing_if = "no_items")]
    top: &'a [Arc<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    unscored: Option<UnscoredOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_filter: Option<PostFilterOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct StatusOut<'a> {
    code: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    plugin: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreFilterOut<'a> {
    #[serde(flatten)]
    status: StatusOut<'a>,
    #[serde(skip_serializing_if = "no_items")]
    skipped: &'a [&'static str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<PreFilterPluginOut<'a>>,
    node_names: Option<&'a [Arc<str>]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreFilterPluginOut<'a> {
    #[serde(flatten)]
    status: StatusOut<'a>,
    #[serde(skip_serializing_if = "no_items")]
    node_names: &'a [Arc<str>],
}

#[derive(Serialize)]
struct NodeOut<'a> {
    #[serde(flatten)]
    status: StatusOut<'a>,
    #[serde(skip_serializing_if = "no_items")]
    raw: &'a [i64],
    #[serde(skip_serializing_if = "no_items")]
    norm: &'a [i64],
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<i64>,
}

#[derive(Serialize)]
struct ScorePluginOut {
    name: &'static str,
    weight: i64,
}

#[derive(Serialize)]
struct UnscoredOut<'a> {
    node: &'a str,
    reason: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostFilterOut<'a> {
    #[serde(flatten)]
    status: StatusOut<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nominated_node: Option<&'a str>,
    #[serde(skip_serializing_if = "no_items")]
    tied: &'a [Arc<str>],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    candidates: BTreeMap<&'a str, CandidateOut>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    clears_nomination: bool,
}

#[derive(Serialize)]
struct CandidateOut {
    victims: Vec<String>,
    #[serde(rename = "pdbViolations")]
    pdb_violations: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlacementOut<'a> {
    pod: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<i64>,
    #[serde(skip_serializing_if = "no_items")]
    top: &'a [Arc<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    gated: Option<StatusOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reserve: Option<StatusOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_filter: Option<PostFilterOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

fn no_items<T>(items: &&[T]) -> bool {
    items.is_empty()
}

impl<'a> VerdictAnswer<'a> {
    pub(super) fn of(verdicts: &'a [Verdict]) -> Self {
        Self {
            kubernetes: KUBERNETES,
            pods: verdicts.iter().map(PodOut::of).collect(),
        }
    }
}

impl<'a> SequenceAnswer<'a> {
    /// The answer that tells `placements`.
    pub(crate) fn of(placements: &'a [Placement]) -> Self {
        Self {
            kubernetes: KUBERNETES,
            placements: placements.iter().map(PlacementOut::of).collect(),
        }
    }
}

impl<'a> PodOut<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        let nodes = verdict.nodes.iter();
        Self {
            pod: verdict.pod.to_string(),
            profile: &verdict.scheduler_name,
            skipped: verdict.skipped.as_deref(),
            pre_enqueue: verdict.pre_enqueue.as_ref().map(StatusOut::of),
            pre_filter: verdict.pre_filter.as_ref().map(PreFilterOut::of),
            nodes: nodes
                .map(|(name, node)| (&**name, NodeOut::of(node)))
                .collect(),
            feasible: verdict.feasible,
            skipped_score: &verdict.skipped_score,
            score_plugins: verdict
                .score_plugins
                .iter()
                .map(ScorePluginOut::of)
                .collect(),
            top: &verdict.top,
            unscored: verdict.unscored.as_ref().map(|(node, why)| UnscoredOut {
                node,
                reason: reason_of(*why),
            }),
            message: verdict.message.as_deref(),
            event_note: verdict.event_note.as_deref(),
            post_filter: verdict.post_filter.as_ref().map(PostFilterOut::of),
            error: verdict.error.as_deref(),
        }
    }
}

impl<'a> StatusOut<'a> {
    fn of(status: &'a Status) -> Self {
        Self {
            code: status.code,
            plugin: &status.plugin,
            reasons: status.reasons.iter().map(|reason| &**reason).collect(),
        }
    }
}

impl<'a> PreFilterOut<'a> {
    fn of(verdict: &'a PreFilterVerdict) -> Self {
        let plugins = verdict.plugins.iter();
        Self {
            status: StatusOut::of(&verdict.status),
            skipped: &verdict.skipped,
            plugins: plugins
                .map(|(status, names)| PreFilterPluginOut {
                    status: StatusOut::of(status),
                    node_names: names.as_deref().unwrap_or_default(),
                })
                .collect(),
            node_names: verdict.node_names.as_deref(),
        }
    }
}

impl<'a> NodeOut<'a> {
    fn of(verdict: &'a NodeVerdict) -> Self {
        Self {
            status: StatusOut::of(&verdict.status),
            raw: &verdict.raw,
            norm: &verdict.normalized,
            total: verdict.total,
        }
    }
}

impl ScorePluginOut {
    fn of(plugin: &ScorePlugin) -> Self {
        Self {
            name: plugin.name,
            weight: plugin.weight,
        }
    }
}

impl<'a> PostFilterOut<'a> {
    fn of(verdict: &'a PostFilterVerdict) -> Self {
        let candidates = verdict.candidates.iter().map(|(node, found)| {
            let victims = found.victims.iter().map(ToString::to_string);
            let candidate = CandidateOut {
                victims: victims.collect(),
                pdb_violations: found.pdb_violations,
            };
            (&**node, candidate)
        });
        Self {
            status: StatusOut::of(&verdict.status),
            nominated_node: verdict.nominated_node.as_deref(),
            tied: &verdict.tied,
            candidates: candidates.collect(),
            clears_nomination: verdict.clears_nomination,
        }
    }
}

impl<'a> PlacementOut<'a> {
    fn of(placement: &'a Placement) -> Self {
        let verdict = &placement.verdict;
        let node = placement.node.as_ref();
        // A node that was not scored was not the best of any.
        let scored = node.is_none_or(|_| verdict.unscored.is_none());
        let total = node.and_then(|node| verdict.nodes.get(node)?.total);
        Self {
            pod: verdict.pod.to_string(),
            node: node.map(|node| &**node),
            total: total.filter(|_| scored),
            top: if scored { &verdict.top } else { &[] },
            gated: verdict.pre_enqueue.as_ref().map(StatusOut::of),
            reserve: placement.reserve.as_ref().map(StatusOut::of),
            message: verdict.message.as_deref().or(verdict.skipped.as_deref()),
            post_filter: verdict.post_filter.as_ref().map(PostFilterOut::of),
            error: verdict.error.as_deref(),
        }
    }
}

fn reason_of(why: Unscored) -> &'static str {
    match why {
        Unscored::OnlyFeasibleNode => "OnlyFeasibleNode",
        Unscored::NominatedNode => "NominatedNode",
        Unscored::SoftCap => "SoftCap",
    }
}
