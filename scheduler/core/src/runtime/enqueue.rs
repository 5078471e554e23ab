//! The queue's side of a profile: `PreEnqueue`, registered events, hints.

use std::time::Duration;

use plimsoll_framework::{Catalog, Change, ClusterEvent, Hint, PreEnqueue, Rejection};
use plimsoll_objects::Pod;

use super::{Framework, Hook, Interest, Listener};
use crate::plugin_set::{PluginIx, PluginSet};

/// Who holds a pod back, and until when at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) plugin: PluginIx,
    pub(crate) retry_at: Option<Duration>,
}

impl Framework {
    /// Asks every `PreEnqueue`, the one that held the pod `last` first: it is the likeliest
    /// to hold it again.
    ///
    /// # Errors
    /// The first plugin that holds the pod.
    pub(crate) fn pre_enqueue(
        &self,
        pod: &Pod,
        last: Option<PluginIx>,
        catalog: &Catalog,
    ) -> Result<(), Gate> {
        match self.holder(pod, last, catalog) {
            None => Ok(()),
            Some((hook, rejection)) => Err(Gate {
                plugin: hook.plugin,
                retry_at: rejection.retry_at,
            }),
        }
    }

    /// What the first `PreEnqueue` says that holds the pod.
    pub(crate) fn held_by(&self, pod: &Pod, catalog: &Catalog) -> Option<Rejection> {
        let (hook, rejection) = self.holder(pod, None, catalog)?;
        Some(rejection.by(hook.name))
    }

    fn holder(
        &self,
        pod: &Pod,
        last: Option<PluginIx>,
        catalog: &Catalog,
    ) -> Option<(&Hook<dyn PreEnqueue>, Rejection)> {
        let is_last = |hook: &&Hook<dyn PreEnqueue>| Some(hook.plugin) == last;
        let first = self.pre_enqueue.iter().filter(is_last);
        let rest = self.pre_enqueue.iter().filter(|hook| !is_last(hook));
        first.chain(rest).find_map(|hook| {
            let rejection = hook.run.pre_enqueue(pod, catalog).err()?;
            Some((hook, rejection))
        })
    }

    /// All plugins that want to hear of `event`; one that registered nothing hears of all.
    pub(crate) fn listeners(&self, event: ClusterEvent) -> PluginSet {
        self.plugins_that(|listener| {
            let interest = listener.interest.as_ref();
            interest.is_none_or(|interest| interest.names(event))
        })
    }

    /// The plugins that named `event` among those they want to hear of.
    pub(crate) fn registered_for(&self, event: ClusterEvent) -> PluginSet {
        self.plugins_that(|listener| {
            let interest = listener.interest.as_ref();
            interest.is_some_and(|interest| interest.names(event))
        })
    }

    fn plugins_that(&self, want: impl Fn(&Listener) -> bool) -> PluginSet {
        let mut set = PluginSet::EMPTY;
        for (index, listener) in self.plugins.iter().enumerate() {
            if want(listener)
                && let Ok(index) = u8::try_from(index)
            {
                set.insert(PluginIx(index));
            }
        }
        set
    }

    /// What `plugin`, which listens to `event`, thinks of this change for `pod`.
    pub(crate) fn hint(
        &self,
        plugin: PluginIx,
        pod: &Pod,
        event: ClusterEvent,
        change: &Change<'_>,
        catalog: &Catalog,
    ) -> Hint {
        let listener = self.plugins.get(usize::from(plugin.0));
        let interest = listener.and_then(|listener| listener.interest.as_ref());
        interest.map_or(Hint::Queue, |interest| {
            interest.hints.hint(pod, event, change, catalog)
        })
    }
}

impl Interest {
    fn names(&self, event: ClusterEvent) -> bool {
        self.events
            .iter()
            .any(|registered| registered.matches(event))
    }
}
