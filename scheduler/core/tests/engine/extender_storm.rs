//! Extenders that answer late, wrongly or not at all, while pods and nodes come and go: every
//! pod that is still wanted is bound in the end, and each extender has one pod at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fastrand::Rng;
use plimsoll_core::{Command, CommandId, Question, Reply};
use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::harness::{Harness, NO_RESCUE};

const EXTENDERS: &str = "extenders:\n\
    - {urlPrefix: 'http://x', filterVerb: f, prioritizeVerb: p, weight: 3, \
       managedResources: [{name: example.com/gpu}]}\n\
    - {urlPrefix: 'http://y', filterVerb: f, bindVerb: b, ignorable: true}\n\
    - {urlPrefix: 'http://z', prioritizeVerb: p, weight: 1, \
       managedResources: [{name: example.com/nic}]}\n";
const NODES: [&str; 4] = ["a", "b", "c", "d"];
const STEPS: usize = 600;
const SEEDS: u64 = 12;

struct Storm {
    rng: Rng,
    harness: Harness,
    /// Pods without a node.
    wanted: BTreeMap<String, PodBuilder>,
    answered: BTreeSet<CommandId>,
    created: usize,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let nodes = NODES.map(|name| node(name).cpu("400").pods(1_000));
        Self {
            rng: Rng::with_seed(seed),
            harness: Harness::with(NO_RESCUE, EXTENDERS).started(&nodes),
            wanted: BTreeMap::new(),
            answered: BTreeSet::new(),
            created: 0,
        }
    }

    fn create(&mut self) {
        self.created += 1;
        let name = format!("p{}", self.created);
        let mut made = pod(&name).priority(self.rng.i32(0..3));
        if self.rng.bool() {
            made = made.request("example.com/gpu", "1");
        }
        if self.rng.bool() {
            made = made.request("example.com/nic", "1");
        }
        self.harness.set_pod(&made);
        self.wanted.insert(name, made);
    }

    fn any(&mut self) -> Option<(String, PodBuilder)> {
        let index = self.rng.usize(0..self.wanted.len().max(1));
        let (name, pod) = self.wanted.iter().nth(index)?;
        Some((name.clone(), pod.clone()))
    }

    fn delete(&mut self) {
        if let Some((name, pod)) = self.any() {
            self.wanted.remove(&name);
            self.harness.pod_gone(&pod);
        }
    }

    /// Answers one open question, rightly if `well`.
    fn answer(&mut self, well: bool) {
        let open: Vec<_> = self.open();
        let Some((id, _, _, question)) = open.get(self.rng.usize(0..open.len().max(1))) else {
            return;
        };
        self.answered.insert(*id);
        let reply = match question {
            _ if !well && self.rng.bool() => Err("broken"),
            Question::Filter { nodes } => {
                let keeps = |_: &&Arc<str>| well || self.rng.bool();
                let mut kept: Vec<_> = nodes.iter().filter(keeps).map(Arc::clone).collect();
                if !well {
                    kept.push("nowhere".into());
                    self.rng.shuffle(&mut kept);
                }
                let refused = Vec::new();
                Ok(Reply::Filtered { kept, refused })
            }
            Question::Prioritize { nodes } => {
                let score = |node: &Arc<str>| (Arc::clone(node), self.rng.i64(..));
                Ok(Reply::Scores(nodes.iter().map(score).collect()))
            }
            Question::Bind { .. } => Ok(Reply::Bound),
            Question::Preempt { .. } => panic!("nobody preempts here"),
        };
        self.harness.reply_to(*id, reply);
    }

    fn open(&self) -> Vec<(CommandId, String, usize, Question)> {
        let mut asks = self.harness.asks();
        asks.retain(|(id, ..)| !self.answered.contains(id));
        asks
    }

    /// What the API server would show of bindings that were asked for.
    fn show_bound(&mut self) {
        let said = std::mem::take(&mut self.harness.said);
        for command in &said {
            let (pod, node) = match command {
                Command::Bind { id, pod, node } => {
                    self.harness.answer(*id, Ok(()));
                    (pod, node)
                }
                Command::AskExtender {
                    id,
                    pod,
                    question: Question::Bind { node },
                    ..
                } if self.answered.contains(id) => (pod, node),
                _ => continue,
            };
            if let Some(made) = self.wanted.get(&*pod.key.name) {
                let bound = serde_json::json!({"spec": {"nodeName": **node}});
                self.harness.set_pod(&made.clone().merge(bound));
                self.wanted.remove(&*pod.key.name);
            }
        }
        let newer = std::mem::replace(&mut self.harness.said, said);
        self.harness.said.extend(newer);
        self.harness.said.retain(|command| {
            matches!(command, Command::AskExtender { id, .. } if !self.answered.contains(id))
        });
    }

    /// An extender is asked about one pod at a time, but for bindings.
    fn check(&self) {
        let mut about: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for (_, pod, extender, question) in self.open() {
            let is_gone = !self.wanted.contains_key(&pod);
            if !matches!(question, Question::Bind { .. }) && !is_gone {
                about.entry(extender).or_default().insert(pod);
            }
        }
        for (extender, pods) in about {
            assert_eq!(pods.len(), 1, "extender {extender}: {pods:?}");
        }
    }
}

#[test]
fn whatever_extenders_do_every_wanted_pod_is_bound_once_they_behave() {
    for seed in 0..SEEDS {
        let mut storm = Storm::new(seed);
        for _ in 0..STEPS {
            match storm.rng.u8(0..12) {
                0..3 => storm.create(),
                3 => storm.delete(),
                4..8 => {
                    let well = storm.rng.bool();
                    storm.answer(well);
                }
                8..10 => storm.show_bound(),
                _ => {
                    let millis = storm.rng.u64(0..3_000);
                    storm.harness.pass(std::time::Duration::from_millis(millis));
                }
            }
            storm.check();
        }
        for _ in 0..20_000 {
            if storm.wanted.is_empty() {
                break;
            }
            storm.answer(true);
            storm.show_bound();
            if storm.open().is_empty() {
                storm.harness.pass_seconds(11);
            }
        }
        assert!(
            storm.wanted.is_empty(),
            "seed {seed}: {:?}",
            storm.wanted.keys()
        );
        let in_flight = storm.harness.stats().in_flight;
        assert_eq!(
            (in_flight.asking, in_flight.asking_waiting),
            (0, 0),
            "seed {seed}"
        );
    }
}
