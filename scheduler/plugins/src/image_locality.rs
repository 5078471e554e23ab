//! `ImageLocality`: prefers nodes that already have the pod's images.
//!
//! kube-scheduler `plugins/imagelocality`. The snapshot knows the nodes of each image, so
//! that `PreScore` touches only nodes that have one: its work is the number of the pod's
//! images times the nodes that have them, and one array of the nodes' length.
//!
//! `Differs:` kube-scheduler has no `PreScore` here. Where it does not run (the
//! configuration lists the plugin at `score` alone), `Score` computes node by node: the
//! same numbers, at the cost of a search by name for each. The size of an image is that of
//! the first node that has it, in order of arrival; kube-scheduler goes on using the size
//! of the first node after that node has lost the image.

use std::sync::Arc;

use plimsoll_framework::{
    Cycle, CycleState, Depends, Hooks, MAX_SCORE, NodeId, NodeInfo, Normalizes, PluginSpec, Point,
    PreScore, PreScoreOutcome, Rejection, Score, Snapshot,
};

use crate::unread_args;

/// The plugin's name.
pub const NAME: &str = "ImageLocality";

const MIB: i64 = 1024 * 1024;
/// Images together smaller than this are fetched in no time: score 0.
const MIN_BYTES: i64 = 23 * MIB;
/// Images of this size, for each that the pod has, are worth the whole score.
const MAX_BYTES_PER_IMAGE: i64 = 1000 * MIB;

struct ImageLocality;

/// The scores of one cycle by node index; `None` where no node has any of the images.
#[derive(Clone)]
struct Scores(Option<Vec<i64>>);

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreScore, Point::Score],
        depends: Depends::Images,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(ImageLocality);
            Hooks::default().with_pre_score(&plugin).with_score(&plugin)
        },
    }
}

/// Never skips: a pod whose images are nowhere scores 0 everywhere.
impl PreScore for ImageLocality {
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        let snapshot = cycle.snapshot;
        let images = &cycle.pod.spec.images;
        let mut sums: Option<Vec<i64>> = None;
        for name in images {
            let nodes = snapshot.nodes_with_image(name);
            let worth = worth(snapshot, name, nodes);
            for id in nodes {
                let sums = sums.get_or_insert_with(|| vec![0; snapshot.columns()]);
                let sum = &mut sums[id.index()];
                *sum = sum.saturating_add(worth);
            }
        }
        let scores = sums.map(|mut sums| {
            for sum in &mut sums {
                *sum = score(*sum, images.len());
            }
            sums
        });
        state.insert(Scores(scores));
        Ok(PreScoreOutcome::Ready)
    }
}

impl Score for ImageLocality {
    fn score(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        Ok(match state.get::<Scores>() {
            Some(Scores(None)) => 0,
            Some(Scores(Some(scores))) => scores.get(node.id.index()).copied().unwrap_or(0),
            None => score_alone(cycle, node.id),
        })
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::Not
    }

    fn score_nodes(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        match state.get::<Scores>() {
            Some(Scores(None)) => scores.resize(scores.len() + nodes.len(), 0),
            Some(Scores(Some(prepared))) => {
                let score = |node: &NodeId| prepared.get(node.index()).copied().unwrap_or(0);
                scores.extend(nodes.iter().map(score));
            }
            None => scores.extend(nodes.iter().map(|node| score_alone(cycle, *node))),
        }
        Ok(())
    }
}

/// The score of one node, without what `PreScore` prepares.
fn score_alone(cycle: &Cycle<'_>, node: NodeId) -> i64 {
    let images = &cycle.pod.spec.images;
    let present = images.iter().filter_map(|name| {
        let nodes = cycle.snapshot.nodes_with_image(name);
        let here = nodes.binary_search(&node).is_ok();
        here.then(|| worth(cycle.snapshot, name, nodes))
    });
    score(present.fold(0, i64::saturating_add), images.len())
}

/// Bytes that an image counts on each of `nodes`, which have it: its size times the share
/// of all nodes that have it, rounded down (`scaledImageScore`). Else the few nodes that
/// have a rare image would get all its pods.
fn worth(snapshot: &Snapshot, name: &str, nodes: &[NodeId]) -> i64 {
    let first = nodes.first().and_then(|id| snapshot.get(*id));
    let images = first.map_or(&[][..], |info| &info.node.status.images);
    let Some(image) = images.iter().find(|image| &*image.name == name) else {
        return 0;
    };
    let spread = nodes.len() as f64 / snapshot.len() as f64;
    (image.bytes as f64 * spread) as i64
}

/// Where `bytes` lies between the two thresholds, 0..=100 (`calculatePriority`).
fn score(bytes: i64, images: usize) -> i64 {
    let max = MAX_BYTES_PER_IMAGE * images as i64;
    // A pod without any image, which the API refuses, has nothing to look for.
    if max <= MIN_BYTES {
        return 0;
    }
    let bytes = bytes.clamp(MIN_BYTES, max);
    MAX_SCORE * (bytes - MIN_BYTES) / (max - MIN_BYTES)
}

#[cfg(test)]
mod tests;
