//! The HTTP extender protocol: requests as kube-scheduler sends them, and what it makes of
//! an answer (`pkg/scheduler/extender.go`).
//!
//! Values in, values out: no IO, no clock. Pods and nodes are whole JSON objects, for an
//! extender may read any field of them.

mod extender;
mod fields;
mod wire;

pub use self::extender::filter::Filtered;
pub use self::extender::{AnswerError, Refused, Verb, url};
pub use self::fields::WireError;
pub use self::wire::{
    Args, BindingArgs, BindingResult, FilterResult, HostPriority, MetaPod, MetaVictims, NodeList,
    PreemptionArgs, PreemptionResult, Victims, read_scores,
};
