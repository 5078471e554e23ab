//! Which of the mistakes kube-scheduler would report.
//!
//! Takes all mistakes of a file, gives those that kube-scheduler 1.37 tells before it stops:
//! at the first stage that finds any, and there at the first mistake that keeps it from
//! going on.

use std::cmp::Ordering;

use plimsoll_framework::{FieldError, Stage};

use crate::reader::UNKNOWN_FIELD;
use crate::yaml::REPEATED_KEY;

/// The errors that kube-scheduler would report of these.
pub fn as_kube_scheduler(errors: &[FieldError]) -> Vec<&FieldError> {
    let first = errors.iter().map(|error| error.stage).min();
    let errors = errors.iter().filter(|error| Some(error.stage) == first);
    match first {
        Some(Stage::Decode) => decode(errors.collect()),
        Some(Stage::Profile) => profile(errors.collect()),
        Some(Stage::Validate) | None => errors.collect(),
    }
}

/// Only unknown fields and repeated keys are collected; anything else ends the reading: the
/// type of the file, then the first value by the order of keys, then the first wrong args.
fn decode(errors: Vec<&FieldError>) -> Vec<&FieldError> {
    let ending = errors.iter().copied().filter(|error| !is_collected(error));
    let first = ending.min_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| by_path(a, b)));
    match first {
        Some(error) => vec![error],
        None => errors,
    }
}

fn is_collected(error: &FieldError) -> bool {
    let problem = error.problem.as_str();
    problem.starts_with(UNKNOWN_FIELD) || problem.starts_with(REPEATED_KEY)
}

/// When kube-scheduler gets there.
fn rank(error: &FieldError) -> u8 {
    match error.path.as_str() {
        "" => 0,
        "kind" => 1,
        "apiVersion" => 2,
        _ if !is_args(error) => 3,
        _ => 4,
    }
}

/// Keys in alphabetical order, elements in that of their list.
fn by_path(a: &FieldError, b: &FieldError) -> Ordering {
    let steps = |error: &FieldError| -> Vec<(usize, String)> {
        let steps = error.path.as_str().split(['.', '[']);
        steps
            .map(|step| match step.strip_suffix(']').map(str::parse) {
                Some(Ok(index)) => (index, String::new()),
                _ => (0, step.to_owned()),
            })
            .collect()
    };
    steps(a).cmp(&steps(b))
}

/// Of each profile all mistakes in args, else the first of putting it together; and none of
/// them where an extender cannot be built.
fn profile(errors: Vec<&FieldError>) -> Vec<&FieldError> {
    let extenders: Vec<&FieldError> = errors
        .iter()
        .copied()
        .filter(|error| error.path.as_str().starts_with("extenders"))
        .collect();
    if !extenders.is_empty() {
        return extenders;
    }
    let mut kept: Vec<&FieldError> = Vec::new();
    for error in errors {
        let same_profile = |other: &&&FieldError| profile_of(other) == profile_of(error);
        match kept.iter().find(same_profile) {
            Some(earlier) if !(is_config(earlier) && is_config(error)) => {}
            _ => kept.push(error),
        }
    }
    kept
}

/// `profiles[i]`.
fn profile_of(error: &FieldError) -> &str {
    let path = error.path.as_str();
    path.split_once('.').map_or(path, |(profile, _)| profile)
}

/// Whether it is in the args of a plugin.
fn is_args(error: &FieldError) -> bool {
    let path = error.path.as_str();
    path.contains(".pluginConfig[") && path.contains("].args")
}

/// Whether it keeps a plugin from being made.
fn is_config(error: &FieldError) -> bool {
    error.path.as_str().contains(".pluginConfig")
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::{FieldError, FieldPath, Stage};

    use super::as_kube_scheduler;

    fn kept(errors: &[(Stage, &str, &str)]) -> Vec<String> {
        let error = |&(stage, path, problem): &(Stage, &str, &str)| {
            FieldError::new(stage, FieldPath::new(path), problem)
        };
        let errors: Vec<_> = errors.iter().map(error).collect();
        let kept = as_kube_scheduler(&errors).into_iter();
        kept.map(|error| error.path.as_str().to_owned()).collect()
    }

    #[test]
    fn unknown_fields_are_collected_and_a_wrong_value_ends_the_reading() {
        use Stage::{Decode, Validate};
        let unknown = (Decode, "typo", "unknown field (did you mean `type`?)");
        let repeated = (Decode, "profiles", "repeated key: twice");
        let later = (Validate, "parallelism", "must be 1");
        assert_eq!(kept(&[unknown, repeated, later]), ["typo", "profiles"]);
        let args = (Decode, "profiles[0].pluginConfig[0].args.x", "invalid type");
        assert_eq!(kept(&[unknown, args]), [args.1]);
        let (second, tenth) = ("profiles[2].schedulerName", "profiles[10].schedulerName");
        let wrong = "invalid type";
        assert_eq!(
            kept(&[args, (Decode, tenth, wrong), (Decode, second, wrong)]),
            [second]
        );
        assert_eq!(
            kept(&[(Decode, second, wrong), (Decode, "apiVersion", "old")]),
            ["apiVersion"]
        );
    }

    #[test]
    fn an_extender_that_cannot_be_built_comes_before_the_profiles() {
        use Stage::Profile;
        let wrong = "wrong";
        let plugin = (Profile, "profiles[0].plugins.filter.enabled[0]", wrong);
        let other = (Profile, "profiles[0].plugins.filter.enabled[1]", wrong);
        let tls = (Profile, "extenders[1].tlsConfig", wrong);
        assert_eq!(kept(&[plugin, other]), [plugin.1]);
        assert_eq!(kept(&[plugin, tls, other]), [tls.1]);
    }
}
