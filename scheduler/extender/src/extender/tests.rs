//! What answers mean, case by case.

use std::time::Duration;

use super::*;
use crate::Filtered;

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
