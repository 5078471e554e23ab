//! Takes what one tick sends ([`Reading`]), gives the message of the wire. Pure and total:
//! the only place beside `stream` that knows the protocol's types.

use std::time::Duration;

use plimsoll_kernel::Kernel;
use plimsoll_proto::telemetry::v1::{self, kernel::Shape};

use crate::usage::{Machine, NodeUsage, PodTable, Resource, UsageFigure};

/// Version of the schema that this agent speaks.
pub const SCHEMA: u32 = 1;

/// Who speaks: constant from the agent's start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name of the node as the Node object has it.
    pub node_name: String,
    /// Random number of this start: sequences compare within one start.
    pub start_id: u64,
    /// Nominal time between two samples.
    pub period: Duration,
}

/// What one tick says, numbered.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Grows by one per tick since the agent's start; the first is 1.
    pub sequence: u64,
    /// The figures.
    pub usage: NodeUsage,
    /// All pods of the node, as last read.
    pub pods: PodTable,
}

/// What is known of a report only when it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// The agent's monotonic clock at sending.
    pub at: Duration,
    /// The links' speed if the scheduler has not heard of this value yet.
    pub link_bytes_per_second: Option<u64>,
}

/// Makes the first message of a stream.
pub fn hello(identity: &Identity, machine: Machine) -> v1::Hello {
    v1::Hello {
        schema: SCHEMA,
        node_name: identity.node_name.clone(),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        start_id: identity.start_id,
        period_ms: to_ms(identity.period),
        cpus: machine.cpus,
        memory_bytes: machine.memory_bytes,
        link_bytes_per_second: machine.link_bytes_per_second,
    }
}

/// Makes the message of a reading that leaves now.
pub fn report(reading: &Reading, sending: Sending) -> v1::Report {
    let usage = &reading.usage;
    v1::Report {
        sequence: reading.sequence,
        age_ms: to_ms(sending.at.saturating_sub(usage.taken_at)),
        figures: usage.figures.iter().map(figure).collect(),
        pods: Vec::new(),
        steal: usage.steal,
        untrusted: usage
            .untrusted
            .map_or_else(String::new, |why| why.to_string()),
        link_bytes_per_second: sending.link_bytes_per_second,
        sent_ms: Some(u64::try_from(sending.at.as_millis()).unwrap_or(u64::MAX)),
    }
}

fn figure(figure: &UsageFigure) -> v1::Figure {
    v1::Figure {
        resource: resource(figure.resource).into(),
        kernel: Some(kernel(figure.kernel)),
        value: figure.value,
        window_age_ms: to_ms(figure.window_age),
        samples: figure.samples,
    }
}

fn resource(resource: Resource) -> v1::Resource {
    match resource {
        Resource::Cpu => v1::Resource::Cpu,
        Resource::Memory => v1::Resource::Memory,
        Resource::Rx => v1::Resource::Rx,
        Resource::Tx => v1::Resource::Tx,
        Resource::PsiCpu => v1::Resource::PsiCpu,
        Resource::PsiMemory => v1::Resource::PsiMemory,
        Resource::PsiIo => v1::Resource::PsiIo,
    }
}

fn kernel(kernel: Kernel) -> v1::Kernel {
    let shape = match kernel {
        Kernel::Instant => Shape::Instant(v1::Instant {}),
        Kernel::Ewma { tau } => Shape::EwmaTauMs(to_ms(tau)),
        Kernel::Box { width } => Shape::BoxWidthMs(to_ms(width)),
        Kernel::Quantile { q, width } => {
            let width_ms = to_ms(width);
            Shape::Quantile(v1::Quantile { q, width_ms })
        }
        Kernel::Max { width } => Shape::MaxWidthMs(to_ms(width)),
    };
    v1::Kernel { shape: Some(shape) }
}

/// Milliseconds, held at the largest value that the wire can carry (49 days).
fn to_ms(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
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
        let report = report(&reading(Vec::new()), sending(60_250));
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
            let sent = report(&reading(vec![figure]), sending(60_000));
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
    fn figures_that_are_not_trusted_travel_as_their_reason() {
        let mut reading = reading(Vec::new());
        reading.usage.untrusted = Some(Untrusted::CpuLines {
            stat: 2,
            online: 64,
        });
        let report = report(&reading, sending(60_000));
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
}
