//! When a pod began and ended, and whose word counts.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadResource, Now, PodEstimate};
use plimsoll_objects::{Phase, Pod, decode_pod};

use super::{Life, PodEntry, STATIC_UIDS, agent_key};
use crate::moment::Moment;
use crate::world::{EWMA, SECOND, at, pod, pod_sample, running};

const KERNELS: [Option<plimsoll_kernel::Kernel>; 4] = [Some(EWMA); 4];

fn entry(pod: &Pod, now: Now) -> PodEntry {
    PodEntry::new(pod, PodEstimate::default(), now)
}

fn second(second: u32) -> Moment {
    Moment::at(second * SECOND)
}

#[test]
fn a_pending_pod_has_not_begun() {
    let mut entry = entry(&pod("a", 100), at(5));
    assert_eq!(entry.life(), Life::Present(None));
    entry.update(&running(pod("a", 100)), PodEstimate::default(), at(9));
    assert_eq!(entry.life(), Life::Present(Some(second(9))));
    entry.update(&running(pod("a", 100)), PodEstimate::default(), at(20));
    assert_eq!(entry.life(), Life::Present(Some(second(9))));
}

#[test]
fn a_pod_found_running_began_when_the_api_says() {
    let mut found = running(pod("a", 100));
    found.meta.created = Some(at(10).wall);
    assert_eq!(
        entry(&found, at(70)).life(),
        Life::Present(Some(second(10)))
    );
    found.status.started = Some(at(40).wall);
    assert_eq!(
        entry(&found, at(70)).life(),
        Life::Present(Some(second(40)))
    );
    found.status.started = None;
    found.meta.created = None;
    assert_eq!(
        entry(&found, at(70)).life(),
        Life::Present(Some(second(70)))
    );
}

#[test]
fn a_start_in_the_future_is_a_clock_that_goes_wrong() {
    let mut found = running(pod("a", 100));
    found.status.started = Some(at(100).wall);
    assert_eq!(
        entry(&found, at(70)).life(),
        Life::Present(Some(second(70)))
    );
}

#[test]
fn a_pod_may_be_older_than_the_scheduler() {
    let mut found = running(pod("a", 100));
    found.status.started = Some(at(1_000).wall);
    let now = Now {
        mono: SECOND,
        wall: at(4_600).wall,
    };
    let began = Moment::at(SECOND).before(3_600 * SECOND);
    assert_eq!(entry(&found, now).life(), Life::Present(Some(began)));
}

#[test]
fn the_agent_knows_better_when_a_pod_began() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    entry.report(&pod_sample("a", 15 * SECOND, 50.0), second(75), &KERNELS);
    assert_eq!(entry.life(), Life::Present(Some(second(60))));
    assert_eq!(entry.rate(LoadResource::Cpu), Some(50.0));
    assert_eq!(entry.rate(LoadResource::Memory), None);
}

#[test]
fn a_figure_that_is_left_out_keeps_its_last_value() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    entry.report(&pod_sample("a", 15 * SECOND, 50.0), second(75), &KERNELS);
    let mut without = pod_sample("a", 16 * SECOND, 0.0);
    without.figures.clear();
    entry.report(&without, second(76), &KERNELS);
    assert_eq!(entry.rate(LoadResource::Cpu), Some(50.0));
}

#[test]
fn the_earlier_of_two_ends_counts() {
    for (by_api, by_agent, end) in [(80, 78, 78), (78, 80, 78)] {
        let mut entry = entry(&running(pod("a", 100)), at(70));
        let mut last = pod_sample("a", Duration::from_secs(by_agent - 70), 50.0);
        last.ended = true;
        entry.report(&last, Moment::at(Duration::from_secs(by_agent)), &KERNELS);
        entry.remove(Moment::at(Duration::from_secs(by_api)));
        assert_eq!(entry.life(), Life::Past(second(70), second(end)));
    }
}

#[test]
fn a_deleted_pod_that_the_agent_still_sees_has_not_ended() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    entry.remove(second(80));
    entry.report(&pod_sample("a", 11 * SECOND, 50.0), second(81), &KERNELS);
    assert_eq!(entry.life(), Life::Past(second(70), second(80)));
    entry.report(&pod_sample("a", 15 * SECOND, 50.0), second(85), &KERNELS);
    assert_eq!(entry.life(), Life::Nothing);
    let mut last = pod_sample("a", 20 * SECOND, 50.0);
    last.ended = true;
    entry.report(&last, second(90), &KERNELS);
    assert_eq!(entry.life(), Life::Past(second(70), second(90)));
}

#[test]
fn an_empty_cgroup_that_fills_again_is_a_pod_that_lives() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    let mut empty = pod_sample("a", 5 * SECOND, 50.0);
    empty.ended = true;
    entry.report(&empty, second(75), &KERNELS);
    entry.update(&running(pod("a", 100)), PodEstimate::default(), at(76));
    assert_eq!(entry.life(), Life::Past(second(70), second(75)));
    entry.report(&pod_sample("a", 7 * SECOND, 50.0), second(77), &KERNELS);
    assert_eq!(entry.life(), Life::Present(Some(second(70))));
}

#[test]
fn a_pod_listed_again_after_its_deletion_lives() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    entry.remove(second(80));
    entry.update(&running(pod("a", 100)), PodEstimate::default(), at(90));
    assert!(!entry.is_gone());
    assert_eq!(entry.life(), Life::Present(Some(second(70))));
}

#[test]
fn a_deletion_timestamp_is_not_an_end() {
    let mut deleting = running(pod("a", 100));
    deleting.meta.deleted = Some(at(75).wall);
    let mut entry = entry(&running(pod("a", 100)), at(70));
    entry.update(&deleting, PodEstimate::default(), at(75));
    assert_eq!(entry.life(), Life::Present(Some(second(70))));
}

#[test]
fn a_pod_whose_kubelet_is_silent_still_runs() {
    let mut lost = running(pod("a", 100));
    lost.status.phase = Phase::Unknown;
    lost.status.started = Some(at(10).wall);
    assert_eq!(entry(&lost, at(70)).life(), Life::Present(Some(second(10))));
}

#[test]
fn the_earliest_word_of_the_agent_counts() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    for (read, age) in [(75, 15), (80, 19), (85, 4)] {
        let report = pod_sample("a", Duration::from_secs(age), 50.0);
        entry.report(&report, second(read), &KERNELS);
        assert_eq!(entry.life(), Life::Present(Some(second(60))), "{read}");
    }
}

#[test]
fn a_pod_that_had_ended_begins_anew() {
    let mut entry = entry(&running(pod("a", 100)), at(70));
    let mut last = pod_sample("a", 20 * SECOND, 50.0);
    last.ended = true;
    entry.report(&last, second(80), &KERNELS);
    entry.report(&pod_sample("a", 5 * SECOND, 50.0), second(90), &KERNELS);
    assert_eq!(entry.life(), Life::Present(Some(second(85))));
}

#[test]
fn a_static_pod_is_reported_under_the_uid_of_its_cgroup() {
    let both = r#""kubernetes.io/config.hash": "3f2a", "kubernetes.io/config.mirror": "3f2a""#;
    let hash = r#""kubernetes.io/config.hash": "3f2a""#;
    let mirror = r#""kubernetes.io/config.mirror": "3f2a""#;
    for annotations in [both, hash, mirror] {
        let pod = format!(
            r#"{{"metadata": {{"name": "etcd-n1", "uid": "u-1", "annotations": {{{annotations}}},
            "ownerReferences": [{{"kind": "Node", "name": "n1", "uid": "n", "controller": true}}]}}}}"#
        );
        let pod = decode_pod(pod.as_bytes()).unwrap();
        assert_eq!(&**agent_key(&pod), "3f2a");
    }
}

#[test]
fn an_annotation_alone_does_not_make_a_static_pod() {
    for annotation in STATIC_UIDS {
        let mut claims = pod("a", 100);
        let (key, hash) = (Arc::from(annotation), Arc::from("3f2a"));
        claims.meta.annotations.insert(key, hash);
        assert_eq!(&**agent_key(&claims), "a");
    }
}
