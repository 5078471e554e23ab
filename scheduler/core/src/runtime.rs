//! One profile at work: its plugins' hooks per extension point, in order.
//!
//! Takes a cycle and its state, gives outcomes with the plugin's name filled in. Texts and
//! order follow kube-scheduler `framework/runtime/framework.go`.

pub(crate) mod build;
pub(crate) mod enqueue;
mod group;
pub(crate) mod judge;
pub(crate) mod place;
pub(crate) mod post_filter;
pub(crate) mod pre_filter;
pub(crate) mod score;

use std::sync::Arc;

use plimsoll_config::NodesToScore;
use plimsoll_framework::{
    Bind, ClusterEvent, Depends, EnqueueExtensions, Filter, Grouping, Permit, PostBind, PostFilter,
    PreBind, PreEnqueue, PreFilter, PreScore, QueueSort, Rejection, Reserve, Score,
};

use crate::plugin_set::PluginIx;

/// The hooks of one profile.
pub(crate) struct Framework {
    /// Its place among the profiles.
    index: usize,
    pub(crate) scheduler_name: Arc<str>,
    /// `percentageOfNodesToScore`.
    pub(crate) nodes_to_score: NodesToScore,
    pub(crate) queue_sort: Hook<dyn QueueSort>,
    /// Whether extenders filter or score nodes.
    extended: bool,
    plugins: Vec<Listener>,
    grouping: Vec<Hook<dyn Grouping>>,
    pre_enqueue: Vec<Hook<dyn PreEnqueue>>,
    pre_filter: Vec<Hook<dyn PreFilter>>,
    filter: Vec<Hook<dyn Filter>>,
    post_filter: Vec<Hook<dyn PostFilter>>,
    pre_score: Vec<Hook<dyn PreScore>>,
    score: Vec<Hook<dyn Score>>,
    reserve: Vec<Hook<dyn Reserve>>,
    permit: Vec<Hook<dyn Permit>>,
    pre_bind: Vec<Hook<dyn PreBind>>,
    bind: Vec<Hook<dyn Bind>>,
    post_bind: Vec<Hook<dyn PostBind>>,
}

/// One hook and whose it is.
pub(crate) struct Hook<T: ?Sized> {
    pub(crate) plugin: PluginIx,
    pub(crate) name: &'static str,
    /// Weight of a `Score`; 1 elsewhere.
    pub(crate) weight: i64,
    /// What the plugin reads.
    pub(crate) depends: Depends,
    pub(crate) run: Arc<T>,
}

/// What a plugin wants to hear of.
struct Listener {
    name: &'static str,
    /// `None`: everything.
    interest: Option<Interest>,
}

struct Interest {
    events: Vec<ClusterEvent>,
    hints: Arc<dyn EnqueueExtensions>,
}

// === impl Framework ===

impl Framework {
    /// Its place among the profiles.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Whether some `Filter` reads which images nodes have.
    pub(crate) fn filters_by_images(&self) -> bool {
        let mut filters = self.filter.iter();
        filters.any(|hook| hook.depends == Depends::Images)
    }

    pub(crate) fn has_scores(&self) -> bool {
        !self.score.is_empty()
    }

    /// Whether more than one node is worth finding.
    pub(crate) fn chooses(&self) -> bool {
        self.has_scores() || self.extended
    }

    pub(crate) fn has_pre_binds(&self) -> bool {
        !self.pre_bind.is_empty()
    }

    pub(crate) fn has_post_filters(&self) -> bool {
        !self.post_filter.is_empty()
    }

    /// The plugin `name`; `None` for a name that is not in this profile.
    pub(crate) fn index_of(&self, name: &str) -> Option<PluginIx> {
        let index = self.plugins.iter().position(|plugin| plugin.name == name)?;
        u8::try_from(index).ok().map(PluginIx)
    }

    pub(crate) fn name_of(&self, plugin: PluginIx) -> &'static str {
        self.plugins
            .get(usize::from(plugin.0))
            .map_or("", |listener| listener.name)
    }
}

// === impl Hook ===

impl<T: ?Sized> Hook<T> {
    /// A rejection with this plugin's name; an internal error gets `doing` before its text,
    /// as kube-scheduler wraps it.
    fn sign(&self, rejection: Rejection, doing: &str) -> Rejection {
        if rejection.is_rejected() {
            rejection.by(self.name)
        } else {
            self.fault(&rejection, doing)
        }
    }

    /// `rejection` as an internal error, whatever its code.
    fn fault(&self, rejection: &Rejection, doing: &str) -> Rejection {
        let text = format!("{doing} \"{}\": {}", self.name, rejection.message());
        Rejection::error(text).by(self.name)
    }
}
