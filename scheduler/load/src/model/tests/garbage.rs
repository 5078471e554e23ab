//! Whatever is fed to the model, no row holds a figure that is not an amount.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadResource, NodeId, NodeLoad, Now};
use plimsoll_kernel::Kernel;
use plimsoll_objects::Uid;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::model::LoadModel;
use crate::options::{LoadOptions, PEAK_WIDTH};
use crate::sample::{Figure, Machine, Meter, PodSample, Sample};
use crate::world::{node, pod, running};

#[derive(Debug, Clone)]
enum Event {
    Node(u32, i64, i64),
    Gone(u32),
    Pod(u32, u8, i64, i64, bool),
    Left(u32, u8),
    Sample(Box<Sample>),
    Pass(Duration),
    Switch(bool),
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        0.0_f64..1e4,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX),
        Just(-0.0),
    ]
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0_u64..200_000).prop_map(Duration::from_millis),
        Just(Duration::ZERO),
        Just(Duration::MAX),
    ]
}

fn kernel() -> impl Strategy<Value = Kernel> {
    prop_oneof![
        Just(Kernel::Instant),
        span().prop_map(|tau| Kernel::Ewma { tau }),
        span().prop_map(|width| Kernel::Box { width }),
        (any::<f32>(), span()).prop_map(|(q, width)| Kernel::Quantile { q, width }),
        Just(Kernel::Quantile {
            q: 0.95,
            width: PEAK_WIDTH
        }),
        span().prop_map(|width| Kernel::Max { width }),
    ]
}

fn figures() -> impl Strategy<Value = Vec<Figure>> {
    let meters = prop_oneof![
        Just(Meter::Cpu),
        Just(Meter::Memory),
        Just(Meter::Rx),
        Just(Meter::PressureIo),
    ];
    let figure = (meters, kernel(), number(), span(), 1_u32..100).prop_map(
        |(meter, kernel, value, window, samples)| Figure {
            meter,
            kernel,
            value,
            window,
            samples,
        },
    );
    prop::collection::vec(figure, 0..5)
}

fn pods() -> impl Strategy<Value = Vec<PodSample>> {
    let times = (span(), span());
    let pod = (0_u8..4, times, figures(), any::<bool>()).prop_map(
        |(name, (age, behind), figures, ended)| PodSample {
            uid: Arc::from(name.to_string()),
            age,
            behind,
            figures,
            ended,
        },
    );
    prop::collection::vec(pod, 0..3)
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let times = (span(), span(), span());
    let machine = (any::<Option<u32>>(), any::<Option<u64>>());
    let identity = (0_u32..2, any::<u64>(), any::<Option<f32>>());
    (identity, times, machine, figures(), pods()).prop_map(
        |((name, sequence, steal), (arrived, age, period), (cpus, memory), figures, pods)| Sample {
            node: Arc::from(name.to_string()),
            start_id: sequence % 2,
            sequence,
            arrived,
            age,
            period,
            machine: Machine {
                cpus,
                memory,
                link: memory,
            },
            steal,
            untrusted: None,
            figures,
            pods,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let id = || 0_u32..2;
    prop_oneof![
        (id(), any::<i64>(), any::<i64>()).prop_map(|(id, cpu, ram)| Event::Node(id, cpu, ram)),
        id().prop_map(Event::Gone),
        (id(), 0_u8..4, any::<i64>(), any::<i64>(), any::<bool>())
            .prop_map(|(id, name, cpu, limit, runs)| Event::Pod(id, name, cpu, limit, runs)),
        (id(), 0_u8..4).prop_map(|(id, name)| Event::Left(id, name)),
        any_sample().prop_map(|sample| Event::Sample(Box::new(sample))),
        any_sample().prop_map(|sample| Event::Sample(Box::new(sample))),
        span().prop_map(Event::Pass),
        any::<bool>().prop_map(Event::Switch),
    ]
}

fn apply(model: &mut LoadModel, now: Now, event: Event) {
    match event {
        Event::Node(id, cpu, memory) => {
            model.node_set(NodeId(id), &node(&id.to_string(), cpu, memory));
        }
        Event::Gone(id) => model.node_gone(NodeId(id)),
        Event::Pod(id, name, cpu, limit, runs) => {
            let mut pod = pod(&name.to_string(), cpu);
            pod.spec.requests.placed_scoring.memory = cpu;
            pod.spec.requests.limits.cpu = Some(limit);
            pod.spec.bandwidth.ingress = Some(limit as u64);
            let pod = if runs { running(pod) } else { pod };
            model.pod_set(NodeId(id), &pod, now);
        }
        Event::Left(id, name) => {
            model.pod_removed(NodeId(id), &Uid(Arc::from(name.to_string())), now);
        }
        Event::Sample(sample) => {
            model.apply(&sample);
        }
        Event::Switch(on) => model.set_enabled(on),
        Event::Pass(_) => {}
    }
}

/// Every figure of the row that is not finite, or is negative.
fn faults(row: &NodeLoad) -> Vec<f64> {
    let mut values = vec![row.confidence];
    for resource in LoadResource::ALL {
        let load = row.get(resource);
        values.extend([load.in_flight, load.departing]);
        values.extend(
            [
                load.measured,
                load.expected,
                load.used,
                load.used_p95,
                load.capacity,
            ]
            .iter()
            .flatten(),
        );
    }
    let pressure = [row.pressure.cpu, row.pressure.memory, row.pressure.io];
    values.extend(pressure.iter().flatten().map(|share| f64::from(*share)));
    values.retain(|value| !value.is_finite() || *value < 0.0);
    values
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(0x5012),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_figure_of_every_row_is_an_amount(events in prop::collection::vec(event(), 1..40)) {
        let mut model = LoadModel::new(LoadOptions::default());
        let mut clock = Duration::ZERO;
        for event in events {
            if let Event::Pass(span) = event {
                clock = clock.saturating_add(span);
            }
            apply(&mut model, Now::at(clock), event);
            model.refresh(clock, &mut |_, _| {});
            let mut fallen = Vec::new();
            model.take_falls(&mut fallen);
            prop_assert!(fallen.is_sorted_by(|one, next| one < next), "{fallen:?}");
            for id in [NodeId(0), NodeId(1)] {
                let row = model.row(id);
                prop_assert!(faults(row).is_empty(), "{row:?}");
                for resource in LoadResource::ALL {
                    let load = row.get(resource);
                    prop_assert!(load.used_p95.is_none_or(|peak| Some(peak) >= load.used));
                }
            }
        }
    }
}
