//! The groups of a profile: what its plugins say of which pods belong together.

use plimsoll_framework::{Catalog, Membership, Reason};
use plimsoll_objects::{ObjectKey, Pod};

use super::Framework;
use crate::plugin_set::PluginIx;

impl Framework {
    /// Whether a plugin groups pods at all.
    pub(crate) fn has_groups(&self) -> bool {
        !self.grouping.is_empty()
    }

    /// The group of `pod` and the plugin that says so, the first one to claim it.
    pub(crate) fn group_of(&self, pod: &Pod, catalog: &Catalog) -> Option<(PluginIx, Membership)> {
        self.grouping
            .iter()
            .find_map(|hook| Some((hook.plugin, hook.run.group_of(pod, catalog)?)))
    }

    /// What `plugin` says of its group `key` that has not enough members.
    pub(crate) fn group_waits(
        &self,
        plugin: PluginIx,
        key: &ObjectKey,
        (has, needed): (usize, usize),
    ) -> Reason {
        let hook = self.grouping.iter().find(|hook| hook.plugin == plugin);
        hook.map_or(Reason::Borrowed(""), |hook| {
            hook.run.waits(key, has, needed)
        })
    }
}
