//! The election against a server in memory, on virtual time.

use std::time::Duration;

use jiff::Timestamp;

use super::{Action, Answer, Election, Found, Moment, Step, Timing};
use crate::lease::Record;

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    renew_deadline: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

fn at(seconds: u64) -> Moment {
    Moment {
        mono: Duration::from_secs(seconds),
        wall: Timestamp::UNIX_EPOCH,
        chance: 0.0,
    }
}

fn held(holder: &str, version: &str) -> Answer {
    Answer::Read(Some(Found {
        record: Record {
            holder: holder.to_owned(),
            duration_seconds: 15,
            ..Record::default()
        },
        version: version.to_owned(),
    }))
}

fn leader() -> Election {
    let mut election = Election::new("a".to_owned(), TIMING);
    assert_eq!(election.step(at(0), Answer::Waited).action, Action::Read);
    let create = election.step(at(0), Answer::Read(None)).action;
    assert!(matches!(create, Action::Create(_)));
    let step = election.step(at(1), Answer::Written("1".to_owned()));
    let action = Action::Wait(Duration::from_secs(3));
    assert_eq!(
        step,
        Step {
            action,
            began: true
        }
    );
    election
}

#[test]
fn a_lease_of_another_is_taken_only_after_it_stood_still_for_its_duration() {
    let mut election = Election::new("b".to_owned(), TIMING);
    election.step(at(0), Answer::Waited);
    for second in [0, 14] {
        let step = election.step(at(second), held("a", "1"));
        assert!(matches!(step.action, Action::Wait(_)));
    }
    let Action::Update(record, version) = election.step(at(15), held("a", "1")).action else {
        panic!("an expired lease is taken");
    };
    assert_eq!((version.as_str(), record.transitions), ("1", 1));
}

#[test]
fn leading_ends_at_the_deadline_counted_from_the_request() {
    let mut election = leader();
    assert!(election.leads(Duration::from_secs(9)));
    assert!(!election.leads(Duration::from_secs(10)));
    assert_eq!(election.step(at(60), Answer::Waited).action, Action::Lost);
    assert!(!election.leads(Duration::from_secs(1)));
}

#[test]
fn an_acquisition_answered_after_its_deadline_does_not_lead() {
    let mut election = Election::new("a".to_owned(), TIMING);
    election.step(at(0), Answer::Read(None));
    let step = election.step(at(10), Answer::Written("1".to_owned()));
    assert!(!step.began && !election.leads(Duration::from_secs(10)));
}

#[test]
fn a_foreign_holder_ends_leading_at_once() {
    let mut election = leader();
    election.step(at(3), Answer::Waited);
    assert_eq!(election.step(at(3), Answer::Failed).action, Action::Read);
    assert_eq!(election.step(at(3), held("x", "9")).action, Action::Lost);
}

#[test]
fn an_emptied_or_deleted_lease_is_written_again() {
    let mut election = leader();
    election.step(at(3), Answer::Waited);
    election.step(at(3), Answer::Failed);
    let step = election.step(at(3), held("", "9"));
    assert!(matches!(step.action, Action::Update(record, _) if record.transitions == 1));
    assert_eq!(election.slow_paths(), 1);
    election.step(at(3), Answer::Failed);
    let step = election.step(at(3), Answer::Read(None));
    assert!(matches!(step.action, Action::Create(_)));
}

#[test]
fn a_leader_hands_over_and_a_candidate_has_nothing_to_hand_over() {
    let mut election = leader();
    let (record, version) = election.release(at(3)).expect("a leader holds the lease");
    assert_eq!((record.holder.as_str(), record.duration_seconds), ("", 1));
    assert_eq!(version, "1");
    assert!(!election.leads(Duration::from_secs(3)));
    assert!(
        Election::new("b".to_owned(), TIMING)
            .release(at(3))
            .is_none()
    );
}

/// Three candidates with clocks of their own offset, one server, requests that are lost
/// before or after they are carried out, answers that come late.
#[test]
fn never_do_two_lead_whatever_is_lost_or_late() {
    let mut led = 0;
    for seed in 0..300 {
        led += run(seed);
    }
    assert!(led > 300, "only {led} began to lead");
}

struct Candidate {
    election: Election,
    offset: Duration,
    action: Action,
    arrives: u64,
    answer: Option<Answer>,
    over: bool,
}

fn run(seed: u64) -> u32 {
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut lease: Option<Found> = None;
    let mut version = 0_u64;
    let mut began = 0;
    let mut all: Vec<Candidate> = (0..3)
        .map(|index| Candidate {
            election: Election::new(format!("c{index}"), TIMING),
            offset: Duration::from_secs(chance.u64(0..1_000)),
            action: Action::Wait(Duration::ZERO),
            arrives: 0,
            answer: Some(Answer::Waited),
            over: false,
        })
        .collect();
    for tick in 0..2_000_u64 {
        let time = Duration::from_millis(tick * 250);
        for one in &mut all {
            if one.over || tick < one.arrives {
                continue;
            }
            let Some(answer) = one.answer.take() else {
                let answer = serve(&one.action, &mut lease, &mut version, &mut chance);
                one.arrives = tick + late(&mut chance);
                one.answer = Some(answer);
                continue;
            };
            let now = Moment {
                mono: time + one.offset,
                wall: Timestamp::UNIX_EPOCH,
                chance: chance.f64(),
            };
            let step = one.election.step(now, answer);
            began += u32::from(step.began);
            one.over = step.action == Action::Lost;
            one.arrives = tick + late(&mut chance);
            if let Action::Wait(until) = step.action {
                let wait = until.saturating_sub(now.mono).as_millis() / 250;
                one.arrives = tick + u64::try_from(wait).unwrap();
                one.answer = Some(Answer::Waited);
            }
            one.action = step.action;
        }
        let leaders = all
            .iter()
            .filter(|one| one.election.leads(time + one.offset));
        assert!(
            leaders.count() <= 1,
            "two lead at {time:?} with seed {seed}"
        );
    }
    began
}

/// Mostly at once, at times frozen for up to 30 s.
fn late(chance: &mut fastrand::Rng) -> u64 {
    if chance.u8(0..20) == 0 {
        chance.u64(0..120)
    } else {
        chance.u64(0..2)
    }
}

fn serve(
    action: &Action,
    lease: &mut Option<Found>,
    version: &mut u64,
    chance: &mut fastrand::Rng,
) -> Answer {
    if chance.u8(0..10) == 0 {
        return Answer::Failed;
    }
    let record = match action {
        Action::Read => return Answer::Read(lease.clone()),
        Action::Create(record) if lease.is_none() => record,
        Action::Update(record, at) if lease.as_ref().is_some_and(|l| l.version == *at) => record,
        _ => return Answer::Failed,
    };
    *version += 1;
    // A renewal on virtual time must differ from the last, as times do on a real clock.
    let mut record = record.clone();
    record.renewed = version.to_string();
    *lease = Some(Found {
        record,
        version: version.to_string(),
    });
    if chance.u8(0..10) == 0 {
        return Answer::Failed;
    }
    Answer::Written(version.to_string())
}
