//! What the engine is told: the cluster, the load, the clock, the outcome of its commands.
//!
//! Made by the crate with the Kubernetes client, by the telemetry server, or by a
//! simulator; given one at a time to [`Engine::step`](crate::Engine::step).

use std::sync::Arc;
use std::time::Duration;

use plimsoll_load::Sample;
use plimsoll_objects::{Node, Object, ObjectKey, ObjectKind, Pod, Uid};

use crate::command::CommandId;
use crate::question::Reply;

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// Time has passed ([`Engine::next_wakeup`](crate::Engine::next_wakeup)).
    Tick,
    /// A whole list of nodes replaces what is known: at the start, and after a lost watch.
    NodesListed(Vec<Arc<Node>>),
    /// A node was added or changed.
    NodeSet(Arc<Node>),
    /// A node is gone.
    NodeGone(Arc<str>),
    /// A whole list of another kind replaces what is known of it.
    ObjectsListed {
        /// The kind.
        kind: ObjectKind,
        /// All objects of it.
        objects: Vec<Object>,
    },
    /// An object of another kind was added or changed.
    ObjectSet(Object),
    /// An object of another kind is gone.
    ObjectGone {
        /// The kind.
        kind: ObjectKind,
        /// Namespace and name.
        key: ObjectKey,
    },
    /// A whole list of pods replaces what is known: at the start, and after a lost watch.
    PodsListed(Vec<Arc<Pod>>),
    /// A pod was added or changed.
    PodSet(Arc<Pod>),
    /// A pod is gone (or has left the watched set by ending).
    PodGone {
        /// Namespace and name.
        key: ObjectKey,
        /// Uid of the life that ended.
        uid: Uid,
    },
    /// The newest samples of the nodes that have new ones.
    Samples(Vec<Sample>),
    /// A person turns the judgement of load on or off.
    LoadSwitched(bool),
    /// This replica leads from now on: what was taken in so far is decided on.
    LeadingBegan,
    /// A command was carried out, or failed.
    Completed {
        /// Which one.
        id: CommandId,
        /// How it went.
        outcome: Result<(), Failure>,
    },
    /// An extender has answered, or has failed to: the text is for people.
    ExtenderAnswered {
        /// To which command.
        id: CommandId,
        /// What it said.
        reply: Result<Reply, String>,
    },
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How to take it.
    pub kind: FailureKind,
    /// What the API server said, for people.
    pub message: String,
}

/// How a failure is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// 409: the object is not as we thought (another uid, bound already).
    Conflict,
    /// 404: the object is gone.
    NotFound,
    /// 429: too many requests; nothing was done.
    TooManyRequests {
        /// How long the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// 5xx, connection refused or lost before the request was sent: nothing was done.
    Unavailable,
    /// No answer, or one that was lost: it may have been done.
    Unknown,
    /// Another 4xx: trying again as it is will not help.
    Refused,
}
