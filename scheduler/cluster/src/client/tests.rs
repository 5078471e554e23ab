//! Clients over real connections.

use std::path::PathBuf;

use plimsoll_core::{Failure, FailureKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{AGENT, ClientOptions, Clients, ConnectError};
use crate::call::{Answer, Api, Call, CallError, chain};
use crate::metrics::Metrics;

async fn get(address: String) -> Result<Answer, CallError> {
    let clients = Clients::prepare(&ClientOptions::Address(address))
        .await
        .unwrap();
    let api = Api::new(clients.writes, Metrics::default());
    api.call(Call::get("version", "/version")?).await
}

/// A server of one connection: reads one request, writes `answer`, closes. Gives its
/// address and what it will have read.
async fn serve(answer: &'static str) -> (String, impl Future<Output = String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut read = vec![0; 4096];
        let length = stream.read(&mut read).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&read[..length]).into_owned()
    };
    (address, served)
}

#[tokio::test]
async fn requests_carry_our_name() {
    let (address, served) = serve("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await;
    let (answer, request) = tokio::join!(get(address), served);
    assert_eq!(answer.unwrap().body(), b"{}");
    assert!(
        request.contains(&format!("user-agent: {AGENT}\r\n")),
        "{request}"
    );
    assert!(AGENT.starts_with("plimsoll-scheduler/"));
}

#[tokio::test]
async fn a_busy_answer_is_shown_and_not_repeated_behind_our_back() {
    let (address, served) =
        serve("HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n")
            .await;
    let (answer, _) = tokio::join!(get(address), served);
    assert_eq!(answer.unwrap().code(), 429);
}

#[tokio::test]
async fn a_connection_that_is_refused_means_that_nothing_was_done() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = get(address).await.expect_err("nobody listens");
    assert!(matches!(error, CallError::NotSent(_)), "{error:?}");
    let failure = Failure::from(error);
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(failure.message.contains("refused"), "{}", failure.message);
}

#[tokio::test]
async fn a_connection_that_closes_without_an_answer_means_that_nobody_knows() {
    let (address, served) = serve("").await;
    let (answer, _) = tokio::join!(get(address), served);
    let failure = Failure::from(answer.expect_err("closed"));
    assert_eq!(failure.kind, FailureKind::Unknown, "{}", failure.message);
}

#[tokio::test]
async fn options_that_lead_nowhere_say_where_they_led() {
    let path = PathBuf::from("/no/such/kubeconfig");
    let options = ClientOptions::Kubeconfig {
        path,
        context: None,
    };
    let missing = Clients::prepare(&options).await.err().unwrap();
    assert!(chain(&missing).starts_with("kubeconfig `/no/such/kubeconfig` cannot be used: "));
    let address = ClientOptions::Address("not an address".to_owned());
    let wrong = Clients::prepare(&address).await.err().unwrap();
    assert!(matches!(wrong, ConnectError::Address { .. }));
}
