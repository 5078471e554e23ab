//! Holds the queue against the model: every pod, the counts, what comes next.

use std::collections::BTreeMap;

use super::entry::{Entry, Part};
use super::fakes;
use super::run::Run;
use super::{Place, Queued};

/// Both say the same; `told` says after what.
pub(super) fn same(run: &Run, told: &str) {
    let (queue, model) = (&run.bench.queue, &run.model);
    for entry in &model.entries {
        same_pod(run, entry, told);
    }
    let count = |parts: &[Part]| {
        let entries = model.entries.iter();
        entries.filter(|entry| parts.contains(&entry.part)).count()
    };
    let waiting = model.entries.len() - count(&[Part::Out]);
    assert_eq!(queue.index.len(), waiting, "{told}");
    assert_eq!(queue.next_flush(), model.next_flush(), "{told}");
    let sizes = queue.sizes();
    assert_eq!(sizes.active, count(&[Part::Active]), "{told}");
    let resting = count(&[Part::Backoff, Part::ErrorBackoff]);
    assert_eq!(sizes.backoff, resting, "{told}");
    assert_eq!(sizes.unschedulable, count(&[Part::Unschedulable]), "{told}");
    assert_eq!(sizes.gated, count(&[Part::Gated]), "{told}");
    let rows = queue.incoming().into_iter();
    let rows: BTreeMap<_, _> = rows
        .map(|row| ((row.queue, row.event), row.count))
        .collect();
    assert_eq!(rows, model.incoming, "{told}");
}

fn same_pod(run: &Run, entry: &Entry, told: &str) {
    let queue = &run.bench.queue;
    let uid = entry.pod.uid();
    let slot = queue.index.get(uid).copied();
    let item = slot.and_then(|slot| queue.item(slot));
    let item = item.or_else(|| run.out.get(&*uid.0));
    let item = item.unwrap_or_else(|| panic!("{told}: {uid} is lost"));
    assert_eq!(part(item), entry.part, "{told}: {uid}");
    let queued = &item.pods()[0];
    assert_eq!(queued.attempts, entry.attempts, "{told}: {uid}");
    assert_eq!(queued.queued_at, entry.since, "{told}: {uid}");
    assert_eq!(queued.pod, entry.pod, "{told}: {uid}");
    let profiles = &run.bench.profiles;
    let set = |names: &[&str]| fakes::set(profiles, item.profile, names);
    let rejectors: Vec<&str> = entry.rejectors.iter().copied().collect();
    assert_eq!(item.rejectors, set(&rejectors), "{told}: {uid}");
    let pending: Vec<&str> = entry.pending.iter().copied().collect();
    assert_eq!(item.pending, set(&pending), "{told}: {uid}");
    if entry.part == Part::Gated {
        let gate = item
            .gate
            .map(|gate| profiles.get(item.profile).name_of(gate));
        assert_eq!(gate, entry.gate, "{told}: {uid}");
    }
}

fn part(item: &Queued) -> Part {
    match item.place {
        Place::Out => Part::Out,
        Place::Active => Part::Active,
        Place::Backoff => Part::Backoff,
        Place::FullBackoff => Part::ErrorBackoff,
        Place::Unschedulable => Part::Unschedulable,
        Place::Gated => Part::Gated,
    }
}
