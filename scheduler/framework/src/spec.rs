//! A plugin as a value: name, points, args, hooks.

mod with;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::field::{FieldError, FieldPath};
use crate::plugin::{
    Bind, EnqueueExtensions, Filter, Grouping, Permit, PostBind, PostFilter, PreBind, PreEnqueue,
    PreFilter, PreScore, QueueSort, Reserve, Score,
};

/// One plugin, before any profile configures it.
#[derive(Debug, Clone)]
pub struct PluginSpec {
    /// The name in configuration files, messages and metrics.
    pub name: &'static str,
    /// The points it serves.
    pub points: &'static [Point],
    /// What its verdict on a node reads besides the pod.
    pub depends: Depends,
    /// Reads its args (`null` where the file gives none) and fills in the defaults. Mistakes
    /// go to the list, each with its path; the result then does not matter.
    pub decode_args: fn(&Value, &FieldPath, &mut Vec<FieldError>) -> Args,
    /// Makes its hooks.
    pub build: fn(&Args) -> Hooks,
}

/// Decoded args of one plugin in one profile.
#[derive(Clone)]
pub struct Args {
    typed: Arc<dyn Any + Send + Sync>,
    effective: Value,
}

/// The extension points that a configuration file names (kube-scheduler v1.37).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Before a pod enters the active queue.
    PreEnqueue,
    /// Order of the active queue.
    QueueSort,
    /// Once per cycle, before any node is judged.
    PreFilter,
    /// Per node: may the pod run here?
    Filter,
    /// When no node passes.
    PostFilter,
    /// Once per cycle, before any node is scored.
    PreScore,
    /// Per node: how good is it?
    Score,
    /// Resources of a chosen node are taken.
    Reserve,
    /// Last word before binding: allow, reject, wait.
    Permit,
    /// Work to be done before binding.
    PreBind,
    /// Binding itself.
    Bind,
    /// After binding.
    PostBind,
}

/// What a plugin's verdict on a node reads, and its raw score: after a change only what is
/// named here is judged again.
///
/// With [`Node`](Self::Node), [`NodeInfo`](Self::NodeInfo) and [`Images`](Self::Images) the
/// engine keeps what `Filter` and `Score` say, and takes it for every pod that is like the
/// first: all of `spec`, namespace, labels, annotations and controller are equal. Such a
/// plugin must read nothing else of a pod (not its name, uid, times or status), and what it
/// stores in the cycle's state must follow from the pod alone. Device classes may be read:
/// when one changes, all that was kept is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depends {
    /// The node object alone.
    Node,
    /// The node object and its pods.
    NodeInfo,
    /// The node, its pods, how many nodes there are and which images they have.
    Images,
    /// Counts of pods over the nodes with the same value of a label key.
    Counts,
    /// Objects of other kinds.
    Kinds,
    /// The node's load.
    Load,
    /// Anything: always judged again.
    Anything,
}

/// The hooks of one plugin in one profile. A field is set for each point it serves.
#[derive(Clone, Default)]
pub struct Hooks {
    /// See [`PreEnqueue`].
    pub pre_enqueue: Option<Arc<dyn PreEnqueue>>,
    /// See [`QueueSort`].
    pub queue_sort: Option<Arc<dyn QueueSort>>,
    /// See [`PreFilter`].
    pub pre_filter: Option<Arc<dyn PreFilter>>,
    /// See [`Filter`].
    pub filter: Option<Arc<dyn Filter>>,
    /// See [`PostFilter`].
    pub post_filter: Option<Arc<dyn PostFilter>>,
    /// See [`PreScore`].
    pub pre_score: Option<Arc<dyn PreScore>>,
    /// See [`Score`].
    pub score: Option<Arc<dyn Score>>,
    /// See [`Reserve`].
    pub reserve: Option<Arc<dyn Reserve>>,
    /// See [`Permit`].
    pub permit: Option<Arc<dyn Permit>>,
    /// See [`PreBind`].
    pub pre_bind: Option<Arc<dyn PreBind>>,
    /// See [`Bind`].
    pub bind: Option<Arc<dyn Bind>>,
    /// See [`PostBind`].
    pub post_bind: Option<Arc<dyn PostBind>>,
    /// See [`EnqueueExtensions`].
    pub enqueue: Option<Arc<dyn EnqueueExtensions>>,
    /// See [`Grouping`].
    pub group: Option<Arc<dyn Grouping>>,
}

// === impl Args ===

impl Args {
    /// Args of type `T`, and the JSON that shows them with defaults filled in.
    pub fn new<T: Send + Sync + 'static>(typed: T, effective: Value) -> Self {
        Self {
            typed: Arc::new(typed),
            effective,
        }
    }

    /// Args of a plugin that has none.
    pub fn none() -> Self {
        Self::new((), Value::Null)
    }

    /// The args as the type that the plugin stored; `None` if it stored another one, which
    /// only a mistake in the plugin can cause.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.typed.downcast_ref()
    }

    /// The args as JSON, defaults filled in; `null` for a plugin without args.
    pub fn effective(&self) -> &Value {
        &self.effective
    }
}

impl fmt::Debug for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Args").field(&self.effective).finish()
    }
}

// === impl Depends ===

impl Depends {
    /// Whether what the plugin says of a node may be kept.
    pub fn is_kept(self) -> bool {
        matches!(self, Self::Node | Self::NodeInfo | Self::Images)
    }
}

// === impl Point ===

impl Point {
    /// All points, in the order in which a pod meets them.
    pub const ALL: [Self; 12] = [
        Self::PreEnqueue,
        Self::QueueSort,
        Self::PreFilter,
        Self::Filter,
        Self::PostFilter,
        Self::PreScore,
        Self::Score,
        Self::Reserve,
        Self::Permit,
        Self::PreBind,
        Self::Bind,
        Self::PostBind,
    ];

    /// The name in configuration files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreEnqueue => "preEnqueue",
            Self::QueueSort => "queueSort",
            Self::PreFilter => "preFilter",
            Self::Filter => "filter",
            Self::PostFilter => "postFilter",
            Self::PreScore => "preScore",
            Self::Score => "score",
            Self::Reserve => "reserve",
            Self::Permit => "permit",
            Self::PreBind => "preBind",
            Self::Bind => "bind",
            Self::PostBind => "postBind",
        }
    }
}

// === impl Hooks ===

impl Hooks {
    /// The points for which a hook is set.
    pub fn points(&self) -> Vec<Point> {
        Point::ALL
            .into_iter()
            .filter(|point| self.serves(*point))
            .collect()
    }

    fn serves(&self, point: Point) -> bool {
        match point {
            Point::PreEnqueue => self.pre_enqueue.is_some(),
            Point::QueueSort => self.queue_sort.is_some(),
            Point::PreFilter => self.pre_filter.is_some(),
            Point::Filter => self.filter.is_some(),
            Point::PostFilter => self.post_filter.is_some(),
            Point::PreScore => self.pre_score.is_some(),
            Point::Score => self.score.is_some(),
            Point::Reserve => self.reserve.is_some(),
            Point::Permit => self.permit.is_some(),
            Point::PreBind => self.pre_bind.is_some(),
            Point::Bind => self.bind.is_some(),
            Point::PostBind => self.post_bind.is_some(),
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hooks").field(&self.points()).finish()
    }
}
