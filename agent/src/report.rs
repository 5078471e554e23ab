//! Takes what one tick sends ([`Reading`]), gives the message of the wire. Pure and total:
//! the only place beside `stream` that knows the protocol's types.

use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_kernel::Kernel;
use plimsoll_proto::telemetry::v1::{self, kernel::Shape};

use crate::usage::{Machine, NodeUsage, PodTable, PodUsage, Resource, UsageFigure};

/// Version of the schema that this agent speaks.
pub const SCHEMA: u32 = 1;

/// Oldest point that a scheduler takes.
const OLDEST_MOMENT: Duration = Duration::from_mins(10);

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

/// What a pod is called on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PodName {
    /// Stands for the pod; 0: it has none and goes by its uid.
    pub index: u32,
    /// The scheduler knows what the index stands for.
    pub is_said: bool,
}

/// The judged figures of the node at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// When, on the agent's monotonic clock.
    pub at: Duration,
    /// Millicores, smoothed.
    pub cpu: Option<f64>,
    /// Bytes, the last value.
    pub memory: Option<f64>,
    /// Bytes per second received, smoothed.
    pub rx: Option<f64>,
    /// Bytes per second sent, smoothed.
    pub tx: Option<f64>,
}

impl Moment {
    /// Takes the judged figures out; `None` if there is not one.
    pub fn of(usage: &NodeUsage) -> Option<Self> {
        let figure = |resource, is_judged: fn(&Kernel) -> bool| {
            let mut figures = usage.figures.iter();
            let found = figures.find(|it| it.resource == resource && is_judged(&it.kernel));
            found.map(|figure| figure.value)
        };
        let smooth = |kernel: &Kernel| matches!(kernel, Kernel::Ewma { .. });
        let moment = Self {
            at: usage.taken_at,
            cpu: figure(Resource::Cpu, smooth),
            memory: figure(Resource::Memory, |kernel| matches!(kernel, Kernel::Instant)),
            rx: figure(Resource::Rx, smooth),
            tx: figure(Resource::Tx, smooth),
        };
        let all = [moment.cpu, moment.memory, moment.rx, moment.tx];
        all.iter().any(Option::is_some).then_some(moment)
    }
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

/// Makes the message of a reading that leaves now, with these of its pods.
pub fn report(reading: &Reading, sending: Sending, pods: Vec<v1::PodReport>) -> v1::Report {
    let usage = &reading.usage;
    v1::Report {
        sequence: reading.sequence,
        age_ms: to_ms(sending.at.saturating_sub(usage.taken_at)),
        figures: usage.figures.iter().map(figure).collect(),
        pods,
        steal: usage.steal,
        untrusted: usage
            .untrusted
            .map_or_else(String::new, |why| why.to_string()),
        link_bytes_per_second: sending.link_bytes_per_second,
        sent_ms: Some(u64::try_from(sending.at.as_millis()).unwrap_or(u64::MAX)),
    }
}

/// Makes the part of a report that is about one pod, read `behind` before the node's sample.
pub fn pod_report(pod: &PodUsage, name: PodName, behind: Duration) -> v1::PodReport {
    let uid = if name.is_said { "" } else { &*pod.uid };
    v1::PodReport {
        uid: uid.to_owned(),
        age_ms: to_ms(pod.age),
        figures: pod.figures.iter().map(figure).collect(),
        ended: pod.ended,
        index: name.index,
        behind_ms: to_ms(behind),
    }
}

/// Makes the message of what the node carried lately, which leaves at `now`.
pub fn history(moments: &VecDeque<Moment>, now: Duration) -> v1::History {
    let point = |moment: &Moment| v1::HistoryPoint {
        age_ms: to_ms(now.saturating_sub(moment.at)),
        cpu: moment.cpu.map(|value| value as f32),
        memory: moment.memory,
        rx: moment.rx,
        tx: moment.tx,
    };
    let is_recent = |moment: &&Moment| now.saturating_sub(moment.at) <= OLDEST_MOMENT;
    v1::History {
        points: moments.iter().filter(is_recent).map(point).collect(),
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
mod tests;
