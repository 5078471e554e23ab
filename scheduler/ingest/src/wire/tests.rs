//! What is taken from the wire, and what is left out for which reason.

use plimsoll_kernel::Kernel;
use plimsoll_load::Meter;
use plimsoll_proto::telemetry::v1::kernel::Shape;
use plimsoll_proto::telemetry::v1::{PodReport, Quantile, Resource};
use proptest::prelude::*;

use super::*;

fn hello() -> Hello {
    Hello {
        schema: SCHEMA,
        node_name: "node-1".to_owned(),
        agent_version: "0.1.0".to_owned(),
        start_id: 7,
        period_ms: 1000,
        cpus: Some(4),
        memory_bytes: Some(1000),
        link_bytes_per_second: None,
    }
}

fn speaker() -> Speaker {
    Speaker::from_hello(&hello()).unwrap()
}

fn figure(resource: Resource, value: f64) -> v1::Figure {
    v1::Figure {
        resource: resource.into(),
        kernel: Some(v1::Kernel {
            shape: Some(Shape::EwmaTauMs(10_000)),
        }),
        value,
        window_age_ms: 5000,
        samples: 5,
    }
}

fn report(figures: Vec<v1::Figure>) -> Report {
    Report {
        sequence: 1,
        age_ms: 100,
        figures,
        pods: Vec::new(),
        steal: None,
        untrusted: String::new(),
        link_bytes_per_second: None,
        sent_ms: None,
    }
}

fn on_time() -> Arrival {
    Arrival {
        at: Duration::from_hours(1),
        delay: Duration::ZERO,
    }
}

fn take(report: Report) -> (Result<Sample, ReportError>, Vec<(What, Reason)>) {
    let mut omissions = Omissions::default();
    let sample = speaker().sample(report, on_time(), &mut omissions);
    (sample, omissions.list)
}

#[test]
fn a_report_becomes_a_sample_with_all_that_it_says() {
    let mut report = report(vec![figure(Resource::Cpu, 1500.0)]);
    report.steal = Some(0.25);
    report.link_bytes_per_second = Some(125);
    let (sample, omitted) = take(report);
    let expected = Sample {
        node: Arc::from("node-1"),
        start_id: 7,
        sequence: 1,
        arrived: Duration::from_hours(1),
        age: Duration::from_millis(100),
        period: Duration::from_secs(1),
        machine: Machine {
            cpus: Some(4),
            memory: Some(1000),
            link: Some(125),
        },
        steal: Some(0.25),
        untrusted: None,
        figures: vec![Figure {
            meter: Meter::Cpu,
            kernel: Kernel::Ewma {
                tau: Duration::from_secs(10),
            },
            value: 1500.0,
            window: Duration::from_secs(5),
            samples: 5,
        }],
        pods: Vec::new(),
    };
    assert_eq!((sample, omitted), (Ok(expected), Vec::new()));
}

#[test]
fn a_wrong_figure_is_left_out_with_its_reason_and_the_rest_counts() {
    let kernel = |shape| v1::Figure {
        kernel: Some(v1::Kernel { shape }),
        ..figure(Resource::Cpu, 1.0)
    };
    let quantile = |q| {
        kernel(Some(Shape::Quantile(Quantile {
            q,
            width_ms: 60_000,
        })))
    };
    for (wrong, reason) in [
        (figure(Resource::Cpu, f64::NAN), Reason::NotFinite),
        (figure(Resource::Cpu, f64::INFINITY), Reason::NotFinite),
        (figure(Resource::Memory, -1.0), Reason::Negative),
        (figure(Resource::Cpu, 16_001.0), Reason::AboveCapacity),
        (figure(Resource::Memory, 4001.0), Reason::AboveCapacity),
        (figure(Resource::Rx, 1e13), Reason::AboveCapacity),
        (figure(Resource::PsiIo, 1.2), Reason::AboveCapacity),
        (figure(Resource::Unspecified, 1.0), Reason::Resource),
        (
            v1::Figure {
                resource: 99,
                ..figure(Resource::Cpu, 1.0)
            },
            Reason::Resource,
        ),
        (
            v1::Figure {
                kernel: None,
                ..figure(Resource::Cpu, 1.0)
            },
            Reason::Kernel,
        ),
        (kernel(None), Reason::Kernel),
        (kernel(Some(Shape::EwmaTauMs(0))), Reason::Kernel),
        (quantile(1.5), Reason::Kernel),
        (quantile(f32::NAN), Reason::Kernel),
    ] {
        let (sample, omitted) = take(report(vec![wrong, figure(Resource::Memory, 500.0)]));
        assert_eq!(sample.unwrap().figures.len(), 1, "{wrong:?}");
        assert_eq!(omitted, [(What::Figure, reason)], "{wrong:?}");
    }
}

#[test]
fn four_times_the_capacity_is_still_taken_and_a_share_is_held_at_one() {
    let figures = vec![
        figure(Resource::Cpu, 16_000.0),
        figure(Resource::Memory, 4000.0),
        figure(Resource::PsiCpu, 1.01),
        figure(Resource::Tx, -0.0),
    ];
    let (sample, omitted) = take(report(figures));
    let values: Vec<_> = sample
        .unwrap()
        .figures
        .iter()
        .map(|figure| figure.value)
        .collect();
    assert_eq!(values, [16_000.0, 4000.0, 1.0, 0.0]);
    assert_eq!(omitted, []);
}

#[test]
fn a_kernel_of_a_newer_version_is_no_sign_of_a_broken_agent_but_nan_is() {
    let newer = v1::Figure {
        kernel: Some(v1::Kernel { shape: None }),
        ..figure(Resource::Cpu, 1.0)
    };
    for (figure, implausible) in [(newer, false), (figure(Resource::Cpu, f64::NAN), true)] {
        let mut omissions = Omissions::default();
        speaker()
            .sample(report(vec![figure]), on_time(), &mut omissions)
            .unwrap();
        assert_eq!(omissions.are_implausible(), implausible, "{figure:?}");
    }
}

#[test]
fn an_age_that_cannot_be_drops_the_report() {
    let minutes = |minutes: u32| Report {
        age_ms: minutes * 60_000,
        ..report(Vec::new())
    };
    let older_than_agent = Report {
        sent_ms: Some(99),
        ..report(Vec::new())
    };
    for (report, expected) in [
        (minutes(10), Ok(Duration::from_mins(10))),
        (minutes(11), Err(ReportError::Age)),
        (older_than_agent, Err(ReportError::Age)),
    ] {
        assert_eq!(take(report).0.map(|sample| sample.age), expected);
    }
    let mut speaker = speaker();
    let early = Arrival {
        at: Duration::from_millis(50),
        delay: Duration::ZERO,
    };
    let before_our_start = speaker.sample(report(Vec::new()), early, &mut Omissions::default());
    assert_eq!(before_our_start, Err(ReportError::Age));
}

#[test]
fn time_on_the_way_counts_as_age() {
    let arrival = Arrival {
        delay: Duration::from_secs(8),
        ..on_time()
    };
    let sample = speaker()
        .sample(report(Vec::new()), arrival, &mut Omissions::default())
        .unwrap();
    assert_eq!(sample.age, Duration::from_millis(8100));
}

#[test]
fn what_no_agent_sends_is_malformed() {
    let many = vec![figure(Resource::Cpu, 1.0); MAX_FIGURES + 1];
    for malformed in [
        report(many),
        Report {
            steal: Some(1.5),
            ..report(Vec::new())
        },
        Report {
            steal: Some(f32::NAN),
            ..report(Vec::new())
        },
    ] {
        assert_eq!(take(malformed).0, Err(ReportError::Malformed));
    }
}

#[test]
fn figures_that_the_agent_does_not_trust_are_not_taken() {
    let untrusted = Report {
        untrusted: format!("lxcfs\n{}", "x".repeat(500)),
        ..report(vec![figure(Resource::Cpu, 1.0)])
    };
    let sample = take(untrusted).0.unwrap();
    assert_eq!(sample.figures, []);
    let reason = sample.untrusted.unwrap();
    assert!(
        reason.starts_with("lxcfsx") && reason.len() == MAX_REASON_CHARS,
        "{reason}"
    );
}

#[test]
fn a_pod_without_a_uid_is_left_out() {
    let pod = |uid: &str| PodReport {
        index: 0,
        behind_ms: 0,
        uid: uid.to_owned(),
        age_ms: 2000,
        figures: vec![figure(Resource::Cpu, 10.0)],
        ended: false,
    };
    let pods = vec![pod(""), pod("a b"), pod("3f9c-1")];
    let (sample, omitted) = take(Report {
        pods,
        ..report(Vec::new())
    });
    let sample = sample.unwrap();
    assert_eq!(sample.pods.len(), 1);
    assert_eq!(
        (&*sample.pods[0].uid, sample.pods[0].age),
        ("3f9c-1", Duration::from_secs(2))
    );
    assert_eq!(omitted, [(What::Pod, Reason::Malformed); 2]);
}

#[test]
fn a_hello_of_another_schema_or_without_a_name_is_refused() {
    let from = |change: fn(&mut Hello)| {
        let mut hello = hello();
        change(&mut hello);
        Speaker::from_hello(&hello).map(|_| ())
    };
    assert_eq!(from(|hello| hello.schema = 2), Err(HelloError::Schema(2)));
    assert_eq!(from(|hello| hello.node_name.clear()), Err(HelloError::Name));
    assert_eq!(
        from(|hello| hello.node_name = "a\nb".to_owned()),
        Err(HelloError::Name)
    );
    assert_eq!(
        from(|hello| hello.node_name = "a".repeat(254)),
        Err(HelloError::Name)
    );
}

#[test]
fn a_machine_of_zero_cpus_is_one_that_could_not_be_read() {
    let hello = Hello {
        cpus: Some(0),
        memory_bytes: None,
        period_ms: 0,
        ..hello()
    };
    let speaker = Speaker::from_hello(&hello).unwrap();
    assert_eq!(speaker.machine, Machine::default());
    assert_eq!(speaker.period, DEFAULT_PERIOD);
}

proptest! {
    #[test]
    fn whatever_comes_over_the_wire_a_sample_is_finite_and_not_negative(
        values in proptest::collection::vec((any::<i32>(), any::<f64>(), any::<u32>()), 0..20),
        age_ms in any::<u32>(),
        steal in any::<Option<f32>>(),
    ) {
        let figures = values
            .iter()
            .map(|(resource, value, tau)| v1::Figure {
                resource: resource % 10,
                kernel: Some(v1::Kernel { shape: Some(Shape::EwmaTauMs(*tau)) }),
                value: *value,
                window_age_ms: *tau,
                samples: 1,
            })
            .collect();
        let report = Report { age_ms, steal, ..report(figures) };
        if let (Ok(sample), _) = take(report) {
            prop_assert!(sample.age <= MAX_AGE);
            for figure in sample.figures {
                prop_assert!(figure.value.is_finite() && figure.value >= 0.0);
            }
        }
    }
}
