//! A small cluster as JSON, and what the real engine makes of it: does the pod wait, does a
//! change wake it, would it be placed?

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_config::SchedulerConfig;
use plimsoll_core::{Command, Engine, EngineOptions, Event, Outcome};
use plimsoll_framework::Now;
use plimsoll_objects::{Node, Object, ObjectKey, ObjectKind, Pod, Uid, decode_node, decode_pod};
use serde_json::Value;

const NOW: Duration = Duration::from_mins(1);
/// More steps without a pause mean that the engine runs in circles.
const MAX_STEPS: usize = 100;

/// Nodes, pods and other objects by name, and the pod that waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct World {
    pub(crate) nodes: BTreeMap<String, Value>,
    pub(crate) placed: BTreeMap<String, Value>,
    /// By kind, namespace and name.
    pub(crate) objects: BTreeMap<String, Value>,
    pub(crate) own: Value,
}

/// A pod's life in one engine.
pub(crate) struct Life {
    engine: Engine,
    tries: usize,
    placed: bool,
}

// === impl World ===

impl World {
    /// What the engine is told to get from here to `after`.
    pub(crate) fn changes(&self, after: &Self) -> Vec<Event> {
        let mut events = Vec::new();
        for (name, json) in &after.nodes {
            if self.nodes.get(name) != Some(json) {
                events.push(Event::NodeSet(node(json)));
            }
        }
        for name in self.nodes.keys() {
            if !after.nodes.contains_key(name) {
                events.push(Event::NodeGone(name.as_str().into()));
            }
        }
        for (name, json) in &after.objects {
            if self.objects.get(name) != Some(json) {
                events.push(Event::ObjectSet(object(json)));
            }
        }
        for (name, json) in &self.objects {
            if !after.objects.contains_key(name) {
                let (kind, key) = (kind(json), object(json).key().clone());
                events.push(Event::ObjectGone { kind, key });
            }
        }
        for (name, json) in &after.placed {
            if self.placed.get(name) != Some(json) {
                events.push(Event::PodSet(pod(json)));
            }
        }
        for (name, json) in &self.placed {
            if !after.placed.contains_key(name) {
                let (key, uid): (ObjectKey, Uid) =
                    (pod(json).key().clone(), pod(json).uid().clone());
                events.push(Event::PodGone { key, uid });
            }
        }
        if self.own != after.own {
            events.push(Event::PodSet(pod(&after.own)));
        }
        events
    }

    /// Takes an object in, under its kind and name.
    pub(crate) fn insert(&mut self, json: Value) {
        self.objects.insert(name_of(&json), json);
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = self.placed.values().chain(self.objects.values());
        let mut all = self.nodes.values().chain(others).chain([&self.own]);
        all.try_for_each(|json| writeln!(f, "  {json}"))
    }
}

/// Kind, namespace and name.
pub(crate) fn name_of(json: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let meta = &json["metadata"];
    let (kind, namespace) = (text(&json["kind"]), text(&meta["namespace"]));
    format!("{kind} {namespace}/{}", text(&meta["name"]))
}

fn node(json: &Value) -> Arc<Node> {
    Arc::new(decode_node(json.to_string().as_bytes()).expect("a node"))
}

fn pod(json: &Value) -> Arc<Pod> {
    Arc::new(decode_pod(json.to_string().as_bytes()).expect("a pod"))
}

fn kind(json: &Value) -> ObjectKind {
    let text = |field: &str| json[field].as_str().unwrap_or_default();
    ObjectKind::of(text("apiVersion"), text("kind")).expect("a known kind")
}

fn object(json: &Value) -> Object {
    Object::decode(kind(json), json.to_string().as_bytes()).expect("an object")
}

// === impl Life ===

impl Life {
    /// The first lists of `world`, and what becomes of the pod.
    pub(crate) fn start(config: &SchedulerConfig, world: &World) -> Self {
        let engine = Engine::new(config, EngineOptions::default());
        let mut life = Self {
            engine: engine.expect("profiles that can be built"),
            tries: 0,
            placed: false,
        };
        let nodes = world.nodes.values().map(node).collect();
        life.step(Event::NodesListed(nodes));
        for kind in ObjectKind::ALL {
            let objects = world
                .objects
                .values()
                .filter(|json| self::kind(json) == kind);
            let objects = objects.map(object).collect();
            life.step(Event::ObjectsListed { kind, objects });
        }
        let pods = world.placed.values().chain([&world.own]).map(pod).collect();
        life.step(Event::PodsListed(pods));
        life.settle();
        life
    }

    pub(crate) fn take(&mut self, events: Vec<Event>) {
        for event in events {
            self.step(event);
        }
        self.settle();
    }

    pub(crate) fn is_placed(&self) -> bool {
        self.placed
    }

    pub(crate) fn tries(&self) -> usize {
        self.tries
    }

    /// Whether the pod waits for an event.
    pub(crate) fn sleeps(&mut self) -> bool {
        let sizes = self.engine.stats().queue;
        sizes.unschedulable + sizes.gated == 1
    }

    fn step(&mut self, event: Event) {
        for command in self.engine.step(Now::at(NOW), event) {
            if let Command::Decided(decision) = command {
                self.tries += 1;
                self.placed |= matches!(decision.outcome, Outcome::Chosen { .. });
            }
        }
    }

    fn settle(&mut self) {
        for _ in 0..MAX_STEPS {
            match self.engine.next_wakeup() {
                Some(at) if at <= NOW => self.step(Event::Tick),
                _ => return,
            }
        }
        panic!("the engine runs in circles");
    }
}
