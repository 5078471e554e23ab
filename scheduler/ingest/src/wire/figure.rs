//! One figure of the wire: takes it with the machine's limits, gives the load model's
//! figure, or the reason why it is none.

use std::time::Duration;

use plimsoll_kernel::Kernel;
use plimsoll_load::{Figure, Machine, Meter};
use plimsoll_proto::telemetry::v1;
use plimsoll_proto::telemetry::v1::kernel::Shape;

use crate::metrics::Reason;

/// A figure above this many times the capacity is a fault of measuring, not a load. Bursts
/// over a wrong link speed or after CPU hot-plug stay below.
const PLAUSIBLE_TIMES: f64 = 4.0;
/// Stand-in where the agent could not read the number of CPUs: no machine has more.
const MOST_MILLICORES: f64 = 65_536.0 * 1000.0;
/// Stand-in where the agent could not read the memory: 1 PiB.
const MOST_MEMORY_BYTES: f64 = (1_u64 << 50) as f64;
/// Stand-in where no link has a known speed: 8 Tbit/s.
const MOST_BYTES_PER_SECOND: f64 = 1e12;
/// Shares of time go up to 1; the two reads that a share is made of are not quite
/// simultaneous.
const LARGEST_SHARE: f64 = 1.0;
const SHARE_SLACK: f64 = 0.05;

/// What a machine's figures cannot exceed, in the meters' units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    millicores: f64,
    memory_bytes: f64,
    bytes_per_second: f64,
}

impl Limits {
    pub(super) fn of(machine: &Machine) -> Self {
        let times = |capacity: f64| capacity * PLAUSIBLE_TIMES;
        let millicores = machine.cpus.map(|cpus| times(f64::from(cpus) * 1000.0));
        let memory = machine.memory.map(|bytes| times(bytes as f64));
        let link = machine.link.map(|speed| times(speed as f64));
        Self {
            millicores: millicores.unwrap_or(MOST_MILLICORES).min(MOST_MILLICORES),
            memory_bytes: memory.unwrap_or(MOST_MEMORY_BYTES).min(MOST_MEMORY_BYTES),
            bytes_per_second: link
                .unwrap_or(MOST_BYTES_PER_SECOND)
                .min(MOST_BYTES_PER_SECOND),
        }
    }

    /// Says whether a value can be.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check(&self, meter: Meter, value: f64) -> Result<(), Reason> {
        if !value.is_finite() {
            return Err(Reason::NotFinite);
        }
        // Minus zero is zero.
        if value < 0.0 {
            return Err(Reason::Negative);
        }
        if value > self.of_meter(meter) {
            return Err(Reason::AboveCapacity);
        }
        Ok(())
    }

    /// The largest value of a meter that is taken.
    fn of_meter(&self, meter: Meter) -> f64 {
        match meter {
            Meter::Cpu => self.millicores,
            Meter::Memory => self.memory_bytes,
            Meter::Rx | Meter::Tx => self.bytes_per_second,
            Meter::PressureCpu | Meter::PressureMemory | Meter::PressureIo => {
                LARGEST_SHARE + SHARE_SLACK
            }
        }
    }
}

/// Reads a figure.
///
/// # Errors
/// Why it is left out.
pub(super) fn take(figure: &v1::Figure, limits: &Limits) -> Result<Figure, Reason> {
    let meter = meter(figure.resource())?;
    let kernel = kernel(figure.kernel.as_ref())?;
    limits.check(meter, figure.value)?;
    let value = if is_share(meter) {
        figure.value.min(LARGEST_SHARE)
    } else {
        figure.value
    };
    Ok(Figure {
        meter,
        kernel,
        value: value.abs(),
        window: Duration::from_millis(figure.window_age_ms.into()),
        samples: figure.samples,
    })
}

fn is_share(meter: Meter) -> bool {
    matches!(
        meter,
        Meter::PressureCpu | Meter::PressureMemory | Meter::PressureIo
    )
}

fn meter(resource: v1::Resource) -> Result<Meter, Reason> {
    match resource {
        v1::Resource::Unspecified => Err(Reason::Resource),
        v1::Resource::Cpu => Ok(Meter::Cpu),
        v1::Resource::Memory => Ok(Meter::Memory),
        v1::Resource::Rx => Ok(Meter::Rx),
        v1::Resource::Tx => Ok(Meter::Tx),
        v1::Resource::PsiCpu => Ok(Meter::PressureCpu),
        v1::Resource::PsiMemory => Ok(Meter::PressureMemory),
        v1::Resource::PsiIo => Ok(Meter::PressureIo),
    }
}

/// A kernel that has no width or an impossible quantile cannot be known.
fn kernel(kernel: Option<&v1::Kernel>) -> Result<Kernel, Reason> {
    let width = |ms: u32| match ms {
        0 => Err(Reason::Kernel),
        ms => Ok(Duration::from_millis(ms.into())),
    };
    match kernel
        .and_then(|kernel| kernel.shape)
        .ok_or(Reason::Kernel)?
    {
        Shape::Instant(_) => Ok(Kernel::Instant),
        Shape::EwmaTauMs(ms) => Ok(Kernel::Ewma { tau: width(ms)? }),
        Shape::BoxWidthMs(ms) => Ok(Kernel::Box { width: width(ms)? }),
        Shape::MaxWidthMs(ms) => Ok(Kernel::Max { width: width(ms)? }),
        Shape::Quantile(v1::Quantile { q, width_ms }) if (0.0..=1.0).contains(&q) => {
            Ok(Kernel::Quantile {
                q,
                width: width(width_ms)?,
            })
        }
        Shape::Quantile(_) => Err(Reason::Kernel),
    }
}
