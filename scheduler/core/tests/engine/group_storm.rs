//! Whatever happens to groups in whatever order: a group of which no member is bound begins
//! to be bound whole, and nothing stays held when it is quiet.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_core::{Command, CommandId, EngineOptions, Event, FailureKind};
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};

use crate::harness::Harness;

const PLUGINS: &str = "Sort Gates Gang Fit Label Book Second Hold Binder";
const STEPS: usize = 10_000;
const GANGS: usize = 4;
const SIZE: usize = 4;
const NODES: usize = 3;

struct Storm {
    harness: Harness,
    seed: u64,
    lives: u32,
    /// By name: life and node, as the server has it.
    pods: BTreeMap<String, (u32, Option<String>)>,
    nodes: BTreeSet<usize>,
    open: Vec<(CommandId, String, u32, String)>,
    seen: usize,
    /// Lives that the server was too busy to bind: they are asked for again.
    throttled: BTreeSet<u32>,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let harness = fresh().started(&[]);
        let (pods, nodes, open) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        Self {
            harness,
            seed,
            lives: 0,
            pods,
            nodes,
            open,
            seen: 0,
            throttled: BTreeSet::new(),
        }
    }

    /// The next number below `end` (`SplitMix64`).
    fn draw(&mut self, end: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn object(&self, name: &str) -> PodBuilder {
        let (life, node) = &self.pods[name];
        let made = pod(name)
            .uid(&life.to_string())
            .cpu("1")
            .label("gang", &name[..1])
            .label("gang-size", &SIZE.to_string());
        let made = match life % 7 {
            0 => made.label("hold", "3"),
            1 => made.label("pre-bind", "annotates"),
            2 => made.label("pre-bind", "waits"),
            _ => made,
        };
        match node {
            Some(node) => made.on(node),
            None => made,
        }
    }

    fn show(&mut self, name: &str) {
        let object = self.object(name);
        self.harness.set_pod(&object);
    }

    fn create(&mut self) {
        let gang = ["a", "b", "c", "d"][self.draw(GANGS)];
        let name = format!("{gang}{}", self.draw(SIZE));
        if !self.pods.contains_key(&name) {
            self.lives += 1;
            self.pods.insert(name.clone(), (self.lives, None));
            self.show(&name);
        }
    }

    fn delete(&mut self) {
        let Some(name) = self.any_pod() else { return };
        let object = self.object(&name);
        self.pods.remove(&name);
        self.harness.pod_gone(&object);
    }

    fn any_pod(&mut self) -> Option<String> {
        let index = self.draw(self.pods.len().max(1));
        self.pods.keys().nth(index).cloned()
    }

    fn switch_node(&mut self) {
        let index = self.draw(NODES);
        if self.nodes.remove(&index) {
            self.harness.node_gone(&format!("n{index}"));
        } else {
            self.nodes.insert(index);
            self.harness.set_node(&place(index));
        }
    }

    fn answer(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let (pick, luck) = (self.draw(self.open.len()), self.draw(8));
        let (id, name, life, node) = self.open.remove(pick);
        let lives = self.pods.get(&name).is_some_and(|(now, _)| *now == life);
        let outcome = match luck {
            0 => Err(FailureKind::Refused),
            1 => Err(FailureKind::Unavailable),
            2 => Err(FailureKind::TooManyRequests { retry_after: None }),
            _ if !lives => Err(FailureKind::NotFound),
            _ => Ok(()),
        };
        if luck == 2 {
            self.throttled.insert(life);
        }
        if outcome.is_ok() && !node.is_empty() {
            self.pods.insert(name.clone(), (life, Some(node)));
        }
        self.harness.answer(id, outcome);
        if outcome.is_ok() && self.pods[&name].1.is_some() {
            self.show(&name);
        }
    }

    /// New questions: whoever is asked for has its whole group bound, or asked for too.
    fn look(&mut self) {
        let new: Vec<Command> = self.harness.said[self.seen..].to_vec();
        self.seen = self.harness.said.len();
        let begun = self.begun();
        let mut asked = BTreeSet::new();
        for command in new {
            let (id, pod, node) = match command {
                Command::Bind { id, pod, node } => (id, pod, node.to_string()),
                Command::Apply { id, pod, .. } => (id, pod, String::new()),
                _ => continue,
            };
            let name = pod.key.name.to_string();
            let life = pod.uid.parse_life();
            if !node.is_empty() && !self.throttled.remove(&life) {
                asked.insert(name[..1].to_owned());
            }
            self.open.push((id, name, life, node));
        }
        asked.retain(|gang| !begun.contains(gang));
        self.assert_whole(&asked);
    }

    /// The groups of which a member is bound or asked for.
    fn begun(&self) -> BTreeSet<String> {
        let bound = self.pods.iter().filter(|(_, (_, node))| node.is_some());
        let bound = bound.map(|(name, _)| name);
        let asked = self.open.iter().filter(|(_, _, _, node)| !node.is_empty());
        let names = bound.chain(asked.map(|(_, name, _, _)| name));
        names.map(|name| name[..1].to_owned()).collect()
    }

    fn assert_whole(&self, asked: &BTreeSet<String>) {
        let placed = self.harness.stats().cache.pods;
        assert!(placed <= self.pods.len() + self.open.len(), "{placed}");
        for gang in asked {
            let members = self
                .pods
                .keys()
                .filter(|name| name.starts_with(gang.as_str()));
            assert_eq!(members.count(), SIZE, "{gang} begins to be bound in part");
        }
    }

    /// A new process that knows what the server knows.
    fn restart(&mut self) {
        self.harness = fresh();
        (self.seen, self.open) = (0, Vec::new());
        let nodes = self.nodes.iter().map(|index| place(*index).arc()).collect();
        let pods = self
            .pods
            .keys()
            .map(|name| self.object(name).arc())
            .collect();
        self.harness.step(Event::NodesListed(nodes));
        self.harness.step(Event::PodsListed(pods));
        self.harness.settle();
    }

    fn step(&mut self) {
        match self.draw(16) {
            0..5 => self.create(),
            5 | 6 => self.delete(),
            7 => self.switch_node(),
            8..13 => self.answer(),
            13 if self.draw(40) == 0 => self.restart(),
            _ => {
                let millis = self.draw(4_000) as u64;
                self.harness.pass(std::time::Duration::from_millis(millis));
            }
        }
        self.look();
    }

    fn settle(&mut self) {
        for index in 0..NODES {
            if self.nodes.insert(index) {
                self.harness.set_node(&place(index));
            }
        }
        for _ in 0..40 {
            for _ in 0..200 {
                self.answer();
                self.look();
            }
            self.harness.pass_seconds(30);
            self.look();
        }
    }
}

trait Life {
    fn parse_life(&self) -> u32;
}

impl Life for plimsoll_objects::Uid {
    fn parse_life(&self) -> u32 {
        self.0.parse().expect("a number")
    }
}

/// With requests enough for all pods: what may be asked is asked at once.
fn fresh() -> Harness {
    let options = EngineOptions {
        min_binds_in_flight: 64,
        max_binds_in_flight: 64,
        ..EngineOptions::default()
    };
    Harness::with_options(PLUGINS, "", options)
}

fn place(index: usize) -> NodeBuilder {
    node(&format!("n{index}")).cpu("6")
}

#[test]
fn never_half_a_group_and_nothing_stays_held() {
    let mut storm = Storm::new(6);
    for step in 0..STEPS {
        storm.step();
        if step % 1_000 == 999 {
            storm.settle();
            let stats = storm.harness.stats();
            let waiting = storm
                .pods
                .values()
                .filter(|(_, node)| node.is_none())
                .count();
            let queue = stats.queue;
            let queued = queue.active + queue.backoff + queue.unschedulable + queue.gated;
            assert_eq!(
                (queued, stats.cache.assumed),
                (waiting, 0),
                "step {step}: {stats:?}"
            );
            for gang in ["a", "b", "c", "d"] {
                let mut members = storm.pods.iter().filter(|(name, _)| name.starts_with(gang));
                let waits = members.clone().any(|(_, (_, node))| node.is_none());
                // A member that waits for a permission that nobody gives holds up all.
                let held = members.clone().any(|(_, (life, _))| life % 7 == 0);
                let whole = members.by_ref().count() == SIZE && !held;
                assert!(!(whole && waits), "step {step}: {gang} has room and waits");
            }
        }
    }
}
