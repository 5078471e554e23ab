//! All that there is to say about a file.
//!
//! Takes its bytes, gives mistakes, warnings and what is in effect; as JSON in the shape in
//! which the mistakes of kube-scheduler itself are recorded.

use plimsoll_config::plimsoll::{self, PlimsollConfig};
use plimsoll_config::{Lines, Loaded, ReadFile, SchedulerConfig, Warning};
use plimsoll_framework::{FieldError, FieldPath, Stage};
use serde_json::{Value, json};

use super::advice;

/// What a file says.
pub(super) enum Outcome {
    /// A scheduler's configuration.
    Scheduler(Box<SchedulerConfig>),
    /// Plimsoll's own settings.
    Plimsoll(Box<PlimsollConfig>),
    /// Nothing that could run.
    Mistakes(Vec<FieldError>),
}

/// All that there is to say about a file.
pub(super) struct Findings {
    pub(super) outcome: Outcome,
    pub(super) warnings: Vec<Warning>,
    pub(super) lines: Lines,
}

// === impl Findings ===

impl Findings {
    /// Checks the file with the plugins of this build.
    pub(super) fn of(bytes: &[u8], read_file: ReadFile<'_>) -> Self {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(problem) => {
                let (text, _) = bytes.split_at(problem.valid_up_to());
                return Self::mistakes(vec![not_text(text)]);
            }
        };
        let mut findings = if plimsoll::is_one(text) {
            Self::of_plimsoll(plimsoll::load(text))
        } else {
            let registry = plimsoll_plugins::registry();
            Self::of_scheduler(plimsoll_config::load_with_files(text, &registry, read_file))
        };
        findings.lines = Lines::of(text);
        findings
    }

    fn of_plimsoll(loaded: Result<PlimsollConfig, Vec<FieldError>>) -> Self {
        match loaded {
            Ok(config) => Self::new(Outcome::Plimsoll(Box::new(config))),
            Err(errors) => Self::mistakes(errors),
        }
    }

    fn of_scheduler(loaded: Loaded) -> Self {
        let mut findings = match loaded.config {
            Ok(config) => {
                let mut findings = Self::mistakes(Vec::new());
                findings.warnings = advice::about(&config);
                findings.outcome = Outcome::Scheduler(Box::new(config));
                findings
            }
            Err(errors) => Self::mistakes(errors),
        };
        findings.warnings.splice(0..0, loaded.warnings);
        findings
    }

    fn mistakes(errors: Vec<FieldError>) -> Self {
        Self::new(Outcome::Mistakes(errors))
    }

    fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            warnings: Vec::new(),
            lines: Lines::default(),
        }
    }

    /// Whether the file can be used.
    pub(super) fn is_ok(&self) -> bool {
        !matches!(self.outcome, Outcome::Mistakes(_))
    }

    /// `ok`, `errors`, `warnings` and, where there are no errors, `effective`. Of the errors
    /// those that kube-scheduler would report before it stops.
    pub(super) fn to_json(&self) -> Value {
        let warnings = self.warnings.iter();
        let warnings =
            warnings.map(|warning| json!({"field": warning.path.as_str(), "text": warning.text}));
        let mut report = json!({
            "ok": self.is_ok(),
            "errors": [],
            "warnings": warnings.collect::<Vec<_>>(),
        });
        match &self.outcome {
            Outcome::Scheduler(config) => {
                report["effective"] = plimsoll_config::effective(config);
            }
            Outcome::Plimsoll(config) => report["effective"] = plimsoll::effective(config),
            Outcome::Mistakes(errors) => {
                let mut errors = plimsoll_config::as_kube_scheduler(errors);
                errors.sort();
                report["errors"] = errors.into_iter().map(error).collect();
            }
        }
        report
    }
}

fn error(error: &FieldError) -> Value {
    let stage = match error.stage {
        Stage::Decode => "decode",
        Stage::Validate => "validate",
        Stage::Profile => "profile",
    };
    json!({"stage": stage, "field": error.path.as_str(), "text": error.problem})
}

/// `before` is what comes before the first byte that is no text.
fn not_text(before: &[u8]) -> FieldError {
    let line = before.split(|byte| *byte == b'\n').count();
    let at = before.len();
    let problem = format!("not UTF-8: the byte at offset {at}, in line {line}, is no text");
    FieldError::new(Stage::Decode, FieldPath::default(), problem)
}
