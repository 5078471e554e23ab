//! The formulas of `ActualLoadScore`: numbers in, numbers out.
//!
//! Shares `u` and loads `L` are parts of capacity: 1 is full. `L` of a node, then a score
//! per candidate by where its `L` lies among the others', then the mean with requests.

use plimsoll_framework::{LoadResource, MAX_SCORE, NodeLoad, PodEstimate};

/// Weight of each resource in `L`, 0..=100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    /// Of cpu.
    pub cpu: f64,
    /// Of memory.
    pub memory: f64,
    /// Of the network.
    pub network: f64,
}

/// Largest share that is told apart. A node in need of ten times what it has is as bad as
/// can be; beyond lie only figures gone wrong, which must not flatten all other differences.
const SHARE_MAX: f64 = 10.0;

/// The load of a node once the pod runs there: `L = (sum(w * u^4) / sum(w))^(1/4)` over the
/// resources whose use and capacity are known; `u = (used + estimate) / capacity`. Of the
/// network the larger of the known directions counts. `None` if nothing is known.
///
/// The fourth power keeps `L` near the largest share, so that one saturated resource is not
/// averaged away: with cpu 0.9, memory 0.1 and network 0.1, `L` is 0.68, not 0.37.
pub(super) fn node_load(row: &NodeLoad, pod: &PodEstimate, weights: &Weights) -> Option<f64> {
    let share = |resource| share(row, pod, resource);
    let network = match (share(LoadResource::Rx), share(LoadResource::Tx)) {
        (Some(rx), Some(tx)) => Some(rx.max(tx)),
        (rx, tx) => rx.or(tx),
    };
    let terms = [
        (weights.cpu, share(LoadResource::Cpu)),
        (weights.memory, share(LoadResource::Memory)),
        (weights.network, network),
    ];
    let (mut sum, mut known) = (0.0, 0.0);
    for (weight, share) in terms {
        if let Some(share) = share {
            let square = share * share;
            sum += weight * square * square;
            known += weight;
        }
    }
    (known > 0.0).then(|| (sum / known).sqrt().sqrt())
}

/// The share of one resource in use once the pod runs there.
fn share(row: &NodeLoad, pod: &PodEstimate, resource: LoadResource) -> Option<f64> {
    let share = row.get(resource).ratio_with(pod.get(resource))?;
    (!share.is_nan()).then_some(share.min(SHARE_MAX))
}

/// The load score 0..=100 of each candidate: `100 * (hi - L) / max(hi - lo, span_floor)`
/// with `hi` and `lo` the largest and smallest known `L`.
///
/// - A candidate whose `L` exceeds `lo` by no more than `tie_band` counts as `lo`: all of
///   them are equally good. Beyond the band `L` counts as it is.
/// - `span_floor` keeps small differences small: only candidates that lie that far apart
///   get the whole range.
/// - An unknown `L` counts as the median of the known ones (of an even number, the mean of
///   the middle two).
///
/// `None` if no `L` is known.
pub(super) fn load_scores(
    loads: &[Option<f64>],
    span_floor: f64,
    tie_band: f64,
) -> Option<Vec<f64>> {
    let known = || loads.iter().copied().flatten();
    let lo = known().reduce(f64::min)?;
    let hi = known().reduce(f64::max)?;
    let unknown = if loads.contains(&None) {
        median(known().collect())?
    } else {
        lo
    };
    let span = (hi - lo).max(span_floor);
    let score = |load: f64| {
        let load = if load - lo <= tie_band { lo } else { load };
        (MAX_SCORE as f64 * (hi - load) / span).clamp(0.0, MAX_SCORE as f64)
    };
    Some(
        loads
            .iter()
            .map(|load| score(load.unwrap_or(unknown)))
            .collect(),
    )
}

/// `load_weight * load + (1 - load_weight) * requests`, rounded to nearest; `requests` alone
/// where there is no load score. Within 0..=100.
pub(super) fn blend(load: Option<f64>, requests: i64, load_weight: f64) -> u8 {
    let requests = requests as f64;
    let score = load.map_or(requests, |load| {
        load_weight * load + (1.0 - load_weight) * requests
    });
    score.round().clamp(0.0, MAX_SCORE as f64) as u8
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests;
