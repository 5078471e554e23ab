//! What the small server answers, over real sockets.

use std::io::ErrorKind;

use http_body_util::{BodyExt, Empty};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::*;
use crate::metrics::Metrics;

const SECOND: Duration = Duration::from_secs(1);

fn site(feed: Feed) -> Site {
    Site {
        registry: Metrics::new().registry(feed.clone()),
        health: Health::new(SECOND),
        feed,
        clock: Clock::start(),
    }
}

fn no_reading() -> Feed {
    watch::Sender::new(None).subscribe()
}

async fn ask(site: &Site, method: Method, path: &str, now: Duration) -> (u16, String) {
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().unwrap();
    let response = site.answer(&request, now);
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn healthz_is_503_with_words_while_the_sampler_is_stalled() {
    let site = site(no_reading());
    site.health.tick(10 * SECOND);
    let healthz = async |now| ask(&site, Method::GET, "/healthz", now).await;
    assert_eq!(healthz(13 * SECOND).await, (200, "ok\n".to_owned()));
    let (status, words) = healthz(14 * SECOND).await;
    assert_eq!(status, 503);
    assert_eq!(words, "no sample for 4000 ms, expected one each 1000 ms\n");
    site.health.tick(14 * SECOND);
    assert_eq!(healthz(14 * SECOND).await.0, 200, "it heals");
}

#[tokio::test]
async fn other_paths_and_methods_are_refused() {
    let site = site(no_reading());
    for (method, path, status) in [
        (Method::GET, "/metrics", 200),
        (Method::HEAD, "/healthz", 200),
        (Method::GET, "/readyz", 503),
        (Method::GET, "/", 404),
        (Method::POST, "/metrics", 405),
    ] {
        let answer = ask(&site, method.clone(), path, SECOND).await;
        assert_eq!(answer.0, status, "{method} {path}: {}", answer.1);
    }
}

/// Sends raw bytes to a running server and gives all that it says until it closes.
async fn exchange(bytes: &[u8]) -> String {
    exchange_beside(0, bytes).await
}

/// The same, while `silent` other connections are open that say nothing.
async fn exchange_beside(silent: usize, bytes: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let mut server = JoinSet::new();
    server.spawn(serve(
        listener,
        Arc::new(site(no_reading())),
        shutdown.clone(),
    ));

    let mut others = Vec::new();
    for _ in 0..silent {
        others.push(TcpStream::connect(address).await.unwrap());
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut said = Vec::new();
    // A server that closes on unread input may reset the connection after its answer.
    let ended = stream.read_to_end(&mut said).await;
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));

    shutdown.cancel();
    server.join_next().await.unwrap().unwrap();
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn a_scrape_over_a_real_socket_is_openmetrics() {
    let said = exchange(b"GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
    assert!(said.contains(METRICS_TYPE), "{said}");
    assert!(said.contains("plimsoll_agent_samples_total 0\n"), "{said}");
    assert!(said.ends_with("# EOF\n"), "{said}");
}

#[tokio::test]
async fn a_probe_is_answered_however_many_connections_say_nothing() {
    let began = Clock::start();
    let probe = b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let said = exchange_beside(3 * MAX_CONNECTIONS, probe).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(began.mono() < HEAD_WITHIN, "nobody had to lose patience");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_and_never_reads_loses_its_place_in_time() {
    let (client, server) = tokio::io::duplex(1024);
    let answering = answer_all(server, Arc::new(site(no_reading())));
    let asking = async {
        let (_unread, mut asks) = tokio::io::split(client);
        while asks
            .write_all(b"GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n")
            .await
            .is_ok()
        {}
    };
    let clock = Clock::start();
    tokio::join!(answering, asking);
    assert_eq!(clock.mono(), CONNECTION_WITHIN);
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused_and_a_body_is_not_read() {
    let mut long = b"GET /metrics HTTP/1.1\r\nhost: ".to_vec();
    long.resize(MAX_HEAD_BYTES + 1024, b'a');
    let said = exchange(&long).await;
    assert!(
        said.is_empty() || said.starts_with("HTTP/1.1 431"),
        "{said}"
    );

    let body = b"GET /metrics HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n";
    assert!(exchange(body).await.starts_with("HTTP/1.1 413"));
}
