//! From the wire to the load model: a `Hello` becomes a [`Speaker`], a report of that
//! speaker a [`Sample`], in which every value is finite, not negative and possible. What is
//! wrong comes back as a reason; a wrong figure is left out and the rest counts.

mod dictionary;
mod figure;
mod past;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_load::{Figure, Machine, PodSample, Sample};
use plimsoll_proto::telemetry::v1::{self, Hello, History, Report};

use crate::metrics::{Reason, What};
use crate::slots::Point;
use dictionary::Dictionary;
use figure::Limits;

/// Version of the schema that this scheduler speaks.
pub(crate) const SCHEMA: u32 = 1;
/// Oldest sample of any use, and so the largest age that is believed.
const MAX_AGE: Duration = Duration::from_mins(10);
/// Longest name of a Kubernetes object.
const MAX_NAME_BYTES: usize = 253;
/// Nominal period of an agent that does not say one.
const DEFAULT_PERIOD: Duration = Duration::from_secs(1);
/// Longest period that is believed; samples rarer than this are stale on arrival.
const MAX_PERIOD: Duration = Duration::from_mins(5);
/// Figures in one report: seven resources under a few kernels each.
const MAX_FIGURES: usize = 64;
/// Figures of one pod: CPU, memory and two directions under a kernel or two; rows hold those of
/// [`MAX_PODS`].
const MAX_POD_FIGURES: usize = 16;
/// Pods in one report, and in a row: twice what the largest nodes run.
pub(crate) const MAX_PODS: usize = 1024;
/// Longest reason of an untrusted report that is kept.
const MAX_REASON_CHARS: usize = 200;

/// Why a `Hello` is not answered with a welcome.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HelloError {
    /// Another version of the schema.
    #[error("schema {0} is not understood, this scheduler speaks {SCHEMA}")]
    Schema(u32),
    /// No node can have this name.
    #[error("the name is not that of a node")]
    Name,
}

/// Why a whole report is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReportError {
    /// More figures or pods than any node has, or a share that is none.
    #[error("the report is malformed")]
    Malformed,
    /// Older than ten minutes, older than its agent, or older than our clock.
    #[error("the sample's age is impossible")]
    Age,
}

impl ReportError {
    /// What the counter calls it.
    pub(crate) fn reason(self) -> Reason {
        match self {
            Self::Malformed => Reason::Malformed,
            Self::Age => Reason::Age,
        }
    }
}

/// Who speaks on a stream, and what is known of its machine and its pods' names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    pub(crate) node: Arc<str>,
    pub(crate) start_id: u64,
    period: Duration,
    machine: Machine,
    names: Dictionary,
}

/// When a report arrived and how long it was on the way beyond the usual.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) at: Duration,
    pub(crate) delay: Duration,
}

/// What was left out of a report.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Omissions {
    pub(crate) list: Vec<(What, Reason)>,
}

impl Omissions {
    fn add(&mut self, what: What, reason: Reason) {
        self.list.push((what, reason));
    }

    /// Says whether something was left out that no honest agent of any version sends. A
    /// kernel or resource of a newer version is none of that, nor a pod that we forgot.
    pub(crate) fn are_implausible(&self) -> bool {
        self.list.iter().any(|(_, reason)| is_implausible(*reason))
    }
}

impl Speaker {
    /// Reads a `Hello`.
    ///
    /// # Errors
    /// See [`HelloError`].
    pub(crate) fn from_hello(hello: &Hello) -> Result<Self, HelloError> {
        if hello.schema != SCHEMA {
            return Err(HelloError::Schema(hello.schema));
        }
        if !is_node_name(&hello.node_name) {
            return Err(HelloError::Name);
        }
        let period = match Duration::from_millis(hello.period_ms.into()) {
            Duration::ZERO => DEFAULT_PERIOD,
            period => period.min(MAX_PERIOD),
        };
        Ok(Self {
            node: Arc::from(hello.node_name.as_str()),
            start_id: hello.start_id,
            period,
            machine: Machine {
                // A machine without CPUs or memory is one that could not be read.
                cpus: hello.cpus.filter(|cpus| *cpus > 0),
                memory: hello.memory_bytes.filter(|bytes| *bytes > 0),
                link: hello.link_bytes_per_second.filter(|speed| *speed > 0),
            },
            names: Dictionary::default(),
        })
    }

    /// Reads a history of this speaker that arrived at `now`, noting in `omissions` what was
    /// left out.
    ///
    /// # Errors
    /// See [`ReportError`].
    pub(crate) fn history(
        &self,
        history: &History,
        now: Duration,
        omissions: &mut Omissions,
    ) -> Result<Vec<Point>, ReportError> {
        past::take(history, now, &Limits::of(&self.machine), omissions)
    }

    /// Reads a report of this speaker, noting in `omissions` what was left out.
    ///
    /// # Errors
    /// See [`ReportError`].
    pub(crate) fn sample(
        &mut self,
        mut report: Report,
        arrival: Arrival,
        omissions: &mut Omissions,
    ) -> Result<Sample, ReportError> {
        if report.figures.len() > MAX_FIGURES || report.pods.len() > MAX_PODS {
            return Err(ReportError::Malformed);
        }
        // The links' speed and the pods' names first: they are said once, and stand for later
        // reports even where the rest of this one is wrong.
        if let Some(link) = report.link_bytes_per_second.filter(|speed| *speed > 0) {
            self.machine.link = Some(link);
        }
        let pods = self.pods(std::mem::take(&mut report.pods), arrival.at, omissions);
        let age = possible_age(&report, arrival)?;
        let limits = Limits::of(&self.machine);
        let untrusted = shortened(&report.untrusted);
        let figures = if untrusted.is_none() {
            report.figures
        } else {
            Vec::new()
        };
        Ok(Sample {
            node: Arc::clone(&self.node),
            start_id: self.start_id,
            sequence: report.sequence,
            arrived: arrival.at,
            age,
            period: self.period,
            machine: self.machine,
            steal: share(report.steal)?,
            untrusted,
            figures: take_figures(&figures, &limits, omissions),
            pods,
        })
    }

    fn pods(
        &mut self,
        pods: Vec<v1::PodReport>,
        now: Duration,
        omissions: &mut Omissions,
    ) -> Vec<PodSample> {
        let limits = Limits::of(&self.machine);
        let mut taken = Vec::with_capacity(pods.len());
        for pod in pods {
            // The name first: it stands for later reports even where this one is wrong.
            let uid = match self.names.name(pod.index, pod.uid, now) {
                Ok(uid) => uid,
                Err(reason) => {
                    omissions.add(What::Pod, reason);
                    continue;
                }
            };
            let behind = Duration::from_millis(pod.behind_ms.into());
            if pod.figures.len() > MAX_POD_FIGURES || behind > MAX_AGE {
                omissions.add(What::Pod, Reason::Malformed);
                continue;
            }
            taken.push(PodSample {
                uid,
                age: Duration::from_millis(pod.age_ms.into()),
                behind,
                figures: take_figures(&pod.figures, &limits, omissions),
                ended: pod.ended,
            });
        }
        taken
    }
}

fn is_implausible(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::Kernel | Reason::Resource | Reason::UnknownIndex
    )
}

/// The age at sending plus the time on the way.
fn possible_age(report: &Report, arrival: Arrival) -> Result<Duration, ReportError> {
    let at_sending = Duration::from_millis(report.age_ms.into());
    let older_than_agent = report
        .sent_ms
        .is_some_and(|sent| u64::from(report.age_ms) > sent);
    let age = at_sending.saturating_add(arrival.delay);
    if older_than_agent || age > MAX_AGE || age > arrival.at {
        return Err(ReportError::Age);
    }
    Ok(age)
}

fn share(share: Option<f32>) -> Result<Option<f32>, ReportError> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(ReportError::Malformed),
        share => Ok(share),
    }
}

fn take_figures(figures: &[v1::Figure], limits: &Limits, omissions: &mut Omissions) -> Vec<Figure> {
    let mut taken = Vec::with_capacity(figures.len());
    for figure in figures {
        match figure::take(figure, limits) {
            Ok(figure) => taken.push(figure),
            Err(reason) => omissions.add(What::Figure, reason),
        }
    }
    taken
}

/// A DNS-1123 subdomain, loosely: what matters is that nothing else gets into rows and logs.
fn is_node_name(name: &str) -> bool {
    let is_part = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.'
    };
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_part)
}

fn shortened(reason: &str) -> Option<Arc<str>> {
    if reason.is_empty() {
        return None;
    }
    let printable = reason.chars().filter(|letter| !letter.is_control());
    Some(Arc::from(
        printable.take(MAX_REASON_CHARS).collect::<String>(),
    ))
}

#[cfg(test)]
mod tests;
