//! Findings as text: one line each, as compilers print them, and a sum at the end.

use std::collections::BTreeSet;
use std::fmt::Write;

use plimsoll_framework::FieldPath;

use super::findings::{Findings, Outcome};
use super::table;

/// A text on its way.
struct Report<'f> {
    name: &'f str,
    findings: &'f Findings,
    /// Advice that was given.
    told: BTreeSet<&'f str>,
    text: String,
}

/// A sentence shorter than this may well be said twice.
const LONG_SENTENCE: usize = 40;

/// Everything about the file that is called `name`.
pub(super) fn render(name: &str, findings: &Findings, with_effective: bool) -> String {
    let mut report = Report {
        name,
        findings,
        told: BTreeSet::new(),
        text: String::new(),
    };
    let errors = match &findings.outcome {
        Outcome::Mistakes(errors) => errors.as_slice(),
        Outcome::Scheduler(_) | Outcome::Plimsoll(_) => &[],
    };
    let mistakes = errors
        .iter()
        .map(|error| (&error.path, error.problem.as_str()));
    report.lines("error", mistakes.collect());
    let warnings = findings.warnings.iter();
    let warnings = warnings.map(|warning| (&warning.path, warning.text.as_str()));
    report.lines("warning", warnings.collect());
    let mut text = report.text;
    if with_effective {
        text.push_str(&effective(&findings.outcome));
    }
    let sum = sum(errors.len(), findings.warnings.len());
    add(&mut text, format_args!("{name}: {sum}\n"));
    text
}

// === impl Report ===

impl<'f> Report<'f> {
    /// One line for each, from the top of the file.
    fn lines(&mut self, level: &str, mut list: Vec<(&FieldPath, &'f str)>) {
        let name = self.name;
        list.sort_by_key(|(path, _)| self.findings.lines.line(path));
        for (path, what) in list {
            let place = match self.findings.lines.line(path) {
                Some(line) => format!("{name}:{line}"),
                None => name.to_owned(),
            };
            let path = path.as_str();
            let colon = if path.is_empty() { "" } else { ": " };
            let what = self.once(what);
            let line = format_args!("{place}: {level}: {path}{colon}{what}\n");
            add(&mut self.text, line);
        }
    }

    /// What is wrong with a name, and the advice that follows: the advice is given once.
    fn once(&mut self, what: &'f str) -> String {
        match what.split_once("`: ") {
            Some((wrong, advice)) if advice.len() > LONG_SENTENCE && !self.told.insert(advice) => {
                format!("{wrong}` (see above)")
            }
            _ => what.to_owned(),
        }
    }
}

fn effective(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scheduler(config) => table::render(config),
        Outcome::Plimsoll(config) => {
            format!("{:#}\n\n", plimsoll_config::plimsoll::effective(config))
        }
        Outcome::Mistakes(_) => "nothing is in effect: the file has errors\n".to_owned(),
    }
}

fn sum(errors: usize, warnings: usize) -> String {
    let count = |n: usize, word: &str| match n {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    match (errors, warnings) {
        (0, 0) => "ok".to_owned(),
        (0, _) => format!("ok, {}", count(warnings, "warning")),
        (_, 0) => count(errors, "error"),
        _ => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}

/// Adds to a text.
pub(super) fn add(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part)
        .expect("a string takes all that is written");
}
