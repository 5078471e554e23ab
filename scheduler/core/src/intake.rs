//! From events to changes of the cache, the queue and the bindings
//! (kube-scheduler `eventhandlers.go`).

mod nodes;
mod objects;
mod pods;

use std::sync::Arc;

use plimsoll_framework::{ClusterEvent, EventResource};
use plimsoll_load::{Applied, Sample};

use crate::command::CommandId;
use crate::engine::Engine;
use crate::event::{Event, Failure};
use crate::queue::{Happening, moment};
use crate::timing::Timing;

impl Engine {
    /// Takes one event.
    pub(crate) fn take(&mut self, event: Event) {
        self.event_began = self.probe.begin();
        match event {
            Event::Tick => {}
            Event::NodesListed(nodes) => self.nodes_listed(&nodes),
            Event::NodeSet(node) => self.node_set(&node),
            Event::NodeGone(name) => self.node_gone(&name),
            Event::ObjectsListed { kind, objects } => self.objects_listed(kind, objects),
            Event::ObjectSet(object) => self.object_set(object),
            Event::ObjectGone { kind, key } => self.object_gone(kind, &key),
            Event::PodsListed(pods) => self.pods_listed(&pods),
            Event::PodSet(pod) => self.pod_set(&pod),
            Event::PodGone { key, uid } => self.pod_gone(&key, &uid),
            Event::Samples(samples) => self.samples(&samples),
            Event::LoadSwitched(on) => self.load_switched(on),
            Event::LeadingBegan => self.leads = true,
            Event::Completed { id, outcome } => self.completed(id, &outcome),
            Event::ExtenderAnswered { id, reply } => self.extender_answered(id, reply),
        }
    }

    /// Tells everybody who may wait for it.
    pub(crate) fn announce(&mut self, happening: &Happening) {
        self.bindings.wake_for(happening.event, self.now.mono);
        self.queue
            .announce(happening, moment(self.now, &self.snapshot));
        if happening.event.resource != EventResource::Any {
            self.taken_in(happening.event);
        }
    }

    /// A change has been taken in: its time is told, that of the next begins.
    pub(crate) fn taken_in(&mut self, event: ClusterEvent) {
        if let Some(took) = self.probe.took(self.event_began) {
            self.probe.keep(Timing::Event { event, took });
            self.event_began = self.probe.begin();
        }
    }

    fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            match self.cache.sample(sample) {
                Applied::Taken => self.counters.samples_taken += 1,
                Applied::Older => self.counters.samples_older += 1,
                Applied::Untrusted => self.counters.samples_untrusted += 1,
                Applied::UnknownNode => {
                    self.counters.samples_unknown_node += 1;
                    self.unknown_node = Some(Arc::clone(&sample.node));
                }
            }
        }
    }

    fn completed(&mut self, id: CommandId, outcome: &Result<(), Failure>) {
        let now = self.now.mono;
        let known = self.binding_answered(id, outcome)
            || self.status.answered(id, outcome, now, |pod| {
                self.watched.life(&pod.key, &pod.uid)
            })
            || self.eviction_answered(id, outcome)
            || self.aside_answered(id, outcome);
        if !known {
            self.counters.late_answers += 1;
        }
    }
}
