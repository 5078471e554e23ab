//! How pods are known on a stream.

use super::*;

fn pod(index: u32, uid: &str) -> PodReport {
    PodReport {
        uid: uid.to_owned(),
        index,
        behind_ms: 4000,
        ..PodReport::default()
    }
}

fn said(sequence: u64, pods: Vec<PodReport>) -> AgentMessage {
    report_with(sequence, |report| report.pods = pods)
}

#[test]
fn a_pod_is_known_by_its_index_and_one_that_is_not_is_left_out() {
    let mut rig = opened();
    rig.say([hello("a"), said(1, vec![pod(1, "p"), pod(2, "q")])]);
    rig.ingest.drain();
    rig.say([said(2, vec![pod(2, ""), pod(3, ""), pod(1, "q")])]);
    let sample = rig.ingest.drain().remove(0);
    assert_eq!(sample.pods.len(), 1);
    let known = &sample.pods[0];
    assert_eq!((&*known.uid, known.behind), ("q", 4 * SECOND));
    assert_eq!(rig.refused(What::Pod, Reason::UnknownIndex), 1);
    assert_eq!(rig.refused(What::Pod, Reason::Redefined), 1);
}

/// An agent says a name, and the speed of its links, once: it does not know what became of
/// the report. The first one may well be older than a scheduler that just began.
#[test]
fn a_report_that_is_dropped_still_says_names_and_the_links_speed() {
    for (change, reason) in [
        (
            (|report| report.age_ms = u32::MAX) as fn(&mut Report),
            Reason::Age,
        ),
        (|report| report.steal = Some(2.0), Reason::Malformed),
    ] {
        let mut rig = opened();
        let dropped = report_with(1, |report| {
            report.pods = vec![pod(1, "p")];
            report.link_bytes_per_second = Some(125);
            change(report);
        });
        rig.say([hello("a"), dropped]);
        assert_eq!(rig.refused(What::Report, reason), 1);
        assert_eq!(rig.ingest.drain(), []);
        rig.say([said(2, vec![pod(1, "")])]);
        let sample = rig.ingest.drain().remove(0);
        assert_eq!(sample.machine.link, Some(125));
        let named: Vec<_> = sample.pods.iter().map(|pod| &*pod.uid).collect();
        assert_eq!(named, ["p"], "after {reason:?}");
    }
}
