//! What answers mean, case by case.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{Filtered, Victims, add_scores, read_scores};

fn extender() -> Extender {
    Extender {
        url_prefix: "http://x/".to_owned(),
        filter_verb: Some("filter".to_owned()),
        preempt_verb: None,
        prioritize_verb: None,
        bind_verb: None,
        weight: 1,
        enable_https: false,
        tls: None,
        http_timeout: Duration::from_secs(5),
        node_cache_capable: true,
        managed_resources: Vec::new(),
        ignorable: false,
    }
}

fn filtered(extender: &Extender, body: &str) -> Result<Filtered, String> {
    let offered = ["n1".to_owned(), "n2".to_owned()];
    Filtered::read(extender, &offered, body.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn ext_a1_a_url_with_and_without_a_slash_is_the_same() {
    for prefix in ["http://x/a", "http://x/a/", "http://x/a//"] {
        assert_eq!(url(prefix, "filter"), "http://x/a/filter");
    }
}

#[test]
fn ext_a1_a_node_that_was_not_offered_fails_the_attempt() {
    let error = filtered(&extender(), r#"{"NodeNames":["n1","n9"]}"#).unwrap_err();
    let stock = "extender \"http://x/\" claims a filtered node \"n9\" which is not found in the \
                 input node list";
    assert_eq!(error, stock);
}

#[test]
fn an_unresolvable_reason_goes_before_the_other() {
    let body = r#"{"NodeNames":["n2"],"FailedNodes":{"n1":"full"},
                   "FailedAndUnresolvableNodes":{"n1":"never"}}"#;
    let filtered = filtered(&extender(), body).unwrap();
    assert_eq!(filtered.kept, ["n2"]);
    let refused: Vec<_> = filtered.refused.iter().collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(
        (refused[0].message.as_str(), refused[0].unresolvable),
        ("never", true)
    );
}

#[test]
fn names_count_only_for_an_extender_that_keeps_nodes() {
    let body = r#"{"NodeNames":["n1"],"Nodes":{"items":[{"metadata":{"name":"n2"}}]}}"#;
    assert_eq!(filtered(&extender(), body).unwrap().kept, ["n1"]);
    let whole = Extender {
        node_cache_capable: false,
        ..extender()
    };
    assert_eq!(filtered(&whole, body).unwrap().kept, ["n2"]);
    assert!(
        filtered(&whole, r#"{"NodeNames":["n1"]}"#)
            .unwrap()
            .kept
            .is_empty()
    );
}

#[test]
fn an_error_that_the_extender_tells_is_told_in_its_words() {
    let error = filtered(&extender(), r#"{"Error":"no disk"}"#).unwrap_err();
    assert_eq!(error, "no disk");
}

#[test]
fn scores_are_scaled_weighted_and_summed_and_never_overflow() {
    let mut totals = BTreeMap::new();
    let body = br#"[{"Host":"n1","Score":3},{"Host":"n1","Score":1},{"Host":"n2","Score":-1}]"#;
    add_scores(&mut totals, 5, read_scores(body).unwrap());
    assert_eq!(
        totals,
        BTreeMap::from([("n1".to_owned(), 200), ("n2".to_owned(), -50)])
    );
    let huge = format!(r#"[{{"Host":"n1","Score":{}}}]"#, i64::MAX);
    add_scores(&mut totals, 5, read_scores(huge.as_bytes()).unwrap());
    assert_eq!(totals["n1"], i64::MAX);
}

#[test]
fn only_pods_with_a_managed_resource_are_sent() {
    let name = "example.com/gpu".to_owned();
    let managed = ManagedResource {
        name,
        ignored_by_scheduler: false,
    };
    let picky = Extender {
        managed_resources: vec![managed],
        ..extender()
    };
    let with = |field: &str, amounts: &str| json!({"spec": {field: [{"resources": {amounts: {"example.com/gpu": "1"}}}]}});
    assert!(is_interested(&picky, &with("containers", "requests")));
    assert!(is_interested(&picky, &with("initContainers", "limits")));
    assert!(!is_interested(
        &picky,
        &with("ephemeralContainers", "limits")
    ));
    assert!(!is_interested(
        &picky,
        &json!({"spec": {"containers": [{}]}})
    ));
    assert!(is_interested(&extender(), &json!({})));
}

#[test]
fn a_pod_is_sent_without_who_wrote_which_field_and_without_its_kind() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
                     "metadata": {"name": "p", "managedFields": [{}]}, "spec": {"x": 1}});
    let args = Args::new(&pod, Nodes::Whole(vec![json!({"metadata": {"name": "n"}})]));
    assert_eq!(
        args.pod,
        json!({"metadata": {"name": "p"}, "spec": {"x": 1}})
    );
    assert_eq!(args.nodes.unwrap()["items"][0]["metadata"]["name"], "n");
}

#[test]
fn victims_must_be_on_their_node_and_there_must_be_some() {
    let judge = |extender: &Extender, body: &str| {
        let is_on = |node: &str, uid: &str| (node, uid) == ("n1", "u1");
        Victims::read(extender, is_on, body.as_bytes()).map_err(|error| error.to_string())
    };
    let good = r#"{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u1"}],"NumPDBViolations":2}}}"#;
    assert_eq!(judge(&extender(), good).unwrap()["n1"].budget_violations, 2);
    let stranger = r#"{"nodeNameToMetaVictims":{"n1":{"pods":[{"uid":"u9"}]}}}"#;
    assert!(
        judge(&extender(), stranger)
            .unwrap_err()
            .contains("(UID: &{u9})")
    );
    let nobody = r#"{"NodeNameToMetaVictims":{"n1":{"Pods":[]}}}"#;
    assert!(
        judge(&extender(), nobody)
            .unwrap_err()
            .contains("at least one victim")
    );
    let ignorable = Extender {
        ignorable: true,
        ..extender()
    };
    assert!(judge(&ignorable, nobody).unwrap().is_empty());
}
