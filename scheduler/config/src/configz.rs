//! The configuration as `/configz` shows it.
//!
//! Gives JSON in the shape of kube-scheduler's answer, which is itself a file that loads.
//! `Differs:` kube-scheduler shows the plugins as they were merged (`multiPoint` and what the
//! file adds), this shows what runs: one list per point, in run order; and where no share of
//! the nodes is set, it shows a share that is not all of them.

use serde_json::{Map, Value, json};

use crate::effective::effective;
use crate::scheduler_config::{NodesToScore, SchedulerConfig};

const API_VERSION: &str = "kubescheduler.config.k8s.io/v1";

/// The configuration under the name that kube-scheduler gives it.
pub fn configz(config: &SchedulerConfig) -> Value {
    let mut file = effective(config);
    file["apiVersion"] = API_VERSION.into();
    file["kind"] = "KubeSchedulerConfiguration".into();
    if config.percentage_of_nodes_to_score == NodesToScore::All {
        // As a file, 0 would mean kube-scheduler's share.
        file["percentageOfNodesToScore"] = 100.into();
    }
    if let Some(profiles) = file["profiles"].as_array_mut() {
        profiles.iter_mut().for_each(as_written);
    }
    json!({"componentconfig": file})
}

/// Lists as a file has them.
fn as_written(profile: &mut Value) {
    let mut points = Map::new();
    points.insert(
        "multiPoint".to_owned(),
        json!({"disabled": [{"name": "*"}]}),
    );
    for (point, plugins) in profile["plugins"].as_object().into_iter().flatten() {
        points.insert(point.clone(), json!({"enabled": plugins}));
    }
    let args = profile["pluginConfig"].as_object().into_iter().flatten();
    let args: Vec<Value> = args.map(|(name, args)| one(name, args)).collect();
    profile["plugins"] = Value::Object(points);
    profile["pluginConfig"] = args.into();
}

fn one(name: &str, args: &Value) -> Value {
    let mut args = args.clone();
    args["apiVersion"] = API_VERSION.into();
    args["kind"] = format!("{name}Args").into();
    json!({"name": name, "args": args})
}
