//! The contract between the engine and its plugins.
//!
//! A plugin is a [`PluginSpec`]: a name, the points it serves, its args, and a `build`
//! that returns its hooks as data ([`Hooks`]). Each extension point of kube-scheduler's
//! framework is one trait under [`plugin`]; a hook takes values (the [`Cycle`], the
//! [`CycleState`], a [`NodeInfo`]) and returns `Result<ItsOutcome, Rejection>`. Nothing a
//! hook can reach does IO, reads a clock or changes under it.
//!
//! This crate knows Kubernetes objects and nothing else: no engine, no config file, no
//! client.
//!
//! # A plugin from first line to last
//!
//! It keeps pod slots of a node free and prefers nodes that have many. The checks of
//! `test_util` (feature `test-util`) run its hooks the way that the engine does.
//!
//! ```
//! use std::sync::Arc;
//!
//! use plimsoll_framework::{
//!     Actions, Args, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions, EventResource,
//!     FieldError, FieldPath, Fields, Filter, FilterOutcome, Hooks, NodeInfo, NodeScore,
//!     PluginSpec, Point, Rejection, Score, Stage,
//! };
//! use serde_json::{Value, json};
//!
//! /// Slots kept free unless the args say otherwise: room for daemons that come later.
//! const KEEP_FREE: i64 = 5;
//!
//! #[derive(Clone, Copy)]
//! struct PodSlots {
//!     keep_free: i64,
//! }
//!
//! /// The plugin: one line in a list, or `Registry::with` in a binary of your own.
//! fn spec() -> PluginSpec {
//!     PluginSpec {
//!         name: "PodSlots",
//!         points: &[Point::Filter, Point::Score],
//!         depends: Depends::NodeInfo,
//!         decode_args,
//!         build: |args| {
//!             let default = PodSlots { keep_free: KEEP_FREE };
//!             let plugin = Arc::new(args.get().copied().unwrap_or(default));
//!             Hooks::default().with_filter(&plugin).with_score(&plugin).with_enqueue(&plugin)
//!         },
//!     }
//! }
//!
//! /// Reads `{"keepFree": 5}`; every mistake is kept, with its path.
//! fn decode_args(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
//!     let mut fields = Fields::new(args, path.clone(), errors);
//!     let keep_free = fields.optional("keepFree").unwrap_or(KEEP_FREE);
//!     if keep_free < 0 {
//!         let problem = format!("must not be negative, is {keep_free}");
//!         fields.reject("keepFree", Stage::Validate, problem);
//!     }
//!     fields.finish();
//!     Args::new(PodSlots { keep_free }, json!({"keepFree": keep_free}))
//! }
//!
//! /// Slots that are left once one more pod is there.
//! fn free_after(node: &NodeInfo) -> i64 {
//!     node.allocatable().pods - node.pods.len() as i64 - 1
//! }
//!
//! impl Filter for PodSlots {
//!     fn filter(
//!         &self,
//!         _cycle: &Cycle<'_>,
//!         _state: &CycleState,
//!         node: &NodeInfo,
//!     ) -> Result<FilterOutcome, Rejection> {
//!         let free = free_after(node);
//!         if free < self.keep_free {
//!             // The reason is the same text for every node; figures go to the detail.
//!             let rejection = Rejection::unschedulable("node(s) had too few free pod slots");
//!             return Err(rejection.with_detail(format!("{free} left")));
//!         }
//!         Ok(FilterOutcome::Pass)
//!     }
//! }
//!
//! impl Score for PodSlots {
//!     fn score(
//!         &self,
//!         _cycle: &Cycle<'_>,
//!         _state: &CycleState,
//!         node: &NodeInfo,
//!     ) -> Result<i64, Rejection> {
//!         Ok(free_after(node))
//!     }
//!
//!     fn normalize(
//!         &self,
//!         _cycle: &Cycle<'_>,
//!         _state: &CycleState,
//!         scores: &mut [NodeScore],
//!     ) -> Result<(), Rejection> {
//!         let most = scores.iter().map(|row| row.score).max().unwrap_or(0).max(1);
//!         for row in scores {
//!             row.score = row.score * 100 / most;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! impl EnqueueExtensions for PodSlots {
//!     fn events(&self) -> Vec<ClusterEvent> {
//!         let grown = Actions::ADD | Actions::UPDATE_NODE_ALLOCATABLE;
//!         vec![
//!             ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
//!             ClusterEvent::new(EventResource::Node, grown),
//!         ]
//!     }
//! }
//!
//! // Its test.
//! use plimsoll_framework::test_util::{check_args, check_filter, check_score, cluster, node, pod};
//!
//! let nodes = [node("small").pods(7), node("large").pods(12)];
//! let cluster = cluster(nodes).pods([pod("p").on("small"), pod("q").on("large")]);
//! assert_eq!(
//!     check_filter(&spec(), &json!({"keepFree": 6}), &cluster, &pod("a")),
//!     [
//!         "small: Unschedulable: node(s) had too few free pod slots (5 left)",
//!         "large: Pass",
//!     ]
//! );
//! assert_eq!(
//!     check_score(&spec(), &Value::Null, &cluster, &pod("a")),
//!     ["small: 5 -> 50", "large: 10 -> 100"]
//! );
//! assert_eq!(
//!     check_args(&spec(), &json!({"keepFree": -1, "keep": 2})),
//!     Err(vec![
//!         "args.keepFree: must not be negative, is -1".to_owned(),
//!         "args.keep: unknown field".to_owned(),
//!     ])
//! );
//! ```

pub mod catalog;
mod claim_users;
pub mod cycle;
pub mod cycle_state;
pub mod detail;
pub mod effect;
pub mod entity;
pub mod event;
pub mod field;
pub mod handle;
mod images;
pub mod kept;
pub mod load;
pub mod node;
pub mod now;
pub mod plugin;
pub mod registry;
pub mod rejection;
pub mod snapshot;
pub mod spec;
#[cfg(feature = "test-util")]
pub mod test_util;

pub use catalog::{Catalog, Evictions, Shelf};
pub use cycle::Cycle;
pub use cycle_state::CycleState;
pub use detail::{Detail, LoadFigures, SampleAge};
pub use effect::{Effect, ObjectWrite, WriteVerb};
pub use entity::{Entity, QueuedGroup, QueuedPod};
pub use event::{Actions, Change, ClusterEvent, EventResource, Hint};
pub use field::{FieldError, FieldPath, Fields, Stage};
pub use handle::Handle;
pub use kept::Kept;
pub use load::{LoadMode, LoadResource, NodeLoad, PodEstimate, Pressure, ResourceLoad};
pub use node::{NodeId, NodeInfo};
pub use now::Now;
pub use plugin::{
    Bind, BindOutcome, EnqueueExtensions, Filter, FilterOutcome, GroupSize, Grouping,
    MAX_PERMIT_WAIT, Membership, NodeScore, Normalizes, Permit, PermitOutcome, PermitRequest,
    PostBind, PostFilter, PostFilterOutcome, PreBind, PreBindOutcome, PreBindStep, PreEnqueue,
    PreFilter, PreFilterOutcome, PreScore, PreScoreOutcome, Preemption, QueueSort, Release,
    Reserve, Score, WaitingPod, score_one_by_one,
};
pub use registry::{Registry, RegistryError};
pub use rejection::{Code, Reason, Rejection};
pub use snapshot::{ChangeMark, Snapshot};
pub use spec::{Args, Depends, Hooks, PluginSpec, Point};

/// Highest score of a plugin after normalising (kube-scheduler `MaxScore`).
pub const MAX_SCORE: i64 = 100;
/// Lowest score of a plugin after normalising (kube-scheduler `MinScore`).
pub const MIN_SCORE: i64 = 0;
