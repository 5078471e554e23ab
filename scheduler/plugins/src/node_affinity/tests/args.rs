//! `addedAffinity` in a file.

use plimsoll_framework::test_util::check_args;
use serde_json::{Value, json};

use super::{added, spec, term};

#[test]
fn args_are_given_back_as_they_are() {
    assert_eq!(check_args(&spec(), &Value::Null), Ok(json!({})));
    let args = added(&term("disk", "In", &["ssd"]));
    assert_eq!(check_args(&spec(), &args), Ok(args.clone()));
}

#[test]
fn every_mistake_of_form_is_found() {
    let args = json!({"added": 1, "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": 1, "operator": "Exists", "value": "x"}]}],
            "terms": [],
        },
        "preferredDuringSchedulingIgnoredDuringExecution": {"weight": 1},
        "podAffinity": {},
    }});
    let required = "args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution";
    let expected = [
        &format!(
            "{required}.nodeSelectorTerms[0].matchExpressions[0].key: invalid type: integer `1`, expected a string"
        ),
        &format!("{required}.nodeSelectorTerms[0].matchExpressions[0].value: unknown field"),
        &format!("{required}.terms: unknown field"),
        "args.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: must be a list",
        "args.addedAffinity.podAffinity: unknown field",
        "args.added: unknown field",
    ];
    let found = check_args(&spec(), &args).expect_err("mistakes");
    for text in expected {
        assert!(
            found.iter().any(|found| found == text),
            "{text} in {found:#?}"
        );
    }
}

#[test]
fn selectors_that_cannot_be_parsed_are_refused_in_kube_schedulers_words() {
    let args = json!({"addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {}, term("disk", "In", &[]),
        ]},
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 0, "preference": term("disk", "Near", &[])},
            {"weight": 3, "preference": term("disk", "Near", &[])},
        ],
    }});
    let expected = [
        "args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution\
         .nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: []: \
         for 'in', 'notin' operators, values set can't be empty",
        "args.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]\
         .matchExpressions[0].operator: Unsupported value: \"Near\": supported values: \
         \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"",
    ];
    assert_eq!(
        check_args(&spec(), &args),
        Err(expected.map(str::to_owned).to_vec())
    );
}
