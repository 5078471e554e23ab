//! Which of a sample's figures is judged by.
//!
//! Takes the figures of a node or a pod, gives one mean per resource. CPU, bandwidth and
//! pressure: the exponential mean whose time constant is nearest to the judged one, else
//! the narrowest plain mean, else the last value. Memory: the last value (it does not
//! fluctuate, and being late is what kills), else the fastest mean. A quantile or a
//! maximum is no mean and is passed over; the 95th percentile of five minutes is given
//! beside it.

use std::time::Duration;

use plimsoll_framework::{LoadResource, Pressure};
use plimsoll_kernel::Kernel;

use crate::moment::Moment;
use crate::options::{
    JUDGED_TAU, LARGEST, PEAK_QUANTILE, PEAK_QUANTILE_SLACK, PEAK_SAMPLES, PEAK_WIDTH,
};
use crate::sample::{Figure, Meter};

/// One value per resource, in the order of [`LoadResource::ALL`].
pub(crate) type PerResource<T> = [T; LoadResource::ALL.len()];

/// A node's figure that is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judged {
    /// In the resource's unit.
    pub(crate) value: f64,
    /// How samples became the value.
    pub(crate) kernel: Kernel,
    /// Age of the figure's window at the sample.
    pub(crate) window: Duration,
    /// When the sample was taken.
    pub(crate) taken: Moment,
}

/// The figure of a node to judge `resource` by.
pub(crate) fn judged(figures: &[Figure], resource: LoadResource, taken: Moment) -> Option<Judged> {
    let (figure, value) = best(figures, meter(resource), None)?;
    Some(Judged {
        value,
        kernel: figure.kernel,
        window: figure.window,
        taken,
    })
}

/// What a node carries of `resource` at its peaks; `None` where too few samples tell.
pub(crate) fn peak(figures: &[Figure], resource: LoadResource) -> Option<f64> {
    let meter = meter(resource);
    let is_peak = |figure: &&Figure| {
        figure.meter == meter
            && figure.samples >= PEAK_SAMPLES
            && matches!(figure.kernel, Kernel::Quantile { q, width } if width == PEAK_WIDTH
                && (f64::from(q) - PEAK_QUANTILE).abs() <= PEAK_QUANTILE_SLACK)
    };
    figures
        .iter()
        .find(is_peak)
        .and_then(|one| amount(one.value))
}

/// A pod's own rate: by the node's `kernel` where it is there, else as for a node.
pub(crate) fn rate(
    figures: &[Figure],
    resource: LoadResource,
    kernel: Option<Kernel>,
) -> Option<f64> {
    best(figures, meter(resource), kernel).map(|(_, value)| value)
}

/// The node's pressure.
pub(crate) fn pressure(figures: &[Figure]) -> Pressure {
    let share = |meter| best(figures, meter, None).map(|(_, value)| value.min(1.0) as f32);
    Pressure {
        cpu: share(Meter::PressureCpu),
        memory: share(Meter::PressureMemory),
        io: share(Meter::PressureIo),
    }
}

/// `value` if it is an amount: finite and not negative; capped at [`LARGEST`].
pub(crate) fn amount(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then(|| value.min(LARGEST))
}

fn best(figures: &[Figure], meter: Meter, wanted: Option<Kernel>) -> Option<(&Figure, f64)> {
    let candidates = figures.iter().filter(|figure| figure.meter == meter);
    let ranked = candidates.filter_map(|figure| {
        let rank = rank(figure.kernel, meter, wanted)?;
        Some((rank, figure, amount(figure.value)?))
    });
    let (_, figure, value) = ranked.min_by_key(|(rank, ..)| *rank)?;
    Some((figure, value))
}

/// The smaller, the better; `None` for what is no mean.
fn rank(kernel: Kernel, meter: Meter, wanted: Option<Kernel>) -> Option<(u8, Duration)> {
    let by_last = meter == Meter::Memory;
    let (class, detail) = match kernel {
        Kernel::Instant if by_last => (1, Duration::ZERO),
        Kernel::Instant => (4, Duration::ZERO),
        Kernel::Ewma { tau } if by_last => (2, tau),
        Kernel::Ewma { tau } => (2, tau.abs_diff(JUDGED_TAU)),
        Kernel::Box { width } => (3, width),
        Kernel::Quantile { .. } | Kernel::Max { .. } => return None,
    };
    Some(if wanted == Some(kernel) {
        (0, detail)
    } else {
        (class, detail)
    })
}

fn meter(resource: LoadResource) -> Meter {
    match resource {
        LoadResource::Cpu => Meter::Cpu,
        LoadResource::Memory => Meter::Memory,
        LoadResource::Rx => Meter::Rx,
        LoadResource::Tx => Meter::Tx,
    }
}

#[cfg(test)]
mod tests;
