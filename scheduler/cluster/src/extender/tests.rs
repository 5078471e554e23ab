//! A client against a server of one connection on the loopback.

mod secure;
pub(crate) mod server;

use std::time::Duration;

use plimsoll_config::Extender;
use plimsoll_extender::Verb;
use tokio::net::TcpListener;

use self::server::Server;
use super::{CallError, Client};
use crate::metrics::Metrics;

/// An extender with a filter path only.
pub(crate) fn extender(url_prefix: &str) -> Extender {
    Extender {
        url_prefix: url_prefix.to_owned(),
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

async fn filter(extender: &Extender) -> Result<Vec<u8>, CallError> {
    let client = Client::new(extender, &Metrics::default()).unwrap();
    client.post(Verb::Filter, b"{}".to_vec()).await
}

async fn failure(extender: &Extender) -> (&'static str, String) {
    let error = filter(extender).await.unwrap_err();
    (error.outcome(), error.to_string())
}

#[tokio::test]
async fn a_call_is_a_post_of_json_to_the_path_of_its_verb() {
    let server = Server::start(&["HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull"]).await;
    let answer = filter(&extender(&format!("{}/plimsoll//", server.url()))).await;
    assert_eq!(answer.unwrap(), b"null");
    let asked = server.asked().remove(0);
    assert!(
        asked.starts_with("POST /plimsoll/filter HTTP/1.1\r\n"),
        "{asked}"
    );
    for line in [
        "Content-Type: application/json\r\n",
        "Content-Length: 2\r\n",
        "User-Agent: plimsoll-scheduler/",
    ] {
        assert!(asked.contains(line), "{line} in {asked}");
    }
    assert!(asked.ends_with("\r\n\r\n{}"), "{asked}");
}

#[tokio::test]
async fn a_connection_serves_one_call_after_the_other() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]";
    let server = Server::start(&[answer, answer]).await;
    let client = Client::new(&extender(&server.url()), &Metrics::default()).unwrap();
    for _ in 0..2 {
        let body = client.post(Verb::Filter, b"{}".to_vec()).await;
        assert_eq!(body.unwrap(), b"[]");
    }
    assert_eq!((server.asked().len(), server.connections()), (2, 1));
}

#[tokio::test]
async fn an_answer_in_chunks_is_read_to_its_end() {
    let chunks =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n";
    let server = Server::start(&[chunks]).await;
    assert_eq!(filter(&extender(&server.url())).await.unwrap(), b"[]");
}

#[tokio::test]
async fn a_verb_without_a_path_is_not_asked() {
    let client = Client::new(&extender("http://127.0.0.1:1"), &Metrics::default()).unwrap();
    let error = client.post(Verb::Bind, Vec::new()).await.unwrap_err();
    assert_eq!(error, CallError::NotAsked { verb: "bind" });
}

#[tokio::test]
async fn a_url_that_is_none_fails_the_call_and_not_the_start() {
    let wrong = (
        "invalid",
        r#"Post "ftp://h/filter": unsupported protocol scheme "ftp""#.to_owned(),
    );
    assert_eq!(failure(&extender("ftp://h")).await, wrong);
    let wrong = (
        "invalid",
        r#"Post "/filter": unsupported protocol scheme """#.to_owned(),
    );
    assert_eq!(failure(&extender("")).await, wrong);
}

#[tokio::test]
async fn any_status_but_200_is_a_failure_in_the_words_of_kube_scheduler() {
    for (line, code) in [
        ("500 Oh", 500),
        ("201 Created", 201),
        ("307 Elsewhere", 307),
    ] {
        let answer = format!("HTTP/1.1 {line}\r\ncontent-length: 2\r\n\r\n{{}}");
        let server = Server::start(&[&answer]).await;
        let url = server.url();
        let text = format!("failed filter with extender at URL {url}/filter, code {code}");
        assert_eq!(failure(&extender(&url)).await, ("status", text));
    }
}

#[tokio::test]
async fn nobody_at_the_port_is_a_refused_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let text = format!(
        r#"Post "http://{address}/filter": dial tcp {address}: connect: connection refused"#
    );
    assert_eq!(
        failure(&extender(&format!("http://{address}"))).await,
        ("connect", text)
    );
}

#[tokio::test]
async fn a_host_without_an_address_is_not_found() {
    let text = r#"Post "http://no.invalid:80/filter": dial tcp: lookup no.invalid: no such host"#;
    let found = failure(&extender("http://no.invalid:80")).await;
    assert_eq!(found, ("connect", text.to_owned()));
}

#[tokio::test]
async fn an_extender_that_says_nothing_is_given_up_after_its_timeout() {
    let server = Server::start(&[]).await;
    let mut extender = extender(&server.url());
    extender.http_timeout = Duration::from_millis(30);
    let text = format!(
        "Post \"{}/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting \
         headers)",
        server.url()
    );
    assert_eq!(failure(&extender).await, ("timeout", text));
}

#[tokio::test]
async fn an_answer_that_stops_half_way_is_given_up_after_the_timeout() {
    let server = Server::start(&["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"]).await;
    let mut extender = extender(&server.url());
    extender.http_timeout = Duration::from_millis(100);
    let text = "context deadline exceeded (Client.Timeout or context cancellation while reading \
                body)";
    assert_eq!(failure(&extender).await, ("timeout", text.to_owned()));
}

#[tokio::test]
async fn a_connection_that_closes_before_the_answer_is_an_end_of_file() {
    let server = Server::start(&["CLOSE"]).await;
    let text = format!("Post \"{}/filter\": EOF", server.url());
    assert_eq!(failure(&extender(&server.url())).await, ("closed", text));
}

#[tokio::test]
async fn a_connection_that_closes_within_the_answer_is_an_unexpected_end() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{CLOSE";
    let server = Server::start(&[answer]).await;
    let found = failure(&extender(&server.url())).await;
    assert_eq!(found, ("closed", "unexpected EOF".to_owned()));
}

#[tokio::test]
async fn an_answer_over_the_bound_is_not_read() {
    let declared = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n";
    for answer in [declared, chunked] {
        let server = Server::start(&[answer]).await;
        let client = Client::new(&extender(&server.url()), &Metrics::default()).unwrap();
        let client = client.with_answer_max(4);
        let error = client.post(Verb::Filter, Vec::new()).await.unwrap_err();
        assert_eq!(error, CallError::TooLarge { limit: 4 }, "{answer}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let server = Server::start(&[]).await;
    let client = Client::new(&extender(&server.url()), &Metrics::default()).unwrap();
    let asking = client.post(Verb::Filter, b"{}".to_vec());
    tokio::select! {
        _ = asking => panic!("there is no answer"),
        () = server.was_asked() => {}
    }
    server.was_left().await;
}

#[tokio::test]
async fn calls_are_counted_by_what_came_of_them() {
    let lie = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    let server = Server::start(&[lie, "CLOSE"]).await;
    let metrics = Metrics::default();
    let client = Client::new(&extender(&server.url()), &metrics).unwrap();
    let read = |_: &[u8]| Err::<(), _>("a lie".to_owned());
    let said = client.ask(Verb::Filter, Vec::new(), read).await;
    assert_eq!(said, Err(CallError::Unusable("a lie".to_owned())));
    assert!(client.post(Verb::Filter, Vec::new()).await.is_err());
    for outcome in ["unusable", "closed"] {
        let series = format!(
            "plimsoll_extender_requests_total\
             {{extender=\"{}\",verb=\"filter\",outcome=\"{outcome}\"}}",
            server.url()
        );
        assert_eq!(metrics.value(&series).as_deref(), Some("1"), "{outcome}");
    }
}
