//! A mistake in a selector: where and what, in kube-scheduler's words.

use std::fmt;

/// One mistake; prints as `path: problem`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where, such as `[0].matchExpressions[1].values[0][zone]`.
    pub path: String,
    /// What, such as `Invalid value: "-5": a valid label must be ..`.
    pub problem: String,
}

// === impl Mistake ===

impl Mistake {
    /// `Invalid value: {value}: {detail}` (`field.Invalid`).
    pub(super) fn invalid(path: String, value: impl fmt::Display, detail: &str) -> Self {
        let problem = format!("Invalid value: {value}: {detail}");
        Self { path, problem }
    }

    /// `Unsupported value: "{value}": supported values: ..` (`field.NotSupported`).
    pub(super) fn unsupported(path: String, value: &str, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|text| format!("{text:?}")).collect();
        let problem = format!(
            "Unsupported value: {value:?}: supported values: {}",
            supported.join(", ")
        );
        Self { path, problem }
    }

    /// The same, seen from one level further out.
    #[must_use]
    pub fn under(&self, outer: &str) -> Self {
        let dot = if outer.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        Self {
            path: format!("{outer}{dot}{}", self.path),
            problem: self.problem.clone(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

/// Several mistakes as one text (`errors.Aggregate`): one by itself, more in brackets,
/// each text once.
pub fn message(mistakes: &[Mistake]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for mistake in mistakes {
        let text = mistake.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [only] => only.clone(),
        _ => format!("[{}]", texts.join(", ")),
    }
}
