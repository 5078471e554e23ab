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

/// Use above which waiting counts. Below it there is room: tasks that wait there do so for
/// their own cgroup's limit or for an instant, which another node would not mend.
const PRESSURE_FROM: f64 = 0.6;
/// What waiting all the time adds to the share of a full node: as much as a quarter of the
/// node. It tells apart nodes of the same use, and does not outweigh use itself.
const PRESSURE_WEIGHT: f64 = 0.25;

/// Loads this close to a target are at it: more than the fourth root is off by.
const TARGET_TOLERANCE: f64 = 1e-9;

/// The load of a node once the pod runs there: `L = (sum(w * u^4) / sum(w))^(1/4)` over the
/// resources whose use and capacity are known; `u = (used + estimate) / capacity`. Of the
/// network the larger of the known directions counts. `None` if nothing is known.
///
/// The fourth power keeps `L` near the largest share, so that one saturated resource is not
/// averaged away: with cpu 0.9, memory 0.1 and network 0.1, `L` is 0.68, not 0.37.
///
/// Cpu and memory count with their pressure (see [`pressed`]).
pub(super) fn node_load(row: &NodeLoad, pod: &PodEstimate, weights: &Weights) -> Option<f64> {
    let share = |resource| share(row, pod, resource);
    let network = match (share(LoadResource::Rx), share(LoadResource::Tx)) {
        (Some(rx), Some(tx)) => Some(rx.max(tx)),
        (rx, tx) => rx.or(tx),
    };
    let cpu = share(LoadResource::Cpu).map(|share| pressed(share, row.pressure.cpu));
    let memory = share(LoadResource::Memory).map(|share| pressed(share, row.pressure.memory));
    let terms = [
        (weights.cpu, cpu),
        (weights.memory, memory),
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

/// `u + 0.25 * psi * clamp((u - 0.6) / 0.4, 0, 1)`: the share `u` with what tasks wait for
/// the resource, `psi` = share of time in which some task did. Unknown pressure adds
/// nothing; a little more use never gives less.
fn pressed(share: f64, pressure: Option<f32>) -> f64 {
    let pressure = pressure.filter(|pressure| !pressure.is_nan());
    let pressure = f64::from(pressure.unwrap_or(0.0)).clamp(0.0, 1.0);
    let busy = ((share - PRESSURE_FROM) / (1.0 - PRESSURE_FROM)).clamp(0.0, 1.0);
    share + PRESSURE_WEIGHT * pressure * busy
}

/// Each load, with the median of the known ones (of an even number, the mean of the middle
/// two) for an unknown one. `None` if no load is known.
pub(super) fn filled(loads: &[Option<f64>]) -> Option<Vec<f64>> {
    let unknown = if loads.contains(&None) {
        median(loads.iter().copied().flatten().collect())?
    } else {
        *loads.first()?.as_ref()?
    };
    let loads = loads.iter();
    Some(loads.map(|load| load.unwrap_or(unknown)).collect())
}

/// Whether a node with this load carries more than it is to be filled to.
pub(super) fn is_over(load: f64, target: f64) -> bool {
    load - target > TARGET_TOLERANCE
}

/// The load score 0..=100 of a node that is to be filled to `target` and no further: the
/// shape of trimaran's target load packing.
///
/// ```text
/// load <= target: from 100 * target at load 0, rising to 100 at the target
/// load >  target: from 100 * target down to 0 at load 1
/// ```
///
/// The two parts do not overlap: every node at or below the target beats every node above
/// it, whatever the target (LOAD-A1). The target lies between 0 and 1, both excluded, where
/// a part would be empty.
pub(super) fn pack_score(load: f64, target: f64) -> f64 {
    let part = if is_over(load, target) {
        target * (1.0 - load).max(0.0) / (1.0 - target)
    } else {
        target + (1.0 - target) * (load / target).min(1.0)
    };
    MAX_SCORE as f64 * part.clamp(0.0, 1.0)
}

/// The load score 0..=100 of each candidate: `100 * (hi - L) / max(hi - lo, span_floor)`
/// with `hi` and `lo` the largest and smallest known `L`.
///
/// - A candidate whose `L` exceeds `lo` by no more than `tie_band` counts as `lo`: all of
///   them are equally good. Beyond the band `L` counts as it is.
/// - `span_floor` keeps small differences small: only candidates that lie that far apart
///   get the whole range.
/// - An unknown `L` counts as the median (see [`filled`]).
///
/// `None` if no `L` is known.
pub(super) fn spread_scores(
    loads: &[Option<f64>],
    span_floor: f64,
    tie_band: f64,
) -> Option<Vec<f64>> {
    let loads = filled(loads)?;
    // The median of the known ones lies between them.
    let lo = loads.iter().copied().reduce(f64::min)?;
    let hi = loads.iter().copied().reduce(f64::max)?;
    let span = (hi - lo).max(span_floor);
    let score = |load: f64| {
        let load = if load - lo <= tie_band { lo } else { load };
        (MAX_SCORE as f64 * (hi - load) / span).clamp(0.0, MAX_SCORE as f64)
    };
    Some(loads.into_iter().map(score).collect())
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
