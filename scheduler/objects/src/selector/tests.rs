//! Operators, fields, mistakes.

use serde_json::{Value, json};

use super::{NodeSelectorTerm, RawRequirement, message};
use crate::decode::decode_node;
use crate::node::Node;

fn raw<'a>(key: &'a str, operator: &'a str, values: Option<&[&'a str]>) -> RawRequirement<'a> {
    RawRequirement {
        key,
        operator,
        values: values.map(<[&str]>::to_vec),
    }
}

fn by_label(key: &str, operator: &str, values: Option<&[&str]>) -> NodeSelectorTerm {
    NodeSelectorTerm::new(&[raw(key, operator, values)], &[])
}

fn by_field(key: &str, operator: &str, values: Option<&[&str]>) -> NodeSelectorTerm {
    NodeSelectorTerm::new(&[], &[raw(key, operator, values)])
}

fn node(name: &str, labels: &Value) -> Node {
    let json = json!({"metadata": {"name": name, "labels": labels}});
    decode_node(json.to_string().as_bytes()).expect("a node")
}

#[test]
fn every_operator_on_labels() {
    let node = node("n1", &json!({"zone": "a", "slots": "-4", "empty": ""}));
    let cases: [(&str, &str, Option<&[&str]>, bool); 20] = [
        ("zone", "In", Some(&["b", "a"]), true),
        ("zone", "In", Some(&["b"]), false),
        ("rack", "In", Some(&["b"]), false),
        ("empty", "In", Some(&[""]), true),
        ("rack", "In", Some(&[""]), false),
        ("zone", "NotIn", Some(&["b"]), true),
        ("zone", "NotIn", Some(&["b", "a"]), false),
        ("rack", "NotIn", Some(&["b"]), true),
        ("zone", "Exists", None, true),
        ("rack", "Exists", Some(&[]), false),
        ("zone", "DoesNotExist", None, false),
        ("rack", "DoesNotExist", None, true),
        ("slots", "Lt", Some(&["0"]), true),
        ("slots", "Gt", Some(&["0"]), false),
        ("slots", "Lt", Some(&["9223372036854775807"]), true),
        ("slots", "Gt", Some(&["9223372036854775808"]), false),
        ("zone", "Gt", Some(&["0"]), false),
        ("zone", "Lt", Some(&["0"]), false),
        ("rack", "Lt", Some(&["0"]), false),
        ("zone", "Near", Some(&["a"]), false),
    ];
    for (key, operator, values, matches) in cases {
        let term = by_label(key, operator, values);
        assert_eq!(term.matches(&node), matches, "{key} {operator} {values:?}");
    }
}

#[test]
fn the_name_is_the_only_field_with_a_value() {
    let node = node("n1", &json!({}));
    let cases = [
        ("metadata.name", "In", "n1", true),
        ("metadata.name", "In", "n2", false),
        ("metadata.name", "NotIn", "n1", false),
        ("metadata.name", "NotIn", "n2", true),
        ("metadata.uid", "In", "", true),
        ("metadata.uid", "In", "u", false),
        ("metadata.uid", "NotIn", "u", true),
    ];
    for (key, operator, value, matches) in cases {
        let term = by_field(key, operator, Some(&[value]));
        assert_eq!(term.matches(&node), matches, "{key} {operator} {value}");
    }
}

#[test]
fn everything_in_a_term_must_match_and_an_empty_one_matches_nothing() {
    let node = node("n1", &json!({"zone": "a"}));
    let zone = |value| raw("zone", "In", Some(&[value]));
    let name = |value| raw("metadata.name", "In", Some(&[value]));
    assert!(NodeSelectorTerm::new(&[zone("a")], &[name("n1")]).matches(&node));
    assert!(!NodeSelectorTerm::new(&[zone("b")], &[name("n1")]).matches(&node));
    assert!(!NodeSelectorTerm::new(&[zone("a")], &[name("n2")]).matches(&node));
    assert!(!NodeSelectorTerm::new(&[], &[]).matches(&node));
    // One mistake spoils the term.
    let mistaken = NodeSelectorTerm::new(&[zone("a"), raw("zone", "Is", None)], &[]);
    assert!(!mistaken.matches(&node) && mistaken.has_mistakes());
}

#[test]
fn the_names_that_a_term_leaves() {
    let name = |operator, values: &[&'static str]| raw("metadata.name", operator, Some(values));
    let names = |fields: &[RawRequirement<'_>]| {
        let term = NodeSelectorTerm::new(&[], fields);
        let names = term.names()?.iter();
        Some(names.map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(names(&[]), None);
    assert_eq!(names(&[name("NotIn", &["a"])]), None);
    assert_eq!(names(&[raw("metadata.uid", "In", Some(&["a"]))]), None);
    assert_eq!(
        names(&[name("In", &["b", "a", "a"])]),
        Some(vec!["a".into(), "b".into()])
    );
    let both = [name("In", &["a", "b"]), name("In", &["b", "c"])];
    assert_eq!(names(&both), Some(vec!["b".into()]));
    assert_eq!(
        names(&[name("In", &["a"]), name("In", &["b"])]),
        Some(vec![])
    );
}

fn problem(term: &NodeSelectorTerm) -> String {
    message(&term.mistakes_under("[2]"))
}

#[test]
fn mistakes_are_told_as_kube_scheduler_tells_them() {
    let e = "[2].matchExpressions[0]";
    let f = "[2].matchFields[0]";
    let cases = [
        (
            by_label("a", "In", None),
            format!(
                "{e}.values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
            ),
        ),
        (
            by_label("a", "Gt", Some(&["1", "2"])),
            format!(
                "{e}.values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required"
            ),
        ),
        (
            by_label("a", "Lt", Some(&["1.5"])),
            format!(
                "{e}.values[0]: Invalid value: \"1.5\": for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
        (
            by_label("a/b/c", "Exists", None),
            format!(
                "{e}.key: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ),
        ),
        (
            by_field("metadata.name", "In", Some(&["a", "b"])),
            format!("{f}.values: Invalid value: [\"a\",\"b\"]: must have one element"),
        ),
        (
            by_field("metadata.name", "Exists", None),
            format!(
                "{f}.operator: Unsupported value: \"Exists\": supported values: \"In\", \"NotIn\""
            ),
        ),
    ];
    for (term, expected) in cases {
        assert_eq!(problem(&term), expected);
    }
}

#[test]
fn several_mistakes_are_one_text_and_each_is_told_once() {
    let term = by_label("a", "In", Some(&["x y", "ok", "-"]));
    let text = problem(&term);
    assert!(text.starts_with(
        "[[2].matchExpressions[0].values[0][a]: Invalid value: \"x y\": a valid label"
    ));
    assert!(text.contains(", [2].matchExpressions[0].values[2][a]: Invalid value: \"-\""));
    assert!(text.ends_with(']'));
    let twice = [term.mistakes_under(""), term.mistakes_under("")].concat();
    assert_eq!(message(&twice), message(&term.mistakes_under("")));
}
