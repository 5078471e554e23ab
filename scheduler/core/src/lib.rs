//! The scheduling engine: a state machine from events to commands.
//!
//! [`Engine::step`] takes one [`Event`] and the instant, gives [`Command`]s; the driver
//! carries them out and their completion comes back as an event. The engine does no IO,
//! reads no clock, starts no task: the same inputs and seed give the same bytes.
//!
//! Inside: `intake` turns events into changes of the `cache` and wakes the `queue`;
//! `cycle` places one pod by the hooks of its profile (`runtime`); `binding` carries the
//! placement through Permit, `PreBind` and Bind; `status` writes conditions.

pub mod command;
pub mod decision;
pub mod event;
pub mod options;
pub mod question;
pub mod stats;
pub mod timing;
pub mod verdict;

mod aside;
mod binding;
mod cache;
mod cycle;
mod dump;
mod engine;
mod evict;
mod extender;
mod group;
mod intake;
mod load_watch;
mod meta;
mod nominator;
mod outbox;
mod plugin_set;
mod probe;
mod profile;
mod queue;
mod random;
mod runtime;
mod status;
mod watched;

pub use command::{Command, CommandId, PodEvent, PodRef, ScheduledFalse};
pub use decision::{
    Candidate, Decision, KEPT_CANDIDATES, KEPT_REASONS, Outcome, OverCap, PluginScore,
    RejectionCount, Unscored,
};
pub use dump::{Dump, WaitingPod};
pub use engine::Engine;
pub use event::{Event, Failure, FailureKind};
pub use options::EngineOptions;
pub use plimsoll_load::LoadCensus;
pub use profile::BuildError;
pub use question::{Question, RefusedNode, Reply, SparedOn, VictimsOn};
pub use stats::{
    BindCounters, CacheSizes, Counters, EngineStats, EvictionCounters, InFlightSizes, LoadStats,
    ProfileAttempts, QueueIncoming, QueueSizes, StatusCounters, UnschedulablePods,
};
pub use timing::{Evaluations, SLOW_CYCLE, Stopwatch, Timing};
pub use verdict::{
    NodeVerdict, Placement, PostFilterVerdict, PreFilterVerdict, PreemptionVerdict, ScorePlugin,
    Status, Verdict,
};
