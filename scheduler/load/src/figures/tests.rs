//! The order in which figures are preferred.

use std::time::Duration;

use plimsoll_framework::LoadResource;
use plimsoll_kernel::Kernel;

use super::{amount, judged, peak, pressure, rate};
use crate::moment::Moment;
use crate::options::LARGEST;
use crate::sample::{Figure, Meter};

const SECOND: Duration = Duration::from_secs(1);
const EWMA: Kernel = Kernel::Ewma {
    tau: Duration::from_secs(10),
};
const SLOW: Kernel = Kernel::Ewma {
    tau: Duration::from_mins(1),
};
const BOX: Kernel = Kernel::Box {
    width: Duration::from_mins(1),
};
const P95: Kernel = Kernel::Quantile {
    q: 0.95,
    width: Duration::from_mins(1),
};
const MAX: Kernel = Kernel::Max {
    width: Duration::from_mins(1),
};

fn figure(meter: Meter, kernel: Kernel, value: f64) -> Figure {
    Figure {
        meter,
        kernel,
        value,
        window: 100 * SECOND,
        samples: 100,
    }
}

fn value(figures: &[Figure], resource: LoadResource) -> Option<f64> {
    judged(figures, resource, Moment::at(SECOND)).map(|judged| judged.value)
}

#[test]
fn cpu_is_judged_by_the_mean_nearest_to_ten_seconds() {
    let figures = [P95, SLOW, Kernel::Instant, EWMA, BOX, MAX]
        .iter()
        .zip([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .map(|(kernel, value)| figure(Meter::Cpu, *kernel, value))
        .collect::<Vec<_>>();
    assert_eq!(value(&figures, LoadResource::Cpu), Some(4.0));
    let judged = judged(&figures, LoadResource::Cpu, Moment::at(SECOND)).unwrap();
    assert_eq!((judged.kernel, judged.window), (EWMA, 100 * SECOND));
}

#[test]
fn without_it_a_plain_mean_comes_before_the_last_value() {
    let figures = [
        figure(Meter::Rx, Kernel::Instant, 1.0),
        figure(Meter::Rx, BOX, 2.0),
    ];
    assert_eq!(value(&figures, LoadResource::Rx), Some(2.0));
    assert_eq!(value(&figures[..1], LoadResource::Rx), Some(1.0));
}

#[test]
fn memory_is_judged_by_the_last_value() {
    let figures = [
        figure(Meter::Memory, SLOW, 1.0),
        figure(Meter::Memory, EWMA, 2.0),
        figure(Meter::Memory, Kernel::Instant, 3.0),
    ];
    assert_eq!(value(&figures, LoadResource::Memory), Some(3.0));
    assert_eq!(value(&figures[..2], LoadResource::Memory), Some(2.0));
}

#[test]
fn a_quantile_or_a_maximum_is_no_mean() {
    let figures = [figure(Meter::Cpu, P95, 1.0), figure(Meter::Cpu, MAX, 1.0)];
    assert_eq!(value(&figures, LoadResource::Cpu), None);
}

#[test]
fn a_figure_of_another_meter_is_not_taken() {
    assert_eq!(
        value(&[figure(Meter::Tx, EWMA, 1.0)], LoadResource::Rx),
        None
    );
}

#[test]
fn a_value_that_is_no_amount_is_missing_not_zero() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        assert_eq!(amount(bad), None, "{bad}");
        let figures = [
            figure(Meter::Cpu, EWMA, bad),
            figure(Meter::Cpu, Kernel::Instant, 7.0),
        ];
        assert_eq!(value(&figures, LoadResource::Cpu), Some(7.0));
    }
    assert_eq!(amount(f64::MAX), Some(LARGEST));
}

#[test]
fn a_pods_rate_comes_by_the_kernel_of_its_node() {
    let figures = [figure(Meter::Cpu, EWMA, 1.0), figure(Meter::Cpu, BOX, 2.0)];
    assert_eq!(rate(&figures, LoadResource::Cpu, Some(BOX)), Some(2.0));
    assert_eq!(rate(&figures, LoadResource::Cpu, Some(SLOW)), Some(1.0));
    assert_eq!(rate(&figures, LoadResource::Cpu, None), Some(1.0));
}

#[test]
fn pressure_is_a_share() {
    let figures = [
        figure(Meter::PressureCpu, Kernel::Instant, 0.25),
        figure(Meter::PressureIo, Kernel::Instant, 7.0),
    ];
    let pressure = pressure(&figures);
    assert_eq!(pressure.cpu, Some(0.25));
    assert_eq!(pressure.memory, None);
    assert_eq!(pressure.io, Some(1.0));
}

#[test]
fn the_peak_is_the_95th_percentile_of_five_minutes_with_samples_enough() {
    let quantile = |q, minutes, samples| Figure {
        kernel: Kernel::Quantile {
            q,
            width: Duration::from_mins(minutes),
        },
        samples,
        ..figure(Meter::Memory, P95, 7.0)
    };
    let peak = |figure: Figure| peak(&[figure], LoadResource::Memory);
    assert_eq!(peak(quantile(0.95, 5, 30)), Some(7.0));
    assert_eq!(peak(quantile(0.95, 5, 29)), None);
    assert_eq!(peak(quantile(0.95, 1, 60)), None);
    assert_eq!(peak(quantile(0.99, 5, 300)), None);
    assert_eq!(peak(quantile(f32::NAN, 5, 300)), None);
    let nonsense = Figure {
        value: f64::NAN,
        ..quantile(0.95, 5, 300)
    };
    assert_eq!(peak(nonsense), None);
}
