//! Random lives of the queue beside the model: after every step both say the same of every
//! pod, of the counts and of what comes next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::test_util::pod;
use plimsoll_objects::{Pod, Uid};

use super::compare;
use super::fakes::{self, PLUGINS};
use super::model::{Model, Verdict};
use super::news;
use super::{Bench, Queued, Setback};
use crate::random::Random;

const SEEDS: u64 = 24;
const STEPS: usize = 1_000;
/// Most pods at a time.
const PODS: usize = 25;
const PROFILES: [(&str, &[&str]); 3] = [
    ("default-scheduler", &["GateA", "GateB", "One", "Two"]),
    ("other", &["GateB", "One", "Two", "All"]),
    ("deaf", &["One"]),
];

pub(super) struct Run {
    pub(super) bench: Bench,
    pub(super) model: Model,
    random: Random,
    /// Popped and not given back.
    pub(super) out: BTreeMap<String, Queued>,
    made: usize,
}

#[test]
fn the_queue_does_what_the_contract_says() {
    let mut seen = BTreeMap::new();
    for seed in 0..SEEDS {
        let mut run = Run::new(seed);
        for step in 0..STEPS {
            let said = run.step();
            compare::same(&run, &format!("seed {seed}, step {step}: {said}"));
        }
        for ((queue, event), count) in &run.model.incoming {
            *seen.entry(format!("{queue} {event}")).or_insert(0) += count;
        }
    }
    // Every way that there is was gone, and more than once.
    let ways = [
        "active BackoffComplete",
        "active PopFromBackoffQ",
        "active UnscheduledPodAdd",
        "active NodeAdd",
        "active TargetPodUpdatePodLabel",
        "active AssignedPodDelete",
        "active ScheduleAttemptFailure",
        "active ForceActivate",
        "active UnschedulableTimeout",
        "active RetryTime",
        "backoff NodeUpdateNodeLabel",
        "backoff NodeUpdateLoad",
        "backoff NodeUpdateNodeAnnotation",
        "backoff ScheduleAttemptFailure",
        "unschedulable ScheduleAttemptFailure",
        "unschedulable UnscheduledPodAdd",
        "unschedulable UnschedulableTimeout",
        "unschedulable NodeAdd",
    ];
    for way in ways {
        assert!(
            seen.get(way).is_some_and(|count| *count > 2),
            "{way}: {seen:?}"
        );
    }
}

impl Run {
    fn new(seed: u64) -> Self {
        let bench = Bench::of(fakes::profiles(true));
        Self {
            model: Model::new(bench.now),
            bench,
            random: Random::new(seed),
            out: BTreeMap::new(),
            made: 0,
        }
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.random.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.random.below(from.len())).copied()
    }

    fn step(&mut self) -> String {
        match self.random.below(100) {
            0..15 => self.add(),
            15..40 => self.pop(),
            40..60 => self.fail(),
            60..64 => self.leave(),
            64..76 => self.update(),
            76..88 => self.happen(),
            _ => self.pass(),
        }
    }

    /// Labels by chance: each gate, and the letters that the pod's own change wakes.
    fn dress(&mut self, number: usize) -> Arc<Pod> {
        let (scheduler, _) = PROFILES[number % PROFILES.len()];
        let priority = self.random.below(3) as i32;
        let mut builder = pod(&format!("p{number}"))
            .uid(&format!("p{number}"))
            .scheduler(scheduler)
            .priority(priority)
            .label("wakes", &self.letters());
        for gate in ["a", "b"] {
            if self.one_in(5) {
                builder = builder.label(gate, "");
            }
        }
        if self.one_in(3) {
            let note = self.random.below(3).to_string();
            builder = builder.annotation("note", &note);
        }
        builder.arc()
    }

    fn letters(&mut self) -> String {
        let letters = PLUGINS.iter().map(|plugin| plugin.1.to_ascii_uppercase());
        let letters: Vec<char> = letters.collect();
        letters.into_iter().filter(|_| self.one_in(3)).collect()
    }

    fn add(&mut self) -> String {
        if self.model.entries.len() >= PODS {
            return "full".into();
        }
        let number = self.made;
        self.made += 1;
        let pod = self.dress(number);
        let profile = self.bench.profiles.index_of(&pod.spec.scheduler_name);
        let profile = profile.expect("a profile");
        self.bench
            .with(|queue, at| queue.add(Arc::clone(&pod), profile, at));
        self.model
            .add(&pod, PROFILES[number % PROFILES.len()].1.to_vec());
        format!("added {}", pod.uid())
    }

    fn pop(&mut self) -> String {
        let item = self.bench.queue.pop();
        let uid = item
            .as_ref()
            .map(|item| item.pods()[0].pod.uid().to_string());
        assert_eq!(uid, self.model.pop(), "the next one");
        let said = format!("popped {uid:?}");
        if let Some((uid, item)) = uid.zip(item) {
            self.out.insert(uid, item);
        }
        said
    }

    fn one_out(&mut self) -> Option<(String, Queued)> {
        let names: Vec<String> = self.out.keys().cloned().collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = self.pick(&names)?.to_owned();
        let item = self.out.remove(&name)?;
        Some((name, item))
    }

    fn fail(&mut self) -> String {
        let Some((uid, item)) = self.one_out() else {
            return "none out".into();
        };
        let entry = &self.model.entries[self.model.find(&uid).expect("an entry")];
        let filters = entry
            .plugins
            .iter()
            .filter(|name| !name.starts_with("Gate"));
        let filters: Vec<&'static str> = filters.copied().collect();
        let mut verdict = Verdict::default();
        if !self.one_in(4) {
            for name in filters {
                match self.random.below(5) {
                    0..2 => verdict.rejectors.push(name),
                    2 => verdict.pending.push(name),
                    _ => {}
                }
            }
        }
        if self.one_in(8) {
            let later = Duration::from_millis(self.random.below(20_000) as u64);
            verdict.retry_at = Some(self.bench.now + later);
        }
        let profiles = Arc::clone(&self.bench.profiles);
        let set = |names: &[&str]| fakes::set(&profiles, item.profile, names);
        let setback = Setback {
            rejectors: set(&verdict.rejectors),
            pending: set(&verdict.pending),
            retry_at: verdict.retry_at,
        };
        self.model.fail(&uid, &verdict);
        self.bench
            .with(|queue, at| queue.requeue(item, setback, at));
        format!("{uid} failed: {verdict:?}")
    }

    /// A pod is bound, or deleted wherever it is.
    fn leave(&mut self) -> String {
        let uids = self
            .model
            .entries
            .iter()
            .map(|entry| entry.pod.uid().clone());
        let uids: Vec<Uid> = uids.collect();
        if uids.is_empty() {
            return "none there".into();
        }
        let uid = uids[self.random.below(uids.len())].clone();
        self.model.remove(&uid.0);
        let was_out = self.out.remove(&*uid.0).is_some();
        let waited = self.bench.with(|queue, at| queue.remove(&uid, at));
        assert_eq!(waited, !was_out);
        self.bench.queue.done(&uid);
        format!("{uid} left")
    }

    fn update(&mut self) -> String {
        if self.model.entries.is_empty() {
            return "none there".into();
        }
        let index = self.random.below(self.model.entries.len());
        let old = Arc::clone(&self.model.entries[index].pod);
        let number = old.key().name[1..].parse().expect("a number");
        let new = self.dress(number);
        let news = news::own(&old, &new);
        self.model.update(&new, &news);
        self.bench
            .with(|queue, at| queue.update(Some(&old), &new, at));
        if let Some(item) = self.out.get_mut(&*new.uid().0) {
            // What a failed attempt gives back is the pod as it is by then.
            item.pods_mut()[0].pod = Arc::clone(&new);
            self.model.entries[index].pod = Arc::clone(&new);
        }
        format!("{} updated: {news:?}", new.uid())
    }

    fn happen(&mut self) -> String {
        let letters = self.letters();
        let (news, happening) = news::draw(&mut self.random, &letters, self.made);
        self.model.happened(&news);
        self.bench.announce(&happening);
        format!("{news:?}")
    }

    fn pass(&mut self) -> String {
        let millis = match self.random.below(20) {
            0 => 310_000,
            1..4 => 31_000,
            _ => self.random.below(3_000) as u64,
        };
        self.bench.pass(Duration::from_millis(millis));
        self.model.now = self.bench.now;
        self.model.flush();
        format!("{millis} ms passed")
    }
}
