//! The plugin as the engine runs it.

mod args;
mod cases;
mod dry_run;
mod verdicts;
mod wake;

use plimsoll_framework::test_util::{Cluster, PodBuilder, check_filter};
use serde_json::Value;

use super::spec;

fn verdicts(args: &Value, cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_filter(&spec(), args, cluster, pod)
}

/// The verdicts without what stands in brackets.
fn plain(args: &Value, cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    let verdicts = verdicts(args, cluster, pod).into_iter();
    verdicts
        .map(|text| text.split(" (cpu").next().unwrap_or_default().to_owned())
        .collect()
}
