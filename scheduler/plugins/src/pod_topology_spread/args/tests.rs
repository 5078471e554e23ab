//! Defaults and rules of `PodTopologySpreadArgs`.

use plimsoll_framework::FieldPath;
use serde_json::{Value, json};

use super::{PodTopologySpreadArgs, decode};

/// The typed and the effective args, or the mistakes.
fn read(args: &Value) -> Result<(PodTopologySpreadArgs, Value), Vec<String>> {
    let mut errors = Vec::new();
    let args = decode(args, &FieldPath::new("args"), &mut errors);
    if errors.is_empty() {
        let typed: &PodTopologySpreadArgs = args.get().unwrap();
        return Ok((typed.clone(), args.effective().clone()));
    }
    Err(errors.iter().map(ToString::to_string).collect())
}

#[test]
fn the_defaults_are_those_of_kube_scheduler() {
    let effective = json!({"defaultingType": "System"});
    let expected = (PodTopologySpreadArgs::System, effective);
    for args in [
        json!(null),
        json!({"defaultingType": "", "defaultConstraints": []}),
    ] {
        assert_eq!(read(&args), Ok(expected.clone()), "{args}");
    }
}

#[test]
fn everything_that_is_set_is_kept() {
    let args = json!({"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
        {
            "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": 3, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore",
            "matchLabelKeys": ["pod-template-hash"],
        },
    ]});
    let (typed, effective) = read(&args).unwrap();
    assert_eq!(effective, args);
    let PodTopologySpreadArgs::List(constraints) = typed else {
        panic!("not a list")
    };
    assert_eq!(
        (constraints[1].max_skew, constraints[1].min_domains),
        (1, Some(3))
    );
}

#[test]
fn an_empty_list_means_no_constraints() {
    let (typed, effective) = read(&json!({"defaultingType": "List"})).unwrap();
    assert_eq!(typed, PodTopologySpreadArgs::List(Vec::new()));
    assert_eq!(effective, json!({"defaultingType": "List"}));
}

#[test]
fn constraints_without_a_list_and_unknown_kinds_are_refused() {
    let constraint =
        json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"});
    assert_eq!(
        read(&json!({"defaultConstraints": [constraint]})).unwrap_err(),
        ["args.defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"]
    );
    assert_eq!(
        read(&json!({"defaultingType": "None"})).unwrap_err(),
        [
            "args.defaultingType: Unsupported value: \"None\": supported values: \"System\", \"List\""
        ]
    );
}

#[test]
fn every_mistake_in_a_constraint_is_found() {
    let args = json!({"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Sometimes"},
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}},
        {"maxSkew": 3, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
        {"maxSkew": 3, "topologyKey": "no good", "whenUnsatisfiable": "", "skew": 1},
    ]});
    let seen = read(&args).unwrap_err();
    let starts = [
        "args.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
        "args.defaultConstraints[0].topologyKey: Required value: can not be empty",
        "args.defaultConstraints[0].whenUnsatisfiable: Unsupported value: \"Sometimes\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"",
        "args.defaultConstraints[1].labelSelector: Forbidden: constraint must not define a selector",
        "args.defaultConstraints[3].topologyKey: Invalid value: \"no good\": name part must consist",
        "args.defaultConstraints[3].whenUnsatisfiable: Required value: can not be empty",
        "args.defaultConstraints[3].skew: unknown field",
        "args.defaultConstraints[2]: Duplicate value: \"{zone, DoNotSchedule}\"",
    ];
    assert_eq!(seen.len(), starts.len(), "{seen:#?}");
    for (seen, start) in seen.iter().zip(starts) {
        assert!(seen.starts_with(start), "{seen}");
    }
}
