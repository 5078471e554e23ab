//! Latest value per node, one owner per row, and no sequence twice.

use plimsoll_load::{Machine, PodSample};

use super::*;

const START: u64 = 1;
const NOW: Duration = Duration::from_secs(1000);

fn slots() -> Slots {
    Slots::new(Metrics::new())
}

fn node(name: &str) -> Arc<str> {
    Arc::from(name)
}

fn claim(slots: &Slots, name: &str, start_id: u64) -> Claim {
    slots.claim(&node(name), start_id, NOW).unwrap()
}

fn sample(name: &str, sequence: u64) -> Sample {
    Sample {
        node: node(name),
        start_id: START,
        sequence,
        arrived: NOW + Duration::from_secs(sequence),
        age: Duration::ZERO,
        period: Duration::from_secs(1),
        machine: Machine::default(),
        steal: None,
        untrusted: None,
        figures: Vec::new(),
        pods: Vec::new(),
    }
}

fn drained(slots: &Slots) -> Vec<(String, u64)> {
    slots
        .drain()
        .into_iter()
        .map(|sample| (sample.node.to_string(), sample.sequence))
        .collect()
}

#[test]
fn only_the_newest_sample_of_each_node_is_drained_and_once() {
    let slots = slots();
    let (a, b) = (claim(&slots, "a", START), claim(&slots, "b", START));
    for sequence in 1..=5 {
        a.publish(sample("a", sequence)).unwrap();
    }
    b.publish(sample("b", 9)).unwrap();
    assert_eq!(drained(&slots), [("a".to_owned(), 5), ("b".to_owned(), 9)]);
    assert_eq!(drained(&slots), []);
    assert_eq!(slots.metrics.overwritten.get(), 4);
    a.publish(sample("a", 6)).unwrap();
    assert_eq!(drained(&slots), [("a".to_owned(), 6)]);
}

#[test]
fn a_sequence_that_does_not_grow_is_a_replay_even_over_a_new_stream() {
    let slots = slots();
    let first = claim(&slots, "a", START);
    first.publish(sample("a", 5)).unwrap();
    assert_eq!(first.publish(sample("a", 5)), Err(PublishError::Replay));
    drop(first);
    let second = claim(&slots, "a", START);
    assert_eq!(second.publish(sample("a", 4)), Err(PublishError::Replay));
    second.publish(sample("a", 6)).unwrap();
}

#[test]
fn a_new_start_counts_from_the_beginning() {
    let slots = slots();
    claim(&slots, "a", START).publish(sample("a", 500)).unwrap();
    claim(&slots, "a", START + 1)
        .publish(sample("a", 1))
        .unwrap();
    assert_eq!(drained(&slots), [("a".to_owned(), 1)]);
}

#[tokio::test]
async fn a_newer_stream_takes_the_row_and_the_older_one_is_told() {
    let slots = slots();
    let mut old = claim(&slots, "a", START);
    let told = |claim: &mut Claim| {
        claim.poll_superseded(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    };
    assert!(told(&mut old).is_pending());
    let new = claim(&slots, "a", START + 1);
    assert!(told(&mut old).is_ready());
    assert_eq!(old.publish(sample("a", 6)), Err(PublishError::Superseded));
    drop(old);
    new.publish(sample("a", 1))
        .expect("the end of the old stream takes nothing from the new");
    assert_eq!(slots.metrics.superseded.get(), 1);
}

#[test]
fn a_start_that_was_superseded_may_not_come_back_while_the_newer_one_speaks() {
    let slots = slots();
    drop(claim(&slots, "a", START));
    let newer = claim(&slots, "a", START + 1);
    let back = slots.claim(&node("a"), START, NOW);
    assert_eq!(back.map(|_| ()), Err(ClaimError::Superseded));
    drop(newer);
    let back = claim(&slots, "a", START);
    back.publish(sample("a", 1)).unwrap();
}

#[test]
fn a_superseded_start_that_comes_back_later_goes_on_with_its_sequence() {
    let slots = slots();
    claim(&slots, "a", START).publish(sample("a", 40)).unwrap();
    drop(claim(&slots, "a", START + 1));
    let back = claim(&slots, "a", START);
    assert_eq!(back.publish(sample("a", 40)), Err(PublishError::Replay));
    back.publish(sample("a", 41)).unwrap();
}

#[test]
fn pods_that_nobody_took_do_not_pile_up_without_end() {
    let slots = slots();
    let claim = claim(&slots, "a", START);
    for sequence in 1..=20 {
        let pods = (0..200).map(|number| PodSample {
            uid: Arc::from(format!("{sequence}-{number}")),
            age: Duration::from_secs(sequence),
            behind: Duration::ZERO,
            figures: Vec::new(),
            ended: false,
        });
        let report = Sample {
            pods: pods.collect(),
            ..sample("a", sequence)
        };
        claim.publish(report).unwrap();
    }
    let kept = &slots.drain()[0].pods;
    assert_eq!(kept.len(), crate::wire::MAX_PODS);
    assert_eq!(&*kept[0].uid, "20-0", "the newest are kept");
}

#[test]
fn pods_of_a_sample_that_nobody_took_go_over_into_the_next() {
    let pod = |uid: &str, age| PodSample {
        uid: Arc::from(uid),
        age: Duration::from_secs(age),
        behind: Duration::ZERO,
        figures: Vec::new(),
        ended: false,
    };
    let slots = slots();
    let claim = claim(&slots, "a", START);
    let first = Sample {
        pods: vec![pod("x", 10), pod("y", 20)],
        ..sample("a", 1)
    };
    let second = Sample {
        pods: vec![pod("y", 23)],
        ..sample("a", 4)
    };
    claim.publish(first).unwrap();
    claim.publish(second).unwrap();
    let carried = PodSample {
        behind: Duration::from_secs(3),
        ..pod("x", 10)
    };
    assert_eq!(slots.drain()[0].pods, [pod("y", 23), carried]);
    claim.publish(sample("a", 5)).unwrap();
    assert_eq!(slots.drain()[0].pods, [], "what was taken is not repeated");
}

#[test]
fn the_limit_of_nodes_holds_until_rows_are_idle_for_an_hour() {
    let slots = slots();
    for number in 0..MAX_NODES {
        drop(claim(&slots, &format!("node-{number}"), START));
    }
    let busy = claim(&slots, "node-0", START);
    let one_more = |now| slots.claim(&node("one-more"), START, now).map(|_| ());
    assert_eq!(one_more(Duration::from_secs(61)), Err(ClaimError::Capacity));
    assert_eq!(one_more(IDLE_FOR), Err(ClaimError::Capacity));
    assert_eq!(one_more(IDLE_FOR + PRUNE_EACH + NOW), Ok(()));
    assert_eq!(slots.rows.len(), 2);
    busy.publish(sample("node-0", 1)).unwrap();
    assert_eq!(drained(&slots), [("node-0".to_owned(), 1)]);
}

#[tokio::test]
async fn the_bell_rings_for_a_sample_that_came_before_the_wait() {
    let slots = slots();
    claim(&slots, "a", START).publish(sample("a", 1)).unwrap();
    slots.changed().await;
    assert_eq!(drained(&slots).len(), 1);
}
