//! How pods end, come back and are replaced.

use super::*;

#[test]
fn a_pod_without_processes_has_ended_once_it_had_some_and_keeps_its_figures_for_a_minute() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    rig.populated("pod1", 0);
    rig.walk(0);
    assert!(!rig.only(0).ended, "the kubelet makes the folder first");
    rig.populated("pod1", 1);
    rig.used("pod1", 500_000);
    rig.only(1);
    rig.used("pod1", 1_000_000);
    let before = rig.only(2);
    assert!((cpu(&before).unwrap() - 500.0).abs() < 1e-9);
    rig.populated("pod1", 0);
    let ended = rig.only(3);
    assert_eq!(
        (ended.ended, cpu(&ended), ended.taken_at),
        (true, cpu(&before), 3 * SECOND)
    );
    let still = rig.only(62);
    assert_eq!((still.ended, still.taken_at), (true, 3 * SECOND));
    assert_eq!(rig.step(63).unwrap().len(), 0);
    rig.walk(0);
    assert!(
        rig.step(64).is_none_or(|table| table.is_empty()),
        "it is not new"
    );
}

#[test]
fn a_pod_whose_processes_come_back_goes_on_with_a_new_base() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    rig.populated("pod1", 1);
    rig.walk(0);
    rig.only(0);
    rig.populated("pod1", 0);
    assert!(rig.only(1).ended);
    rig.populated("pod1", 1);
    rig.used("pod1", 900_000);
    let back = rig.only(2);
    assert_eq!((back.ended, cpu(&back)), (false, None));
    rig.used("pod1", 1_000_000);
    assert_eq!(cpu(&rig.only(3)), Some(100.0));
}

#[test]
fn a_pod_whose_folder_is_gone_has_ended_and_leaves_after_a_minute() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    rig.walk(0);
    rig.only(0);
    rig.used("pod1", 200_000);
    rig.only(1);
    rig.remove("pod1");
    assert!(rig.pods.wants_walk(), "the folder above has changed");
    rig.walk(1);
    let gone = rig.only(2);
    assert_eq!(
        (gone.ended, cpu(&gone), gone.taken_at),
        (true, Some(200.0), 2 * SECOND)
    );
    assert_eq!(rig.step(61), None);
    assert_eq!(rig.step(62).unwrap().len(), 0);
    assert_eq!(rig.pods.all.len(), 0);
}

#[test]
fn a_new_folder_of_the_same_name_is_never_measured_against_the_old_one() {
    for gap_is_seen in [true, false] {
        let mut rig = Rig::new(Version::V2);
        rig.used("pod1", 0);
        rig.walk(0);
        rig.only(0);
        rig.used("pod1", 100_000);
        rig.only(1);
        rig.remove("pod1");
        if gap_is_seen {
            rig.walk(1);
            rig.step(2);
        }
        rig.tree
            .write("sys/fs/cgroup/keeps-the-inode-from-coming-back", "");
        rig.used("pod1", 3_500_000);
        rig.walk(1);
        // A file system may give the number of the removed folder to the new one; the
        // kernel never does. Then the step is over the capacity, or a plain reading.
        for pod in &mut rig.pods.all {
            pod.close();
        }
        let back = rig.only(3);
        assert!(cpu(&back).is_none_or(|cpu| cpu <= 4_000.0), "{back:?}");
        rig.used("pod1", 3_600_000);
        let next = rig.only(4);
        assert!(!next.ended);
        if gap_is_seen {
            assert_eq!(cpu(&next), Some(100.0));
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_asks_for_a_walk_and_begins_anew() {
    let mut rig = Rig::new(Version::V2);
    rig.used("pod1", 0);
    rig.walk(0);
    rig.only(0);
    rig.used("pod1", 100_000);
    rig.only(1);
    rig.tree
        .write("sys/fs/cgroup/kubepods/pod1/cpu.stat", "broken\n");
    let broken = rig.only(2);
    assert_eq!(
        (broken.taken_at, broken.ended),
        (SECOND, false),
        "as last read"
    );
    assert_eq!(rig.counters.unreadable.pod, 1);
    assert!(rig.pods.wants_walk());
    rig.walk(1);
    rig.used("pod1", 90_000_000);
    assert_eq!(cpu(&rig.only(3)), None, "no spike");
    rig.used("pod1", 90_050_000);
    assert_eq!(cpu(&rig.only(4)), Some(50.0));
}

#[test]
fn on_v1_a_pod_that_uses_nothing_has_ended_if_a_walk_finds_it_empty() {
    for (procs, ends) in [("", true), ("7\n", false)] {
        let mut rig = Rig::new(Version::V1);
        let procs_file = "sys/fs/cgroup/cpuacct/kubepods/pod1/cgroup.procs";
        rig.tree.write(procs_file, "7\n");
        rig.used("pod1", 0);
        rig.walk(0);
        let mut second = 0;
        loop {
            rig.used("pod1", second * 100_000);
            let table = rig.step(second).unwrap_or_default();
            let was_read = table
                .iter()
                .any(|pod| pod.taken_at == Duration::from_secs(second));
            if second > 70 && was_read {
                break;
            }
            second += 1;
        }
        rig.step(second + 10);
        assert!(rig.pods.all[0].is_suspect());
        second += 11;
        rig.tree.write(procs_file, procs);
        rig.walk(1);
        rig.pods.all[0].next_at = Duration::ZERO;
        let pod = rig.only(second);
        assert_eq!(pod.ended, ends);
        let expected = if ends { 99.0..=101.0 } else { 30.0..=40.0 };
        assert!(expected.contains(&cpu(&pod).unwrap()), "{pod:?}");
    }
}
