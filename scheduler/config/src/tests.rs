//! Whole files: against kube-scheduler's verdicts, cases of the field, and rules of ours.

mod cases;
mod odd;
mod parity;
mod plugins;
mod rules;

use plimsoll_framework::{FieldError, Point};

use crate::SchedulerConfig;

/// A file with `rest` below kind and version.
fn file(rest: &str) -> String {
    format!("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{rest}")
}

fn load(rest: &str) -> SchedulerConfig {
    crate::load(&file(rest), &plugins::registry()).unwrap_or_else(|e| panic!("{e:?}"))
}

fn errors(rest: &str) -> Vec<FieldError> {
    crate::load(&file(rest), &plugins::registry())
        .err()
        .unwrap_or_default()
}

fn mistakes(rest: &str) -> Vec<String> {
    errors(rest).iter().map(ToString::to_string).collect()
}

/// `name=weight` of every plugin at `point` of the first profile.
fn at(config: &SchedulerConfig, point: Point) -> Vec<String> {
    let list = config.profiles[0].points.at(point);
    list.iter()
        .map(|plugin| format!("{}={}", plugin.spec.name, plugin.weight))
        .collect()
}

fn warnings(config: &SchedulerConfig) -> Vec<String> {
    config
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.path, warning.text))
        .collect()
}
