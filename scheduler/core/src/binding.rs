//! The binding cycle: pods that have a node reserved, until they are bound or not
//! (kube-scheduler `bindingCycle`).
//!
//! ```text
//! reserved ─> Permit wait ─> PreBind steps ─> ready ─> asked ─> bound
//!                 │               │             ^        │
//!                 │ timeout, no   │ error       └────────┤ 429; no answer: asked again
//!                 v               v                      v error, node or pod gone
//!            unreserve, forget, back to the queue (or dropped, if the pod is gone)
//! ```
//! Takes placements and answers, gives requests within an adaptive bound. Waits in Permit
//! and `PreBind` hold no request. A pod whose `Binding` had no answer stays assumed, and
//! the same question is asked until the API server or the watch says how it went: it is
//! never bound to two nodes. `Differs:` a node that went away before the request was sent
//! takes its pods out of binding; kube-scheduler binds to it.

mod answer;
mod ask;
mod deadline;
mod doubt;
mod end;
mod extender;
mod group;
mod limiter;
mod orders;
mod permit;
mod pre_bind;
mod preempt;
mod store;
mod watch;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{ClusterEvent, CycleState, Effect, Reason};
use plimsoll_objects::{Object, Pod, Uid};

use crate::command::CommandId;
use crate::plugin_set::PluginIx;
use crate::queue::Queued;

pub(crate) use self::store::Bindings;

/// A pod with its node reserved.
pub(crate) struct Reserved {
    pub(crate) item: Queued,
    /// With `spec.nodeName` set.
    pub(crate) pod: Arc<Pod>,
    pub(crate) state: CycleState,
    /// The soft line that the node is over.
    pub(crate) over: Option<Reason>,
    /// The objects that are taken for what they will be once the pod is bound.
    pub(crate) assumed: Vec<Object>,
}

/// A pod on its way to its node.
struct Binding {
    reserved: Reserved,
    stage: Stage,
    fate: Fate,
    /// The next time at which something is due.
    deadline: Option<Duration>,
    /// Grows with each binding: the order in which pods began to wait.
    order: u64,
    /// Whether its node was written as its nomination.
    announced: bool,
    /// The group whose other members it waits for.
    group: Option<group::GroupNo>,
    began: Duration,
    /// When it had all permissions.
    permitted: Duration,
}

/// What a binding waits for.
enum Stage {
    /// For the permission of these plugins.
    Permit(Vec<PermitWait>),
    /// For one of these events, or the deadline.
    PreBind {
        plugin: usize,
        attempt: u32,
        events: Vec<ClusterEvent>,
    },
    /// For the other members of its group.
    Together,
    /// For the API server.
    Request(Request),
}

struct PermitWait {
    plugin: PluginIx,
    timeout: Duration,
    until: Duration,
}

/// Something the API server is to do.
struct Request {
    work: Work,
    /// On whose behalf, as error texts begin: `running Bind plugin "DefaultBinder"`.
    doing: String,
    progress: Progress,
    ready_since: Duration,
    /// An earlier question had no answer and may have been done, or a part of it was.
    maybe_done: bool,
    /// Since when every answer was a refusal, by rule or by 429, while `maybe_done`.
    refused_since: Option<Duration>,
    tries: u32,
}

enum Work {
    /// The `Binding`.
    Bind,
    /// What the first of these extenders is to do; the others stand in for it.
    BindBy(VecDeque<usize>),
    /// The changes of a Bind plugin.
    BindEffects(VecDeque<Effect>),
    /// The changes of the `plugin`-th `PreBind`, which is asked again afterwards.
    PreBindEffects {
        effects: VecDeque<Effect>,
        plugin: usize,
        attempt: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// In line for a free request.
    Ready,
    /// Until its deadline.
    Resting,
    Asked {
        id: CommandId,
        at: Duration,
    },
}

/// What the watch said of the pod while a question was open.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Open,
    Gone,
    Bound(Arc<str>),
}

impl Reserved {
    fn uid(&self) -> &Uid {
        self.pod.uid()
    }

    /// The node's name.
    fn node(&self) -> Arc<str> {
        self.pod.spec.node_name.clone().unwrap_or_default()
    }
}

impl Binding {
    fn is_asked(&self) -> bool {
        matches!(
            &self.stage,
            Stage::Request(Request {
                progress: Progress::Asked { .. },
                ..
            })
        )
    }
}

impl Work {
    /// The extender that is to do it.
    fn extender(&self) -> Option<usize> {
        match self {
            Self::BindBy(extenders) => extenders.front().copied(),
            Self::Bind | Self::BindEffects(_) | Self::PreBindEffects { .. } => None,
        }
    }

    /// Whether it decides that the pod is bound.
    fn binds(&self) -> bool {
        matches!(self, Self::Bind | Self::BindBy(_) | Self::BindEffects(_))
    }
}
