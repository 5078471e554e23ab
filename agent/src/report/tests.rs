//! Messages say what was measured, and nothing else.

use super::*;
use crate::usage::Untrusted;

fn reading(figures: Vec<UsageFigure>) -> Reading {
    let usage = NodeUsage {
        taken_at: Duration::from_mins(1),
        figures,
        steal: Some(0.25),
        untrusted: None,
        link_bytes_per_second: Some(125_000_000),
    };
    Reading {
        sequence: 7,
        usage,
        pods: PodTable::default(),
    }
}

fn sending(at_ms: u64) -> Sending {
    Sending {
        at: Duration::from_millis(at_ms),
        link_bytes_per_second: None,
    }
}

#[test]
fn age_is_the_time_from_the_sample_to_sending() {
    let report = report(&reading(Vec::new()), sending(60_250), Vec::new());
    assert_eq!(
        (report.sequence, report.age_ms, report.sent_ms),
        (7, 250, Some(60_250))
    );
}

#[test]
fn every_kernel_and_resource_keeps_its_meaning_on_the_wire() {
    let width = Duration::from_mins(1);
    let cases = [
        (Kernel::Instant, Shape::Instant(v1::Instant {})),
        (
            Kernel::Ewma {
                tau: Duration::from_secs(10),
            },
            Shape::EwmaTauMs(10_000),
        ),
        (Kernel::Box { width }, Shape::BoxWidthMs(60_000)),
        (
            Kernel::Quantile { q: 0.95, width },
            Shape::Quantile(v1::Quantile {
                q: 0.95,
                width_ms: 60_000,
            }),
        ),
        (Kernel::Max { width }, Shape::MaxWidthMs(60_000)),
    ];
    for (kernel, shape) in cases {
        let figure = UsageFigure {
            resource: Resource::Rx,
            kernel,
            value: 1.5,
            window_age: Duration::from_millis(1500),
            samples: 2,
        };
        let sent = report(&reading(vec![figure]), sending(60_000), Vec::new());
        let expected = v1::Figure {
            resource: v1::Resource::Rx.into(),
            kernel: Some(v1::Kernel { shape: Some(shape) }),
            value: 1.5,
            window_age_ms: 1500,
            samples: 2,
        };
        assert_eq!(sent.figures, [expected]);
    }
}

#[test]
fn a_moment_has_the_judged_figures_and_one_without_any_is_none() {
    let of = |resource, kernel, value| UsageFigure {
        resource,
        kernel,
        value,
        window_age: Duration::from_mins(1),
        samples: 60,
    };
    let width = Duration::from_mins(1);
    let tau = Duration::from_secs(10);
    let reading = reading(vec![
        of(Resource::Cpu, Kernel::Quantile { q: 0.95, width }, 9.0),
        of(Resource::Cpu, Kernel::Ewma { tau }, 1.0),
        of(Resource::Memory, Kernel::Instant, 2.0),
    ]);
    let moment = Moment::of(&reading.usage).unwrap();
    assert_eq!(
        (moment.cpu, moment.memory, moment.rx),
        (Some(1.0), Some(2.0), None)
    );
    assert_eq!(Moment::of(&NodeUsage::default()), None);

    let old = Moment {
        at: Duration::ZERO,
        ..moment
    };
    let sent = history(&VecDeque::from([old, moment]), Duration::from_secs(601));
    assert_eq!(
        sent.points.len(),
        1,
        "nobody wants what is over ten minutes old"
    );
    assert_eq!(
        (sent.points[0].age_ms, sent.points[0].cpu),
        (541_000, Some(1.0))
    );
}

#[test]
fn figures_that_are_not_trusted_travel_as_their_reason() {
    let mut reading = reading(Vec::new());
    reading.usage.untrusted = Some(Untrusted::CpuLines {
        stat: 2,
        online: 64,
    });
    let report = report(&reading, sending(60_000), Vec::new());
    assert!(report.untrusted.contains("64 are online"));
}

#[test]
fn what_could_not_be_read_is_absent_from_hello_and_not_zero() {
    let identity = Identity {
        node_name: "a".to_owned(),
        start_id: 9,
        period: Duration::from_secs(1),
    };
    let hello = hello(
        &identity,
        Machine {
            cpus: Some(4),
            ..Machine::default()
        },
    );
    assert_eq!(
        (hello.cpus, hello.memory_bytes, hello.period_ms),
        (Some(4), None, 1000)
    );
}

#[test]
fn a_time_beyond_the_wire_is_held_at_the_largest_value() {
    assert_eq!(to_ms(Duration::from_secs(u64::MAX)), u32::MAX);
}
