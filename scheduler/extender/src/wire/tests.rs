//! Bodies as kube-scheduler v1.37.2 sends and takes them.

use serde_json::{Value, json};

use super::*;

#[test]
fn a_request_has_all_three_keys_capitalised_and_unused_ones_null() {
    let args = Args {
        pod: json!({"metadata": {"name": "p1"}}),
        nodes: None,
        node_names: Some(vec!["n2".to_owned(), "n1".to_owned()]),
    };
    let text = serde_json::to_string(&args).unwrap();
    let sent = r#"{"Pod":{"metadata":{"name":"p1"}},"Nodes":null,"NodeNames":["n2","n1"]}"#;
    assert_eq!(text, sent);
}

#[test]
fn ext_a1_both_spellings_are_read() {
    let capital = Args::read(br#"{"Pod":{"a":1},"Nodes":null,"NodeNames":["n1","n2"]}"#).unwrap();
    let lower = Args::read(br#"{"pod":{"a":1},"nodes":null,"nodenames":["n1","n2"]}"#).unwrap();
    assert_eq!(capital, lower);
    assert_eq!(capital.node_names.unwrap(), ["n1", "n2"]);
}

#[test]
fn no_names_and_no_list_of_names_are_two_answers() {
    let empty = FilterResult::read(br#"{"NodeNames":[]}"#).unwrap();
    let none = FilterResult::read(br#"{"NodeNames":null}"#).unwrap();
    assert_eq!((empty.node_names, none.node_names), (Some(vec![]), None));
}

#[test]
fn a_bind_request_is_as_recorded() {
    let args = BindingArgs {
        pod_name: "p2".to_owned(),
        pod_namespace: "default".to_owned(),
        pod_uid: "4c81".to_owned(),
        node: "n4".to_owned(),
    };
    let sent = r#"{"PodName":"p2","PodNamespace":"default","PodUID":"4c81","Node":"n4"}"#;
    assert_eq!(serde_json::to_string(&args).unwrap(), sent);
}

#[test]
fn a_preempt_request_names_victims_by_uid() {
    let pods = vec![MetaPod {
        uid: "u".to_owned(),
    }];
    let victims = MetaVictims {
        pods,
        num_pdb_violations: 1,
    };
    let args = PreemptionArgs::<Value> {
        pod: Value::Null,
        node_name_to_victims: None,
        node_name_to_meta_victims: Some([("n".to_owned(), victims)].into()),
    };
    let sent = r#"{"Pod":null,"NodeNameToVictims":null,"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":"u"}],"NumPDBViolations":1}}}"#;
    assert_eq!(serde_json::to_string(&args).unwrap(), sent);
}

#[test]
fn a_score_that_is_no_whole_number_spoils_the_list() {
    let good = read_scores(br#"[{"Host":"n1","Score":3}] and what follows"#).unwrap();
    assert_eq!((good[0].host.as_str(), good[0].score), ("n1", 3));
    assert!(read_scores(br#"[{"Host":"n1","Score":3},{"Host":"n2","Score":1.5}]"#).is_err());
}

#[test]
fn what_is_no_answer_is_an_error_and_never_a_panic() {
    for body in [
        &b""[..],
        b"x",
        b"[]",
        b"{\"NodeNames\":7}",
        b"{\"FailedNodes\":[]}",
        b"{\"Nodes\":7}",
        b"{\"Nodes\":{\"items\":{}}}",
        b"\xff",
    ] {
        assert!(FilterResult::read(body).is_err(), "{body:?}");
    }
    assert_eq!(
        FilterResult::read(b"null").unwrap(),
        FilterResult::default()
    );
}
