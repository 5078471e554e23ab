//! Figures behind a verdict, for the decision record.
//!
//! A busy cluster turns down thousands of nodes for one pod, of which a record shows a few:
//! figures are kept as numbers, and become text only where somebody reads them.

use std::fmt;
use std::time::Duration;

use crate::load::LoadResource;

/// Figures behind a verdict; shown as text.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// As the plugin wrote them.
    Text(Box<str>),
    /// The load of a node.
    Load(LoadFigures),
    /// The age of what its load is known by.
    Sample(SampleAge),
}

/// The load of a node by one resource, in shares of its capacity. Shown with two digits,
/// such as `cpu 0.97 with the pod: measured 0.80, in flight 0.12, sample 1 s old`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadFigures {
    /// Which resource.
    pub resource: LoadResource,
    /// Once the pod runs there.
    pub with_pod: f32,
    /// The newest figure of the agent.
    pub measured: Option<f32>,
    /// See [`ResourceLoad::in_flight`](crate::ResourceLoad::in_flight); shown if above 0.
    pub in_flight: f32,
    /// See [`ResourceLoad::departing`](crate::ResourceLoad::departing); shown if above 0.
    pub departing: f32,
    /// The age of the node's sample.
    pub sample: SampleAge,
}

/// The age of a node's newest sample in whole seconds; shown as `sample 1 s old`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleAge(Option<u32>);

// === impl Detail ===

impl From<&str> for Detail {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Detail {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<LoadFigures> for Detail {
    fn from(figures: LoadFigures) -> Self {
        Self::Load(figures)
    }
}

impl From<SampleAge> for Detail {
    fn from(age: SampleAge) -> Self {
        Self::Sample(age)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Load(figures) => figures.fmt(f),
            Self::Sample(age) => age.fmt(f),
        }
    }
}

// === impl LoadFigures ===

impl fmt::Display for LoadFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resource, with_pod) = (self.resource.as_str(), self.with_pod);
        write!(f, "{resource} {with_pod:.2} with the pod: ")?;
        let parts = [
            ("measured", self.measured),
            ("in flight", Some(self.in_flight).filter(|part| *part > 0.0)),
            ("departing", Some(self.departing).filter(|part| *part > 0.0)),
        ];
        for (name, share) in parts {
            if let Some(share) = share {
                write!(f, "{name} {share:.2}, ")?;
            }
        }
        self.sample.fmt(f)
    }
}

// === impl SampleAge ===

impl SampleAge {
    /// Of a sample of this age; `None` if there is no sample.
    pub fn of(age: Option<Duration>) -> Self {
        Self(age.map(|age| age.as_secs_f64().round() as u32))
    }
}

impl fmt::Display for SampleAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(seconds) => write!(f, "sample {seconds} s old"),
            None => f.write_str("no sample"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Detail, LoadFigures, SampleAge};
    use crate::load::LoadResource;

    #[test]
    fn figures_are_shown_where_there_are_any() {
        let busy = LoadFigures {
            resource: LoadResource::Cpu,
            with_pod: 0.97,
            measured: Some(0.8),
            in_flight: 0.12,
            departing: 0.004,
            sample: SampleAge::of(Some(Duration::from_millis(1_400))),
        };
        assert_eq!(
            Detail::from(busy).to_string(),
            "cpu 0.97 with the pod: measured 0.80, in flight 0.12, departing 0.00, sample 1 s old"
        );
        let declared = LoadFigures {
            resource: LoadResource::Rx,
            measured: None,
            in_flight: 0.0,
            departing: 0.0,
            sample: SampleAge::of(None),
            ..busy
        };
        assert_eq!(
            Detail::from(declared).to_string(),
            "rx 0.97 with the pod: no sample"
        );
        assert_eq!(Detail::from("1 of 2").to_string(), "1 of 2");
    }

    #[test]
    fn an_age_without_end_is_shown_as_the_largest() {
        let age = SampleAge::of(Some(Duration::MAX));
        assert_eq!(age.to_string(), format!("sample {} s old", u32::MAX));
    }
}
