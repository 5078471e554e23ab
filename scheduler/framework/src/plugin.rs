//! The extension points: one trait per point, with the outcomes that are legal there.
//!
//! Run order of a pod: `PreEnqueue`, `QueueSort`; then in the scheduling cycle `PreFilter`,
//! `Filter`, `PostFilter` (only when no node passes), `PreScore`, `Score`, `Reserve`,
//! `Permit`; then in the binding cycle `PreBind`, `Bind`, `PostBind`. On any failure after
//! `Reserve`, every `unreserve` runs in reverse order.

mod bind;
mod enqueue;
mod filter;
mod group;
mod permit;
mod post_bind;
mod post_filter;
mod pre_bind;
mod pre_enqueue;
mod pre_filter;
mod pre_score;
mod queue_sort;
mod reserve;
mod score;

pub use bind::{Bind, BindOutcome};
pub use enqueue::EnqueueExtensions;
pub use filter::{Filter, FilterOutcome};
pub use group::{GroupSize, Grouping, Membership};
pub use permit::{MAX_PERMIT_WAIT, Permit, PermitOutcome, PermitRequest, Release, WaitingPod};
pub use post_bind::PostBind;
pub use post_filter::{PostFilter, PostFilterOutcome, Preemption};
pub use pre_bind::{PreBind, PreBindOutcome, PreBindStep};
pub use pre_enqueue::PreEnqueue;
pub use pre_filter::{PreFilter, PreFilterOutcome};
pub use pre_score::{PreScore, PreScoreOutcome};
pub use queue_sort::QueueSort;
pub use reserve::Reserve;
pub use score::{NodeScore, Normalizes, Score, score_one_by_one};
