//! `ActualLoadFilterArgs`: reading, defaults, rules.
//!
//! | field | default | |
//! | --- | --- | --- |
//! | `thresholds` | cpu 0.85, memory 0.90, network 0.85 | load after the pod, above 0 and at most 1; a resource that a given map leaves out is not judged |
//! | `mode` | `soft` | or `hard` |
//! | `statistic` | `mean` | or `p95`: by the peaks of the last five minutes, where there are enough samples |
//! | `stale` | `ignore` | or `refuse` |
//! | `staleAfter` | `3m0s` | a sample that is older is not judged by, unless it is fresh for its agent's period |
//! | `exemptDaemons` | `true` | pods of a `DaemonSet` pass |

use std::time::Duration;

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use plimsoll_objects::ApiDuration;
use serde_json::{Map, Value, json};

/// Above it a CPU has no room for bursts: waiting times grow steeply.
const CPU: f64 = 0.85;
/// Memory does not burst like a CPU, but what is over kills pods.
const MEMORY: f64 = 0.90;
/// Above it a link drops packets in bursts.
const NETWORK: f64 = 0.85;
/// Three minutes: longer than an agent needs to restart or a node to reboot, shorter than
/// the five after which an absent node's pods are evicted.
const STALE_AFTER_SECONDS: i64 = 180;

/// What the plugin is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ActualLoadFilterArgs {
    pub(super) thresholds: Thresholds,
    pub(super) mode: Mode,
    pub(super) statistic: Statistic,
    pub(super) stale: Stale,
    pub(super) stale_after: Duration,
    pub(super) exempt_daemons: bool,
}

/// Shares of capacity; `None`: not judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Thresholds {
    pub(super) cpu: Option<f64>,
    pub(super) memory: Option<f64>,
    /// Of either direction.
    pub(super) network: Option<f64>,
}

/// What becomes of a node over a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It is taken if no other passes.
    Soft,
    /// It is rejected.
    Hard,
}

/// By which figure nodes are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statistic {
    /// The smoothed mean.
    Mean,
    /// The 95th percentile.
    P95,
}

/// What becomes of a node without a fresh sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    /// It passes.
    Ignore,
    /// It is rejected.
    Refuse,
}

/// Reads the args.
pub(super) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let thresholds = thresholds(&mut fields);
    let mode = choice(
        &mut fields,
        "mode",
        [("soft", Mode::Soft), ("hard", Mode::Hard)],
    );
    let figures = [("mean", Statistic::Mean), ("p95", Statistic::P95)];
    let statistic = choice(&mut fields, "statistic", figures);
    let policies = [("ignore", Stale::Ignore), ("refuse", Stale::Refuse)];
    let stale = choice(&mut fields, "stale", policies);
    let stale_after = stale_after(&mut fields);
    let exempt_daemons = fields.optional("exemptDaemons").unwrap_or(true);
    if thresholds.is_empty() && stale == Stale::Ignore {
        let problem = "must name cpu, memory or network: as it is, every node would pass";
        fields.reject("thresholds", Stage::Validate, problem);
    }
    fields.finish();
    let args = ActualLoadFilterArgs {
        thresholds,
        mode,
        statistic,
        stale,
        stale_after,
        exempt_daemons,
    };
    Args::new(args, args.to_json())
}

fn thresholds(fields: &mut Fields<'_>) -> Thresholds {
    let path = fields.path("thresholds");
    let Some(given) = fields.raw("thresholds") else {
        return Thresholds::default();
    };
    let mut fields = Fields::new(given, path, fields.errors());
    let mut threshold = |name| {
        let given: f64 = fields.optional(name)?;
        if !(given > 0.0 && given <= 1.0) {
            let problem = format!("must be above 0 and at most 1, is {given}");
            fields.reject(name, Stage::Validate, problem);
        }
        Some(given)
    };
    let thresholds = Thresholds {
        cpu: threshold("cpu"),
        memory: threshold("memory"),
        network: threshold("network"),
    };
    fields.finish();
    thresholds
}

/// One of two words; the first is the default.
fn choice<T: Copy>(fields: &mut Fields<'_>, name: &'static str, words: [(&str, T); 2]) -> T {
    let given: Option<String> = fields.optional(name);
    let [(first, default), (second, _)] = words;
    let Some(given) = given else {
        return default;
    };
    if let Some((_, value)) = words.into_iter().find(|(word, _)| *word == given) {
        return value;
    }
    let problem = format!("must be `{first}` or `{second}`, is `{given}`");
    fields.reject(name, Stage::Validate, problem);
    default
}

fn stale_after(fields: &mut Fields<'_>) -> Duration {
    let default = ApiDuration::from_secs(STALE_AFTER_SECONDS);
    let given: ApiDuration = fields.optional("staleAfter").unwrap_or(default);
    if !given.is_positive() {
        let problem = format!("must be longer than 0s, is {given}");
        fields.reject("staleAfter", Stage::Validate, problem);
    }
    given.to_std()
}

// === impl Thresholds ===

impl Thresholds {
    fn is_empty(&self) -> bool {
        self.named()
            .iter()
            .all(|(_, threshold)| threshold.is_none())
    }

    fn named(&self) -> [(&'static str, Option<f64>); 3] {
        [
            ("cpu", self.cpu),
            ("memory", self.memory),
            ("network", self.network),
        ]
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            cpu: Some(CPU),
            memory: Some(MEMORY),
            network: Some(NETWORK),
        }
    }
}

// === impl ActualLoadFilterArgs ===

impl ActualLoadFilterArgs {
    fn to_json(self) -> Value {
        let named = self.thresholds.named().into_iter();
        let given =
            named.filter_map(|(name, threshold)| Some((name.to_owned(), threshold?.into())));
        let thresholds: Map<String, Value> = given.collect();
        json!({
            "thresholds": thresholds,
            "mode": match self.mode {
                Mode::Soft => "soft",
                Mode::Hard => "hard",
            },
            "statistic": match self.statistic {
                Statistic::Mean => "mean",
                Statistic::P95 => "p95",
            },
            "stale": match self.stale {
                Stale::Ignore => "ignore",
                Stale::Refuse => "refuse",
            },
            "staleAfter": ApiDuration::from_std(self.stale_after).to_string(),
            "exemptDaemons": self.exempt_daemons,
        })
    }
}

impl Default for ActualLoadFilterArgs {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            mode: Mode::Soft,
            statistic: Statistic::Mean,
            stale: Stale::Ignore,
            stale_after: ApiDuration::from_secs(STALE_AFTER_SECONDS).to_std(),
            exempt_daemons: true,
        }
    }
}
