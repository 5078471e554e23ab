//! Defaults, rules and the words of kube-scheduler (parity-config 30, 31, 42, 45).

use plimsoll_framework::test_util::check_args;
use serde_json::{Value, json};

use crate::node_resources_fit::spec;

fn errors(args: &Value) -> Vec<String> {
    check_args(&spec(), args).expect_err("the args are wrong")
}

#[test]
fn the_defaults_are_those_of_kube_scheduler() {
    let defaults = json!({"scoringStrategy": {
        "type": "LeastAllocated",
        "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
    }});
    assert_eq!(check_args(&spec(), &Value::Null), Ok(defaults.clone()));
    let typed = json!({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeResourcesFitArgs",
        "ignoredResources": [],
    });
    assert_eq!(check_args(&spec(), &typed), Ok(defaults));
}

#[test]
fn everything_that_is_set_is_kept() {
    let args = json!({
        "ignoredResources": ["example.com/fpga"],
        "ignoredResourceGroups": ["soft.example.com"],
        "scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}],
            "requestedToCapacityRatio": {"shape": [
                {"utilization": 0, "score": 0},
                {"utilization": 70, "score": 10},
                {"utilization": 100, "score": 4},
            ]},
        },
    });
    assert_eq!(check_args(&spec(), &args), Ok(args));
}

#[test]
fn a_weight_of_zero_or_none_is_one() {
    let resources = json!([{"name": "cpu", "weight": 0}, {"name": "memory"}]);
    let args = json!({"scoringStrategy": {"type": "MostAllocated", "resources": resources}});
    let read = check_args(&spec(), &args).expect("the args are right");
    let resources = json!([{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]);
    assert_eq!(read["scoringStrategy"]["resources"], resources);
}

#[test]
fn wrong_names_and_weights_are_all_found() {
    let args = json!({
        "ignoredResources": ["example.com/ok", "bad name", "a/b/c"],
        "ignoredResourceGroups": ["example.com", "example.com/gpu"],
        "scoringStrategy": {"type": "Cheapest", "resources": [
            {"name": "cpu", "weight": 101},
            {"name": "memory", "weight": 0},
            {"name": "example.com/gpu", "weight": -1},
        ]},
    });
    let found = errors(&args);
    let starts = [
        "args.ignoredResources[1]: Invalid value: \"bad name\": name part must consist of",
        "args.ignoredResources[2]: Invalid value: \"a/b/c\": a valid label key must consist of",
        "args.ignoredResourceGroups[1]: Invalid value: \"example.com/gpu\": resource group name \
         can't contain '/'",
        "args.scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not \
         in valid range (0, 100]",
        "args.scoringStrategy.resources[2].weight: Invalid value: -1: resource weight of \
         example.com/gpu not in valid range (0, 100]",
        "args.scoringStrategy.type: Unsupported value: \"Cheapest\": supported values: \
         \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"",
    ];
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found}\n{start}");
    }
}

#[test]
fn a_shape_has_points_in_order_and_in_range() {
    let shape = |points: Value| {
        json!({"scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "requestedToCapacityRatio": {"shape": points},
        }})
    };
    let wrong = shape(json!([
        {"utilization": 50, "score": 5},
        {"utilization": 50, "score": 11},
        {"utilization": 40, "score": -1},
        {"utilization": 101, "score": 10},
    ]));
    let path = "args.scoringStrategy.requestedToCapacityRatio.shape";
    assert_eq!(
        errors(&wrong),
        [
            format!(
                "{path}[1].utilization: Invalid value: 50: values must be sorted in increasing order"
            ),
            format!("{path}[1].score: Invalid value: 11: not in valid range [0, 10]"),
            format!("{path}[2].score: Invalid value: -1: not in valid range [0, 10]"),
            format!("{path}[3].utilization: Invalid value: 101: not in valid range [0, 100]"),
        ]
    );
    assert_eq!(
        errors(&shape(json!([]))),
        [format!(
            "{path}: Required value: at least one point must be specified"
        )]
    );
}

#[test]
fn a_shape_belongs_to_its_strategy_only() {
    let args = |strategy: Value| json!({"scoringStrategy": strategy});
    let cases = [
        (
            json!({"type": "RequestedToCapacityRatio"}),
            "args.scoringStrategy.requestedToCapacityRatio: Required value: must be specified when \
             type is RequestedToCapacityRatio",
        ),
        (
            json!({"type": "MostAllocated", "requestedToCapacityRatio": {}}),
            "args.scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not \
             RequestedToCapacityRatio",
        ),
        (
            json!({}),
            "args.scoringStrategy.type: Unsupported value: \"\": supported values: \
             \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"",
        ),
    ];
    for (strategy, error) in cases {
        assert_eq!(errors(&args(strategy)), [error]);
    }
}

#[test]
fn unknown_fields_and_wrong_types_are_found_at_their_place() {
    let args = json!({
        "strategy": "LeastAllocated",
        "scoringStrategy": {"type": "LeastAllocated", "resources": [
            {"name": "cpu", "weight": 1, "share": 2},
            {"name": "memory", "weight": "heavy"},
        ]},
    });
    assert_eq!(
        errors(&args),
        [
            "args.scoringStrategy.resources[0].share: unknown field",
            "args.scoringStrategy.resources[1].weight: invalid type: string \"heavy\", expected i64",
            "args.strategy: unknown field",
        ]
    );
    assert_eq!(
        errors(&json!({"scoringStrategy": {"type": "LeastAllocated", "resources": {}}})),
        ["args.scoringStrategy.resources: must be a list"]
    );
}

#[test]
fn an_element_that_is_no_text_is_named() {
    let seen = errors(&json!({"ignoredResources": ["example.com/ok", 1]}));
    assert_eq!(seen[0], "args.ignoredResources[1]: must be a string");
}
