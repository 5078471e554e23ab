//! What a scheduling cycle would say of one pod, every word of it.
//!
//! Takes a pod and what the engine knows of the cluster; gives a [`Verdict`] by the same
//! functions as the cycle, but of all nodes, of all equals, and of nothing that a draw or
//! the order of nodes decides. [`Engine::verdict`] changes nothing; [`Engine::try_place`]
//! goes on to assume the pod on its node.

mod place;
mod post;
mod status;
mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::Now;
use plimsoll_objects::{ObjectKey, Pod};

use crate::decision::Unscored;
use crate::engine::Engine;

pub use self::place::Placement;
pub use self::status::Status;

/// What is said of one pod.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The pod.
    pub pod: ObjectKey,
    /// The profile.
    pub scheduler_name: Arc<str>,
    /// Why the pod is not tried at all; nothing else is set then.
    pub skipped: Option<String>,
    /// The first `PreEnqueue` that holds the pod; nothing else is set then.
    pub pre_enqueue: Option<Status>,
    /// What is said before any node is looked at; `None` after an error in it.
    pub pre_filter: Option<PreFilterVerdict>,
    /// Every node by name; empty if `PreFilter` turns the pod down. After an error in
    /// Filter those that come before it by name.
    pub nodes: BTreeMap<Arc<str>, NodeVerdict>,
    /// How many nodes pass outright.
    pub feasible: usize,
    /// Plugins whose `PreScore` had nothing to tell nodes apart by, sorted.
    pub skipped_score: Vec<&'static str>,
    /// The plugins that scored, in order.
    pub score_plugins: Vec<ScorePlugin>,
    /// All nodes with the highest total, sorted.
    pub top: Vec<Arc<str>>,
    /// The node that is taken without scoring, and why.
    pub unscored: Option<(Arc<str>, Unscored)>,
    /// The text of the condition if there is no node.
    pub message: Option<String>,
    /// The text of the event, where it is another one.
    pub event_note: Option<String>,
    /// What could be done about it.
    pub post_filter: Option<PostFilterVerdict>,
    /// The internal error that ends the attempt.
    pub error: Option<String>,
}

/// What all `PreFilter`s say.
#[derive(Debug, Clone, PartialEq)]
pub struct PreFilterVerdict {
    /// Together.
    pub status: Status,
    /// Plugins that have nothing to judge, sorted.
    pub skipped: Vec<&'static str>,
    /// Those that said more than that they are ready, in order, and the names of the only
    /// nodes that each leaves.
    pub plugins: Vec<(Status, Option<Vec<Arc<str>>>)>,
    /// The names of the only nodes that are left, sorted; `None`: all.
    pub node_names: Option<Vec<Arc<str>>>,
}

/// What is said of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeVerdict {
    /// Whether it passes.
    pub status: Status,
    /// Scores by plugin, before normalising.
    pub raw: Vec<i64>,
    /// And after it.
    pub normalized: Vec<i64>,
    /// Sum of weight times score; `None` where the node was not scored.
    pub total: Option<i64>,
}

/// A column of scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorePlugin {
    /// The plugin.
    pub name: &'static str,
    /// Its weight.
    pub weight: i64,
}

/// What the `PostFilter`s say.
#[derive(Debug, Clone, PartialEq)]
pub struct PostFilterVerdict {
    /// Together.
    pub status: Status,
    /// The node that would be promised: of equals the first by name.
    pub nominated_node: Option<Arc<str>>,
    /// All nodes that are as good, sorted.
    pub tied: Vec<Arc<str>>,
    /// Every node where preemption would do.
    pub candidates: BTreeMap<Arc<str>, PreemptionVerdict>,
    /// An earlier promise is taken back.
    pub clears_nomination: bool,
}

/// What preemption on one node would take.
#[derive(Debug, Clone, PartialEq)]
pub struct PreemptionVerdict {
    /// Pods to evict, most important first.
    pub victims: Vec<ObjectKey>,
    /// How many of them their disruption budgets do not allow to go.
    pub pdb_violations: usize,
}

// === impl Verdict ===

impl Verdict {
    fn of(pod: &Pod, scheduler_name: &Arc<str>) -> Self {
        Self {
            pod: pod.key().clone(),
            scheduler_name: Arc::clone(scheduler_name),
            skipped: None,
            pre_enqueue: None,
            pre_filter: None,
            nodes: BTreeMap::new(),
            feasible: 0,
            skipped_score: Vec::new(),
            score_plugins: Vec::new(),
            top: Vec::new(),
            unscored: None,
            message: None,
            event_note: None,
            post_filter: None,
            error: None,
        }
    }

    /// The node that the pod would go to: of equals the first by name.
    pub fn node(&self) -> Option<&Arc<str>> {
        if self.error.is_some() {
            return None;
        }
        let unscored = self.unscored.as_ref().map(|(node, _)| node);
        unscored.or_else(|| self.top.first())
    }
}

// === impl Engine ===

impl Engine {
    /// What a cycle at `now` would say of `pod`, which need not be one that the engine was
    /// told of. Changes nothing. `None` if no profile has its `schedulerName`.
    pub fn verdict(&mut self, now: Now, pod: &Arc<Pod>) -> Option<Verdict> {
        Some(self.trial(now, pod)?.verdict)
    }
}
