//! Connections over real loopback sockets: the limit, and the reasons to end.

use std::io::ErrorKind;
use std::task::Poll;

use prometheus_client::metrics::gauge::Gauge;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;

use super::*;

struct Rig {
    accept: Accept,
    address: std::net::SocketAddr,
    cut: CancellationToken,
    open: Gauge,
}

async fn listening(limit: usize) -> Rig {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (cut, open) = (CancellationToken::new(), Gauge::default());
    Rig {
        accept: Accept::new(listener, limit, cut.clone(), open.clone()),
        address,
        cut,
        open,
    }
}

#[tokio::test]
async fn above_the_limit_a_connection_waits_until_another_ends() {
    let mut rig = listening(1).await;
    let _clients = (
        TcpStream::connect(rig.address).await.unwrap(),
        TcpStream::connect(rig.address).await.unwrap(),
    );
    let first = rig.accept.next().await.unwrap().unwrap();
    let mut second = std::pin::pin!(rig.accept.next());
    let waits = std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending()));
    assert!(waits.await);
    assert_eq!(rig.open.get(), 1);
    drop(first);
    let _second = second.await.unwrap().unwrap();
    assert_eq!(rig.open.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_names_no_node_ends_after_fifteen_seconds() {
    let mut rig = listening(1).await;
    let _client = TcpStream::connect(rig.address).await.unwrap();
    let mut link = rig.accept.next().await.unwrap().unwrap();
    let before = Instant::now();
    let error = link.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(before.elapsed().as_secs(), 15);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_named_its_node_may_be_silent_until_it_is_cut() {
    let mut rig = listening(1).await;
    let _client = TcpStream::connect(rig.address).await.unwrap();
    let mut link = rig.accept.next().await.unwrap().unwrap();
    assert!(link.connect_info().speaks_for(&Arc::from("a")));
    assert!(!link.connect_info().speaks_for(&Arc::from("b")));

    let hour = tokio::time::sleep(std::time::Duration::from_hours(1));
    tokio::select! {
        read = link.read_u8() => panic!("{read:?}"),
        () = hour => rig.cut.cancel(),
    }
    assert_eq!(
        link.read_u8().await.unwrap_err().kind(),
        ErrorKind::ConnectionAborted
    );
}
