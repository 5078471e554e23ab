//! Reports that lay in buffers on the way.

use super::*;

#[test]
fn a_backlog_after_a_stall_is_as_old_as_it_is() {
    let mut rig = opened();
    let sent =
        |sequence: u64| report_with(sequence, |report| report.sent_ms = Some(sequence * 1000));
    rig.say([hello("a"), sent(1), sent(2)]);
    rig.now += 30 * SECOND;
    for sequence in 3..=10 {
        rig.session.hear(sent(sequence), rig.now);
    }
    let sample = rig.ingest.drain().remove(0);
    assert_eq!(
        (sample.sequence, sample.age),
        (2, Duration::ZERO),
        "the last before it"
    );
    assert_eq!(rig.refused(What::Report, Reason::Late), 8);
    // What the agent sends once the backlog is answered.
    rig.session.hear(sent(33), rig.now);
    let sample = rig.ingest.drain().remove(0);
    assert_eq!((sample.sequence, sample.age), (33, Duration::ZERO));
}

#[test]
fn reports_that_are_late_for_long_are_taken_as_old_as_they_are() {
    let mut rig = opened();
    let sent =
        |sequence: u64| report_with(sequence, |report| report.sent_ms = Some(sequence * 1000));
    rig.say([hello("a"), sent(1)]);
    rig.now += 5 * SECOND;
    rig.say((2..=17).map(sent));
    assert_eq!(rig.refused(What::Report, Reason::Late), 16);
    rig.ingest.drain();
    rig.say([sent(18)]);
    let sample = rig.ingest.drain().remove(0);
    assert_eq!((sample.sequence, sample.age), (18, 5 * SECOND));
}

#[test]
fn what_a_late_report_says_of_pods_is_not_lost() {
    let mut rig = opened();
    let said = |sequence: u64, pods: Vec<PodReport>| {
        report_with(sequence, |report| {
            report.sent_ms = Some(sequence * 1000);
            report.pods = pods;
        })
    };
    let ended = PodReport {
        uid: "p".to_owned(),
        index: 1,
        age_ms: 9000,
        ended: true,
        ..PodReport::default()
    };
    rig.say([hello("a"), said(1, Vec::new())]);
    rig.ingest.drain();
    rig.now += 6 * SECOND;
    rig.session.hear(said(2, vec![ended]), rig.now);
    assert_eq!(rig.ingest.drain(), []);
    rig.session.hear(said(8, Vec::new()), rig.now);
    let sample = rig.ingest.drain().remove(0);
    let pod = &sample.pods[0];
    assert_eq!((&*pod.uid, pod.ended), ("p", true));
    assert_eq!((pod.age, pod.behind), (9 * SECOND, 6 * SECOND));
}
