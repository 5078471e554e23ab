//! What can be set about the load model, with the reason of each default.

use std::time::Duration;

/// Time constant of the mean by which CPU and bandwidth are judged. Of several means in a
/// sample the one nearest to it is taken: 10 s is smooth enough for a decision that lasts
/// hours and shows a new pod within half a minute.
pub const JUDGED_TAU: Duration = Duration::from_secs(10);
/// See [`LoadOptions::ramp`]. Programs warm up within half a minute to two minutes
/// (start-up, caches, just-in-time compilation): trust in the request ends as they do. Only
/// pods that their agent measures are concerned.
pub const RAMP: Duration = Duration::from_mins(1);
/// See [`LoadOptions::prior_ratio`]. Nothing has been learned yet: a request is taken at
/// its word.
pub const PRIOR_RATIO: f64 = 1.0;
/// See [`LoadOptions::fresh_periods`]. One lost report and some jitter are not silence.
pub const FRESH_PERIODS: u32 = 3;
/// See [`LoadOptions::fade`]. The load of most nodes changes little in five minutes,
/// and a cliff would be worse than any age: all nodes would cross it together.
pub const FADE: Duration = Duration::from_mins(5);
/// See [`LoadOptions::estimate_drift`]. A workload mostly keeps its level for half an hour
/// or so; after that its request says about as much.
pub const ESTIMATE_DRIFT: Duration = Duration::from_mins(30);
/// See [`LoadOptions::overhead_fade`]. Long against an agent's update or crash, short
/// against the life of a node: the last high reading of a dead agent must not close its
/// node for ever.
pub const OVERHEAD_FADE: Duration = Duration::from_hours(1);
/// See [`LoadOptions::silence_margin`]. More than the band in which scores tie (0.02), so
/// that a fresh node wins; a quarter of the span over which scores spread (0.20), so that
/// a silent node is used before the others are full.
pub const SILENCE_MARGIN: f64 = 0.05;

/// Nodes whose newest sample counts for at least this much are those by which a silent one
/// is judged: some 30 s beyond fresh. What they carry is still well known, and a hiccup of
/// the network that ages all samples by a few seconds does not leave nobody to compare with.
pub const PEER_CONFIDENCE: f64 = 0.9;
/// Shortest period an agent is believed to have: a faster one must not make its figures
/// count as old within a second or two of a network hiccup.
pub const MIN_PERIOD: Duration = Duration::from_secs(1);
/// Longest period an agent is believed to have: a longer one would keep the figures of a
/// dead agent fresh.
pub const MAX_PERIOD: Duration = Duration::from_mins(1);
/// Ages of all rows are brought up to date at most this often. The fastest agents sample
/// each second, so a tenth of it is lost in their jitter; between, a refresh costs only
/// what changed.
pub const AGE_STEP: Duration = Duration::from_millis(100);
/// Of a stolen CPU at least this share stays capacity: a node that looks wholly stolen
/// must stay judged (as very full), not drop out of the judgement.
pub const MIN_UNSTOLEN: f64 = 0.1;

/// Quantile of the peaks that `used_p95` stands on: what the agents send.
pub const PEAK_QUANTILE: f64 = 0.95;
/// How far a quantile on the wire, a 32-bit number, may be off [`PEAK_QUANTILE`].
pub const PEAK_QUANTILE_SLACK: f64 = 1e-3;
/// Window of that quantile: long enough to hold the peaks of most programs, short enough
/// that a node is not shunned for what is long over.
pub const PEAK_WIDTH: Duration = Duration::from_mins(5);
/// Samples below which there is no such quantile: of 30 two lie above it, of fewer it is
/// nearly the largest value, which is chance.
pub const PEAK_SAMPLES: u32 = 30;

/// Nodes that must fall silent together to make a brown-out: one or two may fail by
/// themselves, in small clusters too.
pub const BROWN_OUT_NODES: usize = 3;
/// A brown-out begins when more than this share (percent) of the nodes falls silent
/// together: more than an update of agents or of nodes takes away at once by any usual
/// setting (25 %).
pub const BROWN_OUT_ENTER_PERCENT: usize = 30;
/// It is over when less than this share (percent) is lost still: half of what begins one,
/// so that it does not flicker.
pub const BROWN_OUT_LEAVE_PERCENT: usize = 15;
/// Silences that begin within this time began together: longer than it takes all streams of
/// a broken network path to be noticed.
pub const BROWN_OUT_WITHIN: Duration = Duration::from_mins(1);
/// Nodes that reported within this time are those that can be lost: longer than an agent's
/// restart, short against the time for which somebody leaves an agent away.
pub const BROWN_OUT_MEMBERS: Duration = Duration::from_mins(10);
/// No brown-out begins so soon after the start: agents come back to a scheduler over half a
/// minute, and some are cut off again by a rolling update of the same release.
pub const BROWN_OUT_GRACE: Duration = Duration::from_secs(30);
/// Looks at the agents further apart than this say that the scheduler itself was away (it
/// was stopped, or waited for the API server): usually there is one each second at least.
pub const BROWN_OUT_AWAY: Duration = Duration::from_secs(3);
/// So long after it was away the agents are not judged by their silence: what they sent
/// meanwhile is still to be read.
pub const BROWN_OUT_CATCH_UP: Duration = Duration::from_secs(1);
/// Least and largest factor by which the expected use of silent nodes is scaled in a
/// brown-out. Requests are off by less than ten times in the mean of any cluster; beyond it
/// the few nodes that still report are not like the others.
pub const LEAST_SCALE: f64 = 0.1;
/// See [`LEAST_SCALE`].
pub const LARGEST_SCALE: f64 = 10.0;

/// A fall of load by this share of capacity is told to pods that wait for it: the band in
/// which scores tie. Less is noise of measuring, and pods would be woken in vain.
pub const FALL: f64 = 0.02;
/// A smaller fall than [`FALL`], down to a tenth of it, is told after this time: a load that
/// settles just under a line must not leave pods waiting for minutes, and noise wakes each
/// of them six times a minute at most.
pub const SETTLE: Duration = Duration::from_secs(10);
/// See [`SETTLE`].
pub const SMALL_FALL: f64 = FALL / 10.0;
/// A silent node is told to pods that wait for load each so often: how old figures may be
/// is a plugin's matter, and a pod must not wait much longer than that.
pub const SILENCE_STEP: Duration = Duration::from_mins(1);
/// After that long a silence tells nothing new: no plugin waits longer by default, and pods
/// are tried again every five minutes anyway.
pub const LONGEST_WATCHED_SILENCE: Duration = Duration::from_mins(10);
/// Rounding that must not swallow a fall of exactly [`FALL`].
pub const FALL_SLACK: f64 = 1e-9;

/// A departed pod is forgotten once the figures show no more than this share of it.
pub const DEPARTED_SHARE: f64 = 1e-3;
/// A departed pod is forgotten once the figures it would be taken from count for no more
/// than this (confidence): some 35 minutes after the last sample.
pub const DEPARTED_CONFIDENCE: f64 = 1e-3;
/// Departed pods remembered per node. A node that starts and ends 10 pods per second has
/// some 700 within seven time constants; a silent node's oldest are dropped beyond (it
/// then looks fuller than it is, the safe side).
pub const MAX_DEPARTED: usize = 1_024;
/// An agent's word that a pod lives counts against its deletion only if it is this much
/// younger: reports and watch events come by different roads.
pub const REVIVAL_SLACK: Duration = Duration::from_secs(2);
/// A deleted pod that its agent still reports is forgotten when no report names it for so
/// long: six times the period at which settled pods are reported.
pub const LINGER: Duration = Duration::from_mins(1);

/// Largest amount in any unit (an exabyte, or 10^15 cores): beyond it a figure is an
/// error, and sums of so many stay finite.
pub const LARGEST: f64 = 1e18;

/// Settings of the load model; the defaults are the constants of this module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadOptions {
    /// Time constant with which a young pod's own measurement takes over from its estimate.
    pub ramp: Duration,
    /// What a pod is expected to use of what it requests, before it is measured.
    pub prior_ratio: f64,
    /// A sample counts in full until it is this many periods old.
    pub fresh_periods: u32,
    /// Time constant with which an older sample loses weight.
    pub fade: Duration,
    /// Time constant with which a silent node's pods drift from their last measurement to
    /// their estimate.
    pub estimate_drift: Duration,
    /// Time constant with which a silent node's load beyond its pods is forgotten.
    pub overhead_fade: Duration,
    /// How much fuller than the median fresh node a silent node is taken to be at least,
    /// as a share of capacity.
    pub silence_margin: f64,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            ramp: RAMP,
            prior_ratio: PRIOR_RATIO,
            fresh_periods: FRESH_PERIODS,
            fade: FADE,
            estimate_drift: ESTIMATE_DRIFT,
            overhead_fade: OVERHEAD_FADE,
            silence_margin: SILENCE_MARGIN,
        }
    }
}
