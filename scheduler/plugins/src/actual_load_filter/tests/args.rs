//! Reading the args.

use plimsoll_framework::test_util::check_args;
use serde_json::{Value, json};

use super::spec;

#[test]
fn the_defaults_are_filled_in() {
    let defaults = json!({
        "thresholds": {"cpu": 0.85, "memory": 0.9, "network": 0.85},
        "mode": "soft", "statistic": "mean", "stale": "ignore", "staleAfter": "3m0s",
        "exemptDaemons": true,
    });
    assert_eq!(check_args(&spec(), &Value::Null), Ok(defaults.clone()));
    assert_eq!(check_args(&spec(), &defaults), Ok(defaults));
}

#[test]
fn a_given_map_of_thresholds_is_the_whole_map() {
    let args = json!({"thresholds": {"cpu": 1}, "staleAfter": "90s"});
    let effective = check_args(&spec(), &args).expect("right args");
    assert_eq!(effective["thresholds"], json!({"cpu": 1.0}));
    assert_eq!(effective["staleAfter"], json!("1m30s"));
}

#[test]
fn every_mistake_in_the_args_is_found() {
    let args = json!({
        "thresholds": {"cpu": 0, "memory": 1.01, "network": "0.5", "disk": 0.5},
        "mode": "firm", "statistic": "max", "stale": "keep", "staleAfter": "0s",
        "exemptDaemons": 1, "threshold": {},
    });
    let expected = [
        "args.thresholds.cpu: must be above 0 and at most 1, is 0",
        "args.thresholds.memory: must be above 0 and at most 1, is 1.01",
        "args.thresholds.network: invalid type: string \"0.5\", expected f64",
        "args.thresholds.disk: unknown field",
        "args.mode: must be `soft` or `hard`, is `firm`",
        "args.statistic: must be `mean` or `p95`, is `max`",
        "args.stale: must be `ignore` or `refuse`, is `keep`",
        "args.staleAfter: must be longer than 0s, is 0s",
        "args.exemptDaemons: invalid type: integer `1`, expected a boolean",
        "args.threshold: unknown field",
    ];
    assert_eq!(
        check_args(&spec(), &args),
        Err(expected.map(str::to_owned).to_vec())
    );
}

#[test]
fn a_filter_that_could_reject_nobody_is_a_mistake() {
    let problem = "args.thresholds: must name cpu, memory or network: as it is, every node \
                   would pass";
    let nothing = json!({"thresholds": {}});
    assert_eq!(check_args(&spec(), &nothing), Err(vec![problem.to_owned()]));
    let by_silence = json!({"thresholds": {}, "stale": "refuse"});
    assert!(check_args(&spec(), &by_silence).is_ok());
}
