//! A cluster with an API server that may fail in every way: the truth against which the
//! engine is held.
//!
//! The server decides each request when it is answered (or when its answer is lost); the
//! watch shows changes later, in order, perhaps twice, or is lost and followed by a list.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plimsoll_core::{Command, CommandId, Event, Failure, FailureKind};
use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::harness::Harness;

/// Cores of each node.
pub(crate) const NODE_CORES: usize = 4;

/// How the server treats one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    Works,
    Throttles,
    Breaks,
    Refuses,
    /// Done, but the answer is lost.
    LosesAnswer,
    /// Not done, and there is no answer either.
    LosesRequest,
    /// Done or not; the engine never hears of it.
    DoesAndHangs,
    Hangs,
}

pub(crate) struct World {
    pub(crate) harness: Harness,
    /// Whether each node is there.
    pub(crate) nodes: Vec<bool>,
    /// By name: life and node.
    pub(crate) pods: BTreeMap<String, (u32, Option<String>)>,
    /// Names of pods that are being deleted: they take no node any more.
    pub(crate) deleting: BTreeSet<String>,
    lives: u32,
    /// What the watch will show.
    watch: VecDeque<Event>,
    lost: bool,
    /// Requests that are open, and how many commands were looked at.
    pub(crate) open: Vec<Command>,
    seen: usize,
    /// Per uid: nodes of questions that may have been answered with yes.
    doubts: BTreeMap<String, Vec<(CommandId, String, bool)>>,
}

impl World {
    pub(crate) fn new(nodes: usize) -> Self {
        let mut harness = Harness::new();
        harness.writes_status = false;
        let mut world = Self {
            harness,
            nodes: vec![true; nodes],
            pods: BTreeMap::new(),
            deleting: BTreeSet::new(),
            lives: 0,
            watch: VecDeque::new(),
            lost: true,
            open: Vec::new(),
            seen: 0,
            doubts: BTreeMap::new(),
        };
        world.relist();
        world
    }

    pub(crate) fn create(&mut self, name: &str) {
        if !self.pods.contains_key(name) {
            self.lives += 1;
            self.pods.insert(name.to_owned(), (self.lives, None));
            self.show(name);
        }
    }

    /// Deletion with grace: the pod stays for a while, marked.
    pub(crate) fn begin_delete(&mut self, name: &str) {
        if self.pods.contains_key(name) && self.deleting.insert(name.to_owned()) {
            self.show(name);
        }
    }

    pub(crate) fn delete(&mut self, name: &str) {
        self.deleting.remove(name);
        let Some((life, _)) = self.pods.remove(name) else {
            return;
        };
        let gone = pod(name).uid(&life.to_string()).build();
        let (key, uid) = (gone.key().clone(), gone.uid().clone());
        self.watch.push_back(Event::PodGone { key, uid });
    }

    pub(crate) fn switch_node(&mut self, index: usize) {
        self.nodes[index] = !self.nodes[index];
        let name = format!("n{index}");
        self.watch.push_back(if self.nodes[index] {
            Event::NodeSet(node(&name).cpu(&NODE_CORES.to_string()).arc())
        } else {
            Event::NodeGone(name.as_str().into())
        });
    }

    /// Another hand binds a pod.
    pub(crate) fn bind_by_hand(&mut self, name: &str, index: usize) {
        if let Some((_, node @ None)) = self.pods.get_mut(name) {
            *node = Some(format!("n{index}"));
            self.show(name);
        }
    }

    /// The watch shows its next change, perhaps twice.
    pub(crate) fn deliver(&mut self, twice: bool) {
        if self.lost {
            return;
        }
        let Some(event) = self.watch.pop_front() else {
            return;
        };
        if twice {
            self.tell(event.clone());
        }
        self.tell(event);
    }

    /// The watch breaks: what it had to show is lost, until lists are taken.
    pub(crate) fn lose_watch(&mut self) {
        self.lost = true;
    }

    pub(crate) fn relist(&mut self) {
        self.lost = false;
        self.watch.clear();
        let indices = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, is_there)| **is_there);
        let nodes = indices.map(|(index, _)| {
            node(&format!("n{index}"))
                .cpu(&NODE_CORES.to_string())
                .arc()
        });
        let nodes = nodes.collect();
        let pods = self
            .pods
            .keys()
            .map(|name| self.object(name).arc())
            .collect();
        self.tell(Event::NodesListed(nodes));
        self.tell(Event::PodsListed(pods));
    }

    pub(crate) fn pass_millis(&mut self, millis: u64) {
        self.harness.pass(std::time::Duration::from_millis(millis));
        self.look();
    }

    /// Treats the `pick`-th open request.
    pub(crate) fn treat(&mut self, pick: usize, treatment: Treatment) {
        if self.open.is_empty() {
            return;
        }
        let command = self.open.remove(pick % self.open.len());
        let does = matches!(
            treatment,
            Treatment::Works | Treatment::LosesAnswer | Treatment::DoesAndHangs
        );
        let truth = if does {
            self.carry_out(&command)
        } else {
            Ok(())
        };
        let outcome = match treatment {
            Treatment::Works => truth,
            Treatment::Throttles => Err(FailureKind::TooManyRequests { retry_after: None }),
            Treatment::Breaks => Err(FailureKind::Unavailable),
            Treatment::Refuses => Err(FailureKind::Refused),
            Treatment::LosesAnswer | Treatment::LosesRequest => Err(FailureKind::Unknown),
            Treatment::DoesAndHangs | Treatment::Hangs => return,
        };
        let (Command::Bind { id, .. }
        | Command::PatchStatus { id, .. }
        | Command::Apply { id, .. }) = command
        else {
            return;
        };
        self.resolve(id, outcome);
        let outcome = outcome.map_err(|kind| Failure {
            kind,
            message: String::new(),
        });
        self.tell(Event::Completed { id, outcome });
    }

    fn carry_out(&mut self, command: &Command) -> Result<(), FailureKind> {
        let Command::Bind { pod, node, .. } = command else {
            return Ok(());
        };
        let name = pod.key.name.to_string();
        let Some((life, bound)) = self.pods.get_mut(&name) else {
            return Err(FailureKind::NotFound);
        };
        if *life.to_string() != *pod.uid.0 {
            return Err(FailureKind::Conflict);
        }
        if self.deleting.contains(&name) {
            return Err(FailureKind::Conflict);
        }
        match bound {
            Some(other) if **other == **node => Ok(()),
            Some(_) => Err(FailureKind::Conflict),
            None => {
                *bound = Some(node.to_string());
                self.show(&name);
                Ok(())
            }
        }
    }

    fn object(&self, name: &str) -> PodBuilder {
        let (life, node) = &self.pods[name];
        let mut made = pod(name).uid(&life.to_string()).cpu("1");
        if name.ends_with(['1', '4']) {
            made = made.label("pre-bind", "waits");
        } else if name.ends_with(['2', '5']) {
            made = made.label("pre-bind", "annotates");
        }
        if self.deleting.contains(name) {
            made = made.deleted("2026-01-31T12:00:00Z");
        }
        match node {
            Some(node) => made.on(node),
            None => made,
        }
    }

    fn show(&mut self, name: &str) {
        let event = Event::PodSet(self.object(name).arc());
        self.watch.push_back(event);
    }

    fn tell(&mut self, event: Event) {
        self.harness.step(event);
        self.harness.settle();
        self.look();
    }

    /// Looks at new commands: holds every question against the ones before it.
    fn look(&mut self) {
        let new: Vec<Command> = self.harness.said[self.seen..].to_vec();
        self.seen = self.harness.said.len();
        for command in new {
            if let Command::Bind { id, pod, node } = &command {
                let doubts = self.doubts.entry(pod.uid.to_string()).or_default();
                let other = doubts.iter().find(|(_, asked, _)| **asked != **node);
                assert!(
                    other.is_none(),
                    "{} may be on {other:?}, asked for {node}",
                    pod.key
                );
                doubts.push((*id, node.to_string(), false));
            }
            if matches!(
                command,
                Command::Bind { .. } | Command::PatchStatus { .. } | Command::Apply { .. }
            ) {
                self.open.push(command);
            }
        }
    }

    /// What an answer leaves in doubt: a clear one nothing, a failure the earlier questions.
    fn resolve(&mut self, id: CommandId, outcome: Result<(), FailureKind>) {
        for doubts in self.doubts.values_mut() {
            if !doubts.iter().any(|(asked, _, _)| *asked == id) {
                continue;
            }
            match outcome {
                Ok(()) | Err(FailureKind::Conflict | FailureKind::NotFound) => doubts.clear(),
                Err(FailureKind::Unknown) => {}
                Err(_) => doubts.retain(|(asked, _, _)| *asked != id),
            }
        }
    }
}
