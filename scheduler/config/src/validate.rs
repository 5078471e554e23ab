//! The rules for values, each with the path of the value that breaks it.
//!
//! Takes [`Defaulted`], keeps every mistake. Mirrors
//! `pkg/scheduler/apis/config/validation` of Kubernetes 1.37; args of plugins are checked
//! by the plugins.

mod extenders;
mod profiles;

use plimsoll_framework::{FieldError, FieldPath, Stage};

use crate::defaults::{Defaulted, Election, RESOURCE_LOCK};

/// Checks `file`.
pub(crate) fn check(file: &Defaulted, errors: &mut Vec<FieldError>) {
    let mut rule = |holds: bool, path: &str, problem: String| {
        if !holds {
            errors.push(FieldError::new(
                Stage::Validate,
                FieldPath::new(path),
                problem,
            ));
        }
    };
    let burst = file.client.burst;
    rule(
        burst >= 0,
        "clientConnection.burst",
        format!("must not be negative, is {burst}"),
    );
    let parallelism = file.parallelism;
    rule(
        parallelism > 0,
        "parallelism",
        format!("must be greater than 0, is {parallelism}"),
    );
    let (initial, max) = (
        file.pod_initial_backoff_seconds,
        file.pod_max_backoff_seconds,
    );
    let problem = format!("must be greater than 0, is {initial}");
    rule(initial > 0, "podInitialBackoffSeconds", problem);
    let problem = format!("must not be less than podInitialBackoffSeconds ({initial}), is {max}");
    rule(max >= initial, "podMaxBackoffSeconds", problem);
    election(&file.election, rule);
    let path = FieldPath::new("percentageOfNodesToScore");
    percentage(file.percentage_of_nodes_to_score, path, errors);
    profiles::check(&file.profiles, errors);
    extenders::check(&file.extenders, errors);
}

fn election(election: &Election, mut rule: impl FnMut(bool, &str, String)) {
    if !election.leader_elect {
        return;
    }
    let (lease, renew) = (election.lease_duration, election.renew_deadline);
    for (field, duration) in [
        ("leaderElection.leaseDuration", lease),
        ("leaderElection.renewDeadline", renew),
        ("leaderElection.retryPeriod", election.retry_period),
    ] {
        let problem = format!("must be greater than 0, is {duration}");
        rule(duration.is_positive(), field, problem);
    }
    let problem = format!("must be greater than renewDeadline ({renew}), is {lease}");
    rule(lease > renew, "leaderElection.leaseDuration", problem);
    let lock = &election.resource_lock;
    let problem = format!("must be `{RESOURCE_LOCK}`, is `{lock}`");
    rule(
        lock == RESOURCE_LOCK,
        "leaderElection.resourceLock",
        problem,
    );
}

/// A percentage that may be left out.
fn percentage(percentage: Option<i32>, path: FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(wrong) = percentage.filter(|percentage| !(0..=100).contains(percentage)) {
        let problem = format!("must be 0 to 100, is {wrong}");
        errors.push(FieldError::new(Stage::Validate, path, problem));
    }
}
