//! Groups in the queue, by what must hold after every step whatever happened: nobody is lost
//! or held twice, members that wait are together, no group is tried in part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::test_util::pod;
use plimsoll_objects::Pod;

use super::fakes::{self, GANG_SIZE};
use super::{Bench, Place, Queued, Setback};
use crate::random::Random;

const SEEDS: u64 = 8;
const STEPS: usize = 800;
/// Numbers of pods; those of one remainder are of one group, or of none.
const PODS: usize = 24;

struct Run {
    bench: Bench,
    random: Random,
    /// Every pod there is.
    there: BTreeMap<String, Arc<Pod>>,
    out: Vec<Queued>,
    tried: usize,
}

#[test]
fn nobody_is_lost_and_no_group_is_tried_in_part() {
    let mut tried = 0;
    for seed in 0..SEEDS {
        let mut run = Run {
            bench: Bench::of(fakes::gangs()),
            random: Random::new(seed),
            there: BTreeMap::new(),
            out: Vec::new(),
            tried: 0,
        };
        for step in 0..STEPS {
            let said = run.step();
            run.check(&format!("seed {seed}, step {step}: {said}"));
        }
        tried += run.tried;
    }
    assert!(tried > 100, "{tried} groups were tried");
}

fn gang(pod: &Pod) -> Option<&str> {
    pod.meta.labels.get("gang").map(|name| &**name)
}

impl Run {
    fn step(&mut self) -> &'static str {
        match self.random.below(10) {
            0..4 => self.set(),
            4 => self.remove(),
            5 | 6 => self.pop(),
            7 | 8 => self.fail(),
            _ => {
                let millis = self.random.below(40) * self.random.below(1_000);
                self.bench.pass(Duration::from_millis(millis as u64));
                "passed"
            }
        }
    }

    /// A pod comes, or changes its labels: its group, its gate.
    fn set(&mut self) -> &'static str {
        let name = format!("p{}", self.random.below(PODS));
        let mut new = pod(&name).priority(self.random.below(2) as i32);
        match self.random.below(4) {
            0 => {}
            group => new = new.label("gang", &format!("g{group}")),
        }
        if self.random.below(8) == 0 {
            new = new.label("a", "");
        }
        let new = new.arc();
        let old = self.there.insert(name, Arc::clone(&new));
        if let Some(old) = old {
            self.bench
                .with(|queue, at| queue.update(Some(&old), &new, at));
            self.replace_out(&new);
            return "updated";
        }
        let profile = self.bench.profiles.index_of(&new.spec.scheduler_name);
        let profile = profile.expect("a profile");
        self.bench.with(|queue, at| queue.add(new, profile, at));
        "added"
    }

    fn replace_out(&mut self, new: &Arc<Pod>) {
        let out = self.out.iter_mut().flat_map(Queued::pods_mut);
        for queued in out.filter(|queued| queued.pod.uid() == new.uid()) {
            queued.pod = Arc::clone(new);
        }
    }

    fn remove(&mut self) -> &'static str {
        let name = format!("p{}", self.random.below(PODS));
        let Some(gone) = self.there.get(&name) else {
            return "nobody";
        };
        if self.out.iter().any(|item| item.holds(gone.uid())) {
            return "is out";
        }
        let uid = gone.uid().clone();
        assert!(self.bench.with(|queue, at| queue.remove(&uid, at)));
        self.there.remove(&name);
        "removed"
    }

    fn pop(&mut self) -> &'static str {
        let Some(item) = self.bench.queue.pop() else {
            return "nothing to try";
        };
        if item.group.is_some() {
            let members = item.pods().len();
            assert!(members >= GANG_SIZE, "a group of {members} is tried");
            self.tried += 1;
        } else {
            assert_eq!(item.pods().len(), 1);
        }
        self.out.push(item);
        "popped"
    }

    /// The engine gives a group back as a whole only while its members are of it; what left
    /// it meanwhile comes back alone.
    fn fail(&mut self) -> &'static str {
        if self.out.is_empty() {
            return "nothing out";
        }
        let index = self.random.below(self.out.len());
        let mut item = self.out.swap_remove(index);
        let names = [&["One"][..], &["Two"], &["One", "Two"], &[]];
        let names = names[self.random.below(names.len())];
        let setback = Setback {
            rejectors: fakes::set(&self.bench.profiles, item.profile, names),
            ..Setback::default()
        };
        if item.group.is_none() {
            self.bench
                .with(|queue, at| queue.requeue(item, setback, at));
            return "failed";
        }
        for member in item.take_members() {
            let single = item.single(member);
            self.bench
                .with(|queue, at| queue.requeue(single, setback, at));
        }
        "failed"
    }

    fn check(&self, told: &str) {
        let queue = &self.bench.queue;
        let mut waiting = BTreeSet::new();
        let mut entity_of = BTreeMap::new();
        for (slot, item) in queue.items.iter().enumerate() {
            let Some(item) = item else { continue };
            assert_ne!(item.place, Place::Out, "{told}");
            for queued in item.pods() {
                let pod = &queued.pod;
                assert!(
                    waiting.insert(pod.uid().clone()),
                    "{told}: {} twice",
                    pod.uid()
                );
                assert_eq!(queue.index.get(pod.uid()), Some(&(slot as u32)), "{told}");
                if let Some(name) = gang(pod) {
                    let other = entity_of.insert(name, slot);
                    assert!(other.is_none_or(|other| other == slot), "{told}: {name}");
                }
            }
            let names: BTreeSet<_> = item.pods().iter().map(|one| gang(&one.pod)).collect();
            assert_eq!(names.len(), 1, "{told}: {names:?} in one entity");
            if item.group.is_some() && item.pods().len() < GANG_SIZE {
                assert_eq!(item.place, Place::Gated, "{told}");
            }
        }
        let out = self.out.iter().flat_map(Queued::pods);
        let out: BTreeSet<_> = out.map(|queued| queued.pod.uid().clone()).collect();
        assert!(out.is_disjoint(&waiting), "{told}");
        assert_eq!(out.len() + waiting.len(), self.there.len(), "{told}");
        assert_eq!(queue.index.len(), waiting.len(), "{told}");
        let sizes = queue.sizes();
        let sum = sizes.active + sizes.backoff + sizes.unschedulable + sizes.gated;
        assert_eq!(sum, waiting.len(), "{told}");
    }
}
