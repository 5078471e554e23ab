//! The load model: what a node carries now, and what it will carry once the pods in
//! flight arrive.
//!
//! Takes samples of nodes ([`Sample`]) and the placements of pods, gives one
//! [`NodeLoad`](plimsoll_framework::NodeLoad) per node: the measurement, corrected by a
//! ledger of pods that it does not show yet (or shows still), blended with an estimate as
//! it ages. Says beside it whether load is to be judged at all (brown-out, switched off)
//! and which nodes' load fell. Pure: time comes in as a value.

mod age;
mod brown_out;
pub mod capacity;
pub mod census;
mod estimator;
mod falls;
mod figures;
mod ledger;
pub mod model;
mod moment;
mod node_state;
pub mod options;
mod pod_entry;
mod row;
pub mod sample;
mod scale;
mod silence;
#[cfg(test)]
mod world;

pub use census::LoadCensus;
pub use model::{Applied, LoadModel};
pub use options::LoadOptions;
pub use sample::{Figure, Machine, Meter, PodSample, Sample};
