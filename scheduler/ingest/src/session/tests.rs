//! The rules of a stream, message by message.

use plimsoll_proto::telemetry::v1::kernel::Shape;
use plimsoll_proto::telemetry::v1::{Figure, HistoryPoint, Kernel, PodReport, Resource};

use super::*;

mod garbage;
mod late;
mod past;
mod pods;

const START: Duration = Duration::from_hours(1);
const SECOND: Duration = Duration::from_secs(1);

fn hello_of(node: &str, start_id: u64) -> AgentMessage {
    AgentMessage {
        body: Some(Said::Hello(Hello {
            schema: SCHEMA,
            node_name: node.to_owned(),
            agent_version: "0.1.0".to_owned(),
            start_id,
            period_ms: 1000,
            cpus: Some(4),
            memory_bytes: None,
            link_bytes_per_second: None,
        })),
    }
}

fn hello(node: &str) -> AgentMessage {
    hello_of(node, 1)
}

fn report_with(sequence: u64, change: impl FnOnce(&mut Report)) -> AgentMessage {
    let mut report = Report {
        sequence,
        age_ms: 0,
        figures: vec![Figure {
            resource: Resource::Cpu.into(),
            kernel: Some(Kernel {
                shape: Some(Shape::EwmaTauMs(10_000)),
            }),
            value: 100.0,
            window_age_ms: 1000,
            samples: 1,
        }],
        pods: Vec::new(),
        steal: None,
        untrusted: String::new(),
        link_bytes_per_second: None,
        sent_ms: None,
    };
    change(&mut report);
    AgentMessage {
        body: Some(Said::Report(report)),
    }
}

fn report(sequence: u64) -> AgentMessage {
    report_with(sequence, |_| {})
}

fn nan(sequence: u64) -> AgentMessage {
    report_with(sequence, |report| report.figures[0].value = f64::NAN)
}

struct Rig {
    ingest: Arc<Ingest>,
    connection: Connection,
    session: Session,
    now: Duration,
}

/// A stream on a new connection, nothing said yet.
fn opened() -> Rig {
    on(Arc::new(Ingest::new()), Connection::default())
}

fn on(ingest: Arc<Ingest>, connection: Connection) -> Rig {
    let session = Session::new(Arc::clone(&ingest), connection.clone());
    Rig {
        ingest,
        connection,
        session,
        now: START,
    }
}

impl Rig {
    /// Says each message one second after the other; gives the last turn.
    fn say(&mut self, messages: impl IntoIterator<Item = AgentMessage>) -> Turn {
        let mut last = Turn::Listen;
        for message in messages {
            assert!(!matches!(last, Turn::Refuse(_)), "{last:?}");
            last = self.session.hear(message, self.now);
            self.now += SECOND;
        }
        last
    }

    fn refused(&self, what: What, reason: Reason) -> u64 {
        self.ingest.metrics().refused(what, reason)
    }
}

fn refused_with(turn: &Turn) -> WireReason {
    let Turn::Refuse(refusal) = turn else {
        panic!("{turn:?}")
    };
    refusal.reason()
}

#[test]
fn hello_is_welcomed_and_reports_become_samples() {
    let mut rig = opened();
    let welcome = Turn::Say(Body::Welcome(Welcome {
        schema: SCHEMA,
        interval_ms: 0,
    }));
    assert_eq!(rig.say([hello("a")]), welcome);
    assert_eq!(rig.say([report(1)]), Turn::Listen);
    let samples = rig.ingest.drain();
    assert_eq!(
        (&*samples[0].node, samples[0].arrived),
        ("a", START + SECOND)
    );
    assert_eq!(rig.ingest.metrics().samples.get(), 1);
}

#[test]
fn each_way_to_break_the_protocol_is_refused_with_its_reason_and_counted() {
    let other_schema = {
        let mut message = hello("a");
        if let Some(Said::Hello(hello)) = &mut message.body {
            hello.schema = 2;
        }
        message
    };
    let empty = AgentMessage { body: None };
    for (messages, on_wire, reason) in [
        (vec![report(1)], WireReason::Protocol, Reason::Protocol),
        (vec![empty], WireReason::Protocol, Reason::Protocol),
        (
            vec![hello("a"), hello("a")],
            WireReason::Protocol,
            Reason::Protocol,
        ),
        (vec![other_schema], WireReason::Schema, Reason::Schema),
        (vec![hello("")], WireReason::Identity, Reason::Identity),
        (
            vec![hello("a"), hello("b")],
            WireReason::Identity,
            Reason::Identity,
        ),
        (
            std::iter::once(hello("a"))
                .chain((1..=16).map(nan))
                .collect(),
            WireReason::Implausible,
            Reason::Implausible,
        ),
    ] {
        let mut rig = opened();
        let turn = rig.say(messages.clone());
        assert_eq!(refused_with(&turn), on_wire, "{messages:?}");
        assert_eq!(rig.refused(What::Stream, reason), 1, "{messages:?}");
    }
}

#[test]
fn each_bad_report_is_dropped_with_its_reason_and_the_stream_goes_on() {
    type Change = Box<dyn Fn(&mut Report)>;
    let figure =
        |change: fn(&mut Figure)| move |report: &mut Report| change(&mut report.figures[0]);
    let cases: Vec<(Change, What, Reason)> = vec![
        (
            Box::new(|report| report.age_ms = 601_000),
            What::Report,
            Reason::Age,
        ),
        (
            Box::new(|report| report.sequence = 1),
            What::Report,
            Reason::Replay,
        ),
        (
            Box::new(|report| report.sequence = 0),
            What::Report,
            Reason::Replay,
        ),
        (
            Box::new(|report| report.steal = Some(-1.0)),
            What::Report,
            Reason::Malformed,
        ),
        (
            Box::new(figure(|it| it.value = f64::NAN)),
            What::Figure,
            Reason::NotFinite,
        ),
        (
            Box::new(figure(|it| it.value = -1.0)),
            What::Figure,
            Reason::Negative,
        ),
        (
            Box::new(figure(|it| it.value = 16_001.0)),
            What::Figure,
            Reason::AboveCapacity,
        ),
        (
            Box::new(figure(|it| it.kernel = None)),
            What::Figure,
            Reason::Kernel,
        ),
        (
            Box::new(figure(|it| it.resource = 42)),
            What::Figure,
            Reason::Resource,
        ),
    ];
    for (change, what, reason) in cases {
        let mut rig = opened();
        let turn = rig.say([
            hello("a"),
            report(1),
            report_with(2, |report| change(report)),
        ]);
        assert_eq!(turn, Turn::Listen, "{reason:?}");
        assert_eq!(rig.refused(what, reason), 1, "{reason:?}");
        assert_eq!(rig.say([report(3)]), Turn::Listen, "{reason:?}");
        assert_eq!(rig.ingest.drain()[0].sequence, 3, "{reason:?}");
    }
}

#[test]
fn sixteen_bad_reports_end_a_stream_only_if_no_good_one_comes_between() {
    let mut rig = opened();
    rig.say([hello("a")]);
    for round in 0..4 {
        let first = round * 16 + 1;
        rig.say((first..first + 15).map(nan));
        assert!(
            !matches!(rig.say([report(first + 15)]), Turn::Refuse(_)),
            "round {round}"
        );
    }
}

#[test]
fn figures_of_a_newer_version_never_end_a_stream() {
    let mut rig = opened();
    rig.say([hello("a")]);
    let newer = |sequence| report_with(sequence, |report| report.figures[0].resource = 42);
    rig.say((1..=40).map(newer));
    assert_eq!(rig.refused(What::Figure, Reason::Resource), 40);
    assert_eq!(rig.refused(What::Stream, Reason::Implausible), 0);
}

#[test]
fn a_message_of_a_newer_version_is_passed_over() {
    let mut rig = opened();
    assert_eq!(
        rig.say([hello("a"), AgentMessage { body: None }]),
        Turn::Listen
    );
}

#[test]
fn an_answer_comes_each_five_seconds_or_eight_reports() {
    let mut rig = opened();
    rig.say([hello("a")]);
    let mut answered = Vec::new();
    for sequence in 1..=10 {
        if let Turn::Say(Body::Ack(ack)) = rig.say([report(sequence)]) {
            answered.push(ack.sequence);
        }
    }
    assert_eq!(answered, [5, 10], "at one report a second");

    let mut fast = opened();
    fast.say([hello("a")]);
    let turns = (1..=8).map(|sequence| fast.session.hear(report(sequence), START));
    assert_eq!(
        turns.last(),
        Some(Turn::Say(Body::Ack(Ack { sequence: 8 })))
    );
}

#[test]
fn a_connection_speaks_for_one_node_over_all_its_streams() {
    let mut first = opened();
    first.say([hello("a")]);
    let mut second = on(Arc::clone(&first.ingest), first.connection.clone());
    drop(first);
    assert_eq!(
        refused_with(&second.say([hello("b")])),
        WireReason::Identity
    );
    assert_eq!(second.refused(What::Stream, Reason::Identity), 1);
    let mut third = on(Arc::clone(&second.ingest), second.connection.clone());
    assert!(matches!(
        third.say([hello("a")]),
        Turn::Say(Body::Welcome(_))
    ));
}

#[test]
fn a_newer_start_supersedes_and_the_older_stream_is_refused() {
    let mut old = opened();
    old.say([hello_of("a", 1), report(500)]);
    let mut new = on(Arc::clone(&old.ingest), Connection::default());
    new.say([hello_of("a", 2), report(1)]);

    assert_eq!(
        refused_with(&old.say([report(501)])),
        WireReason::Superseded
    );
    let samples = new.ingest.drain();
    assert_eq!(
        (samples.len(), samples[0].start_id, samples[0].sequence),
        (1, 2, 1)
    );
    assert_eq!(new.ingest.metrics().superseded.get(), 1);

    let mut back = on(Arc::clone(&new.ingest), Connection::default());
    assert_eq!(
        refused_with(&back.say([hello_of("a", 1)])),
        WireReason::Superseded
    );
}

fn history(points: &[(u32, f32)]) -> AgentMessage {
    let points = points.iter().map(|(age_ms, cpu)| HistoryPoint {
        age_ms: *age_ms,
        cpu: Some(*cpu),
        ..HistoryPoint::default()
    });
    AgentMessage {
        body: Some(Said::History(History {
            points: points.collect(),
        })),
    }
}

#[test]
fn a_stream_that_floods_is_refused() {
    let mut rig = opened();
    rig.say([hello("a")]);
    let turns = (1..).map(|sequence| rig.session.hear(report(sequence), START));
    let refused = turns.take(400).find(|turn| matches!(turn, Turn::Refuse(_)));
    assert_eq!(
        refused.as_ref().map(refused_with),
        Some(WireReason::Implausible)
    );
    assert_eq!(rig.refused(What::Stream, Reason::Rate), 1);
}
