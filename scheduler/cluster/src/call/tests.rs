//! How answers and their absence are taken.

use std::time::Duration;

use http::StatusCode;
use plimsoll_core::{Failure, FailureKind};

use super::{Answer, CALL_LIMIT, Call, CallError, accepted, chain};
use crate::metrics::Metrics;
use crate::script::{Reply, Script};

const PATH: &str = "/api/v1/namespaces/ns/pods/a";
const ROUTE: &str = "GET /api/v1/namespaces/ns/pods/a";

async fn get(reply: Reply) -> Result<Answer, CallError> {
    let script = Script::default();
    script.on(ROUTE, reply);
    script.api().call(Call::get("pods", PATH)?).await
}

async fn failure(reply: Reply) -> Failure {
    accepted(get(reply).await).expect_err("a failure")
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_a_code_and_a_body() {
    let answer = get(Reply::Answer(200, Vec::new(), "text".to_owned()))
        .await
        .unwrap();
    assert_eq!(
        (answer.code(), answer.body()),
        (StatusCode::OK, &b"text"[..])
    );
}

#[tokio::test(start_paused = true)]
async fn each_refusal_is_taken_by_its_code() {
    let cases = [
        (400, FailureKind::Refused),
        (401, FailureKind::Refused),
        (404, FailureKind::NotFound),
        (409, FailureKind::Conflict),
        (429, FailureKind::TooManyRequests { retry_after: None }),
        (500, FailureKind::Unavailable),
        (503, FailureKind::Unavailable),
        (302, FailureKind::Refused),
    ];
    for (code, kind) in cases {
        let expected = Failure {
            kind,
            message: format!("said {code}"),
        };
        assert_eq!(
            failure(Reply::status(code, &format!("said {code}"))).await,
            expected
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_to_wait_is_read_in_seconds_up_to_a_bound_and_else_ignored() {
    let cases = [
        ("5", Some(Duration::from_secs(5))),
        ("86400", Some(Duration::from_mins(1))),
        ("18446744073709551615", Some(Duration::from_mins(1))),
        ("soon", None),
        ("-1", None),
        ("", None),
    ];
    for (header, retry_after) in cases {
        let reply = Reply::Answer(429, vec![("retry-after", header)], String::new());
        assert_eq!(
            failure(reply).await.kind,
            FailureKind::TooManyRequests { retry_after }
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_proxy_is_told_in_its_words_but_not_at_length() {
    let page = Reply::Answer(502, Vec::new(), " <html>bad gateway</html>\n".to_owned());
    assert_eq!(failure(page).await.message, "<html>bad gateway</html>");
    let empty = Reply::Answer(502, Vec::new(), String::new());
    assert_eq!(failure(empty).await.message, "502 Bad Gateway");
    let long = Reply::Answer(502, Vec::new(), "ä".repeat(5_000));
    assert_eq!(failure(long).await.message.len(), 1024);
}

#[tokio::test(start_paused = true)]
async fn no_answer_is_unknown() {
    let silent = get(Reply::Hang).await.expect_err("no answer");
    assert!(matches!(silent, CallError::Silent(CALL_LIMIT)));
    assert_eq!(Failure::from(silent).kind, FailureKind::Unknown);
    assert_eq!(failure(Reply::Cut).await.kind, FailureKind::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_path_that_is_none_is_refused_without_a_request() {
    let error = Call::get("pods", "/a b").expect_err("no path");
    assert_eq!(Failure::from(error).kind, FailureKind::Refused);
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_what_came_of_them() {
    let script = Script::default();
    script
        .on(ROUTE, Reply::status(404, "gone"))
        .on(ROUTE, Reply::Cut);
    let metrics = Metrics::default();
    let api = super::Api::new(script.client(), metrics.clone());
    for _ in 0..3 {
        drop(api.call(Call::get("pods", PATH).unwrap()).await);
    }
    for code in ["404", "lost", "timeout"] {
        let series = format!(
            r#"plimsoll_cluster_requests_total{{verb="get",resource="pods",code="{code}"}}"#
        );
        assert_eq!(metrics.value(&series).as_deref(), Some("1"), "{code}");
    }
    let timed = r#"plimsoll_cluster_request_duration_seconds_count{verb="get",resource="pods"}"#;
    assert_eq!(metrics.value(timed).as_deref(), Some("3"));
}

#[test]
fn a_chain_of_causes_says_nothing_twice() {
    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Said(&'static str, #[source] Option<Box<Said>>);
    let deep = Said("refused", None);
    let middle = Said("cannot connect: refused", Some(Box::new(deep)));
    let top = Said("no answer", Some(Box::new(middle)));
    assert_eq!(chain(&top), "no answer: cannot connect: refused");
}
