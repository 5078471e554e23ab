//! Which pods a report has, under which names.

use plimsoll_kernel::Kernel;

use super::*;
use crate::usage::{Resource, UsageFigure};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn pod(uid: &str, taken_at: u64) -> PodUsage {
    let figure = |resource, kernel| UsageFigure {
        resource,
        kernel,
        value: 1e9,
        window_age: seconds(60),
        samples: 60,
    };
    PodUsage {
        uid: Arc::from(uid),
        taken_at: seconds(taken_at),
        age: seconds(100),
        figures: vec![
            figure(Resource::Cpu, Kernel::Ewma { tau: seconds(10) }),
            figure(Resource::Memory, Kernel::Instant),
        ],
        ended: false,
    }
}

fn table(pods: &[(&str, u64)]) -> PodTable {
    pods.iter().map(|(uid, at)| pod(uid, *at)).collect()
}

fn at(now: u64) -> Instants {
    Instants {
        sample: seconds(now),
        now: seconds(now),
    }
}

/// Index, uid and lag in seconds of each pod in the next report.
fn said(pods: &mut Pods, table: &PodTable, now: u64) -> Vec<(u32, String, u32)> {
    let due = pods.due(table, at(now)).into_iter();
    due.map(|pod| (pod.index, pod.uid, pod.behind_ms / 1000))
        .collect()
}

fn of(index: u32, uid: &str, behind: u32) -> (u32, String, u32) {
    (index, uid.to_owned(), behind)
}

#[test]
fn a_pod_is_named_once_and_sent_when_it_was_read_again() {
    let mut pods = Pods::default();
    let first = table(&[("a", 100), ("b", 96)]);
    assert_eq!(said(&mut pods, &first, 100), [of(1, "a", 0), of(2, "b", 4)]);
    assert_eq!(said(&mut pods, &first, 101), []);
    let second = table(&[("a", 100), ("b", 106)]);
    assert_eq!(said(&mut pods, &second, 107), [of(2, "", 1)]);
}

#[test]
fn a_pod_that_nobody_spoke_of_for_a_minute_is_named_again() {
    let mut pods = Pods::default();
    said(&mut pods, &table(&[("a", 100)]), 100);
    assert_eq!(said(&mut pods, &table(&[("a", 150)]), 159), [of(1, "", 9)]);
    assert_eq!(said(&mut pods, &table(&[("a", 219)]), 219), [of(1, "a", 0)]);
}

#[test]
fn an_index_is_never_used_for_another_pod() {
    let mut pods = Pods::default();
    said(&mut pods, &table(&[("a", 100), ("b", 100)]), 100);
    assert_eq!(said(&mut pods, &table(&[("b", 110)]), 110), [of(2, "", 0)]);
    assert_eq!(pods.told.len(), 1, "what is gone is forgotten");
    let back = table(&[("a", 120), ("c", 120)]);
    assert_eq!(said(&mut pods, &back, 120), [of(3, "a", 0), of(4, "c", 0)]);
}

#[test]
fn when_the_indices_are_used_up_pods_go_by_their_uids() {
    let mut pods = Pods {
        last_index: MAX_INDEX - 1,
        ..Pods::default()
    };
    let first = table(&[("a", 100), ("b", 100)]);
    let names = said(&mut pods, &first, 100);
    assert_eq!(names, [of(MAX_INDEX, "a", 0), of(0, "b", 0)]);
    let second = table(&[("a", 101), ("b", 101)]);
    let names = said(&mut pods, &second, 101);
    assert_eq!(names, [of(MAX_INDEX, "", 0), of(0, "b", 0)]);
}

#[test]
fn a_large_node_is_told_in_slices_that_fit_and_nobody_is_forgotten() {
    let names: Vec<String> = (0..1000).map(|n| format!("{n:0>36}")).collect();
    let all = |at: u64| -> PodTable { names.iter().map(|uid| pod(uid, at)).collect() };
    let mut pods = Pods::default();
    let mut table = all(100);
    let mut slices = Vec::new();
    for now in 100..110 {
        let due = pods.due(&table, at(now));
        let bytes: usize = due.iter().map(|pod| pod.encoded_len() + AROUND_POD).sum();
        assert!(bytes <= MAX_BYTES && due.len() <= MAX_PODS, "{bytes}");
        slices.push(due.len());
    }
    assert_eq!(slices.iter().sum::<usize>(), 1000, "{slices:?}");
    assert_eq!(slices[9], 0);

    // Read again before the last slice went: the longest unheard go first.
    table = all(120);
    let first: Vec<_> = said(&mut pods, &table, 120);
    table = all(121);
    let second = said(&mut pods, &table, 121);
    assert!(
        second
            .iter()
            .all(|pod| !first.iter().any(|other| other.0 == pod.0))
    );
}

#[test]
fn figures_that_are_too_old_are_not_sent() {
    let mut pods = Pods::default();
    assert_eq!(said(&mut pods, &table(&[("a", 100)]), 401), []);
    assert_eq!(
        said(&mut pods, &table(&[("a", 101)]), 401),
        [of(1, "a", 300)]
    );
}
