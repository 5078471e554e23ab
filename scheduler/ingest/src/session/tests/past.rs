//! What an agent replays.

use super::*;

#[test]
fn a_history_is_shown_and_judges_nothing() {
    let mut rig = opened();
    let replay = history(&[
        (20_000, 1.0),
        (10_000, f32::NAN),
        (700_000, 1.0),
        (5_000, -1.0),
    ]);
    assert_eq!(rig.say([hello("a"), replay]), Turn::Listen);
    assert_eq!(rig.ingest.drain(), []);
    for reason in [Reason::NotFinite, Reason::Age, Reason::Negative] {
        assert_eq!(rig.refused(What::History, reason), 1, "{reason:?}");
    }
    assert_eq!(rig.say([report(1)]), Turn::Listen);
    let shown = rig.ingest.history("a", rig.now);
    let shown: Vec<_> = shown.iter().map(|point| (point.age, point.cpu)).collect();
    assert_eq!(shown, [(22 * SECOND, Some(1.0)), (SECOND, Some(100.0))]);
    assert_eq!(rig.ingest.history("b", rig.now), []);
}

#[test]
fn a_history_has_one_place_and_a_bound() {
    let points = vec![(1, 1.0); 61];
    let mut rig = opened();
    assert_eq!(rig.say([hello("a"), history(&points)]), Turn::Listen);
    assert_eq!(rig.refused(What::History, Reason::Malformed), 1);
    assert_eq!(rig.ingest.history("a", rig.now), []);
    for before in [history(&[]), report(1)] {
        let mut rig = opened();
        let turn = rig.say([hello("a"), before, history(&[])]);
        assert_eq!(refused_with(&turn), WireReason::Protocol);
    }
    let turn = opened().say([history(&[])]);
    assert_eq!(refused_with(&turn), WireReason::Protocol);
}
