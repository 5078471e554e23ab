//! A node's row at an instant: what was said of the node, by its age.

use plimsoll_framework::{LoadResource, NodeLoad, Pressure, ResourceLoad};

use super::NodeState;
use crate::age::{Aged, confidence, fresh_span};
use crate::moment::Moment;
use crate::options::LoadOptions;
use crate::row::Known;
use crate::scale::Scale;
use crate::silence::StandIn;

/// How a node's agent is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Voice {
    /// It never reported.
    Never,
    /// Its newest sample is fresh.
    Fresh,
    /// Its newest sample is older.
    Silent {
        last_report: Moment,
        /// When the sample ceased to be fresh.
        began: Moment,
    },
}

// === impl NodeState ===

impl NodeState {
    /// Weight of the newest sample by its age: 1 while fresh, 0 if there never was one.
    pub(crate) fn confidence(&self, now: Moment, options: &LoadOptions) -> f64 {
        self.report.map_or(0.0, |report| {
            confidence(now.age_of(report.taken), report.period, options)
        })
    }

    /// How the agent is doing.
    pub(crate) fn voice(&self, now: Moment, options: &LoadOptions) -> Voice {
        let Some(report) = self.report else {
            return Voice::Never;
        };
        let fresh = fresh_span(report.period, options);
        if now.age_of(report.taken) <= fresh {
            return Voice::Fresh;
        }
        Voice::Silent {
            last_report: report.taken,
            began: report.taken.after(fresh),
        }
    }

    /// Blends the row as of `now`. Returns whether it changed.
    pub(crate) fn blend(&mut self, now: Moment, by: &StandIn, options: &LoadOptions) -> bool {
        let row = self.blended(now, by, options);
        let changed = row != self.row;
        self.row = row;
        changed
    }

    /// The row as of `now`, the node judged `by` others if it is silent.
    pub(crate) fn blended(&self, now: Moment, by: &StandIn, options: &LoadOptions) -> NodeLoad {
        let Some(report) = self.report else {
            return self.row_of(now, &Aged::default(), by, options);
        };
        let aged = Aged::of(now.age_of(report.taken), report.period, options);
        NodeLoad {
            confidence: aged.confidence,
            sample_age: Some(now.age_of(report.taken)),
            pressure: faded(report.pressure, aged.confidence),
            ..self.row_of(now, &aged, by, options)
        }
    }

    /// The resources; `newest` is what the age of the newest sample does.
    fn row_of(&self, now: Moment, newest: &Aged, by: &StandIn, options: &LoadOptions) -> NodeLoad {
        let machine = self.report.map(|report| report.machine).unwrap_or_default();
        let steal = self.report.map_or(0.0, |report| report.steal) * newest.confidence;
        let capacities = self.stated.with(&machine, steal);
        let mut row = NodeLoad::default();
        for resource in LoadResource::ALL {
            let slot = resource as usize;
            let figure = self.figures[slot].as_ref();
            let known = Known {
                resource,
                figure,
                ledger: &self.ledgers[slot],
                peak: self.peaks[slot],
                capacity: capacities[slot],
                aged: self.aged(resource, now, newest, options),
                stand_in: by,
            };
            *row.get_mut(resource) = known.row();
        }
        row
    }

    /// What age does to the figure of a resource: mostly it is of the newest sample.
    fn aged(
        &self,
        resource: LoadResource,
        now: Moment,
        newest: &Aged,
        options: &LoadOptions,
    ) -> Aged {
        let figure = self.figures[resource as usize].as_ref();
        match (figure, self.report) {
            (Some(figure), Some(report)) if figure.taken != report.taken => {
                Aged::of(now.age_of(figure.taken), report.period, options)
            }
            _ => *newest,
        }
    }

    /// Adds what a fresh node tells of expectations to `scale`.
    pub(crate) fn tell(&self, scale: &mut Scale) {
        for resource in LoadResource::ALL {
            let load: &ResourceLoad = self.row.get(resource);
            if let (Some(_), Some(used)) = (load.measured, load.used) {
                scale.add(resource, used, &self.ledgers[resource as usize]);
            }
        }
    }
}

/// Pressure of an old sample counts as little as the sample does.
fn faded(pressure: Pressure, trust: f64) -> Pressure {
    let fade = |share: Option<f32>| share.map(|share| share * trust as f32);
    Pressure {
        cpu: fade(pressure.cpu),
        memory: fade(pressure.memory),
        io: fade(pressure.io),
    }
}
