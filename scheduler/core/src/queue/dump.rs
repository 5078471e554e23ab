//! All entities of the queue, for people: takes the queue, gives its pods in the order of its
//! parts, those to be tried first at the front of each by arrival.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_objects::Uid;

use super::Queue;
use super::item::Place;
use crate::dump::WaitingPod;

impl Queue {
    /// Every pod that waits.
    pub(crate) fn waiting(&self) -> Vec<WaitingPod> {
        let mut items: Vec<_> = self.items.iter().flatten().collect();
        items.sort_by_key(|item| (rank(item.place), item.arrival));
        let pods = items.into_iter().flat_map(|item| {
            let framework = self.profiles.get(item.profile);
            let plugins = item.waits_for();
            let because_of: Vec<_> = plugins
                .iter()
                .map(|plugin| framework.name_of(plugin))
                .collect();
            item.pods().iter().map(move |queued| WaitingPod {
                pod: Arc::clone(&queued.pod),
                queue: name(item.place),
                attempts: queued.attempts,
                because_of: because_of.clone(),
            })
        });
        pods.collect()
    }

    /// Every pod that is out for an attempt.
    pub(crate) fn out(&self) -> BTreeSet<Uid> {
        self.in_flight.pods().cloned().collect()
    }
}

fn rank(place: Place) -> u8 {
    match place {
        Place::Out => 0,
        Place::Active => 1,
        Place::Backoff | Place::FullBackoff => 2,
        Place::Unschedulable => 3,
        Place::Gated => 4,
    }
}

fn name(place: Place) -> &'static str {
    match place {
        Place::Out => "out",
        Place::Active => "active",
        Place::Backoff | Place::FullBackoff => "backoff",
        Place::Unschedulable => "unschedulable",
        Place::Gated => "gated",
    }
}
