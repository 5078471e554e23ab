//! Hooks one by one: a plugin is one value, shared by the points it serves.

use std::sync::Arc;

use super::Hooks;
use crate::plugin::{
    Bind, EnqueueExtensions, Filter, Grouping, Permit, PostBind, PostFilter, PreBind, PreEnqueue,
    PreFilter, PreScore, QueueSort, Reserve, Score,
};

/// One method per point.
macro_rules! with {
    ($($method:ident sets $field:ident to $point:ident),+ $(,)?) => {
        impl Hooks {
            $(
                #[doc = concat!("The same, with `plugin` for its [`", stringify!($point), "`].")]
                #[must_use]
                pub fn $method<T: $point + 'static>(mut self, plugin: &Arc<T>) -> Self {
                    self.$field = Some(Arc::<T>::clone(plugin));
                    self
                }
            )+
        }
    };
}

with! {
    with_pre_enqueue sets pre_enqueue to PreEnqueue,
    with_queue_sort sets queue_sort to QueueSort,
    with_pre_filter sets pre_filter to PreFilter,
    with_filter sets filter to Filter,
    with_post_filter sets post_filter to PostFilter,
    with_pre_score sets pre_score to PreScore,
    with_score sets score to Score,
    with_reserve sets reserve to Reserve,
    with_permit sets permit to Permit,
    with_pre_bind sets pre_bind to PreBind,
    with_bind sets bind to Bind,
    with_post_bind sets post_bind to PostBind,
    with_enqueue sets enqueue to EnqueueExtensions,
    with_group sets group to Grouping,
}
