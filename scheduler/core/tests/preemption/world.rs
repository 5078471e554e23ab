//! An engine with the default profile, and the cluster as the API server has it.
//!
//! The server treats each open request as a test says; the watch shows every change at once,
//! or later where a test holds it back.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use plimsoll_core::{
    Command, CommandId, Engine, EngineOptions, EngineStats, Event, Failure, FailureKind, Outcome,
    PodRef,
};
use plimsoll_framework::Now;
use plimsoll_framework::test_util::{PodBuilder, node, pod};
use serde_json::json;

/// Most steps without a pause: more means that the engine runs in circles.
const MAX_STEPS: usize = 2_000;

/// A pod as the API server has it.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) uid: String,
    pub(crate) priority: i32,
    /// Thousandths of a core.
    pub(crate) cpu: u32,
    pub(crate) node: Option<String>,
    pub(crate) deleting: bool,
    pub(crate) nominated: Option<String>,
    pub(crate) message: String,
}

/// How the server treats one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    Works,
    Fails(FailureKind),
    /// Done, but the answer is lost.
    LosesAnswer,
    /// Done or not; the engine never hears of it.
    DoesAndHangs,
    Hangs,
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) now: Duration,
    pub(crate) cores: u32,
    pub(crate) nodes: Vec<String>,
    pub(crate) pods: BTreeMap<String, Stored>,
    /// Requests that are open.
    pub(crate) open: Vec<Command>,
    /// Events for people, as `pod reason: note`.
    pub(crate) events: Vec<String>,
    /// Victims asked to go, in order, with the time.
    pub(crate) evictions: Vec<(String, Duration)>,
    /// Pods that an attempt found a place for by preemption, with what was free then.
    pub(crate) preemptors: Vec<String>,
    pub(crate) holds_watch: bool,
    lives: u32,
    watch: VecDeque<Event>,
}

impl World {
    /// Nodes `n0`, `n1`, ... of so many cores.
    pub(crate) fn new(nodes: usize, cores: u32) -> Self {
        Self::with("", nodes, cores)
    }

    /// The same with these lines of configuration.
    pub(crate) fn with(extra: &str, nodes: usize, cores: u32) -> Self {
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{extra}"
        );
        let config =
            plimsoll_config::load(&text, &plimsoll_plugins::registry()).expect("a right file");
        let engine = Engine::new(&config, EngineOptions::default()).expect("a right profile");
        let mut world = Self {
            engine,
            now: Duration::from_mins(1),
            cores,
            nodes: (0..nodes).map(|number| format!("n{number}")).collect(),
            pods: BTreeMap::new(),
            open: Vec::new(),
            events: Vec::new(),
            evictions: Vec::new(),
            preemptors: Vec::new(),
            holds_watch: false,
            lives: 0,
            watch: VecDeque::new(),
        };
        let nodes = world.nodes.iter();
        let nodes = nodes.map(|name| node(name).cpu(&cores.to_string()).arc());
        let listed = Event::NodesListed(nodes.collect());
        world.tell(listed);
        world.tell(Event::PodsListed(Vec::new()));
        world
    }

    /// A pod of this priority and of so many thousandths of a core, on a node or waiting.
    pub(crate) fn create(&mut self, name: &str, priority: i32, cpu: u32, on: Option<&str>) {
        self.lives += 1;
        let stored = Stored {
            uid: format!("{name}-{}", self.lives),
            priority,
            cpu,
            node: on.map(str::to_owned),
            deleting: false,
            nominated: None,
            message: String::new(),
        };
        self.pods.entry(name.to_owned()).or_insert(stored);
        self.show(name);
    }

    /// Its grace is over, or it was deleted without any.
    pub(crate) fn remove(&mut self, name: &str) {
        let Some(stored) = self.pods.remove(name) else {
            return;
        };
        let gone = pod(name).uid(&stored.uid).build();
        let (key, uid) = (gone.key().clone(), gone.uid().clone());
        self.watch.push_back(Event::PodGone { key, uid });
        self.flush();
    }

    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut Stored)) {
        if let Some(stored) = self.pods.get_mut(name) {
            change(stored);
            self.show(name);
        }
    }

    /// The watch shows its next change.
    pub(crate) fn deliver(&mut self) {
        if let Some(event) = self.watch.pop_front() {
            self.tell(event);
        }
    }

    pub(crate) fn release_watch(&mut self) {
        self.holds_watch = false;
        self.flush();
    }

    /// Treats all open requests that `picks`, and those that come of it.
    pub(crate) fn treat_all(&mut self, how: Treatment, picks: fn(&Command) -> bool) {
        for _ in 0..MAX_STEPS {
            let Some(index) = self.open.iter().position(picks) else {
                return;
            };
            self.treat(index, how);
        }
        let newest = self.events.len().saturating_sub(12);
        panic!("requests without end: {:#?}", &self.events[newest..]);
    }

    /// Everything works.
    pub(crate) fn work(&mut self) {
        self.treat_all(Treatment::Works, |_| true);
    }

    pub(crate) fn treat(&mut self, index: usize, how: Treatment) {
        let command = self.open.remove(index);
        let done = match how {
            Treatment::Works | Treatment::LosesAnswer | Treatment::DoesAndHangs => {
                self.carry_out(&command)
            }
            Treatment::Fails(_) | Treatment::Hangs => Ok(()),
        };
        let outcome = match how {
            Treatment::Works => done,
            Treatment::Fails(kind) => Err(kind),
            Treatment::LosesAnswer => Err(FailureKind::Unknown),
            Treatment::DoesAndHangs | Treatment::Hangs => return,
        };
        let outcome = outcome.map_err(|kind| Failure {
            kind,
            message: "the server says so".to_owned(),
        });
        if let Some(id) = id_of(&command) {
            self.tell(Event::Completed { id, outcome });
        }
    }

    /// The answer to a request that was carried out comes only now.
    pub(crate) fn answer(&mut self, command: &Command) {
        if let Some(id) = id_of(command) {
            let outcome = Ok(());
            self.tell(Event::Completed { id, outcome });
        }
    }

    /// A node comes.
    pub(crate) fn add_node(&mut self, name: &str) {
        self.nodes.push(name.to_owned());
        self.tell(Event::NodeSet(
            node(name).cpu(&self.cores.to_string()).arc(),
        ));
    }

    /// Lets time pass, stepping whenever the engine asks for it.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.engine.next_wakeup().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.tell(Event::Tick);
        }
        self.now = end;
        self.tell(Event::Tick);
    }

    pub(crate) fn pass_seconds(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    pub(crate) fn stats(&self) -> EngineStats {
        self.engine.stats()
    }

    pub(crate) fn node_of(&self, name: &str) -> Option<&str> {
        self.pods[name].node.as_deref()
    }

    pub(crate) fn nominated(&self, name: &str) -> Option<&str> {
        self.pods[name].nominated.as_deref()
    }

    /// Names of victims asked to go so far.
    pub(crate) fn victims(&self) -> Vec<&str> {
        self.evictions.iter().map(|(name, _)| &**name).collect()
    }

    /// What is free on `node`: without pods bound to it and without bindings asked for.
    pub(crate) fn free(&self, node: &str) -> i64 {
        let bound = self.pods.values();
        let bound = bound.filter(|stored| stored.node.as_deref() == Some(node));
        let asked = self.open.iter().filter_map(|command| match command {
            Command::Bind { pod, node: to, .. } if **to == *node => {
                let stored = self.pods.get(&*pod.key.name)?;
                stored.node.is_none().then_some(stored)
            }
            _ => None,
        });
        let used: i64 = bound.chain(asked).map(|stored| i64::from(stored.cpu)).sum();
        i64::from(self.cores) * 1000 - used
    }

    /// The same without what is promised to others that `name` must leave room for.
    pub(crate) fn free_for(&self, name: &str, node: &str) -> i64 {
        let priority = self.pods[name].priority;
        let rivals = self.pods.iter().filter(|(other, stored)| {
            *other != name
                && stored.nominated.as_deref() == Some(node)
                && stored.priority >= priority
        });
        let promised: i64 = rivals.map(|(_, stored)| i64::from(stored.cpu)).sum();
        self.free(node) - promised
    }

    fn carry_out(&mut self, command: &Command) -> Result<(), FailureKind> {
        let Some(pod) = pod_of(command) else {
            return Ok(());
        };
        let name = pod.key.name.to_string();
        let stored = self.pods.get_mut(&name);
        let Some(stored) = stored.filter(|stored| *stored.uid == *pod.uid.0) else {
            return Err(FailureKind::NotFound);
        };
        match command {
            Command::Bind { node, .. } => {
                if stored.deleting || stored.node.as_deref().is_some_and(|other| *other != **node) {
                    return Err(FailureKind::Conflict);
                }
                stored.node = Some(node.to_string());
                stored.nominated = None;
            }
            Command::PatchStatus {
                condition,
                nominated_node,
                ..
            } => {
                if let Some(condition) = condition {
                    stored.message.clone_from(&condition.message);
                }
                if let Some(nominated) = nominated_node {
                    stored.nominated = nominated.as_ref().map(ToString::to_string);
                }
            }
            Command::Evict { .. } => stored.deleting = true,
            _ => return Ok(()),
        }
        self.show(&name);
        Ok(())
    }

    fn object(&self, name: &str) -> PodBuilder {
        let stored = &self.pods[name];
        let made = pod(name).uid(&stored.uid).priority(stored.priority);
        let mut made = made.cpu(&format!("{}m", stored.cpu));
        if stored.deleting {
            let condition = json!({
                "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
            });
            made = made.deleted("2026-01-31T12:00:00Z");
            made = made.merge(json!({"status": {"conditions": [condition]}}));
        }
        if let Some(node) = &stored.nominated {
            made = made.nominated(node);
        }
        match &stored.node {
            Some(node) => made.on(node),
            None => made,
        }
    }

    fn show(&mut self, name: &str) {
        let event = Event::PodSet(self.object(name).arc());
        self.watch.push_back(event);
        self.flush();
    }

    fn flush(&mut self) {
        while !self.holds_watch && !self.watch.is_empty() {
            self.deliver();
        }
    }

    /// One step, and those that follow at once.
    pub(crate) fn tell(&mut self, event: Event) {
        let mut event = event;
        for _ in 0..MAX_STEPS {
            let commands = self.engine.step(Now::at(self.now), event);
            for command in commands {
                self.look(command);
            }
            match self.engine.next_wakeup() {
                Some(at) if at <= self.now => event = Event::Tick,
                _ => return,
            }
        }
        panic!("the engine runs in circles: {:?}", self.events.last());
    }

    fn look(&mut self, command: Command) {
        match &command {
            Command::RecordEvent(event) => {
                let name = &event.pod.key.name;
                let text = format!("{name} {}: {}", event.reason, event.note);
                self.events.push(text);
            }
            Command::Decided(decision) => {
                let found = "found a potential placement";
                if let Outcome::Unschedulable { message } = &decision.outcome
                    && message.contains(found)
                {
                    self.preemptors.push(decision.pod.key.name.to_string());
                }
            }
            Command::Evict { pod, .. } => {
                self.evictions.push((pod.key.name.to_string(), self.now));
                self.open.push(command);
            }
            _ => self.open.push(command),
        }
    }
}

/// The command is an eviction.
pub(crate) fn evicts(command: &Command) -> bool {
    matches!(command, Command::Evict { .. })
}

/// The command is any but an eviction.
pub(crate) fn other(command: &Command) -> bool {
    !evicts(command)
}

fn id_of(command: &Command) -> Option<CommandId> {
    match command {
        Command::Bind { id, .. }
        | Command::PatchStatus { id, .. }
        | Command::Apply { id, .. }
        | Command::Evict { id, .. } => Some(*id),
        _ => None,
    }
}

fn pod_of(command: &Command) -> Option<&PodRef> {
    match command {
        Command::Bind { pod, .. }
        | Command::PatchStatus { pod, .. }
        | Command::Apply { pod, .. }
        | Command::Evict { pod, .. } => Some(pod),
        _ => None,
    }
}
