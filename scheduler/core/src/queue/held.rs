//! Who holds an entity of the queue back: what its group lacks, or `PreEnqueue` of a member.
//!
//! A group is looked at with every member that comes. So that one of n members costs n
//! questions and not n², none is asked while the group is too small; of one that was let
//! through only a newcomer is; and of one that is held back the member that holds it is asked
//! first, and those after it only if it lets go.

use plimsoll_framework::Catalog;
use plimsoll_objects::Uid;

use super::{Queue, Queued};
use crate::runtime::enqueue::Gate;

/// What holds an entity back.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) gate: Gate,
    /// The pod that a plugin holds; `None` if the group lacks something.
    pub(super) by: Option<Uid>,
}

impl Queue {
    /// Whether `item` may be tried.
    ///
    /// # Errors
    /// What holds it back.
    pub(super) fn may_pass(&self, item: &Queued, catalog: &Catalog) -> Result<(), Held> {
        self.group_gate(item, catalog)
            .map_err(|gate| Held { gate, by: None })?;
        if item.passed {
            Ok(())
        } else {
            self.ask_all(item, catalog)
        }
    }

    /// Asks `PreEnqueue` of each pod, from the one that held the entity last on, and round.
    pub(super) fn ask_all(&self, item: &Queued, catalog: &Catalog) -> Result<(), Held> {
        let framework = self.profiles.get(item.profile);
        let pods = item.pods();
        let holder = item.holder.as_ref();
        let first = holder.and_then(|uid| pods.iter().position(|one| one.pod.uid() == uid));
        let (before, from) = pods.split_at(first.unwrap_or(0));
        from.iter().chain(before).try_for_each(|queued| {
            framework
                .pre_enqueue(&queued.pod, item.gate, catalog)
                .map_err(|gate| Held {
                    gate,
                    by: Some(queued.pod.uid().clone()),
                })
        })
    }
}
