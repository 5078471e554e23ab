//! Whatever comes, nothing breaks.

use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use super::*;

proptest! {
    #[test]
    fn whatever_bytes_come_nothing_breaks(
        messages in vec(vec(any::<u8>(), 0..200), 1..20),
        speaks in any::<bool>(),
    ) {
        let mut rig = opened();
        if speaks {
            rig.say([hello("a")]);
        }
        for bytes in messages {
            if let Ok(message) = AgentMessage::decode(&*bytes) {
                rig.session.hear(message, rig.now);
            }
        }
        rig.ingest.drain();
    }

    #[test]
    fn a_message_with_flipped_bytes_breaks_nothing(
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        which in 0_usize..3,
    ) {
        let pod = PodReport { uid: "p".to_owned(), index: 1, ..PodReport::default() };
        let whole = [
            hello("a"),
            report_with(1, |report| report.pods = vec![pod]),
            history(&[(1000, 5.0)]),
        ];
        let mut bytes = whole[which].encode_to_vec();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut rig = opened();
        if which > 0 {
            rig.say([hello("a")]);
        }
        if let Ok(message) = AgentMessage::decode(&*bytes) {
            rig.session.hear(message, rig.now);
        }
        for sample in rig.ingest.drain() {
            let figures = sample.figures.iter().chain(sample.pods.iter().flat_map(|pod| &pod.figures));
            for figure in figures {
                prop_assert!(figure.value.is_finite() && figure.value >= 0.0);
            }
        }
    }
}
